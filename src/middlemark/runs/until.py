"""Add rounds to a run until medians are precise, races or expectations are decided, or the time is spent.

The decisions depend only on the stored trials. The clock only measures the time that is spent.
"""

import statistics
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import msgspec

from middlemark.model.cell import experiment
from middlemark.model.description import Description
from middlemark.model.expectation import Deciding
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan, Precision, Race, Reached
from middlemark.plan.rounds import with_another_round
from middlemark.runs.read import readers
from middlemark.stats.candidates import Attempt, attempt, due_of, race_states
from middlemark.stats.expectations import ClaimVerdict, look_trials
from middlemark.stats.interval import imprecision
from middlemark.stats.metrics import METRICS, times_of
from middlemark.stats.trials import TrialSummary, figures, trial_summary
from middlemark.verdicts.expectations import judge_expectations

BASELINE_TRIALS = 8
"""The number of trials of a race's baseline. Other raw transports are measured only in the first rounds."""


class Open(msgspec.Struct, frozen=True):
    """The cells that are undecided after a round."""

    undecided: tuple[int, ...]
    """The indices of the cells that need more rounds; empty: all are decided."""
    due: Sequence[Collection[int]] | None = None
    """The cells to measure in the next round, in groups that are decided together; None: every cell."""
    needed: Sequence[tuple[int | None, Collection[int]]] = ()
    """For each group of ``due``: the estimated number of rounds until it is decided (None: too many), and its cells."""
    unmeasured: tuple[int, ...] = ()
    met: bool = True
    """False if the rounds end before the goal is reached, for example because nothing can be measured."""


class _Precisely:
    """Adds rounds until every median is precise."""

    def __init__(self, precision: Precision) -> None:
        self.budget_s = precision.budget_s
        self._precision = precision
        self._figures: dict[int, list[float]] = {}

    def take(self, plan: Plan, trial: TrialSummary) -> None:
        found = figures(plan.cells[trial.outcome.cell], [trial])[0]
        if found is not None and found > 0:
            self._figures.setdefault(trial.outcome.cell, []).append(found)

    def open(self, rounds: int) -> Open:
        found = imprecision(self._precision, self._figures, rounds)
        met = len(found.unmeasured) < len(self._precision.focus)
        return Open(found.imprecise, unmeasured=found.unmeasured, met=met)


class _Racing:
    """Adds rounds until every race has a winner or a tie."""

    def __init__(self, plan: Plan, race: Race, folder: Path, adapters: Sequence[Description]) -> None:
        self.budget_s = race.budget_s
        self._race = race
        raced = {index for cells in race.experiments for index in cells}
        self._raw_transports = {
            index: cell for index, cell in enumerate(plan.cells) if index not in raced and cell.subscribers
        }
        self._cells = plan.cells
        self._readers = readers(folder)
        self._descriptions = {each.name: each for each in adapters}
        self._attempts: dict[int, dict[int, Attempt]] = {}

    def take(self, plan: Plan, trial: TrialSummary) -> None:
        outcome = trial.outcome
        self._attempts.setdefault(outcome.cell, {})[outcome.number] = attempt(
            plan.cells[outcome.cell], trial, self._race, *self._readers, self._descriptions
        )

    def open(self, rounds: int) -> Open:
        found = race_states(self._race, self._attempts, rounds)
        running = tuple(sorted(cell for each in found if each.ended is None for cell in each.running))
        due = due_of(self._race, found, rounds, [each.middleware for each in self._cells])
        return Open(running, due=[(*each.running, *self._baseline(each.running[0])) for each in due])

    def _baseline(self, candidate: int) -> Sequence[int]:
        """Return the baseline to measure in the next round: the fastest raw transport of the candidate's experiment.

        Empty if there is none, or if it already has ``BASELINE_TRIALS`` trials.
        """
        asked = experiment(self._cells[candidate])
        figures_of = {
            index: [each.figure for each in self._attempts.get(index, {}).values() if each.figure is not None]
            for index, cell in self._raw_transports.items()
            if experiment(cell) == asked
        }
        fastest = min(
            (index for index, figures in figures_of.items() if figures),
            key=lambda each: statistics.median(figures_of[each]),
            default=None,
        )
        return [] if fastest is None or len(figures_of[fastest]) >= BASELINE_TRIALS else [fastest]


