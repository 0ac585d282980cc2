"""The outcome of one trial: one line of ``trials.jsonl``."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from middlemark.model.crowd import Crowd
from middlemark.model.imported import Imported
from middlemark.model.noise import Witnessed
from middlemark.model.protocol import Clock, Count, Index, OwnSettings, RoleKind, SecondsOrZero, Several
from middlemark.model.workload import Workload


class RunWarning(msgspec.Struct, frozen=True):
    """A warning with its advice, kept with the row that the warning is about."""

    code: str
    text: str
    advice: str = ""


class Failure(msgspec.Struct, frozen=True):
    """Why a trial has no result.

    Codes: crashed, hung, unmatched, silent, no-interop (two different adapters do not exchange messages), refused,
    companion, disk, configure, memory, clock, lost (a host went away), unsustainable or internal.
    """

    code: str
    text: str
    advice: str = ""


class TrialCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of the measured part, counted by the ping. ``damaged`` includes messages that pongs found damaged."""

    sent: Count = 0
    received: Count = 0
    """Replies that arrived, late ones included and duplicates excluded."""
    lost: int = 0
    """Expected replies that never arrived."""
    late: Count = 0
    """Replies that arrived after their reply timeout; such replies are no samples."""
    duplicated: Count = 0
    reordered: Count = 0
    damaged: Count = 0
    publish_failed: Count = 0


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """Actual placement of a worker, read back from the kernel."""

    role: str
    pid: int
    cpus: tuple[int, ...]
    policy: str
    priority: int
    mlocked: bool


class Segment(msgspec.Struct, frozen=True):
    """A file under /dev/shm that a worker had mapped while it measured, and the bytes mapped."""

    name: str
    bytes: int


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Change of the kernel's counters for this namespace between the start and the end of the measuring."""

    udp_datagrams: int
    """Datagrams that were sent, without those to ports that have no socket."""
    tcp_segments: int
    loopback_bytes: int
    """Bytes on the loopback interface and on the ends of a link, with the headers of packets, without Ethernet's
    header."""
    segments: tuple[Segment, ...] = ()
    unix_sockets: int = 0
    """Connected Unix sockets that the workers shared at the end (control pipes excluded)."""
    udp_sockets: int | None = None
    """UDP sockets that the workers had at the end; None: not counted."""
    tcp_sockets: int | None = None
    """TCP connections that the workers had at the end, listening sockets excluded; None: not counted."""
    udp_no_port: int = 0
    """Datagrams to ports without a socket, which DDS sends to find peers. ``loopback_bytes`` includes their bytes."""
    qdisc_dropped: int | None = None
    """Packets dropped because an emulated link's queue was full; None: no link, or not counted."""


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """Capacity of /dev/shm while a trial ran."""

    size_bytes: Count
    least_free_bytes: Count
    """The lowest of a few readings; between two readings it may have been lower."""


class SamplesFile(msgspec.Struct, frozen=True, kw_only=True):
    """Samples that one role kept, with paths relative to the run's folder."""

    role: RoleKind
    """ping, client, publisher, subscriber, pong or server; the role determines the dtype
    (docs/reference/protocol.md)."""
    index: Index
    path: str
    samples: Count
    histogram_path: str | None = None
    """Log-linear histogram of the samples that did not fit into memory; None: all samples fitted."""
    in_histogram: Count = 0
    stamped_every: Several = 1
    """For a publisher: record i belongs to sequence ``1 + i * stamped_every``; the publisher's other messages were not
    timed."""


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """The value of the raw counter from which ``begin_ns`` of a ping or client counts.

    ``received_ticks`` of the pong or server is a value of the same counter.
    """

    index: Index
    ticks: Count
    ticks_per_second: Annotated[float, Meta(gt=0)]


