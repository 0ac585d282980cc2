"""A comparison that its trials cannot decide reports the rule by which the race ended, which is not a verdict."""

import pytest
from stats_cases import cell

from middlemark.stats.candidates import Elimination, InRace
from middlemark.stats.comparisons import Pairing, Side, compare
from middlemark.stats.verdict import Verdict


def side(adapter: str, values: list[float], in_race: InRace | None) -> Side:
    figures: dict[str, dict[int, float]] = {name: {} for name in ("p99", "throughput", "cpu", "memory")} | {
        "p50": dict(enumerate(values))
    }
    return Side(adapter, "run", cell(adapter), None, "here", figures, in_race=in_race)


def judged(
    one: list[float],
    other: list[float],
    left: tuple[Elimination | None, Elimination | None],
    heats: tuple[int, int] = (0, 0),
) -> tuple[Verdict, str]:
    races = [InRace(heat, why) for heat, why in zip(heats, left, strict=True)]
    a, b = side("lyra", one, races[0]), side("vega", other, races[1])
    (found,) = compare([Pairing(a, b, ("lyra", "vega"))], ["p50"])
    return found.judged.verdict, found.word


FEW, SLOWER = [10.0, 10.5], [20.0, 30.0]
MANY, WILD = [10.0, 11.0, 10.0, 12.0, 10.0, 11.0, 10.0], [30.0, 9.0, 40.0, 11.0, 35.0, 10.5, 33.0]


@pytest.mark.parametrize(("one", "other"), [(FEW, SLOWER), (MANY, WILD)])
def test_an_eliminated_candidate_is_named_without_a_verdict(one: list[float], other: list[float]) -> None:
    assert judged(one, other, (None, None)) == (Verdict.UNDECIDED, "undecided")
    assert judged(one, other, (None, "slower")) == (Verdict.UNDECIDED, "eliminated")
    assert judged(other, one, ("slower", None)) == (Verdict.UNDECIDED, "A eliminated")


def test_a_race_does_not_judge_two_eliminated_or_other_races_or_contradict_figures() -> None:
    assert judged(FEW, SLOWER, ("slower", "slower"))[1] == "undecided"
    assert judged(FEW, SLOWER, (None, "failed"))[1] == "undecided"
    assert judged(FEW, SLOWER, (None, "slower"), (0, 1))[1] == "undecided"
    assert judged(SLOWER, FEW, (None, "slower"))[1] == "undecided"


def test_a_verdict_of_the_trials_has_priority_over_an_elimination() -> None:
    alike = [10.0 + 0.01 * each for each in range(12)]
    assert judged(alike, alike[::-1], (None, "slower")) == (Verdict.EQUIVALENT, "equivalent")
