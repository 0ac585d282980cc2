"""Everything a report says, as one value: the terminal, Markdown, HTML, JSON, CSV and the exports are made of it."""

import msgspec

from middlemark.model.run import NotTried, Run
from middlemark.stats.comparisons import Comparison
from middlemark.stats.expectations import ClaimVerdict
from middlemark.stats.verdict import MARGIN
from middlemark.verdicts.experiments import JudgedExperiment
from middlemark.verdicts.growth import Growth
from middlemark.verdicts.rows import Row
from middlemark.verdicts.scorecards import Scorecard
from middlemark.verdicts.security import CostTable
from middlemark.verdicts.workloads import Cheapest, GraphTable

Number = int | float


class HeatMap(msgspec.Struct, frozen=True, kw_only=True):
    """One trial over its time: ``n[i][j]`` samples in time bin i and latency bin j, between two of ``edges_ns``."""

    t: tuple[Number, ...]
    """The middles of the time bins, in seconds since the measuring began."""
    edges_ns: tuple[Number, ...]
    n: tuple[tuple[int, ...], ...]


class Distribution(msgspec.Struct, frozen=True):
    """``curve``: percentile and ns. ``heat`` is None where there is too little, or a histogram holds a part."""

    curve: tuple[tuple[Number, Number], ...] | None = None
    heat: HeatMap | None = None
    trial: int | None = None
    """The number of the trial that both are of."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Two rows that are compared because of one factor."""

    a: int
    b: int
    factor: str
    what: str
    """What both have in common."""
    comparison: Comparison


class Conclusion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sentence, or a few; every figure of it is in the cells named."""

    text: str
    sure: str
    """sure or unsure."""
    cells: tuple[int, ...]
    size: int | None = None


class ExpectationResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was expected, and what came of it, as programs read it."""

    id: str
    say: str
    kind: str
    claimed: str
    measured: float | None
    low: float | None
    """Of the interval, as is ``high``; null: too few trials."""
    high: float | None
    verdict: ClaimVerdict
    trials_needed: int | None
    why: str


class Expected(ExpectationResult, frozen=True, kw_only=True):
    """One expectation and what came of it.

    ``measured`` is of the part that decides, or that is the farthest from holding: a figure of its metric, or the part
    by which B has more; of a ratio it. ``trials_needed``: of each, where undecided; None: more than 10,000.
    """

    run: int
    short: str
    """``why`` for one line."""
    cells: tuple[int, ...]
    """The rows that decide."""

    @property
    def sentence(self) -> str:
        """What is expected, the verdict, and why."""
        verdict = "" if self.verdict is ClaimVerdict.UNDECIDED else f"{self.verdict}: "  # it says so itself
        return f"{self.say}: {verdict}{self.why}"


class WarningSummary(msgspec.Struct, frozen=True, kw_only=True):
    """All warnings of one code, in the words of the worst; each remedy once."""

    code: str
    count: int
    text: str
    advice: str
    cells: tuple[int, ...]
    """The worst first."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a report says. What follows ``margin`` is there once verdicts were asked for."""

    title: str
    generated: str
    """When, ISO 8601 in UTC."""
    middlemark: str
    """The version that made it."""
    runs: tuple[Run, ...]
    rows: tuple[Row, ...]
    everything: tuple[Row, ...]
    """All rows of the runs, by their index: ``rows`` are those of them that were asked for."""
    warnings: tuple[WarningSummary, ...]
    expectations: tuple[Expected, ...] = ()
    """Of all runs, those that do not hold first."""
    not_tried: tuple[NotTried, ...] = ()
    """The adapters that did not take part."""
    took: float = 0.0
    """The seconds that the command took which tells of it."""
    growths: tuple[Growth, ...] = ()
    scorecards: tuple[Scorecard, ...] = ()
    workloads: tuple[GraphTable, ...] = ()
    margin: float = MARGIN
    experiments: tuple[JudgedExperiment, ...] = ()
    """The one first in which most is decided."""
    costs: tuple[CostTable, ...] = ()
    """Of security, where something was measured with and without it."""
    cheapest: tuple[tuple[Cheapest, ...], ...] = ()
    """By workload."""
    comparisons: tuple[Compared, ...] = ()
    comparisons_left_out: dict[str, int] = {}
    """By factor: judged with the others, but there was no room for them here."""
    answers: tuple[Conclusion, ...] = ()
    commands: tuple[str, ...] = ()
    """How it is done again."""
    distributions: tuple[Distribution, ...] = ()
    """By row."""

    @property
    def choices(self) -> tuple[JudgedExperiment, ...]:
        """The experiments of messages, where there is a choice; all of them where there is none. No workloads."""
        messages = [each for each in self.experiments if each.metric != "deadline" and each.ranked]
        several = {(each.by, each.key) for each in messages if len(each.ranked) > 1}
        return tuple(each for each in messages if (each.by, each.key) in several or not several)
