"""Slopes over time, against simulated series with known slopes, steps and autocorrelation."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import theilslopes  # type: ignore[import-untyped]

from middlemark.stats.trends import FEWEST, slope

Values = npt.NDArray[np.float64]
SERIES = 60


def hours(count: int) -> Values:
    return np.arange(count) / 60


def noise(random: np.random.Generator, count: int, correlation: float) -> Values:
    """Return values with a standard deviation of 1 and this autocorrelation."""
    innovations = random.normal(0.0, np.sqrt(1 - correlation**2), count)
    found = np.empty(count)
    found[0] = random.normal()
    for at in range(1, count):
        found[at] = correlation * found[at - 1] + innovations[at]
    return found


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("count", [20, 120])
def test_a_slope_is_rarely_found_in_a_series_without_one(correlation: float, count: int) -> None:
    random = np.random.default_rng(count)
    found = [slope(hours(count), noise(random, count, correlation)) for _ in range(SERIES)]
    false = sum(each is not None and not each.low <= 0 <= each.high for each in found)
    assert false <= 0.12 * SERIES, "5 % are expected"
    assert sum(bool(each and each.steps) for each in found) <= 0.03 * SERIES


def test_a_slope_is_within_its_interval() -> None:
    random = np.random.default_rng(2)
    found = [slope(hours(120), 3.0 * hours(120) + noise(random, 120, 0.3)) for _ in range(SERIES)]
    assert sum(each is not None and each.low <= 3.0 <= each.high for each in found) >= 0.88 * SERIES
    assert sum(each is not None and each.low > 0 for each in found) >= 0.95 * SERIES, "it is found"


def test_independent_values_have_the_slope_of_scipy_and_an_interval_that_is_not_narrower() -> None:
    random = np.random.default_rng(3)
    values = hours(60) + noise(random, 60, 0.0)
    found = slope(hours(60), values)
    expected = theilslopes(values, hours(60), 0.95)
    assert found is not None
    assert found.per_hour == pytest.approx(expected[0])
    assert found.low <= expected[2]
    assert found.high >= expected[3]


def test_a_step_is_not_taken_for_a_slope() -> None:
    random = np.random.default_rng(4)
    false, steps = 0, 0
    for _ in range(SERIES):
        at = int(random.integers(10, 110))
        found = slope(hours(120), 0.1 * noise(random, 120, 0.3) + 2.0 * (np.arange(120) >= at))
        assert found is not None
        false += not found.low <= 0 <= found.high
        steps += len(found.steps) == 1 and abs(found.steps[0].height - 2.0) < 0.3
    assert false <= 0.12 * SERIES
    assert steps >= 0.98 * SERIES


def test_a_leak_in_pages_is_a_slope_without_steps() -> None:
    found = slope(hours(120), np.floor(1024 * hours(120) / 132) * 132, 4)
    assert found is not None
    assert found.steps == ()
    assert found.low < 1024 < found.high
    assert not found.levels_off


def test_growth_that_ends_levels_off() -> None:
    values = np.minimum(hours(120), 0.9) * 100
    found = slope(hours(120), values)
    assert found is not None
    assert found.levels_off


def test_a_constant_series_may_change_by_one_unit() -> None:
    found = slope(hours(121), np.full(121, 7.0), 4096)
    assert found is not None
    assert (found.per_hour, found.low, found.high) == (0.0, -2048.0, 2048.0)


def test_too_few_values_have_no_slope() -> None:
    assert slope(hours(FEWEST - 1), hours(FEWEST - 1)) is None
    assert slope([1.0] * 20, hours(20)) is None, "all at one time"


def test_a_long_series_is_reduced_and_has_the_same_slope() -> None:
    at = np.arange(20_000) / 360
    found = slope(at, 5.0 * at)
    assert found is not None
    assert found.per_hour == pytest.approx(5.0)
