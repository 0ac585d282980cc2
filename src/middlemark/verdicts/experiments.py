"""Experiments, their rows and each row's standing, as values. ``judging.py`` makes them."""

from enum import StrEnum
from typing import Literal

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.times import QUANTILES
from middlemark.stats.baselines import by_rate
from middlemark.stats.candidates import RaceState
from middlemark.stats.comparisons import Comparison
from middlemark.stats.interval import FEWEST
from middlemark.stats.metrics import METRICS
from middlemark.stats.verdict import MARGIN
from middlemark.stats.warnings.cells import SCATTER, SERIOUS
from middlemark.verdicts.names import warning_name
from middlemark.verdicts.rows import Row, headline_figure, latency_of

OF_MESSAGES = ("p50", "throughput")
"""The metrics of which one is the headline figure of a row without a workload."""
HEADLINE = (*OF_MESSAGES, "deadline")
"""The metrics of which one is the headline figure of a row."""


class Standing(StrEnum):
    """One row's result in its experiment."""

    BEST = "best"
    EQUIVALENT = "equivalent"
    """The row is equivalent to the best, or in a tie with the best."""
    SLOWER = "slower"
    """The row is significantly worse than another candidate."""
    UNDECIDED = "undecided"
    ELIMINATED = "eliminated"
    """The rule of its race eliminated the row. Its trials do not show that it is significantly slower."""
    TOO_FEW_TRIALS = "too_few_trials"
    NO_COMMON_ROUNDS = "no_common_rounds"
    """The row has enough trials, but fewer than six rounds in common with the reference."""
    ONLY = "only"
    """No other candidate has a result."""
    FAILED = "failed"
    """The row has no result, or its actual transport or protection is not the one in its name."""


class JudgedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row in its experiment."""

    row: Row
    figure: float | None
    """The figure by the experiment's metric, the median over the successful trials; less is better. None: the
    row failed."""
    ratio: float | None
    """The figure divided by the baseline's figure; None: there is no baseline."""
    times_first: float | None
    """The figure divided by the figure of the first row of the ranking; None: the row failed, or that figure is 0."""
    standing: Standing
    is_candidate: bool
    """True if the row represents its middleware in the ranking, because it is the middleware's best row."""
    comparison: Comparison | None = None
    """The comparison with the experiment's reference. None: the row is the reference, or they have no common round."""
    doubt: str = ""
    """The name of the warning that makes the row's median doubtful, in about two words; empty: no warning."""
    slower_in_every_trial: bool = False
    """True if each of its trials, six or more, is worse than every trial of the reference, so that scatter cannot make
    the row the better one. False if a warning doubts more than the scatter."""


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """All candidates that do the same job under the same load, compared by one metric."""

    run: int
    key: tuple[object, ...]
    """The levels that all rows of the experiment have, without the size."""
    metric: str
    size: int
    carrier: str | None
    """The carrier of all rows of the experiment; None: they have different carriers."""
    restricted: bool
    """True if the experiment contains only the rows of ``carrier``, taken from an experiment with several carriers."""
    cell: Cell
    """A cell with the levels that all rows have. The factors in which rows differ are in ``unknown``."""
    levels: dict[str, str]
    """Factor → the level that all rows have, in words."""
    copying: Row | None
    """The baseline of the rows that copy."""
    handing_over: Row | None
    """The baseline of the rows that pass a pointer or an index instead of copying."""
    race: RaceState | None
    """The state of the experiment's race; None: the experiment had no race."""
    one_middleware: bool
    """True if the run has only one middleware: every row is then a candidate."""

    @property
    def by(self) -> str:
        """The metric. It is ``p50`` if the experiment is judged by p50, by its rate or by its deadlines."""
        return "p50" if self.metric in HEADLINE else self.metric

    @property
    def by_rate(self) -> bool:
        """True if the figure is shown as a rate: messages per second."""
        return self.metric == "throughput"

    @property
    def in_ns(self) -> bool:
        """True if the figure is a time in ns, or the time per message of a rate."""
        return self.by in ("p50", "p99") and self.metric != "deadline"

    def shown(self, figure: float | None) -> float | None:
        """Return a figure as it is shown: in messages per second if the experiment is judged by its rate."""
        return 1e9 / figure if figure and self.by_rate else figure

    def baseline_of(self, row: Row) -> Row | None:
        """Return the baseline of a row of the experiment."""
        return self.handing_over if row.hands_over else self.copying


