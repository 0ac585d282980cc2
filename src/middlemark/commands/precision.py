"""Adding rounds to a run until its cells are known as well as was asked, or the time for it is spent."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from middlemark.commands.stored import readers
from middlemark.launch.outcome import TrialOutcome
from middlemark.plan.cell import Plan, Precision, Reached
from middlemark.plan.rounds import with_another_round
from middlemark.stats.precision import known
from middlemark.stats.trials import figures, trial_summary


class Precisely:
    """What a run knows so far. Samples are read once, when the round of their trial is over."""

    def __init__(self, folder: Path, precision: Precision, outcomes: Sequence[TrialOutcome]) -> None:
        """``outcomes``: those of an earlier part of the run; their time counts."""
        self._samples, self._kept = readers(folder)
        self._precision = precision
        self._figures: dict[int, list[float]] = {}
        self._read = 0
        self._before_s = sum(each.seconds for each in outcomes)
        self._began = time.monotonic()

    def seconds(self) -> float:
        """Return the time spent on the run."""
        return self._before_s + time.monotonic() - self._began

    def reached(self, plan: Plan, outcomes: Sequence[TrialOutcome]) -> Reached | None:
        """Return how it ended, once every trial of the plan has; None: another round is due."""
        for outcome in outcomes[self._read :]:
            cell = plan.cells[outcome.cell]
            found = figures(cell, [trial_summary(cell, outcome, self._samples, self._kept)])[0]
            if found is not None and found > 0:
                self._figures.setdefault(outcome.cell, []).append(found)
        self._read = len(outcomes)
        rounds = max(trial.number for trial in plan.trials)
        left = known(self._precision, self._figures, rounds)
        spent = self.seconds()
        if left.wide and spent + spent / rounds <= self._precision.budget_s:
            return None
        met = not left.wide and len(left.unmeasured) < len(self._precision.focus)
        return Reached(rounds=rounds, seconds=spent, met=met, wide=left.wide, unmeasured=left.unmeasured)

    def settle(self, plan: Plan, outcomes: Sequence[TrialOutcome], extend: Callable[[Plan], bool]) -> Reached | None:
        """Add rounds until it is reached; ``extend`` notes and measures them, and says whether all came to an end.

        None when that was interrupted. ``outcomes`` grows while it does.
        """
        while (reached := self.reached(plan, outcomes)) is None:
            plan = with_another_round(plan)
            if not extend(plan):
                return None
        return reached
