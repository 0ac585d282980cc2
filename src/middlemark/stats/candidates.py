"""Candidates of a race: the result of each trial, when and why a candidate is eliminated, and the end of the race.

Everything follows from the stored trials, so an interrupted race continues as if it had not been interrupted.
"""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from middlemark.model.cell import ONE_WAY, Cell
from middlemark.model.description import Description
from middlemark.model.plan import Race, Raced, Wanted
from middlemark.stats import rates
from middlemark.stats.baselines import used_another_transport
from middlemark.stats.costs import trial_cpu
from middlemark.stats.interval import FEWEST
from middlemark.stats.metrics import METRICS
from middlemark.stats.race import FINAL_LOOKS, FIRST_LOOK, Ended, Figures, after_look
from middlemark.stats.result import EdgeResult
from middlemark.stats.trials import KeptOf, SamplesOf, TrialSummary
from middlemark.stats.workload import GraphTrial, edges_over, fails_most, graph_holds

Elimination = Literal[
    "slower",
    "misses the deadline",
    "cannot keep the rate",
    "loses",
    "never finds all",
    "takes too much processor time",
    "failed",
]

LATE = 0.01
"""The largest share of messages that may arrive after the deadline. With a larger share, the candidate misses the
deadline."""
BEHIND = 0.01
"""The largest share of due messages that may be unsent. With a larger share, the candidate does not keep the rate."""
FAILURES = 2
"""With this number of failed trials, a candidate is eliminated."""
_LOOKS = (FEWEST, *FINAL_LOOKS)
_MISSING = 0.05


class Attempt(msgspec.Struct, frozen=True):
    """One trial of a candidate."""

    figure: float | None
    """The race's metric, or for a workload the largest ratio of an edge's p99 to its deadline; less is better. None:
    the trial has no such figure."""
    misses: Elimination | None = None
    """The requirement that was not met, the most serious one if there are several; None: all were met."""
    within: float | None = None
    """Share of messages that arrived within the deadline; None: there is no deadline."""
    conclusive: bool = True
    """False if a workload had too few messages to judge its requirements."""


def raced_by(cell: Cell, in_race: "InRace | None" = None) -> str:
    """Return the metric that decides a race of this cell, by its name in ``METRICS``. Without a race: p50."""
    if cell.workload is not None:
        return "deadline"
    return "p50" if in_race is None else in_race.metric


Attempts = Mapping[int, Mapping[int, Attempt]]
"""Cell → round → attempt."""


class RaceState(msgspec.Struct, frozen=True):
    """State of a race after a round. ``running``: the cells that may be the best, the lowest median first."""

    running: tuple[int, ...]
    eliminated: Mapping[int, Elimination]
    ended: Ended | Literal["none holds"] | None
    rounds: int
    """The last round in which the race was measured."""
    had: int = 0
    """Number of rounds in which the race was measured."""


class InRace(msgspec.Struct, frozen=True):
    """A candidate in its race. ``race`` is the number of the race in its run."""

    race: int
    eliminated: Elimination | None = None
    """Why the candidate was eliminated; None: it may be the best."""
    rounds: int = 0
    """Number of rounds in which the candidate was measured."""
    holds: bool = True
    """True if the candidate met the requirements in at least half of its trials."""
    within: float | None = None
    """Share of messages that arrived within the deadline, as the median over trials; None: there is no deadline."""
    state: RaceState | None = None
    metric: Raced = "p50"


def attempt(
    cell: Cell,
    trial: TrialSummary,
    race: Race,
    samples: SamplesOf,
    kept: KeptOf,
    descriptions: Mapping[str, Description],
) -> Attempt:
    """Return the result of a candidate's trial.

    The trial counts as failed if its actual transport is not the transport in its name.
    """
    outcome, wanted = trial.outcome, race.wanted
    if outcome.failed is not None or used_another_transport(cell, outcome, descriptions):
        return Attempt(None, "failed")
    if trial.graph is not None:
        return _of_graph(cell, trial.graph, trial_cpu(outcome), wanted)
    counts = rates.counts(outcome)
    expected = counts.received + counts.lost if counts else 0
    within = None
    misses: list[Elimination] = []
    if outcome.crowd is not None and outcome.crowd.publishers_heard < outcome.crowd.publishers_due:
        misses.append("never finds all")
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
    figure = METRICS[race.metric].figure(cell, trial)
    return Attempt(figure, misses[0] if misses else None if figure else "failed", within)


def _of_graph(cell: Cell, graph: GraphTrial, cpu: float | None, wanted: Wanted) -> Attempt:
    """Return the result of a workload's trial.

    If an edge fails, the result has the requirement that the worst edge misses.
    """
    edges = edges_over(cell, [graph])
    held, failing = graph_holds(edges), fails_most(edges)
    misses: Elimination | None = None if failing is None else _fails_by(failing)
    if misses is None and wanted.max_cpu is not None and cpu is not None and cpu > wanted.max_cpu:
        misses = "takes too much processor time"
    return Attempt(graph.worst, misses or (None if graph.worst else "failed"), conclusive=held is not None)


