"""A plan: the trials of its cells in order, what was changed or left out, and when rounds are added."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.expectation import Deciding, Expectation
from middlemark.model.factors import Key, declared
from middlemark.model.levels import seconds, whole
from middlemark.model.turns import Turn

LONG_S = 600.0
"""A trial of at least this duration in s writes records."""
RECORD_EVERY_S = 60.0


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How long a trial lasts. Either ``samples`` or ``duration_s`` is set."""

    samples: Annotated[
        int | None,
        Key(
            kind=whole("number of samples", 1, 1_000_000_000),
            group="How long",
            metavar="N",
            help="Messages that each sender sends, instead of a duration.",
            default_text="none",
        ),
    ] = None
    duration_s: Annotated[
        float | None,
        Key(
            kind=seconds(1e-6),
            group="How long",
            metavar="TIME",
            help="How long a trial measures, as 0.5s or 10m.",
            default_text="`1s`",
        ),
    ] = None
    warmup_s: Annotated[
        float,
        Key(
            kind=seconds(0.0),
            group="How long",
            metavar="TIME",
            help="Warm-up before the measuring.",
            default_text="`0.2s`",
        ),
    ] = 0.2
    reply_timeout_s: Annotated[
        float,
        Key(
            name="timeout",
            kind=seconds(1e-6),
            help="How long a ping waits for a reply; 31 ms for each MiB are added.",
            option=False,
            default_text="`1s`",
        ),
    ] = 1.0
    match_timeout_s: Annotated[
        float,
        Key(
            kind=seconds(1e-6),
            help="How long the roles may take to find each other.",
            option=False,
            default_text="`10s`",
        ),
    ] = 10.0
    limit_s: Annotated[
        float,
        Key(
            kind=seconds(1e-6),
            help="The longest time that a trial may measure.",
            option=False,
            default_text="`120s`, or twice the duration",
        ),
    ] = 120.0
    """The measuring ends after this time in any case. The samples until then are kept."""
    record_every_s: Annotated[
        float | None,
        Key(
            kind=seconds(1.0),
            group="How long",
            metavar="TIME",
            help="How often a long trial writes a record to disk (quantiles, memory, processor time).",
            default_text="`60s` from a duration of 10 minutes; shorter trials write no records",
        ),
    ] = None

    turns_s: Annotated[
        float | None,
        Key(
            kind=seconds(0.1),
            group="How long",
            metavar="TIME",
            help="Run all configurations of a round side by side. One sends at a time, in turns of this length and in "
            "random order; the others are idle.",
            default_text="none: one configuration after the other",
        ),
    ] = None

    @property
    def recording_s(self) -> float | None:
        """The time between two records in s; None: the trial writes no records."""
        if self.record_every_s is not None or self.duration_s is None or self.duration_s < LONG_S:
            return self.record_every_s
        return RECORD_EVERY_S


LIMITS: Mapping[str, Key] = declared(Limits, Key)


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement of a cell. ``order`` is its position in the run, from 0; ``number`` is its round, from 1."""

    order: int
    cell: int
    """Index of the trial's cell in the plan."""
    number: int
    limits: Limits
    domain: int | None = None
    """The requested DDS domain; None: the trial gets a domain of its own."""
    seed: int = 0
    turn: Turn | None = None
    """The trial's place among the trials that run side by side. None: it runs alone."""


class Note(msgspec.Struct, frozen=True):
    """A change or omission by the plan, and the reason: a size below 16, a level that an adapter does not support."""

    place: str
    text: str


class Precision(msgspec.Struct, frozen=True, kw_only=True):
    """The requested precision: rounds are added until all cells have it, or until the time is spent."""

    part: float
    """The largest half width of the interval of a cell's median, as a share of the median."""
    budget_s: float
    """A round begins only if it would end within this time after the first trial."""
    focus: tuple[int, ...]
    """Indices of the cells that must reach the precision. The other cells are measured in the same rounds."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Requirements for the candidates of a race. None: no requirement."""

    deadline_s: float | None = None
    """Time from the intended instant within which 99 of 100 messages must arrive; lost messages count as late."""
    max_loss: float | None = None
    """Largest share of messages that may be lost."""
    max_cpu: float | None = None
    """Most processors that all workers of a trial may use together."""


Raced = Literal["p50", "p99", "cpu", "memory", "complete_max", "idle_cpu", "idle_memory"]
"""The metrics of ``METRICS`` that a race can be decided by; less is better."""


class Race(msgspec.Struct, frozen=True, kw_only=True):
    """A race: rounds are added for the candidates that may be the best, until the race is decided or the time is spent.

    Other cells, including baselines, are measured only in the first rounds.
    """

    experiments: tuple[tuple[int, ...], ...]
    """For each experiment: indices of the cells that race each other."""
    budget_s: float
    """A round begins only if it would end within this time after the first trial."""
    wanted: Wanted = Wanted()
    metric: Raced = "p50"
    """The metric that decides. A race of workloads uses the largest share of a deadline instead."""
    question: bool = False
    """True: all cells race each other, to answer one question (``which``). False: each experiment has its own race."""


class Breaking(msgspec.Struct, frozen=True, kw_only=True):
    """The search for the size at which crowds break: further sizes are measured, each between two measured ones."""

    budget_s: float
    """Further trials begin only if they would end within this time, counted from the end of the planned trials."""
    planned: int
    """The number of trials before the search."""
    trials: int
    """The number of trials at each further size."""


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a run to which rounds were added, at its end."""

    rounds: int
    seconds: float
    """Duration of all trials of the run, from the first process to the last."""
    met: bool
    """True if every requested cell is precise enough, every race or expectation is decided, or every size at which a
    crowd breaks is found. False: the time was spent."""
    undecided: tuple[int, ...] = ()
    """Indices of the cells that were undecided, not precise enough, or still searched when the time was spent."""
    unmeasured: tuple[int, ...] = ()
    """Indices of the cells whose trials all failed; further rounds would not help."""


class Fitted(msgspec.Struct, frozen=True, kw_only=True):
    """How a budget shortened a plan: the trials with and without the budget, and the certainty that is lost."""

    budget_s: float
    planned_trials: int
    """The number of trials of a configuration without the budget; if sweeps differ, the largest number."""
    trials: int
    """The number of trials of a configuration within the budget."""
    wider: float
    """The expected width of a median's interval, divided by its width with all planned trials."""
    verdicts: bool
    """False if a verdict needs more trials than fit into the budget."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All trials in order. ``names[i]`` is the suite, and the sweep, of cell ``i``."""

    cells: tuple[Cell, ...]
    trials: tuple[Trial, ...]
    names: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    seed: int = 0
    precision: Precision | None = None
    """The precision to reach. None: no rounds are added for precision."""
    race: Race | None = None
    expectations: tuple[Expectation, ...] = ()
    deciding: Deciding | None = None
    """The budget for deciding the expectations. None: no rounds are added for expectations."""
    breaking: Breaking | None = None
    """How the size is searched at which crowds break. None: only the planned sizes are measured."""
    together: tuple[tuple[str, ...], ...] = ()
    """Names of factors that the suites vary together. Cells that differ in all these factors are also compared."""
    scorecard: tuple[tuple[str, float], ...] = ()
    """Metrics and their weights for the ranking in the report; empty: no ranking."""
    baselines: tuple[int, ...] = ()
    """Indices of the raw transports' cells that the plan added."""
    fitted: Fitted | None = None
    """The effect of a budget that shortened the plan. None: the plan was not shortened."""
