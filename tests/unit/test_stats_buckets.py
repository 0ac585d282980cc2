"""Quantiles of raw samples and buckets together, compared with numpy on the values that they represent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream_cases import buckets

from middlemark.model.samples import HISTOGRAM
from middlemark.model.times import QUANTILES
from middlemark.stats.buckets import WITHIN, joined, summarise_both
from middlemark.stats.quantiles import samples_needed, summarise

NANOSECONDS = st.integers(min_value=0, max_value=10**10)
NONE = np.empty(0, dtype=np.uint64)


def _array(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


def _middles(histogram: np.ndarray) -> np.ndarray:
    middles = (histogram["lower_ns"].astype(float) + histogram["upper_ns"] - 1) / 2
    return np.repeat(middles, histogram["count"].astype(int))


@given(st.lists(NANOSECONDS, max_size=300), st.lists(NANOSECONDS, min_size=1, max_size=1200))
def test_quantiles_equal_numpys_on_raw_samples_and_bucket_middles(raw: list[int], counted: list[int]) -> None:
    histogram = buckets(_array(counted))
    summary = summarise_both(_array(raw), histogram)
    values = np.concatenate([_array(raw).astype(float), _middles(histogram)])
    for field, quantile in QUANTILES.items():
        value = getattr(summary, field)
        if len(values) < samples_needed(quantile):
            assert value is None
        else:
            assert value == np.quantile(values, float(quantile), method="inverted_cdf"), field
    assert summary.mean == pytest.approx(values.mean(), rel=1e-9, abs=1e-3)
    if len(values) > 1:
        assert summary.stdev == pytest.approx(values.std(ddof=1), rel=1e-6, abs=1e-3)


@pytest.mark.parametrize("shares", [(0.0, 1.0), (0.5, 0.5), (0.99, 0.01)])
def test_a_quantile_from_buckets_is_within_one_bucket_of_the_true_value(shares: tuple[float, float]) -> None:
    values = np.random.default_rng(7).lognormal(10.0, 1.2, 200_000).astype(np.uint64)
    raw = values[: int(shares[0] * len(values))]
    summary = summarise_both(raw, buckets(values[len(raw) :]))
    true = summarise(values)
    for field in ("p50", "p90", "p99", "p99_9", "p99_99", "mean"):
        assert getattr(summary, field) == pytest.approx(getattr(true, field), rel=WITHIN), field
    assert summary.max is not None
    assert true.max is not None
    assert true.max <= summary.max <= true.max * (1 + WITHIN)


def test_without_a_histogram_the_summary_is_exact() -> None:
    values = np.arange(1, 2001, dtype=np.uint64)
    assert summarise_both(values, None) == summarise(values)
    assert summarise_both(values, np.empty(0, dtype=HISTOGRAM)) == summarise(values)


def test_small_values_in_a_histogram_are_exact() -> None:
    values = np.arange(256, dtype=np.uint64).repeat(10)
    summary, true = summarise_both(NONE, buckets(values)), summarise(values)
    assert (summary.min, summary.p50, summary.p99, summary.max) == (true.min, true.p50, true.p99, true.max)


@given(st.lists(NANOSECONDS, min_size=1, max_size=200), st.lists(NANOSECONDS, min_size=1, max_size=200))
def test_joined_histograms_equal_the_histogram_of_both(one: list[int], other: list[int]) -> None:
    both = joined([buckets(_array(one)), buckets(_array(other))])
    assert both is not None
    assert np.array_equal(both, buckets(_array(one + other)))


def test_joining_none_or_one_histogram_changes_nothing() -> None:
    assert joined([]) is None
    one = buckets(_array([5, 6]))
    assert joined([one]) is one
