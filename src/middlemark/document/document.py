"""Everything a report says, as one value: the terminal, Markdown, HTML, JSON, CSV and the exports are made of it."""

from collections.abc import Sequence

import msgspec

from middlemark.model.run import Run
from middlemark.stats.comparisons import Comparison
from middlemark.stats.result import CellResult
from middlemark.stats.trials import KeptOf, SamplesOf, TrialSummary
from middlemark.stats.verdict import MARGIN

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


class Heat(msgspec.Struct, frozen=True, kw_only=True):
    """One trial over its time: ``n[i][j]`` samples in time bin i and latency bin j, between two of ``edges_ns``."""

    t: tuple[Number, ...]
    """The middles of the time bins, in seconds since the measuring began."""
    edges_ns: tuple[Number, ...]
    n: tuple[tuple[int, ...], ...]


class Distribution(msgspec.Struct, frozen=True):
    """``curve``: percentile and ns. ``heat`` is None where there is too little, or a histogram holds a part."""

    curve: tuple[tuple[Number, Number], ...] | None = None
    heat: Heat | None = None
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
    trials_needed: int | None
    """As ``Judgement.trials_needed``, and never fewer than so large a family wants."""


class Conclusion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sentence, or a few; every figure of it is in the cells named."""

    text: str
    sure: str
    """sure or unsure."""
    cells: tuple[int, ...]
    size: int | None = None


class WarningSummary(msgspec.Struct, frozen=True, kw_only=True):
    """All warnings of one code, in the words of the first."""

    code: str
    count: int
    text: str
    advice: str
    cells: tuple[int, ...]


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
    took: float = 0.0
    """The seconds that the command took which tells of it."""
    margin: float = MARGIN
    comparisons: tuple[Compared, ...] = ()
    comparisons_left_out: dict[str, int] = {}
    """By factor: judged with the others, but there was no room for them here."""
    answers: tuple[Conclusion, ...] = ()
    commands: tuple[str, ...] = ()
    """How it is done again."""
    distributions: tuple[Distribution, ...] = ()
    """By row."""
