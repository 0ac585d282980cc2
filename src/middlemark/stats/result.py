"""What a cell came to over its trials: the values every report is made from."""

import statistics
from collections.abc import Mapping

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.outcome import Arrived, Failure, NetworkCost, ProtectionProof, RunWarning, Second, TrialCounts
from middlemark.model.times import Summary, Times


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """What arrived at one subscriber of a stream. Counts are those of all trials, the others medians over trials."""

    index: int
    topic: int
    expected: int
    received: int
    """Different messages, damaged ones included."""
    lost: int
    ratio: float | None
    """``received / expected``; None when nothing was expected."""
    rate_hz: float | None
    p50_ns: float | None
    """One way, from the intended instant."""
    p99_ns: float | None


class ThreadResources(msgspec.Struct, frozen=True):
    """The threads of one name in a worker, and the processors they used together."""

    name: str
    cpu: float


class WorkerResources(msgspec.Struct, frozen=True, kw_only=True):
    """What one worker used while it measured; medians over trials."""

    who: str
    cpu: float
    """Processors: 1.0 is one processor all the time."""
    user: float
    system: float
    rss_bytes: float
    peak_rss_bytes: float
    voluntary_hz: float
    """Context switches a second: it had to wait."""
    involuntary_hz: float
    """It was made to give way."""
    minor_faults: float | None
    major_faults: float | None
    threads: tuple[ThreadResources, ...]


class CompanionResources(WorkerResources, frozen=True, kw_only=True):
    """What one companion used, from before the warm-up to the end; medians over trials."""

    ready_ns: float
    """From starting it until it said that it is ready."""


