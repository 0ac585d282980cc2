"""The file of a published result: figures of every trial without samples, and all that is computed from them."""

from typing import Any

from middlemark.model.outcome import TrialCounts
from middlemark.model.plan import Race, Reached
from middlemark.model.times import Summary
from middlemark.show.json.output import Output
from middlemark.stats.workload import GraphTrial

FORMAT = 1
"""The version of the file. The version is raised when a field changes its meaning or is removed."""


class PublishedMachine(Output, frozen=True, kw_only=True):
    """The machine on which the run was measured, without the machine's name."""

    cpu: str
    processors: int
    memory_bytes: int
    kernel: str
    system: str
    virtual: bool | None
    clocksource: str | None
    governor: str | None


class PublishedAdapter(Output, frozen=True, kw_only=True):
    """A middleware or a raw transport of the run."""

    name: str
    title: str
    version: str
    licence: str
    is_raw_transport: bool
    carriers: dict[str, str]
    """Name of a transport → how the transport's data move."""
    hands_over: dict[str, tuple[bool, ...] | None]
    """Transport → the levels of `loan` at which no byte is copied; null: unknown."""


class PublishedSuite(Output, frozen=True, kw_only=True):
    """A suite of the run."""

    name: str
    sha256: str
    """The hash of the suite's text; empty: the run does not have the text."""


class PublishedFinding(Output, frozen=True, kw_only=True):
    """A finding of `doctor` about the machine."""

    check: str
    severity: str


class PublishedTrial(Output, frozen=True, kw_only=True):
    """One trial. A figure that was not measured is null."""

    round: int
    order: int
    failed: str | None = None
    """The code of the failure; null: the trial was measured."""
    samples: int = 0
    measured_s: float | None = None
    latency_ns: Summary | None = None
    """The round trip, or for a stream the one-way latency."""
    rate_hz: float | None = None
    sent_hz: float | None = None
    replies_hz: float | None = None
    counts: TrialCounts | None = None
    actual_transport: str | None = None
    discovery_ns: int | None = None
    graph: GraphTrial | None = None
    """The edges and chains of a workload; null: the configuration has no workload."""


class PublishedCell(Output, frozen=True, kw_only=True):
    """One configuration: its levels, its trials, and all that is computed from them."""

    sweep: str
    """The suite and the sweep."""
    levels: dict[str, Any]
    """Every factor whose level is not the default."""
    version: str
    """The version of the middleware."""
    trials: tuple[PublishedTrial, ...]
    warnings: tuple[str, ...]
    """The codes of the configuration's warnings."""
    cpu_ns_per_message: float | None
    """Processor time of all workers for each message; null: not measured."""
    memory_bytes: float | None
    """Resident memory of all workers; null: not measured."""
    name: str
    """Adapter, transport, and the levels that are not the default."""
    metric: str
    """p50, throughput (as the time of a message) or deadline."""
    figure: float | None
    """The median of the trials; less is better. In ns, or for a workload in deadlines. null: every trial failed."""
    low: float | None
    """The lower end of the 95 % interval of the median; null: fewer than six trials."""
    high: float | None
    baseline: int | None
    """The index of the baseline, the fastest raw transport of the configuration's experiment; null: there is no
    baseline."""
    ratio: float | None
    """The figure divided by the baseline's figure; null: there is no baseline."""
    standing: str | None
    """The standing in the experiment: best, equivalent, slower, undecided, …; null: a raw transport."""


class PublicExperiment(Output, frozen=True, kw_only=True):
    """Configurations that do the same job under the same load."""

    what: str
    """The levels that the configurations have in common, in words."""
    size: int
    metric: str
    verdict: str
    ranked: tuple[int, ...]
    """The indices of the configurations, the fastest first."""


class Published(Output, frozen=True, kw_only=True):
    """One published run. Nothing in the file names the host, the user, a path or an address."""

    format: int
    digest: str
    """SHA-256 of the file with an empty digest. Another digest shows that the file was edited."""
    title: str
    middlemark: str
    """The version of Middlemark that measured the run."""
    started: str
    """The day of the run."""
    suites: tuple[PublishedSuite, ...]
    machine: PublishedMachine
    adapters: tuple[PublishedAdapter, ...]
    doctor: tuple[PublishedFinding, ...] | None
    """The findings of `doctor`; null: not known, for the reason in ``doctor_absent``."""
    doctor_absent: str | None
    baselines: tuple[int, ...]
    """The indices of the raw transports that the plan added."""
    together: tuple[tuple[str, ...], ...]
    """Factors that the suite varied together."""
    race: Race | None
    reached: Reached | None
    cells: tuple[PublishedCell, ...]
    experiments: tuple[PublicExperiment, ...]
