"""Races: the best is seldom eliminated, candidates that cannot win are eliminated early, ties are reported as ties."""

import itertools
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from middlemark.stats.interval import FEWEST
from middlemark.stats.race import FINALISTS, FIRST_LOOK, AfterLook, after_look, equal_allocation
from middlemark.stats.verdict import Verdict, judge

pytestmark = pytest.mark.slow

CANDIDATES = 28
MOST_ROUNDS = 34
Values = npt.NDArray[np.float64]


class Raced(NamedTuple):
    """The end of a simulated race."""

    ended: str | None
    running: tuple[Hashable, ...]
    trials: int
    rounds: int


def noise(draw: np.random.Generator, kind: str) -> Values:
    """Return logarithms of p50s. Trials vary by 8 % with a heavy tail, the machine drifts, ``kind`` adds its effect."""
    values = 0.08 * draw.standard_t(5, (MOST_ROUNDS, CANDIDATES)) * np.sqrt(3 / 5)
    if kind == "two speeds":
        stalling = draw.random(CANDIDATES) < 0.4
        values += np.where(stalling & (draw.random(values.shape) < 0.3), 0.25, 0.0)
    if kind == "stalls":
        values += np.where(draw.random(values.shape) < 0.02, draw.exponential(1.0, values.shape), 0.0)
    if kind == "disturbed":
        values += np.where(draw.random(values.shape) < 0.2, draw.exponential(0.4, values.shape), 0.0)
    if kind == "unlike":
        values *= np.exp(draw.normal(0, 0.8, CANDIDATES))
    return values + np.cumsum(draw.normal(0, 0.05, MOST_ROUNDS))[:, None]


def raced(values: Values, *, cut_off: bool = False) -> Raced:
    """Run the race until it ends. If ``cut_off``, the last round is judged as a race's end."""
    running: tuple[Hashable, ...] = tuple(range(values.shape[1]))
    trials = 0
    for rounds in range(1, len(values) + 1):
        trials += len(running)
        last = cut_off and rounds == len(values)
        now = after_look({each: dict(enumerate(values[:rounds, each])) for each in running}, last=last)
        assert {*now.running, *now.eliminated} == {*running}
        running = now.running
        if now.ended:
            return Raced(now.ended, running, trials, rounds)
    return Raced(None, running, trials, len(values))


def behind(draw: np.random.Generator, lead: float) -> Values:
    """Return log(1 + slowdown) of each candidate: 0 for the best, ``lead`` for four, up to 1.2 more for the others."""
    rest = np.concatenate([np.zeros(4), draw.uniform(0, 1.2, CANDIDATES - 5)])
    return np.log1p(np.concatenate([[0.0], lead + rest]))


@pytest.mark.parametrize("kind", ["plain", "two speeds", "stalls"])
def test_a_winner_by_a_fifth_is_found_with_a_third_of_the_trials(kind: str) -> None:
    draw = np.random.default_rng(3)
    races = [raced(noise(draw, kind) + behind(draw, 0.2)) for _ in range(40)]
    assert all(0 in each.running for each in races)
    assert sum(each.ended == "best" for each in races) >= 0.7 * len(races)
    assert np.median([each.trials / equal_allocation(CANDIDATES, each.rounds) for each in races]) <= 1 / 3


@pytest.mark.parametrize("kind", ["plain", "two speeds", "stalls", "disturbed", "unlike"])
def test_at_most_one_race_in_twenty_has_a_wrong_winner(kind: str) -> None:
    draw = np.random.default_rng(4)
    races = [raced(noise(draw, kind) + behind(draw, 0.08)) for _ in range(40)]
    assert sum(each.ended == "best" and each.running != (0,) for each in races) <= 2
    assert sum(0 not in each.running for each in races) <= 2


@pytest.mark.parametrize("kind", ["plain", "two speeds", "stalls", "disturbed", "unlike"])
def test_the_last_look_seldom_has_a_wrong_winner_and_finds_the_right_one_more_often(kind: str) -> None:
    draw = np.random.default_rng(13)
    values = [noise(draw, kind)[: draw.integers(9, MOST_ROUNDS)] + behind(draw, 0.12) for _ in range(40)]
    races = [raced(each, cut_off=True) for each in values]
    assert sum(0 not in each.running for each in races) <= 2
    found = sum(each.ended == "best" for each in races)
    assert found > sum(raced(each).ended == "best" for each in values), "otherwise this test could not fail"


def test_the_final_verdicts_of_a_spent_budget_add_no_wrong_winner() -> None:
    draw = np.random.default_rng(11)
    winners = [settled(noise(draw, kind) + behind(draw, 0.1), 17) for kind in ("plain", "stalls") for _ in range(15)]
    assert sum(each not in (None, 0) for each in winners) <= 1
    assert sum(each == 0 for each in winners) >= 3, "otherwise this test could not fail"