class CellResources(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial cost while it measured, all workers together; medians over trials except ``network``."""

    cpu: float | None
    """Processors used; None where nothing was read."""
    user: float | None
    system: float | None
    ns_per_message: float | None
    """Processor time, less what publishers spent waiting for their next instant, for each message received."""
    rss_bytes: float | None
    """At the end. Pages that workers share count in each of them."""
    peak_rss_bytes: float | None
    bytes_per_subscriber: float | None
    """Mean resident memory of a subscriber's process; None where a process holds more than one role."""
    voluntary_hz: float | None
    involuntary_hz: float | None
    voluntary_per_message: float | None
    involuntary_per_message: float | None
    minor_faults: float | None
    major_faults: float | None
    workers: tuple[WorkerResources, ...]
    companions: tuple[CompanionResources, ...] = ()
    """They are in none of the figures above."""
    network: NetworkCost | None
    """Added over the trials, as the counts of messages are."""


class CurveStep(msgspec.Struct, frozen=True, kw_only=True):
    """One offered load of a curve, the median over the trials; or one rate that the median search tried."""

    part: float | None
    """Of what arrived at saturation in the same trial; None: as fast as possible, or a step of a search."""
    offered_hz: float | None
    """Each publisher; None: as fast as possible."""
    sent_hz: float
    """The mean of publishers."""
    received_hz: float
    """Intact, at one subscriber."""
    lost: float | None
    """Share of what was expected; None when nothing was."""
    p50_ns: float | None
    """One way, from the intended instant, at the subscriber where it is the longest."""
    p99_ns: float | None
    held: bool
    """In every trial."""
    trials: int
    knee: bool = False
    failed: str | None = None
    """Why no trial measured it."""


class Sustainable(msgspec.Struct, frozen=True, kw_only=True):
    """The highest rate that held, each publisher: the median over trials, and the range of what the trials found."""

    rate_hz: float
    least_hz: float
    most_hz: float


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """The fastest raw transport in a cell's experiment: its ``p50_ns``, or its ``rate_hz`` where rates are compared."""

    label: str
    """Which raw transport: ``shm``, ``shm (loan)``, ``udp``, …"""
    p50_ns: float | None
    rate_hz: float | None
    times: float
    """How many times slower than the baseline the cell is."""


class Attribution(msgspec.Struct, frozen=True, kw_only=True):
    """The samples above the 99.9th percentile, and to whom the evidence attributes them."""

    samples: int
    machine: int
    """Somebody else had a role's processor for at least half of what the sample took beyond the median."""
    middleware: int
    """At least so many: the machine does not stand still so often."""
    unknown: int
    why: str | None
    """Why none can be the middleware's for certain; None: the evidence was complete."""


class Preemptor(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who had the roles' processors; of several of one name, all together and the pid of the greatest."""

    name: str | None
    pid: int | None
    share: float


class TrialNoise(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine did during one trial. Shares are of the time of all roles' processors; None: not known."""

    trial: int
    others_share: float | None
    """Other processes had them, the bench's own launcher excluded."""
    own_share: float | None
    """The bench's own launcher had them."""
    delay_share: float | None
    """Where the former are not known: the roles' threads could have run and another had the processor, and it was none
    of the workers' own."""
    steal_share: float | None
    irq_share: float | None
    softirq_share: float | None
    pressure_share: float | None
    """Of the time, somebody on this machine waited for a processor."""
    throttled_ns: int | None
    still_share: float | None
    """Just before and after: the processor stood still under a thread that had it (interrupts, hypervisor)."""
    longest_gap_ns: int | None
    """The longest of those."""
    longest_spell_ns: int | None
    """The longest time that another process had a role's processor."""
    preemptors: tuple[Preemptor, ...] = ()
    above_p99_9: Attribution | None = None
    marked: tuple[str, ...] = ()
    """What of it is too much to leave the trial's figures alone, in words."""


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine did while a cell was measured: medians over its trials, of lengths the longest, counts added."""

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
    """Up to 100 of the longest times in which a role's processor was another's, s since the measuring began."""
    disturbed_trial: int | None
    """The trial that ``disturbed`` is of: that of ``series``, where it was watched."""
    absent: dict[str, str]
    """What is not known, and why."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Which other tool measured a cell, and in which logs it says so."""

    tool: str
    files: tuple[str, ...]
    not_counted: tuple[str, ...]
    """The fields of ``TrialCounts`` that say nothing, as it did not count them."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of where the time went, named as in ``stats/breakdown.py``; ``share`` is of the whole, 0..1."""

    part: str
    ns: float
    share: float


class HistoryResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a subscriber got that joined late. Counts are those of all trials."""

    expected: int
    received: int
    last_ns: float | None
    """From just before it joined to the last of them, the median over trials; None: none came."""


class EdgeResult(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from"}):
    """One subscriber of a workload's topic. Counts are those of all trials, the others medians over trials."""

    name: str
    """Of the topic."""
    source: str
    to: str
    type: str
    expected_hz: float
    received_hz: float | None
    sent: int
    received: int
    lost: int
    unsent: int
    """Due, and never sent: the publisher was behind, or was refused."""
    deadline_s: float | None
    missed: int | None
    """Arrived after the deadline; None: there is none."""
    failed_share: float
    """Of what was due: lost, unsent, or late."""
    holds: bool | None
    """None: no deadline, or too few messages to say."""
    one_way_ns: Summary | None
    history: HistoryResult | None = None
    """None: it did not join late, as its topic is volatile, or was carried so."""

    @property
    def label(self) -> str:
        """``topic → node``."""
        return f"{self.name} → {self.to}"


class ChainResult(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from"}):
    """A chain of topics: from the first one's intended instant to the arrival of the last; None: it was not kept."""

    source: str
    to: str
    topics: tuple[str, ...]
    end_to_end_ns: Summary | None


class NodeResult(msgspec.Struct, frozen=True, kw_only=True):
    """A node. Of one that shares its process: what its roles' threads used, and no memory of its own."""

    name: str
    process: str
    cpu: float | None
    rss_bytes: float | None


class WorkloadResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a graph came to."""

    name: str
    holds: bool | None
    """Every edge with a deadline holds; None: there is none, or too little is known of one."""
    first_failing: str | None
    """``topic → node`` of the edge that fails most."""
    worst_share: float | None
    """The greatest share of its deadline that an edge takes: the 99th percentile of its latency; median of trials."""
    topics: tuple[EdgeResult, ...]
    """An entry an edge."""
    chains: tuple[ChainResult, ...]
    nodes: tuple[NodeResult, ...]
    cpu: float | None
    """Processors, all processes together."""
    rss_bytes: float | None
    wire_bytes: float | None
    """What crossed the network of a trial while it measured."""
    discovery_ns: float | None
    """Until everything was matched."""


class CellResult(Times, frozen=True, kw_only=True):
    """One row. The JSON of a cell has its fields under the same names."""

    cell: Cell
    name: str
    version: str | None
    trials: int
    """Those that were measured."""
    failed_trials: int
    samples: int
    """Round trips, or one-way latencies of a stream."""
    counts: TrialCounts
    actual_transport: str | None
    discovery_ns: float | None
    times_raw_transport: float | None
    """How many times slower the cell is than the raw transport of the same carrier; None without one in the run."""
    raw_transport: str | None
    """Which raw transport: ``shm``, ``shm (loan)``, ``udp``, …"""
    warnings: tuple[RunWarning, ...]
    failed: Failure | None
    """Set when no trial of the cell was measured: the first failure."""
    failures: tuple[Failure, ...] = ()
    """Those of its failed trials, in their order."""

    one_way_absent: str | None = None
    """Why a stream has no one-way latency, or lacks some of its figures."""
    clock_uncertainty_ns: float | None = None
    """So far off, at most, are the one-way latencies of a stream for its two clocks; 0: it was one. None: no stream, or
    they are not told."""
    one_way_from_sent_absent: str | None = None
    """Why a stream has none."""
    in_histogram: int = 0
    """Latencies that are known to 0.8 % only: the memory for raw samples was full when they came."""
    offered_hz: float | None = None
    """What the schedule asked of all senders together; None without one."""
    sent_hz: float | None = None
    """What all publishers together sent; never a throughput."""
    rate_hz: float | None = None
    """Intact messages a second at one subscriber, their mean; of request-reply, replies at all clients."""
    rate_total_hz: float | None = None
    """The same, of all subscribers together."""
    bytes_per_s: float | None = None
    """``rate_hz`` times the size: payload with the core's header, nothing of the middleware's."""
    link_share: float | None = None
    """Of a stream over a link: ``rate_hz`` over the messages a second that the line can carry, each in a datagram of
    its own. More than 1: messages shared frames."""
    link_how: str | None = None
    """How the link was emulated."""
    blocked_ns: float | None = None
    """Time publishers slept within publish(), all together in one trial; None where the kernel does not tell."""
    blocked_share: float | None = None
    """The same over the time they measured, 0..1."""
    scheduled: int | None = None
    """Intended instants of all trials; None without a schedule."""
    late_sends: int | None = None
    """Sent more than one period of the schedule after their intended instant."""
    unsent: int | None = None
    """Scheduled instants for which nothing was sent before the measuring ended."""
    timed_out: int | None = None
    """Publishes that back-pressure held beyond the write timeout; None without a publisher."""
    per_subscriber: tuple[Delivery, ...] = ()
    """What arrived at each subscriber of a stream."""
    resources: CellResources | None = None
    """What a trial cost while it measured; None where nothing was read."""
    trial_values: tuple[float, ...] = ()
    """The figure a trial that stands for it: the received rate of what is sent as fast as possible, else p50 in ns."""
    metrics: Mapping[str, tuple[float | None, ...]] = {}
    """Every metric that it has (``stats/metrics.py``), by name: the figure of each measured trial, in their order."""
    interval: tuple[float, float] | None = None
    """Of their median, 95 %, by bootstrap over trials; None with fewer than six."""
    series: tuple[Second, ...] = ()
    """Of trial ``series_trial``: the one whose figure is the median of its cell."""
    series_trial: int | None = None
    series_subscribers: tuple[Arrived, ...] = ()
    """What arrived in that trial in all."""
    steps: tuple[CurveStep, ...] = ()
    """Of a curve by rising load, of a search in the order it tried them."""
    sustainable: Sustainable | None = None
    """None: the rate was not searched for, or none held."""
    native_request_reply: bool | None = None
    """Whether the middleware's own request-reply was used; None: the pattern is another."""
    baseline: Baseline | None = None
    """The baseline; None without a raw transport of the same experiment in the run."""
    protected_by: str | None = None
    """The algorithms in force, in the middleware's words; None: nothing protects it, or no trial came so far."""
    proof: ProtectionProof | None = None
    """Whether they were seen to be in force; None: nothing protects it."""
    handshake_ns: float | None = None
    """From opening the middleware to the peers being found, which their proving who they are is part of."""
    noise: Noise | None = None
    """What the machine did meanwhile; None: nobody looked."""
    imported: Origin | None = None
    """Set where another tool measured it."""
    breakdown: tuple[Part, ...] | None = None
    """Where the time went, in the order of time; the parts add up to a round trip or one way near the median."""
    breakdown_absent: str | None = None
    """Why there is none."""
    coding_absent: str | None = None
    """Of messages of a type: why serialize and deserialize, or some of them, are not among its parts."""
    workload: WorkloadResult | None = None
    """Of a cell that carries one."""

    def median(self, metric: str) -> float | None:
        """Return the median of that metric over the trials that have it; None: none has."""
        known = [each for each in self.metrics.get(metric, ()) if each is not None]
        return statistics.median(known) if known else None
