"""The rounds of a race: the candidates of the next round, the reasons for elimination, and refused options."""

import msgspec
import pytest
from test_plan_order import plan_of

from middlemark.model.plan import Race
from middlemark.plan.rounds import racing, with_another_round
from middlemark.problems import RequestError
from middlemark.stats.candidates import Attempt, Elimination, RaceState, due_of, holds, race_states

RAW_TRANSPORTS = ("uds", "tcp", "udp", "shm", "memcpy")


def race_state(attempts: dict[int, list[Attempt]], rounds: int | None = None) -> RaceState:
    """Return the state of the race of these cells. The attempts of a cell belong to rounds 1, 2, …"""
    by_round = {cell: dict(enumerate(figures, start=1)) for cell, figures in attempts.items()}
    race = Race(experiments=(tuple(attempts),), budget_s=1.0)
    return race_states(race, by_round, max(map(len, attempts.values())) if rounds is None else rounds)[0]


def trials(us: float, rounds: int, misses: Elimination | None = None) -> list[Attempt]:
    """Trials that differ slightly, in no particular order."""
    return [Attempt(us * 1000 * (1 + 0.01 * (number * 7 % 5 - 2)), misses) for number in range(rounds)]


def test_cells_of_one_experiment_race_against_each_other_without_raw_transports() -> None:
    plan = plan_of(adapter="cyclonedds,fastdds", transport="udp", size="64,1k", trials="3", duration="0.1s")
    race = racing(plan, RAW_TRANSPORTS, 600.0).race
    assert race is not None
    assert [{plan.cells[each].size for each in heat} for heat in race.experiments] == [{64}, {1024}]
    assert [sorted(plan.cells[each].adapter for each in heat) for heat in race.experiments] == [
        ["cyclonedds", "fastdds"]
    ] * 2
    together = racing(plan, RAW_TRANSPORTS, 600.0, question=True).race
    assert together is not None
    assert [len(heat) for heat in together.experiments] == [4]


def test_a_race_of_only_raw_transports_or_with_too_small_a_budget_is_refused() -> None:
    with pytest.raises(RequestError, match="nothing is left to race"):
        racing(plan_of(adapter="uds,tcp", trials="3"), RAW_TRANSPORTS, 600.0)
    with pytest.raises(RequestError, match=r"the first rounds, \d+ trials, take about"):
        racing(plan_of(adapter="cyclonedds", transport="udp", trials="3", duration="20s"), RAW_TRANSPORTS, 30.0)


def test_the_next_round_has_the_due_cells_in_a_repeatable_order() -> None:
    plan = plan_of(3, adapter="uds,tcp", size="64,1k,4k", trials="3")
    longer = with_another_round(plan, [4, 1])
    further = longer.trials[len(plan.trials) :]
    assert sorted(each.cell for each in further) == [1, 4]
    assert [each.number for each in further] == [4, 4]
    assert [each.order for each in further] == [len(plan.trials), len(plan.trials) + 1]
    assert longer == with_another_round(plan, [1, 4])
    again = with_another_round(longer, [0])
    assert again.trials[-1].cell == 0, "a cell that missed a round may run again"


def test_no_candidate_is_eliminated_before_two_rounds_and_slow_ones_are_then() -> None:
    field = {0: trials(50, 3), 1: trials(51, 3), 2: trials(90, 3), 3: trials(200, 3), 4: trials(210, 3)}
    assert race_state(field, 1) == RaceState((0, 1, 2, 3, 4), {}, None, 1, 1)
    now = race_state(field)
    assert set(now.running) == {0, 1}
    assert now.eliminated == {2: "slower", 3: "slower", 4: "slower"}
    assert now.ended is None


def test_two_failures_eliminate_a_candidate_and_one_does_not() -> None:
    once = {0: trials(50, 3), 1: [Attempt(None, "failed"), *trials(51, 2)]}
    assert race_state(once).eliminated == {}
    twice = {0: trials(50, 3), 1: [Attempt(None, "failed"), Attempt(None, "failed"), Attempt(51_000.0)]}
    assert race_state(twice).eliminated == {1: "failed"}
    assert (race_state(twice).running, race_state(twice).ended) == ((0,), "best")


