"""A tally returns the same figures as a partition, for any samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_cases import samples

from middlemark.model.samples import NOT_MEASURED, SATURATED
from middlemark.model.times import Summary
from middlemark.stats.quantiles import summarise
from middlemark.stats.tally import MANY, Tally, limit_of, summary_of, tallied_fields

EXACT = ("min", "p50", "p90", "p99", "p99_9", "p99_99", "max")


def _same(one: Summary | None, other: Summary) -> None:
    assert one is not None
    assert [getattr(one, field) for field in EXACT] == [getattr(other, field) for field in EXACT]
    assert one.mean == pytest.approx(other.mean, rel=1e-12)
    assert (one.stdev or 0.0) == pytest.approx(other.stdev or 0.0, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("spread", [0.0, 0.05, 0.4, 2.5])
def test_a_tally_gives_the_figures_of_a_partition(dtype: type, spread: float) -> None:
    values = np.minimum(np.random.default_rng(1).lognormal(9.0, spread, MANY + 77), 4e9).astype(dtype)
    _same(summary_of(values), summarise(values))


def test_samples_far_beyond_the_others_are_kept() -> None:
    values = np.random.default_rng(1).integers(500, 900, MANY).astype(np.uint64)
    values[::1_000] = np.arange(1, 1 + len(values[::1_000])) * 10**9
    _same(summary_of(values), summarise(values))


@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=300), st.integers(1, 4_000))
def test_a_tally_of_any_length_gives_the_exact_figures_or_none(values: list[int], limit: int) -> None:
    given = np.array(values, dtype=np.uint32)
    tally = Tally(limit)
    for part in np.array_split(given, 3):
        tally.add(part)
    found = tally.summary()
    if found is None:
        assert (given >= limit).sum() > len(values) / 8
    else:
        _same(found, summarise(given))


def test_the_partition_is_used_if_most_samples_exceed_the_longest_table() -> None:
    values = np.random.default_rng(1).integers(10**8, 10**9, MANY).astype(np.uint64)
    assert limit_of(values) == 1 << 20
    _same(summary_of(values), summarise(values))


def test_tallying_all_fields_at_once_equals_summarising_each() -> None:
    rng = np.random.default_rng(1)
    record = samples(rng.integers(500, 2_000, 2 * MANY + 5_001), check_ns=40)
    record["fill_ns"] = rng.integers(0, 300, len(record))
    record["fill_ns"][::3] = NOT_MEASURED
    record["write_ns"][7] = SATURATED
    fields = ("round_trip_ns", "write_ns", "fill_ns", "check_ns", "loan_ns")
    found = tallied_fields(record, fields)
    for field in fields[:-1]:
        values = record[field]
        _same(found[field], summarise(values[values != NOT_MEASURED]))
    assert found["loan_ns"] == Summary()
