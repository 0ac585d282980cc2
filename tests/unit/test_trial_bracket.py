"""The rates that a search tries: it finds the highest sustained rate in few steps, and tries no rate twice."""

from hypothesis import given
from hypothesis import strategies as st

from middlemark.trial.steps import CURVE, DOWN, PRECISION, UP, Search, first_confirmed, highest_held

MOST_TRIES = 16


def followed(search: Search, capacity: float) -> tuple[float | None, list[float]]:
    """Run the search on a system that sustains rates up to ``capacity``. Return its result and the rates tried."""
    tried: list[float] = []
    try:
        rate = next(search)
        while True:
            tried.append(rate)
            rate = search.send(rate <= capacity)
    except StopIteration as found:
        return found.value, tried


@given(bound=st.floats(1, 1e7), share=st.floats(min(DOWN), UP**4))
def test_the_found_rate_holds_and_a_slightly_higher_one_would_not(bound: float, share: float) -> None:
    capacity = bound * share
    found, tried = followed(highest_held(bound), capacity)
    assert found is not None
    assert found in tried
    assert found <= capacity
    assert capacity <= found * PRECISION * 1.0001 or found >= bound * UP**4 * 0.9999


@given(bound=st.floats(1, 1e7), share=st.floats(0, 10))
def test_a_search_ends_soon_and_tries_no_rate_twice(bound: float, share: float) -> None:
    _, tried = followed(highest_held(bound), bound * share)
    assert len(tried) <= MOST_TRIES
    assert len(set(tried)) == len(tried)


@given(bound=st.floats(1, 1e7))
def test_no_rate_is_found_if_the_lowest_does_not_hold(bound: float) -> None:
    found, tried = followed(highest_held(bound), bound * min(DOWN) / 2)
    assert found is None
    assert tried[-1] == bound * min(DOWN)


@given(rate=st.floats(1, 1e7), share=st.floats(0, 2))
def test_a_confirmation_lowers_the_rate_until_one_holds(rate: float, share: float) -> None:
    found, tried = followed(first_confirmed(rate), rate * share)
    assert tried[0] == rate
    assert tried == sorted(tried, reverse=True)
    assert found == (tried[-1] if tried[-1] <= rate * share else None)


def test_a_curve_spans_from_idle_to_above_saturation() -> None:
    assert list(CURVE) == sorted(CURVE)
    assert CURVE[0] < 0.05
    assert CURVE[-1] > 1