def _fails_by(edge: EdgeResult) -> Elimination:
    """Return the cause of most failed messages of an edge."""
    ways: tuple[tuple[int, Elimination], ...] = (
        (edge.unsent, "cannot keep the rate"),
        (edge.lost, "loses"),
        (edge.missed or 0, "misses the deadline"),
    )
    return max(ways, key=lambda each: each[0])[1]


def _latencies(
    cell: Cell, trial: TrialSummary, samples: SamplesOf, kept: KeptOf
) -> Iterable[np.ndarray[tuple[int], np.dtype[np.uint64]]]:
    """Return the latencies that ``latency_of`` summarises, in ns from the intended instant, an array for each file."""
    if cell.pattern in ONE_WAY:
        return [each.raw["one_way_ns"] for file in trial.outcome.timed if (each := kept(file)).role == "subscriber"]
    trips = [kept(file).raw for file in trial.outcome.files if file.role == "client"]
    ping = None if trips else samples(trial.outcome)
    return [each["round_trip_ns"] + each["late_ns"] for each in (trips if ping is None else [ping])]


def race_states(race: Race, attempts: Attempts, rounds: int, *, spent: bool = False) -> tuple[RaceState, ...]:
    """Return the state of each race after this number of complete rounds. ``spent``: no more rounds follow."""
    return tuple(
        # A single candidate gets one round, which shows that it works. In the race for ``which``, a single candidate
        # also gets the rounds up to the first look.
        _run(cells, attempts, rounds, 1 if len(cells) == 1 and not race.question else FIRST_LOOK, spent=spent)
        for cells in race.experiments
    )


def due_of(race: Race, found: Sequence[RaceState], rounds: int, adapters: Sequence[str]) -> list[RaceState]:
    """Return the undecided races that get the next round. ``adapters``: cell → name of its adapter.

    A race is minor if it has less than half as many candidates as the largest race (for example, transports within one
    process). It is also minor if all running candidates belong to one middleware, so that the best middleware is known.
    A minor race first gets ``FIRST_LOOK`` rounds. It gets more when all other races are decided, or when the run has
    had ``FINAL_LOOKS[1]`` (12) rounds. It never gets more than ``FINAL_LOOKS[0]`` (8) rounds of its own.
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
        # False: the race had no trial in this round.
        ran = any(number in attempts.get(each, {}) for each in state.running)
        if state.ended is None and ran:
            before, state = state, _after(state, attempts, number, fewest)
    if spent and state.ended is None and state.had:  # the last round gets the last look
        return _after(before, attempts, state.rounds, fewest, last=True)
    return state


def _after(state: RaceState, attempts: Attempts, number: int, fewest: int, *, last: bool = False) -> RaceState:
    """Return the state after the round ``number``. ``last``: no round follows.

    A race does not end before it has had ``fewest`` rounds.
    """
    known = {each: {at: one for at, one in attempts.get(each, {}).items() if at <= number} for each in state.running}
    eliminated: dict[int, Elimination] = {
        each: why for each, tried in known.items() if (why := _elimination([*tried.values()])) is not None
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
    # If a candidate has no figure in some round, it is compared over the rounds in which it has one. The other
    # candidates keep all their rounds.
    whole = {each: logs for each, logs in timed.items() if len(logs) == max(map(len, timed.values()))}
    for some in (whole, timed) if len(whole) < len(timed) else (timed,):
        due = {each: logs for each, logs in some.items() if each not in eliminated}
        if holding & due.keys():
            now = after_look(due, leaders=holding, last=last)
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
    """Say whether the requirements are met in at least half of the trials; False without a trial."""
    return bool(attempts) and 2 * sum(each.misses is None and each.conclusive for each in attempts) >= len(attempts)


def _elimination(attempts: Sequence[Attempt]) -> Elimination | None:
    """Return why a candidate is eliminated whatever the other candidates do; None: it stays.

    A candidate is eliminated if it failed twice. It is also eliminated if significantly more than half of its trials
    miss a requirement, by the exact one-sided binomial test. Each look uses half of the remaining error of 5 %.
    """
    if sum(each.misses == "failed" for each in attempts) >= FAILURES:
        return "failed"
    missing: list[Elimination] = [each.misses for each in attempts if each.misses is not None]
    trials = len(attempts)
    if trials not in _LOOKS or not missing:
        return None
    chance = sum(math.comb(trials, more) for more in range(len(missing), trials + 1)) / 2**trials
    return Counter(missing).most_common(1)[0][0] if chance <= _MISSING * 2.0 ** -(1 + _LOOKS.index(trials)) else None