class _Deciding:
    """Adds rounds until every expectation is decided.

    It judges only after some rounds, because each judgement may be wrong.
    """

    def __init__(self, plan: Plan, deciding: Deciding, adapters: Sequence[Description]) -> None:
        self.budget_s = deciding.budget_s
        self._plan = plan
        self._trials: list[list[TrialSummary]] = [[] for _ in plan.cells]
        self._descriptions = {each.name: each for each in adapters}

    def take(self, plan: Plan, trial: TrialSummary) -> None:
        self._trials[trial.outcome.cell].append(trial)

    def open(self, rounds: int) -> Open:
        found = judge_expectations(self._plan, self._trials, self._descriptions, ended=False)
        undecided = [each for each in found if each.verdict is ClaimVerdict.UNDECIDED]
        first = next(look_trials(self._plan))
        enough = [(first if each.trials < first else each.trials_needed, each) for each in undecided]
        return Open(
            tuple(sorted({cell for each in undecided for cell in each.cells})),
            due=[each.cells for each in undecided],
            needed=[(max(1, trials - each.trials) if trials else None, each.cells) for trials, each in enough],
            met=any(each.verdict is not ClaimVerdict.UNTESTABLE for each in found),
        )


class Until:
    """Adds rounds to a run. Reads the samples of each trial once, after its round."""

    def __init__(
        self,
        folder: Path,
        plan: Plan,
        adapters: Sequence[Description],
        outcomes: Sequence[TrialOutcome],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the rule.

        ``outcomes``: the earlier trials of an interrupted run. Their time counts towards the budget.
        """
        self._readers = readers(folder)
        self._rule: _Precisely | _Racing | _Deciding | None = None
        if plan.precision is not None:
            self._rule = _Precisely(plan.precision)
        elif plan.race is not None:
            self._rule = _Racing(plan, plan.race, folder, adapters)
        elif plan.deciding is not None:
            self._rule = _Deciding(plan, plan.deciding, adapters)
        self._times = times_of(each.metric for each in plan.expectations if each.metric in METRICS)
        self._read = 0
        self._took: dict[int, list[float]] = {}
        self._before_s = sum(each.seconds for each in outcomes)
        self._clock = clock
        self._began = clock()

    def settle(
        self, plan: Plan, outcomes: Sequence[TrialOutcome], extend: Callable[[Plan], bool]
    ) -> tuple[bool, Reached | None]:
        """Add rounds until the goal is reached or the time is spent.

        Return False if the user interrupted, and how the rounds ended (None: the plan adds no rounds). ``extend``
        stores the longer plan, measures its new trials, appends their outcomes to ``outcomes``, and returns False if
        the user interrupted.
        """
        while self._rule is not None:
            found = self._after_round(self._rule, plan, outcomes)
            if isinstance(found, Reached):
                return True, found
            plan = with_another_round(plan, found)
            if not extend(plan):
                return False, None
        return True, None

    def _after_round(
        self, rule: _Precisely | _Racing | _Deciding, plan: Plan, outcomes: Sequence[TrialOutcome]
    ) -> Collection[int] | Reached:
        """Return the cells of the next round, or how the rounds ended."""
        for outcome in outcomes[self._read :]:
            cell = plan.cells[outcome.cell]
            rule.take(plan, trial_summary(cell, outcome, *self._readers, times=self._times))
            self._took.setdefault(outcome.cell, []).append(outcome.seconds)
        self._read = len(outcomes)
        rounds = max(trial.number for trial in plan.trials)
        found = rule.open(rounds)
        spent = self._before_s + self._clock() - self._began
        left_s = rule.budget_s - spent
        due = self._deciding(found, left_s)
        due = due or self._fitting([tuple(self._took)] if found.due is None else found.due, left_s)
        if found.undecided and due:
            return due
        met = not found.undecided and found.met
        return Reached(rounds=rounds, seconds=spent, met=met, undecided=found.undecided, unmeasured=found.unmeasured)

    def _deciding(self, found: Open, left_s: float) -> Collection[int]:
        """Return the cells of the groups that can be decided in the remaining time.

        Groups that need less time are chosen first. Empty: no group can be decided in this time.
        """
        deciding: set[int] = set()
        due = [(rounds, cells) for rounds, cells in found.needed if rounds]
        for rounds, cells in sorted(due, key=lambda each: each[0] * self._expected_s(each[1])):
            further_s = rounds * self._expected_s({*cells} - deciding)
            if further_s <= left_s:
                left_s -= further_s
                deciding.update(cells)
        return deciding

    def _fitting(self, due: Sequence[Collection[int]], left_s: float) -> Collection[int]:
        """Return cells that can be measured once more in the remaining time. Takes whole groups, the quickest first."""
        fitting: set[int] = set()
        for cells in sorted(due, key=self._expected_s):
            left_s -= self._expected_s(cells)
            if left_s >= 0:
                fitting.update(cells)
        return fitting

    def _expected_s(self, cells: Collection[int]) -> float:
        """Return the expected duration of a round of these cells, in seconds."""
        return sum(statistics.mean(self._took[cell]) for cell in cells if cell in self._took)
