"""Exact binomial chances and limits, with scipy as the oracle."""

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from middlemark.stats.binomial import at_least, highest_rate

COUNTS = st.integers(1, 200).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@given(COUNTS, st.floats(0, 1))
def test_the_chance_of_so_many_or_more_is_scipys(counts: tuple[int, int], rate: float) -> None:
    found, of = counts
    assert at_least(found, of, rate) == pytest.approx(scipy.stats.binom.sf(found - 1, of, rate), rel=1e-9, abs=1e-12)


@given(COUNTS, st.sampled_from([0.8, 0.95, 0.99]))
def test_the_limit_is_scipys_one_sided_exact_one(counts: tuple[int, int], confidence: float) -> None:
    found, of = counts
    test = scipy.stats.binomtest(found, of, alternative="less")
    assert highest_rate(found, of, confidence) == pytest.approx(
        test.proportion_ci(confidence, method="exact").high, rel=1e-6
    )


def test_none_of_thirty_leaves_a_tenth_possible() -> None:
    assert highest_rate(0, 30) == pytest.approx(1 - 0.05 ** (1 / 30))
    assert highest_rate(30, 30) == 1.0
