"""The interval of a cell's figure, over its trials."""

import numpy as np
import pytest

from middlemark.stats.interval import median_interval


def test_few_trials_have_no_interval() -> None:
    assert median_interval([1.0] * 5) is None
    assert median_interval([1.0] * 6) == (1.0, 1.0)


def test_the_interval_contains_the_median_and_is_repeatable() -> None:
    values = np.random.default_rng(1).normal(100, 10, 20).tolist()
    found = median_interval(values)
    assert found is not None
    low, high = found
    assert min(values) < low < np.median(values) < high < max(values)
    assert median_interval(values) == found


def test_scaling_the_trials_scales_the_interval() -> None:
    values = np.random.default_rng(2).normal(100, 10, 12)
    assert median_interval((3 * values).tolist()) == pytest.approx([3 * each for each in median_interval(values) or ()])


def test_the_interval_covers_the_true_median_about_as_often_as_claimed() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(300):
        low, high = median_interval(rng.lognormal(0, 0.3, 20).tolist()) or (0.0, 0.0)
        covered += low <= 1.0 <= high
    assert covered >= 0.90 * 300
