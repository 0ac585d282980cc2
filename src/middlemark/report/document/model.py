"""The document as values: what is written into the HTML report as one JSON block (docs/reading-a-report.md).

What was not measured is left out. Times are ns, sizes bytes, rates a second; figures have four significant digits.
"""

from typing import Any

import msgspec

SCHEMA = 1

Number = int | float


class _Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is None is not written: a thousand cells are to stay small."""


class Said(_Part, frozen=True, kw_only=True):
    """A doubt or a failure, with the next step."""

    code: str
    text: str
    advice: str


class Latency(_Part, frozen=True, kw_only=True, rename={"p99_9": "p99.9", "p99_99": "p99.99"}):
    """A distribution, ns."""

    min: Number | None = None
    mean: Number | None = None
    p50: Number | None = None
    p90: Number | None = None
    p99: Number | None = None
    p99_9: Number | None = None
    p99_99: Number | None = None
    max: Number | None = None


class Step(_Part, frozen=True, kw_only=True):
    """One rate of a curve or a search."""

    offered_hz: Number | None = None
    sent_hz: Number | None = None
    received_hz: Number | None = None
    lost: Number | None = None
    p50_ns: Number | None = None
    p99_ns: Number | None = None
    knee: bool
    held: bool


class Heat(_Part, frozen=True, kw_only=True):
    """One trial over its time: ``n[i][j]`` samples in time bin i and latency bin j, between two of ``edges_ns``."""

    t: tuple[Number, ...]
    """The middles of the time bins, in seconds since the measuring began."""
    edges_ns: tuple[Number, ...]
    n: tuple[tuple[int, ...], ...]
    disturbed: tuple[tuple[Number, Number], ...]
    """From and to, in seconds: when something of the machine's came between."""


class Cell(_Part, frozen=True, kw_only=True):
    """One cell and what it came to."""

    i: int
    run: str
    suite: str
    label: str
    """Unique within the document."""
    series: str
    """The label without the size: what makes one line over sizes."""
    floor: bool
    f: dict[str, Any]
    """Every factor's level, as a scalar."""
    version: str | None = None
    carried_by: str | None = None
    trials: int
    failed_trials: int
    failed: Said | None = None
    samples: int
    kind: str
    """round_trip or one_way: what ``latency`` is of."""
    latency: Latency | None = None
    interval: tuple[Number, Number] | None = None
    trial_values: tuple[Number, ...]
    by_rate: bool
    """``trial_values`` and ``interval`` are rates, not p50."""
    times_floor: Number | None = None
    floor_label: str | None = None
    floor_cell: int | None = None
    rate_hz: Number | None = None
    bytes_per_s: Number | None = None
    offered_hz: Number | None = None
    sent_hz: Number | None = None
    loss: Number | None = None
    cpu_ns_per_message: Number | None = None
    cpu: Number | None = None
    rss_bytes: Number | None = None
    bytes_per_subscriber: Number | None = None
    voluntary_hz: Number | None = None
    involuntary_hz: Number | None = None
    sustainable_hz: Number | None = None
    steps: tuple[Step, ...]
    best: Any = None
    """The fastest floor of any carrier for the same experiment."""
    breakdown: Any = None
    noise: Any = None
    doubts: tuple[Said, ...]
    curve: tuple[tuple[Number, Number], ...] | None = None
    heat: Heat | None = None


class Factor(_Part, frozen=True, kw_only=True):
    """A factor and its levels, in the order they are shown."""

    name: str
    label: str
    levels: tuple[Any, ...]
    shown: tuple[str, ...]
    unit: str | None = None


class Comparison(_Part, frozen=True, kw_only=True):
    """B beside A; ``shift`` 0.12: B's figure is 12 % more than A's."""

    a: int
    b: int
    factor: str
    what: str
    names: tuple[str, str]
    metric: str
    unit: str
    medians: tuple[Number, Number]
    shift: Number
    low: Number | None = None
    high: Number | None = None
    p: Number
    p_family: Number
    pairs: int
    verdict: str
    trials_needed: int | None = None
    marks: tuple[str, ...]


class Answer(_Part, frozen=True, kw_only=True):
    """One sentence, or a few; every figure of it is in the cells named."""

    text: str
    sure: str
    """sure or unsure."""
    cells: tuple[int, ...]
    size: int | None = None


class DoubtSummary(_Part, frozen=True, kw_only=True):
    """All that share a code: in the words of the first."""

    code: str
    count: int
    text: str
    advice: str
    cells: tuple[int, ...]


class Suite(_Part, frozen=True, kw_only=True):
    """A suite, as written where it was kept."""

    name: str
    text: str | None = None


class Adapter(_Part, frozen=True, kw_only=True):
    """One that took part."""

    name: str
    title: str
    version: str
    licence: str
    floor: bool


class Run(_Part, frozen=True, kw_only=True):
    """One run: what was asked, of whom, on what machine, and how far it came."""

    id: str
    name: str
    folder: str
    started: str
    ended: str | None = None
    interrupted: bool
    running: bool
    error: str | None = None
    damaged_lines: int
    suites: tuple[Suite, ...]
    command: tuple[str, ...]
    middlemark: str
    seed: int
    machine: Any
    machine_line: str
    adapters: tuple[Adapter, ...]
    notes: tuple[str, ...]
    planned_trials: int
    trials: int
    failed_trials: int
    seconds: Number | None = None
    clock: str | None = None
    order: tuple[int, ...]
    order_cut: bool


class Document(_Part, frozen=True, kw_only=True):
    """Everything a report says."""

    schema: int
    title: str
    generated: str
    middlemark: str
    margin: float
    runs: tuple[Run, ...]
    factors: tuple[Factor, ...]
    cells: tuple[Cell, ...]
    comparisons: tuple[Comparison, ...]
    comparisons_left_out: dict[str, int]
    """By factor: judged with the others, but there was no room for them here."""
    answers: tuple[Answer, ...]
    doubts_summary: tuple[DoubtSummary, ...]
    commands: tuple[str, ...]


def rounded(figure: float | None) -> Number | None:
    """Return the figure to four significant digits, whole where it is whole."""
    return None if figure is None else brief(figure)


def brief(figure: float) -> Number:
    """Return what ``rounded`` does of a figure that is there."""
    short = float(f"{figure:.4g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
