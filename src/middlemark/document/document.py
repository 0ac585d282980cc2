"""Everything a report says, as one value: the terminal, Markdown, HTML, JSON, CSV and the exports are made of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from middlemark.model.run import Run
from middlemark.stats.candidates import Left, Place
from middlemark.stats.comparisons import Comparison
from middlemark.stats.expectations import Verdict
from middlemark.stats.result import CellResult
from middlemark.stats.trials import KeptOf, SamplesOf, TrialSummary
from middlemark.stats.verdict import MARGIN

if TYPE_CHECKING:
    from middlemark.document.levels import CostTable
    from middlemark.document.matrix import Matrix

Number = int | float


class MeasuredRun(Run, frozen=True, kw_only=True):
    """A run with its results, by the cells of its plan in their order, and how its samples are read."""

    trials: Sequence[Sequence[TrialSummary]]
    results: Sequence[CellResult]
    samples: SamplesOf
    kept: KeptOf


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of a run. ``index`` is its place in the document, ``run`` that of its run."""

    index: int
    run: int
    result: CellResult
    trials: Sequence[TrialSummary]
    carrier: str | None
    """What its transport must be carried by."""
    floor: bool
    bench_only: bool
    title: str
    """Its name in the table of its run, where the heading says what is usual."""
    name: str
    """What is measured, and what was asked of it that is not the usual: ``fastdds shm, loan``."""
    label: str
    """Unique within the document."""
    series: str
    """The label without the size: what makes one line over sizes."""
    floor_row: int | None
    """The place of what ``times_floor`` is held against."""
    alone_row: int | None
    """The place of the machine alone: the fastest floor of its experiment, whatever carries it."""
    place: Place | None = None
    """Where it stands in its race; None: there was none."""

    @property
    def left(self) -> Left | None:
        """Why it left its race; None: it did not, or there was none."""
        return self.place.left if self.place else None


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
    """Two rows held against each other because of one factor."""

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


class Ranked(msgspec.Struct, frozen=True):
    """A row in the order of a standing, and what is known of it beside the first that can be judged."""

    row: int
    state: str
    """first, slower, equal, open (it cannot be told, or was not compared), or few (too few trials for a verdict)."""
    why: str


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Who wins at one size in one experiment, over any carrier or one of them."""

    by: str
    """p50, which stands for the rate too where that is what trials are judged by; or p99."""
    size: int
    levels: dict[str, str]
    """What tells this experiment from the others of the document, in words: by factor, ``carrier`` and ``run``."""
    verdict: str
    """best, tie, undecided or alone, as ``outcome.py`` has them."""
    sure: bool
    lead: str
    why: str
    """Two sentences: who is first, and how sure that is."""
    winner: str
    places: tuple[Ranked, ...]
    """Each middleware at its best transport, the best first."""
    floor: int | None
    """The row of the machine alone: of any carrier the fastest."""
    failed: tuple[int, ...]
    """Without a result, or carried by something else than their names say: in no order."""
    command: str | None
    """What would settle what is undecided, and the seconds it would take."""
    seconds: float | None


class Grown(msgspec.Struct, frozen=True, kw_only=True):
    """A metric at one level, and how many times that at the line's lowest it is: paired by round."""

    row: int
    at: float
    level: str
    """The same as it is shown: ``64 KiB``."""
    median: float
    times: float
    low: float | None
    """Of the 95 % interval; None: fewer than six rounds that both have, or it is the lowest level."""
    high: float | None


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """How one metric grows along a factor, with all else the same."""

    factor: str
    line: str
    """What is the same: the label without the factor."""
    floor: bool
    metric: str
    unit: str
    points: tuple[Grown, ...]
    """By rising level, two at least."""


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate of a scorecard, as ``stats/scorecard.py`` has it."""

    name: str
    cells: tuple[int, ...]
    """Its rows, by rising size."""
    score: float
    low: float | None
    high: float | None
    first: float | None
    """In which share of the draws it is first; None: fewer than six rounds."""
    parts: tuple[float, ...]
    """By metric: times the best candidate's, the geometric mean over sizes."""


class Scorecard(msgspec.Struct, frozen=True, kw_only=True):
    """Who is best by the weights of the suite, in one experiment."""

    experiment: str
    """In words, where it must be told from others."""
    weights: tuple[tuple[str, float], ...]
    """Of the metrics that all candidates have."""
    rounds: int
    rows: tuple[Scored, ...]
    """The best first."""
    left_out: tuple[str, ...]
    """Metrics and candidates, each with the reason."""


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """One expectation and what came of it. Figures: of its metric, or the part by which B has more; of a ratio it."""

    run: int
    id: str
    say: str
    kind: str
    claimed: str
    """As it was written."""
    measured: float | None
    """Of the part that decides, or that is the farthest from holding."""
    low: float | None
    high: float | None
    verdict: Verdict
    trials_needed: int | None
    """Of each, where it cannot be told; None there: more than 10,000."""
    why: str
    short: str
    """The same for one line."""
    cells: tuple[int, ...]
    """The rows that decide."""

    @property
    def sentence(self) -> str:
        """What is expected, the verdict, and why."""
        verdict = "" if self.verdict is Verdict.CANNOT_TELL else f"{self.verdict}: "  # it says so itself
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
    """Everything a report says. What follows ``warnings`` is there once verdicts were asked for."""

    title: str
    generated: str
    """When, ISO 8601 in UTC."""
    middlemark: str
    """The version that made it."""
    runs: tuple[Run, ...]
    rows: tuple[Row, ...]
    warnings: tuple[WarningSummary, ...]
    expectations: tuple[Expected, ...] = ()
    """Of all runs, those that do not hold first."""
    took: float = 0.0
    """The seconds that the command took which tells of it."""
    growths: tuple[Growth, ...] = ()
    scorecards: tuple[Scorecard, ...] = ()
    margin: float = MARGIN
    comparisons: tuple[Compared, ...] = ()
    comparisons_left_out: dict[str, int] = {}
    """By factor: judged with the others, but there was no room for them here."""
    answers: tuple[Conclusion, ...] = ()
    standings: tuple[Standing, ...] = ()
    usual: int = 0
    """Which of them is shown first."""
    matrices: "tuple[Matrix, ...]" = ()
    """By experiment, the one first of which most can be told."""
    costs: "tuple[CostTable, ...]" = ()
    """Of security, where something was measured with and without it."""
    commands: tuple[str, ...] = ()
    """How it is done again."""
    distributions: tuple[Distribution, ...] = ()
    """By row."""
