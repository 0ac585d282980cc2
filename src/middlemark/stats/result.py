"""The result of a cell over its trials. Every report is made from these values."""

import statistics
from collections.abc import Mapping

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import WrittenIn
from middlemark.model.outcome import Arrived, Failure, NetworkCost, ProtectionProof, RunWarning, Second, TrialCounts
from middlemark.model.protocol import OwnSettings
from middlemark.model.times import Summary, Times
from middlemark.stats.crowd import CrowdResult


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """Messages at one subscriber of a stream. Counts are sums over trials, the other figures medians over trials."""

    index: int
    topic: int
    expected: int
    received: int
    """Different messages, damaged ones included."""
    lost: int
    ratio: float | None
    """``received / expected``; None if no message was expected."""
    rate_hz: float | None
    p50_ns: float | None
    """One-way latency from the intended instant."""
    p99_ns: float | None


class ThreadResources(msgspec.Struct, frozen=True):
    """The threads of a worker that share a name, and the processors that they used together."""

    name: str
    cpu: float


class WorkerResources(msgspec.Struct, frozen=True, kw_only=True):
    """Resources that one worker used while it measured; medians over trials."""

    who: str
    cpu: float
    """Processors used: 1.0 is one processor all the time."""
    user: float
    system: float
    rss_bytes: float
    peak_rss_bytes: float
    voluntary_hz: float
    """Context switches per second in which a thread waited for something."""
    involuntary_hz: float
    """Context switches per second in which another thread took the processor."""
    minor_faults: float | None
    major_faults: float | None
    threads: tuple[ThreadResources, ...]


class CompanionResources(WorkerResources, frozen=True, kw_only=True):
    """Resources that one companion used, from before the warm-up to the end; medians over trials."""

    ready_ns: float
    """Time from the companion's start until its message that it is ready."""


class CellResources(msgspec.Struct, frozen=True, kw_only=True):
    """Resources that all workers of a trial used while measuring; medians over trials, except for ``network``."""

    cpu: float | None
    """Processors used; None if nothing was read."""
    user: float | None
    system: float | None
    ns_per_message: float | None
    """Processor time for each message received, without the time in which publishers waited for their next instant."""
    rss_bytes: float | None
    """Resident memory at the end. A page that several workers share counts for each worker."""
    peak_rss_bytes: float | None
    bytes_per_subscriber: float | None
    """Mean resident memory of a subscriber's process; None if a process has more than one role."""
    voluntary_hz: float | None
    involuntary_hz: float | None
    voluntary_per_message: float | None
    involuntary_per_message: float | None
    minor_faults: float | None
    major_faults: float | None
    workers: tuple[WorkerResources, ...]
    companions: tuple[CompanionResources, ...] = ()
    """Resources of the companions. The figures above do not include them."""
    network: NetworkCost | None
    """Use of the network, summed over the trials. All other fields are medians."""


class CurveStep(msgspec.Struct, frozen=True, kw_only=True):
    """One offered load of a curve, as the median over the trials; or one rate that a search tried."""

    part: float | None
    """The load as a share of the received rate at the trial's saturation. None: as fast as possible, or a step of a
    search."""
    offered_hz: float | None
    """Rate offered by each publisher; None: as fast as possible."""
    sent_hz: float
    """Mean rate over the publishers."""
    received_hz: float
    """Rate of intact messages at one subscriber."""
    lost: float | None
    """Share of the expected messages that were lost; None: none was expected."""
    p50_ns: float | None
    """One-way latency from the intended instant, at the subscriber with the highest latency."""
    p99_ns: float | None
    held: bool
    """True if loss, p99 and schedule were within the limits in every trial."""
    trials: int
    knee: bool = False
    failed: str | None = None
    """Why no trial measured this load."""