def test_a_candidate_that_misses_a_requirement_in_six_trials_is_eliminated() -> None:
    field = {0: trials(40, 6, "misses the deadline"), 1: trials(50, 6)}
    five = race_state(field, 5)
    assert (five.eliminated, five.ended) == ({}, None)
    assert set(five.running) == {0, 1}, (
        "the slower candidate meets the requirement, so it is not compared with the other one"
    )
    six = race_state(field)
    assert six.eliminated == {0: "misses the deadline"}
    assert (six.running, six.ended) == ((1,), "best")


def test_a_candidate_that_misses_a_requirement_now_and_then_stays() -> None:
    some = [Attempt(40_000.0, "loses" if number % 3 == 0 else None) for number in range(12)]
    assert holds(some)
    assert race_state({0: some, 1: trials(80, 12)}).eliminated.get(0) is None


def test_if_no_candidate_meets_the_requirements_none_holds() -> None:
    now = race_state({0: trials(50, 6, "cannot keep the rate"), 1: trials(60, 6, "cannot keep the rate")})
    assert (now.running, now.ended) == ((), "none holds")
    assert set(now.eliminated.values()) == {"cannot keep the rate"}


def test_trials_after_the_end_of_a_race_change_nothing() -> None:
    field = {0: trials(50, 8), 1: trials(70, 8)}
    ended = race_state(field)
    assert ended.ended == "best"
    more = {cell: [*figures, *trials(10 if cell else 90, 4)] for cell, figures in field.items()}
    assert race_state(more) == ended


def test_a_single_candidate_is_measured_once() -> None:
    assert (race_state({0: trials(50, 1)}).running, race_state({0: trials(50, 1)}).ended) == ((0,), "best")


def test_a_round_without_trials_does_not_count_as_a_further_look() -> None:
    field = {0: trials(50, 3), 1: trials(51, 3), 2: trials(58, 3), 3: trials(200, 3)}
    assert race_state(field, 9) == race_state(field, 3)


def test_races_of_one_run_are_decided_separately() -> None:
    attempts = {0: trials(50, 8), 1: trials(90, 8), 2: trials(50, 8), 3: trials(50.2, 8)}
    by_round = {cell: dict(enumerate(figures, start=1)) for cell, figures in attempts.items()}
    first, second = race_states(Race(experiments=((0, 1), (2, 3)), budget_s=1.0), by_round, 8)
    assert (first.ended, first.running) == ("best", (0,))
    assert second.ended in ("tie", None)
    assert set(second.running) == {2, 3}


def test_a_race_of_few_waits_for_larger_ones_after_its_first_look() -> None:
    race = Race(experiments=((0, 1, 2), (3, 4, 5), (6,)), budget_s=1.0)

    def due(rounds: int, *ended: str | None, had: int = 2) -> list[int]:
        found = [
            RaceState(cells, {}, each, rounds, had if len(cells) == 1 else rounds)
            for cells, each in zip(race.experiments, ended, strict=True)
        ]  # type: ignore[arg-type]
        return [each.running[0] for each in due_of(race, found, rounds, "abcabca")]

    assert due(1, None, None, None, had=1) == [0, 3, 6]
    assert due(2, None, None, None) == [0, 3]
    assert due(11, None, None, None) == [0, 3]
    assert due(12, None, None, None) == [0, 3, 6]
    assert due(20, None, None, None, had=8) == [0, 3]
    assert due(8, "best", None, None) == [3]
    assert due(8, "best", "tie", None) == [6]
    assert due(20, "best", "tie", None, had=8) == []
    assert due(8, "best", "tie", "best") == []


def test_a_race_within_one_middleware_waits_for_the_other_races() -> None:
    race = Race(experiments=((0, 1, 2), (3, 4, 5)), budget_s=1.0)
    ways, others = RaceState((0, 1), {2: "slower"}, None, 5, 5), RaceState((3, 4, 5), {}, None, 5, 5)
    assert due_of(race, [ways, others], 5, "aabcde") == [others]
    assert due_of(race, [ways, others], 5, "abbcde") == [ways, others]
    assert due_of(race, [ways, msgspec.structs.replace(others, ended="tie")], 5, "aabcde") == [ways]
    assert due_of(race, [msgspec.structs.replace(ways, had=8), others], 14, "aabcde") == [others]
    assert due_of(Race(experiments=((0, 1, 2),), budget_s=1.0), [RaceState((0, 1), {}, None, 9, 9)], 9, "aaa") != [], (
        "there is no other race"
    )
    question = msgspec.structs.replace(race, question=True)
    assert due_of(question, [ways, others], 9, "aabcde") == [ways, others]
