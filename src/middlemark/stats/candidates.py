"""The candidates of a race: what each trial says of one, who is eliminated after which round and why, and how it ends.

All of it follows from the stored trials: a race that goes on after an interruption goes on as it would have.
"""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from middlemark.model.cell import Cell
from middlemark.model.description import Description
from middlemark.model.plan import Race, Wanted
from middlemark.stats import rates
from middlemark.stats.baselines import used_another_transport
from middlemark.stats.costs import trial_cpu
from middlemark.stats.interval import FEWEST
from middlemark.stats.race import FINAL_LOOKS, FIRST_LOOK, Ended, Figures, standing
from middlemark.stats.result import EdgeResult
from middlemark.stats.trials import KeptOf, SamplesOf, TrialSummary
from middlemark.stats.workload import GraphTrial, edges_over, fails_most, graph_holds

Elimination = Literal[
    "slower", "misses the deadline", "cannot keep the rate", "loses", "takes too much processor time", "failed"
]
"""Why a candidate was eliminated from its race."""

LATE = 0.01
"""A deadline is missed where more than this share of the messages does not arrive within it."""
BEHIND = 0.01
"""A rate is not kept where more than this share of it was not sent."""
FAILURES = 2
"""So many failed trials end it for a candidate."""
_LOOKS = (FEWEST, *FINAL_LOOKS)
_MISSING = 0.05


class Attempt(msgspec.Struct, frozen=True):
    """One trial of a candidate."""

    figure: float | None
    """What is to be small: its p50 in ns; of a workload, the part of its deadline that the worst edge takes."""
    misses: Elimination | None = None
    """What is wanted and was not done, the worst first."""
    within: float | None = None
    """The share of messages that arrived within the deadline; None: there is none."""
    conclusive: bool = True
    """Whether a workload had enough messages to say whether it did what is wanted."""


def raced_by(cell: Cell) -> str:
    """Return the metric that its race is decided by, as ``comparisons.METRICS`` has it."""
    return "p50" if cell.workload is None else "deadline"


Attempts = Mapping[int, Mapping[int, Attempt]]
"""By cell, by round."""


class RaceState(msgspec.Struct, frozen=True):
    """A race after a round. ``running``: the cells that may be the best, by their medians, the leader first."""

    running: tuple[int, ...]
    eliminated: Mapping[int, Elimination]
    ended: Ended | Literal["none holds"] | None
    rounds: int
    """The number of the last one that it had."""
    had: int = 0
    """How many it had."""


class InRace(msgspec.Struct, frozen=True):
    """A candidate in its race. ``race`` is the number of that race in its run."""

    race: int
    eliminated: Elimination | None = None
    """None: it may be the best."""
    rounds: int = 0
    """In how many rounds it was measured."""
    holds: bool = True
    """Whether it did what is wanted in at least half of its trials."""
    within: float | None = None
    """The share of messages that arrived within the deadline, the median over its trials; None: there is none."""
    state: RaceState | None = None
    """That of its race."""


def attempt(
    cell: Cell,
    trial: TrialSummary,
    wanted: Wanted,
    samples: SamplesOf,
    kept: KeptOf,
    descriptions: Mapping[str, Description],
) -> Attempt:
    """Return the trial's result for that candidate. One with another actual transport than it names has failed."""
    outcome = trial.outcome
    if outcome.failed is not None or used_another_transport(cell, outcome, descriptions):
        return Attempt(None, "failed")
    if trial.graph is not None:
        return _of_graph(cell, trial.graph, trial_cpu(outcome), wanted)
    latency = trial.times.latency_of(cell)
    counts = rates.counts(outcome)
    expected = counts.received + counts.lost if counts else 0
    within = None
    misses: list[Elimination] = []
    if rates.behind(cell, outcome) > BEHIND:
        misses.append("cannot keep the rate")
    if counts and wanted.max_loss is not None and counts.lost > wanted.max_loss * expected:
        misses.append("loses")
    if wanted.deadline_s is not None:
        in_time = sum(int((each <= wanted.deadline_s * 1e9).sum()) for each in _latencies(cell, trial, samples, kept))
        within = in_time / expected if expected else 0.0
        if within < 1 - LATE:
            misses.append("misses the deadline")
    cpu = trial_cpu(outcome)
    if wanted.max_cpu is not None and cpu is not None and cpu > wanted.max_cpu:
        misses.append("takes too much processor time")
    ns = latency.p50 if latency else None
    return Attempt(ns, misses[0] if misses else None if ns else "failed", within)


def _of_graph(cell: Cell, graph: GraphTrial, cpu: float | None, wanted: Wanted) -> Attempt:
    """Return what one trial of a workload says: it holds as its edges allow, or fails as the worst of them does."""
    edges = edges_over(cell, [graph])
    held, failing = graph_holds(edges), fails_most(edges)
    misses: Elimination | None = None if failing is None else _fails_by(failing)
    if misses is None and wanted.max_cpu is not None and cpu is not None and cpu > wanted.max_cpu:
        misses = "takes too much processor time"
    return Attempt(graph.worst, misses or (None if graph.worst else "failed"), conclusive=held is not None)


def _fails_by(edge: EdgeResult) -> Elimination:
    """Return what most of the messages came to that an edge failed by."""
    ways: tuple[tuple[int, Elimination], ...] = (
        (edge.unsent, "cannot keep the rate"),
        (edge.lost, "loses"),
        (edge.missed or 0, "misses the deadline"),
    )
    return max(ways, key=lambda each: each[0])[1]


