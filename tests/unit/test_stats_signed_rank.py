"""The signed-rank test and its interval, with scipy as the oracle."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from middlemark.stats.signed_rank import p_value, signed_rank

DIFFERENCES = st.lists(st.floats(-10, 10, allow_nan=False).map(lambda each: round(each, 6)), min_size=1, max_size=30)


def seeded(seed: int, pairs: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_t(3, pairs) + 0.4


@pytest.mark.parametrize("pairs", [1, 2, 5, 6, 10, 25, 50])
@pytest.mark.parametrize("seed", range(4))
def test_the_p_value_equals_scipys(pairs: int, seed: int) -> None:
    differences = seeded(seed, pairs)
    assert p_value(differences) == pytest.approx(scipy.stats.wilcoxon(differences, method="exact").pvalue)


@pytest.mark.parametrize("pairs", [6, 10, 25])
@pytest.mark.parametrize("seed", range(4))
def test_the_interval_is_the_set_of_shifts_that_scipys_test_does_not_reject(pairs: int, seed: int) -> None:
    differences = seeded(seed, pairs)
    found = signed_rank(differences.tolist())

    def rejected(shift: float) -> bool:
        return bool(scipy.stats.wilcoxon(differences - shift, method="exact").pvalue <= 0.05)

    near = 1e-9
    assert rejected(found.low - near)
    assert not rejected(found.low + near)
    assert not rejected(found.high - near)
    assert rejected(found.high + near)


def test_five_pairs_have_no_interval_and_six_have_one() -> None:
    assert signed_rank([1.0] * 5).low == -math.inf
    assert signed_rank([1.0] * 6).low == 1.0


def test_ties_and_zeros_are_exact_over_all_possible_signs() -> None:
    # Doubled ranks are 3, 3 and 6, and the zero keeps its rank of 1. One of the eight sign patterns has the largest
    # sum.
    assert p_value(np.array([0.0, 2.0, 2.0, 5.0])) == pytest.approx(2 / 8)
    assert p_value(np.zeros(4)) == 1.0


@given(DIFFERENCES)
def test_swapping_both_sides_mirrors_the_shift(differences: list[float]) -> None:
    one, other = signed_rank(differences), signed_rank([-each for each in differences])
    assert one.shift == pytest.approx(-other.shift)
    assert one.p == pytest.approx(other.p)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.low <= one.shift <= one.high


@given(DIFFERENCES, st.floats(-5, 5).map(lambda each: round(each, 6)))
def test_a_constant_added_to_all_differences_moves_the_shift_and_its_interval(
    differences: list[float], more: float
) -> None:
    one, other = signed_rank(differences), signed_rank([each + more for each in differences])
    assert other.shift == pytest.approx(one.shift + more, abs=1e-6)
    assert (other.low, other.high) == pytest.approx((one.low + more, one.high + more), abs=1e-6)


def test_empty_or_infinite_differences_are_refused() -> None:
    for wrong in ([], [math.inf], [math.nan, 1.0]):
        with pytest.raises(ValueError, match="finite"):
            signed_rank(wrong)
