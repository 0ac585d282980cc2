"""What left a race as slower is slower wherever it is told, also where its own few trials could not tell."""

import pytest
from stats_cases import cell

from middlemark.stats.candidates import Left, Place
from middlemark.stats.comparisons import Pairing, Side, compare
from middlemark.stats.verdict import Verdict


def side(adapter: str, values: list[float], place: Place | None) -> Side:
    figures: dict[str, dict[int, float]] = {name: {} for name in ("p99", "throughput", "cpu", "memory")} | {
        "p50": dict(enumerate(values))
    }
    return Side(adapter, "run", cell(adapter), None, "here", figures, place=place)


def verdict_of(
    one: list[float], other: list[float], left: tuple[Left | None, Left | None], heats: tuple[int, int] = (0, 0)
) -> Verdict:
    places = [Place(heat, why) for heat, why in zip(heats, left, strict=True)]
    a, b = side("lyra", one, places[0]), side("vega", other, places[1])
    (found,) = compare([Pairing(a, b, ("lyra", "vega"))], ["p50"])
    return found.judged.verdict


FEW, SLOWER = [10.0, 10.5], [20.0, 30.0]
MANY, WILD = [10.0, 11.0, 10.0, 12.0, 10.0, 11.0, 10.0], [30.0, 9.0, 40.0, 11.0, 35.0, 10.5, 33.0]


@pytest.mark.parametrize(("one", "other"), [(FEW, SLOWER), (MANY, WILD)])
def test_what_left_as_slower_is_slower_than_what_may_be_the_best(one: list[float], other: list[float]) -> None:
    assert verdict_of(one, other, (None, None)) is Verdict.CANNOT_TELL
    assert verdict_of(one, other, (None, "slower")) is Verdict.WORSE
    assert verdict_of(other, one, ("slower", None)) is Verdict.BETTER


def test_a_race_says_nothing_of_two_that_left_nor_of_another_race_nor_against_the_figures() -> None:
    assert verdict_of(FEW, SLOWER, ("slower", "slower")) is Verdict.CANNOT_TELL
    assert verdict_of(FEW, SLOWER, (None, "failed")) is Verdict.CANNOT_TELL
    assert verdict_of(FEW, SLOWER, (None, "slower"), (0, 1)) is Verdict.CANNOT_TELL
    assert verdict_of(SLOWER, FEW, (None, "slower")) is Verdict.CANNOT_TELL


def test_what_the_trials_tell_stands() -> None:
    alike = [10.0 + 0.01 * each for each in range(12)]
    assert verdict_of(alike, alike[::-1], (None, "slower")) is Verdict.EQUIVALENT