class Coding(msgspec.Struct, frozen=True, kw_only=True):
    """Median time to serialise and deserialise a typed message: the median of several roles' medians.

    None: no role timed it.
    """

    serialize_ns: float | None = None
    deserialize_ns: float | None = None
    reply_serialize_ns: float | None = None
    """As ``serialize_ns``, for the replies of a pong or a server; also ``reply_deserialize_ns``."""
    reply_deserialize_ns: float | None = None


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """Counters of one publisher of a stream in the measured part."""

    index: Index
    topic: Index
    scheduled: Count | None
    """Intended instants within the measuring; None without a schedule (rate max, bursts)."""
    sent: Count
    sent_bytes: Count | None = None
    """Bytes of all messages that the publisher sent, if the sizes of its topic vary."""
    timed_out: Count
    """Number of publishes that back-pressure blocked beyond the write timeout. They count as neither sent nor lost."""
    publish_failed: Count
    late_sends: int | None
    """Messages sent more than one period of the schedule after their intended instant; None without a schedule."""
    unsent: int | None
    """Intended instants for which no message was sent before the measuring ended."""
    blocked_ns: int | None
    """Time that the publisher's thread slept within publish(): back-pressure; None: the kernel does not report it
    (schedstat)."""
    pacing_ns: int
    """Time that the publisher's thread spent waiting for intended instants."""
    writing_ns: int | None
    """Time within publish(), summed over all messages; None if not every message was stamped."""
    first_sent_ns: Count
    """CLOCK_MONOTONIC of the first message; 0: no message was sent."""
    last_sent_ns: Count


def bytes_sent(publishers: Iterable[Sent], graph: Workload) -> int:
    """Return the bytes of all messages that the publishers of a workload sent."""
    return sum(
        each.sent * graph.topics[each.topic].size if each.sent_bytes is None else each.sent_bytes for each in publishers
    )


class Arrived(msgspec.Struct, frozen=True, kw_only=True):
    """Counters of one subscriber, measured messages only."""

    index: Index
    topic: Index
    expected: Count
    """Messages that the publishers of the subscriber's topic sent."""
    received: Count
    """Different messages that arrived, damaged ones included."""
    lost: int
    """``expected - received``."""
    duplicated: Count
    reordered: Count
    damaged: Count
    last_warm_up_ns: Count = 0
    """CLOCK_MONOTONIC of the last warm-up message before the first measured message; 0: no such message."""
    first_received_ns: Count
    """CLOCK_MONOTONIC of the first message; 0: no message arrived."""
    last_received_ns: Count
    history_due: Count = 0
    """Number of earlier messages that the subscriber had to receive because it joined late; 0: it did not join late."""
    history_received: Count = 0
    history_ns: Count | None = None
    """Time from just before the subscriber was opened to the last message of the history; None: no such message
    arrived."""


def received_hz(subscriber: Arrived, publishers: Sequence[Sent]) -> float | None:
    """Return intact messages per second, from the first message sent on the topic to the last that arrived.

    If messages of the warm-up still arrived, the time begins with the last of these. None: no message was sent to the
    subscriber.
    """
    begins = [each.first_sent_ns for each in publishers if each.topic == subscriber.topic and each.first_sent_ns]
    if not begins:
        return None
    intact = subscriber.received - subscriber.damaged
    if intact <= 0:
        return 0.0
    begin = max(min(begins), subscriber.last_warm_up_ns)
    return intact * 1e9 / max(subscriber.last_received_ns - begin, 1)


class ThreadCost(msgspec.Struct, frozen=True, kw_only=True):
    """The threads of a worker with the same name, added up."""

    name: str
    threads: int | None
    """Number of threads; None: another tool's log does not contain the number."""
    cpu_ns: int


class WorkerCost(msgspec.Struct, frozen=True, kw_only=True):
    """Resources that one worker process used while it measured (from the first measured message to the end)."""

    who: str
    pid: int
    seconds: float
    rss_bytes: int
    """Resident memory at the end, without ``bench_bytes``."""
    peak_rss_bytes: int
    """The highest resident memory so far (VmHWM), without ``bench_bytes``."""
    bench_bytes: int = 0
    """Resident memory that holds the bench's own samples. This memory is subtracted from the two fields above."""
    user_ns: int
    system_ns: int
    voluntary_switches: int
    involuntary_switches: int
    minor_faults: int | None
    """None (also for ``major_faults``): another tool's log does not contain the counts."""
    major_faults: int | None
    threads: tuple[ThreadCost, ...]


