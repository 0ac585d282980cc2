"""Turns: trials that run side by side, of which one sends at a time."""

import asyncio
import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning import plan_of, problems_of

from middlemark.model.turns import Turn, instants_of, side_by_side, turns_of
from middlemark.plan.estimate import estimate_seconds
from middlemark.plan.rounds import with_another_round
from middlemark.sites.descendants import SideBySide
from middlemark.trial.side_by_side import Gate, Group

SOAK = """
[[sweep]]
adapter = ["cyclonedds", "fastdds", "udp"]
transport = "udp"
pattern = "stream"
size = "1k"
rate = 100
duration = "60s"
turns = "10s"
trials = 2
"""


@given(st.integers(1, 8), st.integers(0, 1 << 32), st.floats(0.1, 60.0), st.integers(1, 9))
def test_each_cycle_gives_every_trial_one_turn_and_no_two_at_the_same_time(
    seats: int, seed: int, turn_s: float, cycles: int
) -> None:
    begins = {
        seat: list(turns_of(Turn(seat=seat, seats=seats, seed=seed), turn_s, seats * cycles * turn_s * 0.9999))
        for seat in range(seats)
    }
    every = sorted(begin for each in begins.values() for begin in each)
    assert every == pytest.approx([at * turn_s for at in range(seats * cycles)])
    for each in begins.values():
        assert [math.floor(begin / turn_s / seats + 1e-6) for begin in each] == list(range(cycles))


def test_the_order_of_the_turns_is_random_and_depends_on_the_seed() -> None:
    orders = {
        seed: [[*turns_of(Turn(seat=0, seats=6, seed=seed), 1.0, 600.0)][cycle] - 6 * cycle for cycle in range(100)]
        for seed in (1, 2)
    }
    assert orders[1] != orders[2]
    assert {*orders[1]} == {0, 1, 2, 3, 4, 5}


def test_messages_are_sent_at_the_rate_within_the_turn_and_not_at_its_ends() -> None:
    turn = Turn(seat=1, seats=3, seed=7)
    instants = instants_of(turn, 10.0, 60.0, 100.0)
    [first, second] = turns_of(turn, 10.0, 60.0)
    inside = [each / 1e9 - first for each in instants if each / 1e9 < first + 10.0]
    assert len(instants) == 2 * 980
    assert inside[0] == pytest.approx(0.1)
    assert max(inside) == pytest.approx(9.89)
    assert {round(b - a, 6) for a, b in pairwise(inside)} == {0.01}
    assert instants[980] / 1e9 == pytest.approx(second + 0.1)


def test_the_trials_of_a_round_run_side_by_side_with_a_seat_each() -> None:
    plan = plan_of(SOAK)
    groups = [*side_by_side(plan.trials)]
    assert [len(each) for each in groups] == [3, 3]
    for group in groups:
        turns = [each.turn for each in group if each.turn is not None]
        assert sorted(each.seat for each in turns) == [0, 1, 2]
        assert len({each.seed for each in turns}) == 1
    seeds = [group[0].turn.seed for group in groups if group[0].turn]
    assert len({*seeds}) == 2, "each round has an order of its own"
    longer = with_another_round(plan)
    assert [len(each) for each in side_by_side(longer.trials)] == [3, 3, 3]


def test_without_turns_each_trial_is_alone_and_its_random_numbers_are_the_same() -> None:
    alone, together = plan_of(SOAK.replace('turns = "10s"', "")), plan_of(SOAK)
    assert [len(each) for each in side_by_side(alone.trials)] == [1] * 6
    assert [(each.cell, each.seed) for each in alone.trials] == [(each.cell, each.seed) for each in together.trials]
    assert estimate_seconds(together) == pytest.approx(estimate_seconds(alone) / 3)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ('pattern = "stream"', 'pattern = "ping-pong"', "only streams with a periodic rate are sent in turns"),
        ("rate = 100", 'rate = "max"', "only streams with a periodic rate are sent in turns"),
        ("rate = 100", 'rate = 100\narrivals = "poisson"', "only streams with a periodic rate are sent in turns"),
        ('size = "1k"', 'size = ["1k", "64k"]', "cyclonedds, fastdds and udp are in several configurations"),
        ('duration = "60s"', "samples = 100", "needs a duration instead of samples"),
        (
            'duration = "60s"',
            'duration = "29s"',
            "3 configurations with a turn of 10 s each need a duration",
        ),
    ],
)
def test_configurations_that_cannot_run_side_by_side_are_refused(before: str, after: str, text: str) -> None:
    problems = problems_of(SOAK.replace(before, after))
    assert any(text in each for each in problems), problems


def test_trials_wait_for_each_other_but_not_for_one_that_failed() -> None:
    async def arrivals() -> list[str]:
        gate, happened = Gate([1, 2, 3]), list[str]()

        async def arrive(order: int) -> None:
            await gate.arrive(order)
            happened.append(f"{order} passed")

        tasks = [asyncio.create_task(arrive(order)) for order in (1, 2)]
        await asyncio.sleep(0)
        happened.append("3 fails")
        gate.leave(3)
        await asyncio.gather(*tasks)
        await gate.arrive(3)
        return happened

    assert asyncio.run(arrivals()) == ["3 fails", "1 passed", "2 passed"]


def test_a_failed_trial_leaves_both_gates() -> None:
    async def end() -> None:
        group = Group([1, 2])
        group.leave(2)
        await group.start.arrive(1)
        await group.end.arrive(1)

    asyncio.run(asyncio.wait_for(end(), 5.0))


def test_orphans_are_searched_only_after_the_last_of_several_sessions() -> None:
    sessions = SideBySide()
    sessions.begin()
    sessions.begin()
    assert sessions.end() is None
    assert sessions.end() is not None
    sessions.begin()
    assert sessions.end() is not None
