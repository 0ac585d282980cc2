"""The verdict of a race: its experiment, its answer, its trials and its duration."""

import itertools
from collections.abc import Sequence
from typing import Literal

import msgspec

from middlemark.model.outcome import RunWarning
from middlemark.model.plan import Race
from middlemark.model.run import Run
from middlemark.model.times import Summary
from middlemark.stats.candidates import Elimination
from middlemark.stats.noise import DISTURBED
from middlemark.stats.race import FINALISTS, equal_allocation
from middlemark.stats.result import EdgeResult
from middlemark.stats.warnings.cells import SERIOUS
from middlemark.stats.workload import worst_edge
from middlemark.verdicts.experiments import JudgedExperiment, JudgedRow, Standing
from middlemark.verdicts.rows import Row, latency_of


class RaceVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a race."""

    experiment: JudgedExperiment
    race: Race
    rounds: int
    trials: int
    seconds: float
    equal_trials: int
    """The number of trials that the race would have had if no candidate had been eliminated."""
    cut_short: bool
    """True if trials of the plan are missing."""
    decided: bool
    """True if the race ended by its own rule, whatever the experiment's verdict is."""

    @property
    def verdict(self) -> Literal["best", "tie", "undecided", "none holds"]:
        """The verdict. If only one candidate meets the requirements, it is the best once its race has ended."""
        found = self.experiment.verdict
        return found if found != "only" else "best" if self.decided else "undecided"

    @property
    def answer(self) -> tuple[JudgedRow, ...]:
        """The winner, or the rows of a tie, or all candidates that may be the best; the fastest first."""
        if self.verdict == "none holds":
            return ()
        rows = [
            each
            for each in self.experiment.rows
            if each.figure is not None and each.standing not in (Standing.SLOWER, Standing.ELIMINATED)
        ]
        return tuple(rows[:1] if self.verdict == "best" else rows)

    @property
    def named(self) -> tuple[JudgedRow, ...]:
        """The first rows of the answer. Only these rows are shown by name."""
        return self.answer[:FINALISTS]

    @property
    def also(self) -> tuple[JudgedRow, ...]:
        """Other rows of the winner's middleware that may be as fast as the winner. Empty if there is no winner."""
        alike = (Standing.EQUIVALENT, Standing.UNDECIDED, Standing.TOO_FEW_TRIALS)
        return tuple(each for each in self.experiment.rows[1:] if self.verdict == "best" and each.standing in alike)

    @property
    def candidates(self) -> tuple[JudgedRow, ...]:
        """All candidates of the race by rising figure; candidates without a figure are last."""
        return tuple(sorted(self.experiment.rows, key=lambda each: (each.figure is None, each.figure or 0.0)))

    @property
    def warnings(self) -> tuple[RunWarning, ...]:
        """The warnings of the answer, one of each kind, a disturbed machine first.

        If no candidate meets the requirements, they are only the warnings about a disturbed machine, of all candidates.
        Warnings about an absent p99 are left out.
        """
        found: dict[str, RunWarning] = {}
        if self.verdict == "none holds":
            warnings = (warning for each in self.candidates for warning in each.row.result.warnings)
            return tuple(itertools.islice((each for each in warnings if each.code == DISTURBED), 1))
        for each in self.answer:
            has_p99 = getattr(latency_in(each.row), "p99", None) is not None
            for warning in each.row.result.warnings:
                if has_p99 or not warning.code.startswith("p99"):
                    found.setdefault(warning.code, warning)
        return tuple(sorted(found.values(), key=lambda each: (each.code != DISTURBED, each.code not in SERIOUS)))

    @property
    def next(self) -> JudgedRow | None:
        """The fastest candidate that is not in ``answer`` because it is slower; None: there is none."""
        behind = [each for each in self.candidates if each.standing in (Standing.SLOWER, Standing.ELIMINATED)]
        slower = [each for each in behind if each.comparison is not None and elimination(each) in (None, "slower")]
        return next(iter(slower), None)

    @property
    def baselines(self) -> tuple[Row, ...]:
        """The baselines of the race's candidates."""
        return tuple(filter(None, (self.experiment.copying, self.experiment.handing_over)))


def races(experiments: Sequence[JudgedExperiment], run: Run, number: int = 0) -> tuple[RaceVerdict, ...]:
    """Return the verdict of each race of a run, in order. ``number``: the index of the run in its document."""
    race = run.file.plan.race
    raced = [each for each in experiments if each.race is not None and each.run == number]
    found = sorted(raced, key=lambda each: each.rows[0].row.in_race.race if each.rows[0].row.in_race else 0)
    return () if race is None else tuple(_verdict(each, run, race) for each in found)


def _verdict(experiment: JudgedExperiment, run: Run, race: Race) -> RaceVerdict:
    assert experiment.race is not None
    own = sum(each.row.in_race.rounds for each in experiment.rows if each.row.in_race)
    done = len(run.outcomes)
    return RaceVerdict(
        experiment=experiment,
        race=race,
        rounds=experiment.race.had,
        trials=done,
        seconds=run.file.reached.seconds if run.file.reached else sum(each.seconds for each in run.outcomes),
        equal_trials=equal_allocation(len(experiment.rows), experiment.race.rounds) + done - own,
        cut_short=done < run.planned_trials,
        decided=experiment.race.ended is not None,
    )


def elimination(row: JudgedRow) -> Elimination | None:
    """Return why a candidate was eliminated, or ``slower`` if it is slower; None: it may be the best."""
    found = row.row.in_race.eliminated if row.row.in_race else None
    return found or ("slower" if row.standing is Standing.SLOWER else None)


def rounds_of(row: JudgedRow) -> int:
    """Return the number of rounds in which a candidate was measured."""
    return row.row.in_race.rounds if row.row.in_race else row.row.result.trials


def worst_edge_of(row: Row) -> EdgeResult | None:
    """Return the edge of a workload with the greatest part of its deadline; None: the row has no workload."""
    return worst_edge(row.result.workload.topics) if row.result.workload else None


def latency_in(row: Row) -> Summary | None:
    """Return the latency of a candidate, or for a workload the latency of its worst edge; None: not measured."""
    if row.result.cell.workload is None:
        return latency_of(row.result)
    edge = worst_edge_of(row)
    return edge.one_way_ns if edge else None