class CompanionCost(WorkerCost, frozen=True, kw_only=True):
    """Resources that one companion used while its workers measured. ``who``: the companion's name in its adapter."""

    ready_ns: Count
    """Time from the companion's start until its message that it is ready."""


class NetworkCost(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of the network namespace's counters during the measuring.

    They include the traffic of all its processes.
    """

    loopback_bytes: int
    loopback_packets: int
    udp_in_datagrams: int
    udp_rcvbuf_errors: int
    udp_sndbuf_errors: int
    udp_in_errors: int
    ip_reasm_fails: int
    ip_in_discards: int
    tcp_retransmitted: int
    ip_reasm_timeouts: int = 0
    softnet_dropped: int = 0
    """Packets that were dropped because a processor's backlog was full, on the whole machine."""


class Second(msgspec.Struct, frozen=True, kw_only=True):
    """One step in the series of one worker: about a second, or in a long trial the time between two records.

    The last step is shorter. Counters are changes within the step.
    """

    at_s: float
    """End of the step, in s since the first worker began to measure."""
    seconds: float
    who: str
    sent: int | None = None
    """None if the worker has no role that sends."""
    received: int | None = None
    duplicated: int | None = None
    reordered: int | None = None
    damaged: int | None = None
    publish_failed: int | None = None
    blocked_ns: int | None = None
    rss_bytes: int = 0
    user_ns: int = 0
    system_ns: int = 0
    voluntary_switches: int = 0
    involuntary_switches: int = 0
    minor_faults: int = 0
    major_faults: int = 0
    threads: tuple[ThreadCost, ...] = ()
    network: NetworkCost | None = None
    """None except for the first worker, because the namespace's counters are the same for all workers."""


class ClockOffset(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between the clocks of a trial's two hosts, as a straight line over time.

    In a stream, the senders are on the first host.
    """

    begin_ns: Count
    """CLOCK_MONOTONIC of the second host at the beginning of the line."""
    offset_ns: float
    """The first host's clock minus the second host's clock at ``begin_ns``."""
    drift_ppm: float
    """How much faster the first host's clock ran than the second's."""
    uncertainty_ns: float
    """The largest error of the line at any time of the trial."""
    exchanges: Count
    """Number of datagram round trips from which the line was computed."""
    round_trip_ns: Count
    """The shortest of the datagram round trips."""
    subscribers: tuple[Index, ...] = ()
    """Subscribers that receive messages from the other host."""


class Underway(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of a trial that is being measured, shown about once a second and not kept."""

    phase: str
    samples: int
    step: int | None = None
    """Number of the step of a search, from 1; None: no search."""
    rate_hz: float | None = None
    """Rate of the step; None: as fast as possible."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One rate that a search (``sustainable``) or a curve tried. Each step has new processes."""

    rate_hz: float | None
    """Offered by each publisher; None: as fast as possible."""
    sent_hz: float
    received_hz: float
    """Rate of intact messages at one subscriber: the mean over subscribers."""
    expected: int
    lost: int
    late_sends: int | None
    unsent: int | None
    p50_ns: float | None
    """One-way latency from the intended instant."""
    p99_ns: float | None
    held: bool
    """True if loss, p99 and schedule were within the requested limits."""
    failed: str | None = None
    """Why the step has no result."""


class ProtectionProof(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """Checks that the protection of a cell is in force. None: not checked, for the reason in ``absent``."""

    payload_not_seen: bool | None = None
    """True if a capture of the cell's traffic lacks a pattern that a capture at ``none`` contains."""
    stranger_refused: bool | None = None
    """A participant with a certificate of another authority, or with an unknown key, was refused."""
    unauthorised_refused: bool | None = None
    """True if a participant with a certificate but without permission received nothing."""
    absent: dict[str, str] = {}
    """Reasons why a check was not made, by its field's name in JSON."""

    @property
    def failed(self) -> tuple[str, ...]:
        """Names in JSON of the checks that are False."""
        return tuple(name.replace("_", "-") for name in self.__struct_fields__ if getattr(self, name) is False)


class SharedSegment(msgspec.Struct, frozen=True):
    """The shared-memory segment through which messages were sent, and the middleware's setting that enlarges it."""

    bytes: Count
    setting: str


class TrialOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One line of ``trials.jsonl``. None means not measured."""

    cell: int
    number: int
    order: int
    started: str
    """The time at which the trial began: UTC, ISO 8601."""
    seconds: SecondsOrZero
    """Time from the start of the first process to the end of the last."""
    failed: Failure | None = None
    samples_file: str | None = None
    """Path relative to the run's folder."""
    histogram_file: str | None = None
    """Path, relative to the run's folder, of the histogram of a ping's later round trips; None: its samples fitted into
    memory."""
    samples: Count = 0
    """Number of records in the samples files."""
    in_histogram: Count = 0
    """Number of round trips of a ping in ``histogram_file``."""
    warmup_samples: int = 0
    measured_s: SecondsOrZero | None = None
    counts: TrialCounts | None = None
    discovery_ns: int | None = None
    handshake_ns: int | None = None
    """Time from opening the middleware to the discovery of all peers; ``discovery_ns`` begins later. Some middlewares
    authenticate their peers before topics exist."""
    first_sample_ns: int | None = None
    """Time from the start of the first worker to the first measured round trip, without the warm-up."""
    clock: Clock | None = None
    placed: tuple[Placed, ...] = ()
    version: str | None = None
    actual_transport: str | None = None
    """shared-memory, udp, tcp, unix-socket, message-queue, process-memory; None: the evidence does not show the
    transport."""
    protected_by: str | None = None
    """The algorithms in force, in the middleware's words; None: the cell has no protection."""
    segment: SharedSegment | None = None
    """The smallest shared-memory segment through which a worker sent; None: unknown, or no limit."""
    settings: OwnSettings | None = None
    """The settings that the workers applied, in the middleware's own form; None: the adapter does not report them."""
    proof: ProtectionProof | None = None
    """Made once for each cell, in its first round. None in other rounds, and for cells without protection."""
    evidence: Evidence | None = None
    shm: Room | None = None
    """Capacity of /dev/shm during the trial. None: not read."""
    link_how: str | None = None
    """How the link between the trial's sites was emulated; None: no link."""
    warnings: tuple[RunWarning, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[SamplesFile, ...] = ()
    """Files of streams and clients; the file of a ping is ``samples_file``."""
    publishers: tuple[Sent, ...] = ()
    subscribers: tuple[Arrived, ...] = ()
    costs: tuple[WorkerCost, ...] = ()
    companions: tuple[CompanionCost, ...] = ()
    """Companions whose resources the kernel reported; ``costs`` does not include them."""
    network: NetworkCost | None = None
    series: tuple[Second, ...] = ()
    steps: tuple[Step, ...] = ()
    """The steps in the order in which they were tried. The other fields describe the highest rate that passed, or
    saturation."""
    native_request_reply: bool | None = None
    """True: the middleware's own request and reply. False: two topics instead. None: another pattern."""
    noise: Witnessed | None = None
    """Disturbances by the machine; None: not observed, or nothing was measured."""
    imported: Imported | None = None
    """Figures of another tool that measured the trial; None: Middlemark measured it."""
    stamps: Annotated[tuple[SamplesFile, ...], Meta(max_length=1)] = ()
    """The samples file of the pong or server with the stamps of messages that it answered. Empty: none."""
    starts: tuple[Started, ...] = ()
    """The counter values at which the samples' time axes begin: of the ping, or of each client."""
    stamps_absent: str | None = None
    """Why the stamps of the two ends cannot be compared."""
    clocks: ClockOffset | None = None
    """The line that converted times of the second host to the first host's clock; None: both ends have one clock."""
    crowd: Crowd | None = None
    """The figures of a crowd; None: another pattern."""
    coding: Coding | None = None
    """Times of serialising messages; None: octets, a workload, or the middleware (de)serialises within its own
    calls."""

    @property
    def timed(self) -> tuple[SamplesFile, ...]:
        """The ``files`` with usable times. A subscriber's times are unusable if they mix two clocks."""
        return tuple(each for each in self.files if each.role != "subscriber" or self.stamps_absent is None)