def _latencies(
    cell: Cell, trial: TrialSummary, samples: SamplesOf, kept: KeptOf
) -> Iterable[np.ndarray[tuple[int], np.dtype[np.uint64]]]:
    """Return the times that ``latency_of`` is the summary of, each in ns from its intended instant."""
    if cell.pattern == "stream":
        return [each.raw["one_way_ns"] for file in trial.outcome.timed if (each := kept(file)).role == "subscriber"]
    trips = [kept(file).raw for file in trial.outcome.files if file.role == "client"]
    alone = None if trips else samples(trial.outcome)
    return [each["round_trip_ns"] + each["late_ns"] for each in (trips if alone is None else [alone])]


def race_states(race: Race, attempts: Attempts, rounds: int, *, spent: bool = False) -> tuple[RaceState, ...]:
    """Return how each race stands after so many rounds, all trials of which have ended. ``spent``: no more come."""
    return tuple(
        # Where there is nothing to choose one round shows that it works; a question is asked as it was planned.
        _run(cells, attempts, rounds, 1 if len(cells) == 1 and not race.question else FIRST_LOOK, spent=spent)
        for cells in race.experiments
    )


def due_of(race: Race, found: Sequence[RaceState], rounds: int, adapters: Sequence[str]) -> list[RaceState]:
    """Return the races that go on after so many rounds, of those that are not decided. ``adapters``: by cell.

    One of less than half as many candidates as the largest (what works within one process only) has the rounds of a
    first look, and waits until the large ones are decided or have had the rounds of two verdicts; then it has those of
    one. So does a race in which nothing is left but the ways of one middleware: which one is best is known.
    """
    most = max(map(len, race.experiments))
    large: list[RaceState] = []
    small: list[RaceState] = []
    for cells, state in zip(race.experiments, found, strict=True):
        ways = {adapters[each] for each in state.running}
        minor = 2 * len(cells) < most or len(ways) < min(2, len({adapters[each] for each in cells}))
        if state.ended is None:
            (small if minor and not race.question else large).append(state)
    small = [each for each in small if each.had < FINAL_LOOKS[0]]
    due = [each for each in small if each.had < FIRST_LOOK or rounds >= FINAL_LOOKS[1]]
    return [*large, *due] or small


def _run(cells: Sequence[int], attempts: Attempts, rounds: int, fewest: int, *, spent: bool) -> RaceState:
    before = state = RaceState(tuple(cells), {}, None, 0)
    for number in range(1, rounds + 1):
        ran = any(number in attempts.get(each, {}) for each in state.running)  # else there was no time for this one
        if state.ended is None and ran:
            before, state = state, _after(state, attempts, number, fewest)
    if spent and state.ended is None and state.had:  # its last round had the last look
        return _after(before, attempts, state.rounds, fewest, last=True)
    return state


def _after(state: RaceState, attempts: Attempts, number: int, fewest: int, *, last: bool = False) -> RaceState:
    """Return the state after that round, maybe the last one. A race ends after ``fewest`` rounds at the earliest."""
    known = {each: {at: one for at, one in attempts.get(each, {}).items() if at <= number} for each in state.running}
    eliminated: dict[int, Elimination] = {
        each: why for each, of in known.items() if (why := _elimination([*of.values()])) is not None
    }
    running = [each for each in state.running if each not in eliminated]
    holding = {each for each in running if holds(known[each].values())}
    timed: dict[Hashable, Figures] = {
        each: {at: math.log(one.figure) for at, one in known[each].items() if one.figure}
        for each in running
        if sum(one.figure is None for one in known[each].values()) < FAILURES
    }
    order: list[Hashable] = []
    ended: Ended | Literal["none holds"] | None = None
    # A candidate that lacks a round is compared in the rounds that it has, and costs no other candidate a round.
    whole = {each: of for each, of in timed.items() if len(of) == max(map(len, timed.values()))}
    for some in (whole, timed) if len(whole) < len(timed) else (timed,):
        due = {each: of for each, of in some.items() if each not in eliminated}
        if holding & due.keys():
            now = standing(due, leaders=holding, last=last)
            eliminated |= {each: "slower" for each in running if each in now.eliminated}
            order, ended = [*now.running], now.ended
    running = sorted(
        (each for each in running if each not in eliminated),
        key=lambda each: order.index(each) if each in order else len(order),
    )
    if not running:
        ended = "none holds"
    elif number < fewest or not holding.issuperset(running):
        ended = None
    return RaceState(tuple(running), {**state.eliminated, **eliminated}, ended, number, state.had + 1)


def holds(attempts: Collection[Attempt]) -> bool:
    """Say whether what is wanted is done in at least half of the trials; one that was never measured does not."""
    return bool(attempts) and 2 * sum(each.misses is None and each.conclusive for each in attempts) >= len(attempts)


def _elimination(attempts: Sequence[Attempt]) -> Elimination | None:
    """Return why a candidate is eliminated whatever the others do; None: it is not.

    It failed twice; or more of its trials miss what is wanted than chance explains if no more than half of them do:
    the exact one-sided binomial test over trials. Each look halves what is left of the error, 5 % altogether.
    """
    if sum(each.misses == "failed" for each in attempts) >= FAILURES:
        return "failed"
    missing: list[Elimination] = [each.misses for each in attempts if each.misses is not None]
    trials = len(attempts)
    if trials not in _LOOKS or not missing:
        return None
    chance = sum(math.comb(trials, more) for more in range(len(missing), trials + 1)) / 2**trials
    return Counter(missing).most_common(1)[0][0] if chance <= _MISSING * 2.0 ** -(1 + _LOOKS.index(trials)) else None