class Sustainable(msgspec.Struct, frozen=True, kw_only=True):
    """The highest sustainable rate of each publisher: the median over trials, and the range over trials."""

    rate_hz: float
    least_hz: float
    most_hz: float


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """The fastest raw transport in a cell's experiment.

    It has a ``p50_ns``, or a ``rate_hz`` if rates are compared.
    """

    label: str
    """Name of the raw transport: ``shm``, ``shm (loan)``, ``udp``, …"""
    p50_ns: float | None
    rate_hz: float | None
    times: float
    """The cell's time divided by the baseline's time."""


class Attribution(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of samples above the 99.9th percentile, by the cause that the evidence shows."""

    samples: int
    machine: int
    """Another process used a role's processor for at least half of the time by which the sample exceeds the median."""
    middleware: int
    """Samples that gaps of the machine cannot explain; a lower bound."""
    unknown: int
    why: str | None
    """The reason why no sample can be attributed to the middleware; None: the evidence is complete."""


class Preemptor(msgspec.Struct, frozen=True, kw_only=True):
    """Processes that share a name and used the roles' processors. ``pid``: the process with the largest share."""

    name: str | None
    pid: int | None
    share: float


class TrialNoise(msgspec.Struct, frozen=True, kw_only=True):
    """Disturbances by the machine during one trial. Shares are of the time of all roles' processors; None: unknown."""

    trial: int
    others_share: float | None
    """Share in which processes other than Middlemark's launcher used the processors."""
    own_share: float | None
    """Share in which Middlemark's launcher used the processors."""
    delay_share: float | None
    """Share in which the roles' threads were runnable while another thread used the processor, without the time of the
    workers' own other threads. Known only if the two fields above are null.
    """
    steal_share: float | None
    irq_share: float | None
    softirq_share: float | None
    pressure_share: float | None
    """Share of the time in which some process on this machine waited for a processor."""
    throttled_ns: int | None
    still_share: float | None
    """Share of the time just before and after the trial in which a probing thread was interrupted while it ran (by
    interrupts or the hypervisor).
    """
    longest_gap_ns: int | None
    """The longest such interruption in ns."""
    longest_spell_ns: int | None
    """The longest time that another process used a role's processor."""
    preemptors: tuple[Preemptor, ...] = ()
    above_p99_9: Attribution | None = None
    marked: tuple[str, ...] = ()
    """Disturbances in words that are so strong that the trial's figures are doubtful."""


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """Disturbances by the machine during a cell: medians over its trials; lengths are maxima, counts are sums."""

    others_share: float | None
    own_share: float | None
    delay_share: float | None
    steal_share: float | None
    irq_share: float | None
    softirq_share: float | None
    pressure_share: float | None
    throttled_ns: int | None
    still_share: float | None
    longest_gap_ns: int | None
    longest_spell_ns: int | None
    above_p99_9: Attribution | None
    trials: tuple[TrialNoise, ...]
    disturbed: tuple[tuple[float, float], ...]
    """The longest intervals (at most 100) in which other processes had a role's processor, in s since the
    measuring began."""
    disturbed_trial: int | None
    """The trial that ``disturbed`` describes: the trial of ``series``, if the machine was observed during it."""
    absent: dict[str, str]
    """Field that is None → the reason."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The other tool that measured a cell, and its logs."""

    tool: str
    files: tuple[str, ...]
    not_counted: tuple[str, ...]
    """Fields of ``TrialCounts`` that the tool did not count. Ignore their values."""
    loss: float | None = None
    """The share of lost messages, if the logs have rates but no counts: the median over the trials."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a time, named as in ``stats/breakdown.py``; ``share`` is its share of the whole, 0..1."""

    part: str
    ns: float
    share: float


class HistoryResult(msgspec.Struct, frozen=True, kw_only=True):
    """The history that a late subscriber received. Counts are sums over trials."""

    expected: int
    received: int
    last_ns: float | None
    """Time from just before the subscriber joined to the last message, as the median over trials; None: no message
    came."""


class EdgeResult(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from"}):
    """One subscriber of a workload's topic. Counts are sums over trials, the other figures medians over trials."""

    name: str
    """Name of the topic."""
    source: str
    to: str
    type: str
    expected_hz: float
    received_hz: float | None
    sent: int
    received: int
    lost: int
    unsent: int
    """Messages that were due but not sent, because the publisher was behind or its publish was refused."""
    deadline_s: float | None
    missed: int | None
    """Messages that arrived after the deadline; None: there is no deadline."""
    failed_share: float
    """Share of the due messages that were lost, unsent or late."""
    holds: bool | None
    """True if at most the allowed share failed. None: the edge has no deadline, or too few messages."""
    one_way_ns: Summary | None
    one_way_absent: str | None = None
    """The reason why the edge has no median latency, or why some of its figures were left out."""
    history: HistoryResult | None = None
    """The history that the subscriber received. None: its topic is volatile, or the transport has no history."""

    @property
    def label(self) -> str:
        """``topic → node``."""
        return f"{self.name} → {self.to}"


class ChainResult(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from"}):
    """A chain of topics, and its time from the first intended instant to the last arrival (None: not recorded)."""

    source: str
    to: str
    topics: tuple[str, ...]
    end_to_end_ns: Summary | None
    end_to_end_absent: str | None = None
    """Why the chain has no median time."""


class NodeResult(msgspec.Struct, frozen=True, kw_only=True):
    """A node's resources.

    In a shared process, ``cpu`` is the processor use of the threads of the node's roles, and ``rss_bytes`` is None.
    """

    name: str
    process: str
    cpu: float | None
    rss_bytes: float | None


class WorkloadResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a workload."""

    name: str
    holds: bool | None
    """True if every edge with a deadline holds. None: no edge has a deadline, or an edge has too few messages."""
    first_failing: str | None
    """``topic → node`` of the edge with the highest ``failed_share``."""
    worst_share: float | None
    """The highest ratio of an edge's p99 latency to its deadline, as the median over trials."""
    topics: tuple[EdgeResult, ...]
    """One entry for each edge."""
    chains: tuple[ChainResult, ...]
    nodes: tuple[NodeResult, ...]
    cpu: float | None
    """Processors that all processes used together."""
    rss_bytes: float | None
    wire_bytes: float | None
    """Bytes on the trial's network while it measured."""
    discovery_ns: float | None
    """Time until all roles had found their peers."""


class Versions(msgspec.Struct, frozen=True):
    """The versions of the senders' and of the receivers' middleware; null: unknown."""

    senders: str | None = None
    receivers: str | None = None


class CellResult(Times, frozen=True, kw_only=True):
    """The result of one cell, which is one row. The JSON of a cell has the same field names."""

    cell: Cell
    name: str
    version: str | None
    versions: Versions = Versions()
    language: WrittenIn | None = None
    """The language of the interface that was measured; None: the adapter is not described, as after an import."""
    trials: int
    """Number of measured trials."""
    failed_trials: int
    samples: int
    """Round trips, or one-way latencies of a stream."""
    counts: TrialCounts
    actual_transport: str | None
    discovery_ns: float | None
    times_raw_transport: float | None
    """The cell's time divided by the time of the raw transport with the same carrier. None: the run has no such raw
    transport."""
    raw_transport: str | None
    """Name of the raw transport: ``shm``, ``shm (loan)``, ``udp``, …"""
    warnings: tuple[RunWarning, ...]
    failed: Failure | None
    """The first failure, if no trial was measured; else None."""
    failures: tuple[Failure, ...] = ()
    """The failures of the cell's failed trials, in their order."""

    one_way_absent: str | None = None
    """The reason why a stream has no one-way latency, or lacks some of its figures."""
    clock_uncertainty_ns: float | None = None
    """Largest error of a stream's one-way latencies, because the two ends read different clocks. 0: both ends read one
    clock. None: the cell is not a stream, or the latencies are unknown."""
    one_way_from_sent_absent: str | None = None
    """The reason why a stream has no one-way latency from the send."""
    in_histogram: int = 0
    """Latencies that are accurate only to 0.8 %, because the memory for raw samples was full when they were measured.
    """
    offered_hz: float | None = None
    """Messages per second of all senders together by their schedule; None: there is no schedule."""
    sent_hz: float | None = None
    """Messages per second that all publishers together sent; this is never a throughput."""
    rate_hz: float | None = None
    """Intact messages per second at one subscriber (mean over subscribers). For request-reply: replies at all
    clients."""
    rate_total_hz: float | None = None
    """Intact messages per second at all subscribers together."""
    bytes_per_s: float | None = None
    """``rate_hz`` times the size, which includes the core's header but none of the middleware's."""
    link_share: float | None = None
    """For a stream over a link: ``rate_hz`` divided by the messages per second that the line can transmit if each is a
    datagram of its own. More than 1: messages shared frames.
    """
    link_how: str | None = None
    """How the link was emulated."""
    blocked_ns: float | None = None
    """Time that publishers slept within publish(), summed over a trial; None: the kernel does not report it."""
    blocked_share: float | None = None
    """``blocked_ns`` divided by the time in which the publishers measured: 0 to 1."""
    scheduled: int | None = None
    """Intended instants of all trials; None without a schedule."""
    late_sends: int | None = None
    """Messages sent more than one period of the schedule after their intended instant."""
    unsent: int | None = None
    """Intended instants for which no message was sent before the measuring ended."""
    timed_out: int | None = None
    """Publishes that back-pressure blocked beyond the write timeout; None without a publisher."""
    per_subscriber: tuple[Delivery, ...] = ()
    """Messages at each subscriber of a stream."""
    crowd: CrowdResult | None = None
    """The figures of a crowd; None: another pattern."""
    resources: CellResources | None = None
    """Resources that a trial used while it measured; None if nothing was read."""
    trial_values: tuple[float, ...] = ()
    """The main figure of each trial: the received rate if messages are sent as fast as possible, else p50 in ns."""
    metrics: Mapping[str, tuple[float | None, ...]] = {}
    """Metric (``stats/metrics.py``) → its figure for each measured trial in order."""
    interval: tuple[float, float] | None = None
    """95 % interval of the median of ``trial_values``, by bootstrap over trials; None with fewer than six trials."""
    series: tuple[Second, ...] = ()
    """The series of the trial ``series_trial``, whose figure is the median of the cell."""
    series_trial: int | None = None
    series_subscribers: tuple[Arrived, ...] = ()
    """Counts at each subscriber in the trial ``series_trial``."""
    steps: tuple[CurveStep, ...] = ()
    """Steps of a curve by rising load, or of a search in the order tried."""
    sustainable: Sustainable | None = None
    """The rate that a search found. None: no rate was searched for, or no rate was sustainable."""
    native_request_reply: bool | None = None
    """True if the middleware's own request-reply was used. None: the pattern is not request-reply."""
    baseline: Baseline | None = None
    """The cell's baseline. None: the run has no raw transport in the same experiment."""
    protected_by: str | None = None
    """The algorithms in force, in the middleware's words; None: no protection, or no trial reported them."""
    settings: OwnSettings | None = None
    """The settings that the middleware was given, as its configuration file or as lines of code."""
    settings_absent: str | None = None
    """Why there are no ``settings``."""
    proof: ProtectionProof | None = None
    """Results of the checks of the protection; None: no protection."""
    handshake_ns: float | None = None
    """Time from opening the middleware until the peers are found; authentication is included."""
    noise: Noise | None = None
    """Disturbances by the machine; None: not observed."""
    imported: Origin | None = None
    """Origin of the figures, if another tool measured them."""
    breakdown: tuple[Part, ...] | None = None
    """The parts of the time in order. They add up to a round trip or a one-way time near the median."""
    breakdown_absent: str | None = None
    """Why there is no breakdown."""
    coding_absent: str | None = None
    """The reason why serialize or deserialize is missing among the parts, for typed messages."""
    workload: WorkloadResult | None = None
    """The result of the workload; None: the cell has no workload."""

    def median(self, metric: str) -> float | None:
        """Return the median of a metric over the trials that have it; None: no trial has it."""
        present = [each for each in self.metrics.get(metric, ()) if each is not None]
        return statistics.median(present) if present else None