class JudgedExperiment(Experiment, frozen=True, kw_only=True):
    """An experiment with its verdict."""

    rows: tuple[JudgedRow, ...]
    """The ranking: rows that may be the best by rising figure, then eliminated rows, then failed rows."""
    reference: int | None
    """The index of the row with which all others are compared: the best row that can be judged. None: there is none."""
    verdict: Literal["best", "tie", "undecided", "only", "none holds"]
    within: float
    """The candidates of a tie differ by less than this fraction."""

    @property
    def ranked(self) -> tuple[JudgedRow, ...]:
        """The candidates with a figure: one row for each middleware."""
        return tuple(each for each in self.rows if each.is_candidate)

    @property
    def winner(self) -> JudgedRow | None:
        """The first candidate of the ranking. Only with the verdict ``best`` is it shown to be the best.

        With any other verdict it only has the best median. None: no row has a figure, or no candidate meets the
        requirements (``none holds``).
        """
        return next((each for each in self.ranked if self.verdict != "none holds"), None)

    @property
    def judged_by(self) -> JudgedRow | None:
        """The row with which the others are compared, the reference; None: there is none."""
        return next((each for each in self.rows if each.row.index == self.reference), None)

    @property
    def doubted(self) -> tuple[JudgedRow, ...]:
        """The candidates whose doubtful figure makes the verdict doubtful.

        A candidate that was eliminated, cannot be judged or is slower in every trial does not.
        """
        unsure = (Standing.TOO_FEW_TRIALS, Standing.NO_COMMON_ROUNDS) if self.is_judgeable else ()
        return tuple(
            each
            for each in self.ranked
            if each.doubt
            and not (each.standing is Standing.SLOWER and each.slower_in_every_trial)
            and not each.row.is_eliminated
            and each.standing not in (Standing.ELIMINATED, *unsure)
        )

    @property
    def sure(self) -> bool:
        """True if there is a verdict, and no figure in it is doubtful."""
        return self.verdict in ("best", "tie") and not self.doubted

    @property
    def is_open(self) -> bool:
        """True if more trials could improve the verdict: it is undecided, or a tie wider than the margin."""
        return self.verdict == "undecided" or (self.verdict == "tie" and self.within > MARGIN)

    @property
    def is_judgeable(self) -> bool:
        """True if two candidates have enough trials for a verdict, or if a race decided."""
        if self.verdict in ("best", "tie"):
            return True
        return any(each.comparison is not None and each.comparison.judged.low is not None for each in self.ranked)

    @property
    def few_trials(self) -> int | None:
        """The number of trials of a candidate that has too few for a verdict; None: all have enough."""
        if self.winner is None or self.verdict == "only":
            return None
        if not self.is_judgeable:
            fewest = min(each.row.result.trials for each in self.ranked)
            return fewest if fewest < FEWEST else None
        return self.winner.row.result.trials if self.winner.standing is Standing.TOO_FEW_TRIALS else None

    def of(self, *standings: Standing) -> list[JudgedRow]:
        """Return the candidates with one of ``standings``, without the reference."""
        return [each for each in self.ranked if each.standing in standings and each.row.index != self.reference]

    @property
    def beaten(self) -> list[JudgedRow]:
        """The candidates that are significantly slower, or were eliminated."""
        return self.of(Standing.SLOWER, Standing.ELIMINATED)

    @property
    def undecided(self) -> list[JudgedRow]:
        """The candidates that are undecided, or that have too few rounds in common with the reference."""
        return self.of(Standing.UNDECIDED, Standing.NO_COMMON_ROUNDS)

    @property
    def failed(self) -> list[JudgedRow]:
        """The rows without a valid result."""
        return [each for each in self.rows if each.standing is Standing.FAILED]

    @property
    def trials_needed(self) -> int | None:
        """The number of trials of each candidate that would decide the open comparisons.

        None: no number of trials would.
        """
        open_ = self.of(Standing.UNDECIDED, Standing.NO_COMMON_ROUNDS, Standing.EQUIVALENT)
        needed = (each.comparison.judged.trials_needed for each in open_ if each.comparison)
        return max((each for each in needed if each is not None), default=None)


def figure_of(row: Row, metric: str) -> float | None:
    """Return the row's figure by the metric, the median over the successful trials; less is better."""
    if metric in HEADLINE:
        return headline_figure(row.result)
    if metric in QUANTILES:
        return None if by_rate(row.result.cell) else getattr(latency_of(row.result), metric, None)
    return row.result.median(metric)


def doubt_of(row: Row) -> str:
    """Return the name of the row's first warning that makes the median doubtful; empty: there is none."""
    return next((warning_name(each.code) for each in row.result.warnings if each.code in SERIOUS), "")


def is_slower_in_every_trial(row: Row, reference: Row, metric: str) -> bool:
    """Say whether each trial of the row is worse than every trial of the reference, whatever their scatter."""
    if any(each.code in SERIOUS - SCATTER for side in (row, reference) for each in side.result.warnings):
        return False
    ours, theirs = (
        [each for each in side.result.metrics.get(metric, ()) if each is not None] for side in (row, reference)
    )
    if min(len(ours), len(theirs)) < FEWEST:
        return False
    return max(ours) < min(theirs) if METRICS[metric].higher_is_better else min(ours) > max(theirs)
