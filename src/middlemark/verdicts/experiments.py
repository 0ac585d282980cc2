"""What verdicts are of, as values: an experiment, its rows, and each row's standing. ``judging.py`` makes them."""

from enum import StrEnum
from typing import Literal

import msgspec

from middlemark.model.cell import Cell
from middlemark.stats.baselines import by_rate
from middlemark.stats.candidates import RaceState
from middlemark.stats.comparisons import Comparison
from middlemark.stats.interval import FEWEST
from middlemark.stats.verdict import MARGIN
from middlemark.stats.warnings.cells import SERIOUS
from middlemark.verdicts.names import warning_name
from middlemark.verdicts.rows import Row, headline_figure, latency_of


class Standing(StrEnum):
    """One row's result in its experiment."""

    BEST = "best"
    EQUIVALENT = "equivalent"
    """To the best, or it ties with it."""
    SLOWER = "slower"
    """Significantly worse than another candidate."""
    UNDECIDED = "undecided"
    ELIMINATED = "eliminated"
    """From its race, by the rule of the race, without a verdict of its own."""
    TOO_FEW_TRIALS = "too_few_trials"
    NO_COMMON_ROUNDS = "no_common_rounds"
    """It has enough trials, but fewer than six in the rounds of the candidate that it is compared with."""
    ONLY = "only"
    """No other candidate has a result."""
    FAILED = "failed"
    """It has no result, or one of something else than its name says."""


class JudgedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row in its experiment."""

    row: Row
    figure: float | None
    """The headline figure, the median over its good trials; less is better. None: it failed."""
    ratio: float | None
    """Of that figure to its baseline's; None without a baseline."""
    times_first: float | None
    """Of that figure to that of the first of the ranking."""
    standing: Standing
    is_candidate: bool
    """Whether it is the best row of its middleware, which stands for the middleware."""
    comparison: Comparison | None = None
    """It beside the reference of its experiment; None of the reference itself, and where they share no round."""
    doubt: str = ""
    """In two words, why its median may be of something else, or of two things; empty: nothing says so."""


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader can choose from: every candidate that does the same job under the same load, by one metric."""

    run: int
    key: tuple[object, ...]
    """What makes another experiment, but for the size."""
    metric: str
    size: int
    carrier: str | None
    """What carries all of its rows; None where they differ in that."""
    restricted: bool
    """Whether it has only the rows of that carrier, of an experiment with several."""
    cell: Cell
    """With the levels that all of its rows share."""
    levels: dict[str, str]
    """Those levels in words, by factor."""
    copying: Row | None
    """The baseline of the rows that copy."""
    handing_over: Row | None
    """The baseline of the rows that hand over."""
    race: RaceState | None
    """That of its race; None: there was none."""
    one_middleware: bool
    """Whether every row is a candidate, because the run has one middleware."""

    @property
    def by(self) -> str:
        """p50, which stands for the rate as well where trials are judged by it; or p99."""
        return "p99" if self.metric == "p99" else "p50"

    @property
    def by_rate(self) -> bool:
        """Whether its figure is a rate to the reader: messages a second."""
        return self.metric == "throughput"

    def shown(self, figure: float | None) -> float | None:
        """Return a figure as it is to the reader: a rate of messages a second where it is by rate."""
        return 1e9 / figure if figure and self.by_rate else figure

    def baseline_of(self, row: Row) -> Row | None:
        """Return the baseline that a row of the experiment is compared with."""
        return self.handing_over if row.hands_over else self.copying


class JudgedExperiment(Experiment, frozen=True, kw_only=True):
    """An experiment with its verdict."""

    rows: tuple[JudgedRow, ...]
    """The ranking: those that may be the best by rising figure, then the eliminated, then the failed."""
    reference: int | None
    """The row that the others are compared with: the best one that can be judged. None: no row can."""
    verdict: Literal["best", "tie", "undecided", "only", "none holds"]
    within: float
    """Candidates that tie significantly differ by less than this part."""

    @property
    def ranked(self) -> tuple[JudgedRow, ...]:
        """The candidates with a figure: one row a middleware."""
        return tuple(each for each in self.rows if each.is_candidate)

    @property
    def winner(self) -> JudgedRow | None:
        """The first of the ranking: the best, or the one with the lowest median. None: no row has a figure."""
        return next((each for each in self.ranked if self.verdict != "none holds"), None)

    @property
    def judged_by(self) -> JudgedRow | None:
        """The reference."""
        return next((each for each in self.rows if each.row.index == self.reference), None)

    @property
    def doubted(self) -> tuple[JudgedRow, ...]:
        """The candidates in the verdict whose figure is doubtful."""
        unsure = (Standing.TOO_FEW_TRIALS, Standing.NO_COMMON_ROUNDS) if self.is_judgeable else ()
        return tuple(
            each
            for each in self.ranked
            if each.doubt and not each.row.is_eliminated and each.standing not in (Standing.ELIMINATED, *unsure)
        )

    @property
    def sure(self) -> bool:
        """Whether there is a verdict, and no figure in it is doubtful."""
        return self.verdict in ("best", "tie") and not self.doubted

    @property
    def is_open(self) -> bool:
        """Whether more trials could decide more: nothing is decided, or a tie is a wide one."""
        return self.verdict == "undecided" or (self.verdict == "tie" and self.within > MARGIN)

    @property
    def is_judgeable(self) -> bool:
        """Whether there can be a verdict: two candidates have the trials for one, or a race decided."""
        if self.verdict in ("best", "tie"):
            return True
        return any(each.comparison is not None and each.comparison.judged.low is not None for each in self.ranked)

    @property
    def few_trials(self) -> int | None:
        """The trials of its first candidate, or the fewest, where they are too few; None: they are enough."""
        if self.winner is None or self.verdict == "only":
            return None
        if not self.is_judgeable:
            fewest = min(each.row.result.trials for each in self.ranked)
            return fewest if fewest < FEWEST else None
        return self.winner.row.result.trials if self.winner.standing is Standing.TOO_FEW_TRIALS else None

    def of(self, *standings: Standing) -> list[JudgedRow]:
        """Return the candidates with one of these standings, but not the reference."""
        return [each for each in self.ranked if each.standing in standings and each.row.index != self.reference]

    @property
    def beaten(self) -> list[JudgedRow]:
        """The candidates that are significantly slower, or were eliminated."""
        return self.of(Standing.SLOWER, Standing.ELIMINATED)

    @property
    def undecided(self) -> list[JudgedRow]:
        """The candidates that are undecided against the reference, or cannot be compared with it."""
        return self.of(Standing.UNDECIDED, Standing.NO_COMMON_ROUNDS)

    @property
    def failed(self) -> list[JudgedRow]:
        """The rows without a result of their own."""
        return [each for each in self.rows if each.standing is Standing.FAILED]

    @property
    def trials_needed(self) -> int | None:
        """How many trials would decide what is undecided and can be decided; None: no number would."""
        open_ = self.of(Standing.UNDECIDED, Standing.NO_COMMON_ROUNDS, Standing.EQUIVALENT)
        needed = (each.comparison.judged.trials_needed for each in open_ if each.comparison)
        return max((each for each in needed if each is not None), default=None)


def figure_of(row: Row, metric: str) -> float | None:
    """Return the row's figure by that metric, the median over its good trials; less is better."""
    if metric != "p99":
        return headline_figure(row.result)
    latency = latency_of(row.result)
    return latency.p99 if latency and not by_rate(row.result.cell) else None


def doubt_of(row: Row) -> str:
    """Return in two words why the row's median may be of something else, or of two things; empty: nothing says so."""
    return next((warning_name(each.code) for each in row.result.warnings if each.code in SERIOUS), "")