def settled(values: Values, rounds: int) -> Hashable | None:
    """Return the winner that the verdicts name if the race is cut off after this number of rounds."""
    running: tuple[Hashable, ...] = tuple(range(values.shape[1]))
    had: dict[Hashable, int] = {}
    for number in range(1, rounds + 1):
        had |= dict.fromkeys(running, number)
        now = after_look({each: dict(enumerate(values[:number, each])) for each in running}, last=number == rounds)
        running = now.running
        if now.ended == "best":
            return running[0]
    leader = min(running, key=lambda each: float(np.median(values[: had[each], each])))
    pairs = list(itertools.permutations([each for each, number in had.items() if number >= FEWEST], 2))
    verdicts = judge(
        [
            {at: tuple(np.exp(values[at, list(pair)])) for at in range(min(had[each] for each in pair))}
            for pair in pairs
        ],
        higher_is_better=[False] * len(pairs),
        questions=["one"] * len(pairs),
    )
    slower = {b for (a, b), each in zip(pairs, verdicts, strict=True) if a == leader and each.verdict is Verdict.WORSE}
    return leader if {*running} <= {leader, *slower} else None


def test_equal_candidates_have_no_winner() -> None:
    draw = np.random.default_rng(5)
    races = [raced(noise(draw, "plain")) for _ in range(20)]
    assert sum(each.ended == "best" for each in races) <= 1


def test_candidates_within_the_margin_end_as_a_tie() -> None:
    draw = np.random.default_rng(6)
    race = raced(0.1 * noise(draw, "plain")[:, :8] + np.array([0.0, 0.005, 0.01, 0.5, 0.6, 0.7, 0.8, 0.9]))
    assert race.ended == "tie"
    assert {*race.running} == {0, 1, 2}
    assert len(race.running) <= FINALISTS


@pytest.mark.parametrize(("kind", "most"), [("plain", 12), ("two speeds", 16), ("stalls", 13), ("unlike", 16)])
def test_two_rounds_eliminate_half_of_the_candidates_and_seldom_the_best(kind: str, most: int) -> None:
    draw = np.random.default_rng(12)
    after = []
    for _ in range(100):
        values = noise(draw, kind)[:2] + behind(draw, 0.2)
        after.append(after_look({each: dict(enumerate(values[:, each])) for each in range(CANDIDATES)}).running)
    assert sum(0 not in each for each in after) <= 2
    assert np.mean([len(each) for each in after]) <= most


@pytest.mark.parametrize("candidates", [3, 4])
def test_the_best_of_few_candidates_is_seldom_eliminated_by_heavy_noise(candidates: int) -> None:
    draw = np.random.default_rng(3)
    lost = 0
    for _ in range(150):
        scattered = 0.4 * draw.standard_t(2, (12, candidates))
        lost += 0 not in raced(scattered + np.linspace(0, 0.3, candidates)).running
    assert lost <= 0.05 * 150


def test_two_values_that_agree_by_chance_do_not_decide() -> None:
    field = {each: {1: 0.1 * each, 2: 0.1 * each + 0.08 * (-1) ** each} for each in range(6)}
    agree = {**field, "agrees": {1: 0.2, 2: 0.2}}
    assert "agrees" in after_look(agree).running
    apart = {**field, "far": {1: 1.6, 2: 2.4}}
    assert "far" in after_look(apart).eliminated


def test_one_round_eliminates_nobody_and_a_single_candidate_wins() -> None:
    far = {"a": {1: 0.0}, "b": {1: 5.0}}
    assert FIRST_LOOK > 1
    assert after_look(far) == AfterLook(("a", "b"), (), None)
    assert after_look({"a": {1: 0.0}}) == AfterLook(("a",), (), "best")


def test_a_round_that_one_candidate_lacks_is_left_out() -> None:
    draw = np.random.default_rng(7)
    values = noise(draw, "plain")[:8, :3] + np.array([0.0, 1.0, 1.1])
    whole = {each: dict(enumerate(values[:, each])) for each in range(3)}
    holed = {each: dict(figures) for each, figures in whole.items()}
    del holed[1][4]
    without = {each: {number: value for number, value in of.items() if number != 4} for each, of in whole.items()}
    assert after_look(holed) == after_look(without)


@pytest.mark.parametrize(
    ("candidates", "rounds", "trials"), [(28, 8, 28 * 12), (28, 24, 28 * 24), (2, 8, 2 * 8), (2, 3, 16)]
)
def test_equal_allocation_needs_the_trials_of_the_exact_test(candidates: int, rounds: int, trials: int) -> None:
    assert equal_allocation(candidates, rounds) == trials
