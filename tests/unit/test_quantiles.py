"""Quantiles and summaries: numpy as the oracle, properties, and the exact thresholds."""

import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from middlemark.model.times import QUANTILES, Summary
from middlemark.stats.quantiles import exact, samples_needed, summarise

NANOSECONDS = st.integers(min_value=0, max_value=10**12)
SAMPLES = arrays.arrays(np.uint64, st.integers(min_value=0, max_value=3000), elements=NANOSECONDS)
FIELDS = ("min", "p50", "p90", "p99", "p99_9", "p99_99", "max")


def _known(summary: Summary) -> list[float]:
    return [figure for field in FIELDS if (figure := getattr(summary, field)) is not None]


@pytest.mark.parametrize(
    ("field", "needed"), [("p50", 20), ("p90", 100), ("p99", 1_000), ("p99_9", 10_000), ("p99_99", 100_000)]
)
def test_a_quantile_needs_ten_samples_beyond_it(field: str, needed: int) -> None:
    assert samples_needed(QUANTILES[field]) == needed
    one_less = summarise(np.arange(needed - 1, dtype=np.uint64))
    enough = summarise(np.arange(needed, dtype=np.uint64))
    assert getattr(one_less, field) is None
    # For the values 0, 1, 2 …, the quantile q by nearest rank is q·n - 1, which is a whole number here.
    assert getattr(enough, field) == QUANTILES[field] * needed - 1


def test_the_summary_of_no_samples_is_empty() -> None:
    assert summarise(np.empty(0, dtype=np.uint64)) == Summary()


def test_one_sample_has_no_spread_and_no_median() -> None:
    assert summarise(np.array([7], dtype=np.uint64)) == Summary(min=7.0, mean=7.0, max=7.0)


def test_a_nearest_rank_quantile_is_a_sample_and_never_a_mean_of_two() -> None:
    assert exact(np.array([1] * 10 + [100] * 10, dtype=np.uint64), (Fraction(1, 2),)) == (1.0,)
    assert exact(np.array([1] * 10 + [100] * 11, dtype=np.uint64), (Fraction(1, 2),)) == (100.0,)


@pytest.mark.parametrize("count", [20, 21, 99, 100, 999, 1_000, 1_001, 9_999, 10_000, 100_000, 123_457])
def test_quantiles_equal_numpys(count: int) -> None:
    values = np.random.default_rng(count).lognormal(9.0, 1.5, count).astype(np.uint64)
    summary = summarise(values)
    for field, quantile in QUANTILES.items():
        value = getattr(summary, field)
        if count >= samples_needed(quantile):
            assert value == np.quantile(values, float(quantile), method="inverted_cdf"), field
        else:
            assert value is None, field


@given(SAMPLES)
def test_quantiles_agree_with_their_definition(values: np.ndarray) -> None:
    for quantile, value in zip(QUANTILES.values(), exact(values, tuple(QUANTILES.values())), strict=True):
        if value is None:
            assert len(values) < samples_needed(quantile)
            continue
        at_or_below = int((values <= value).sum())
        below = int((values < value).sum())
        assert at_or_below >= quantile * len(values) > below


@given(SAMPLES)
def test_quantiles_ascend_and_lie_between_min_and_max(values: np.ndarray) -> None:
    summary = summarise(values)
    ascending = _known(summary)
    assert ascending == sorted(ascending)
    if len(values):
        assert (summary.min, summary.max) == (float(values.min()), float(values.max()))
        assert summary.mean is not None
        assert ascending[0] <= summary.mean <= ascending[-1]


@given(SAMPLES, st.integers(0, 2**32))
def test_the_order_of_samples_does_not_matter(values: np.ndarray, seed: int) -> None:
    one, other = summarise(values), summarise(np.random.default_rng(seed).permutation(values))
    assert _known(one) == _known(other)
    assert one.mean == pytest.approx(other.mean)
    assert one.stdev == pytest.approx(other.stdev)


@given(SAMPLES, st.integers(min_value=1, max_value=1000))
def test_figures_scale_with_the_samples(values: np.ndarray, factor: int) -> None:
    assert _known(summarise(values * np.uint64(factor))) == [figure * factor for figure in _known(summarise(values))]


@given(st.lists(NANOSECONDS, min_size=2, max_size=200))
def test_mean_and_stdev_equal_those_of_the_statistics_module(values: list[int]) -> None:
    summary = summarise(np.array(values, dtype=np.uint64))
    assert summary.mean == pytest.approx(statistics.mean(values))
    assert summary.stdev == pytest.approx(statistics.stdev(values), rel=1e-9, abs=1e-3)


def test_a_small_spread_far_from_zero_is_not_lost_in_rounding() -> None:
    values = np.array([2**53 // 8 + step for step in (0, 1, 2, 3, 4)] * 10, dtype=np.uint64)
    assert summarise(values).stdev == pytest.approx(statistics.stdev([0, 1, 2, 3, 4] * 10))


def test_samples_of_several_chunks_are_all_counted() -> None:
    values = np.arange((1 << 20) + 3, dtype=np.uint32)
    summary = summarise(values)
    assert summary.mean == pytest.approx(values.mean(dtype=np.float64), rel=1e-15)
    assert summary.stdev == pytest.approx(values.std(ddof=1, dtype=np.float64), rel=1e-12)


def test_the_samples_are_not_modified() -> None:
    values = np.arange(1000, 0, -1, dtype=np.uint64)
    values.flags.writeable = False
    summarise(values)
    assert values[0] == 1000
