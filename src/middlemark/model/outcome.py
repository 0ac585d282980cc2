"""What came of one trial: the values that are kept, one line of ``trials.jsonl`` each."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from middlemark.model.imported import Imported
from middlemark.model.noise import Witnessed
from middlemark.model.protocol import Clock, Count, Index, RoleKind, SecondsOrZero, Several
from middlemark.model.workload import Workload


class RunWarning(msgspec.Struct, frozen=True):
    """A warning with its advice; it travels with the row it belongs to."""

    code: str
    text: str
    advice: str = ""


class Failure(msgspec.Struct, frozen=True):
    """Why a trial gave nothing.

    crashed, hung, unmatched, silent, refused, companion, disk, configure, memory, clock, lost (a host went away),
    unsustainable or internal.
    """

    code: str
    text: str
    advice: str = ""


class TrialCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of the measured part of the trial, as the ping counted them; damage that pongs found is added."""

    sent: Count = 0
    received: Count = 0
    """Replies that arrived, the late ones included, duplicates not."""
    lost: int = 0
    """Expected replies that never arrived."""
    late: Count = 0
    """Replies that arrived after their reply timeout; they are no samples."""
    duplicated: Count = 0
    reordered: Count = 0
    damaged: Count = 0
    publish_failed: Count = 0


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """Where a worker really was, read back from the kernel."""

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
    """What moved between the start and the end of the measuring, as the kernel counted it for this namespace."""

    udp_datagrams: int
    tcp_segments: int
    loopback_bytes: int
    """On the loopback interface and on the ends of a link, each with its packets' headers but Ethernet's."""
    segments: tuple[Segment, ...] = ()
    unix_sockets: int = 0
    """Connected Unix sockets that the workers shared at the end (control pipes excluded)."""
    udp_sockets: int | None = None
    """UDP sockets that the workers had at the end; None: not counted."""
    tcp_sockets: int | None = None
    """Likewise their TCP connections; listening sockets do not count."""
    qdisc_dropped: int | None = None
    """Packets that found the queue of an emulated link full; None: there was no link, or it was not counted."""


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """What /dev/shm could hold while a trial ran."""

    size_bytes: Count
    least_free_bytes: Count
    """Of a few looks: it may have been less between them."""


class SamplesFile(msgspec.Struct, frozen=True, kw_only=True):
    """What one role kept of every message, relative to the run's folder."""

    role: RoleKind
    """ping, client, publisher, subscriber, pong or server: the role names the dtype (docs/protocol.md)."""
    index: Index
    path: str
    samples: Count
    histogram_path: str | None = None
    """Where the samples outgrew their memory: the log-linear histogram of all that came after it was full."""
    in_histogram: Count = 0
    stamped_every: Several = 1
    """A publisher's: its record i is of sequence ``1 + i * stamped_every``; its other messages were not timed."""


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """What the ``begin_ns`` of a ping's or client's samples count from, by the counter that its peer reads, too."""

    index: Index
    ticks: Count
    ticks_per_second: Annotated[float, Meta(gt=0)]


class Coding(msgspec.Struct, frozen=True, kw_only=True):
    """What (de)serialising a message of a type took: the median of each role's messages, of several roles their median.

    None: no role timed it.
    """

    serialize_ns: float | None = None
    deserialize_ns: float | None = None
    reply_serialize_ns: float | None = None
    """Of what a pong or a server answers, and so the next."""
    reply_deserialize_ns: float | None = None


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """What one publisher of a stream did in the measured part."""

    index: Index
    topic: Index
    scheduled: Count | None
    """Intended instants within the measuring; None without a schedule (rate max, bursts)."""
    sent: Count
    sent_bytes: Count | None = None
    """Where the sizes of its topic vary: theirs, all together."""
    timed_out: Count
    """Publishes that back-pressure held beyond the write timeout: not sent, not lost."""
    publish_failed: Count
    late_sends: int | None
    """Sent more than one period of the schedule after their intended instant; None without a schedule."""
    unsent: int | None
    """Scheduled instants for which nothing was sent before the measuring ended."""
    blocked_ns: int | None
    """Time its thread slept within publish(): back-pressure; None where the kernel does not tell (schedstat)."""
    pacing_ns: int
    """Time its thread spent waiting for intended instants."""
    writing_ns: int | None
    """Time within publish(), all messages together; None where not every one was stamped."""
    first_sent_ns: Count
    """CLOCK_MONOTONIC; 0: nothing was sent."""
    last_sent_ns: Count


def bytes_sent(publishers: Iterable[Sent], graph: Workload) -> int:
    """Return the bytes of all messages that the publishers of a workload sent."""
    return sum(
        each.sent * graph.topics[each.topic].size if each.sent_bytes is None else each.sent_bytes for each in publishers
    )


class Arrived(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it at one subscriber, measured messages only."""

    index: Index
    topic: Index
    expected: Count
    """What the publishers of its topic sent."""
    received: Count
    """Different messages that arrived, damaged ones included."""
    lost: int
    """``expected - received``."""
    duplicated: Count
    reordered: Count
    damaged: Count
    last_warm_up_ns: Count = 0
    """CLOCK_MONOTONIC; of the warm-up's messages that came before the first measured one. 0: none did."""
    first_received_ns: Count
    """CLOCK_MONOTONIC; 0: nothing came."""
    last_received_ns: Count
    history_due: Count = 0
    """Messages that it had to receive of those that were published before it joined; 0: it did not join late."""
    history_received: Count = 0
    history_ns: Count | None = None
    """From just before its end was opened to the last of them; None: none came."""


def received_hz(subscriber: Arrived, publishers: Sequence[Sent]) -> float | None:
    """Return intact messages a second, from the first of its topic that was sent to the last that arrived.

    While what the warm-up left in the queues still arrives the time has not begun. None when nothing was sent to it.
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
    """One thread of a worker by its name; threads of one name are added up."""

    name: str
    threads: int | None
    """None: another tool's log does not tell how many."""
    cpu_ns: int


class WorkerCost(msgspec.Struct, frozen=True, kw_only=True):
    """What one worker process cost while it measured (from the first measured message to the end)."""

    who: str
    pid: int
    seconds: float
    rss_bytes: int
    """Resident memory at the end, without ``bench_bytes``."""
    peak_rss_bytes: int
    """The highest it ever was (VmHWM), without ``bench_bytes``."""
    bench_bytes: int = 0
    """Memory that holds the bench's own samples, all of it resident, and taken off the two above."""
    user_ns: int
    system_ns: int
    voluntary_switches: int
    involuntary_switches: int
    minor_faults: int | None
    """None, and so the next: another tool's log does not tell."""
    major_faults: int | None
    threads: tuple[ThreadCost, ...]


class CompanionCost(WorkerCost, frozen=True, kw_only=True):
    """What one companion cost while its workers measured. ``who``: as its adapter calls it."""

    ready_ns: Count
    """From starting it until it said that it is ready."""


class NetworkCost(msgspec.Struct, frozen=True, kw_only=True):
    """What the namespace's counters moved by while it measured: everybody's traffic there, not only the workers'."""

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
    """Of the whole machine: packets that found a processor's backlog full."""


class Second(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the series (about a second; the last one shorter) of one worker: what moved within it."""

    at_s: float
    """Its end, since the first worker began to measure."""
    seconds: float
    who: str
    sent: int | None = None
    """None where the worker holds no role that sends."""
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
    """In the rows of the first worker only: the namespace's counters are the same for all."""


class ClockOffset(msgspec.Struct, frozen=True, kw_only=True):
    """How the clock of a trial's first host (the senders', of a stream) ran against the second's: a straight line."""

    begin_ns: Count
    """CLOCK_MONOTONIC of the second host, where the line begins."""
    offset_ns: float
    """The first host's clock less the second's, there."""
    drift_ppm: float
    """How much faster that of the first ran."""
    uncertainty_ns: float
    """At most so far is the line from the truth, anywhere in the trial."""
    exchanges: Count
    """Datagrams there and back that it was made of."""
    round_trip_ns: Count
    """The least that one of them took."""
    subscribers: tuple[Index, ...] = ()
    """Those to whom messages came from the other host."""


class Underway(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial that is being measured has come to; told about once a second, and not kept."""

    phase: str
    samples: int
    step: int | None = None
    """Of a search, from 1; None: it is none."""
    rate_hz: float | None = None
    """Of that step; None: as fast as possible."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One rate that a search (``sustainable``) or a curve tried, each in fresh processes."""

    rate_hz: float | None
    """Offered, each publisher; None: as fast as possible."""
    sent_hz: float
    received_hz: float
    """Intact, at one subscriber (the mean over subscribers)."""
    expected: int
    lost: int
    late_sends: int | None
    unsent: int | None
    p50_ns: float | None
    """One way, from the intended instant."""
    p99_ns: float | None
    held: bool
    """Loss, p99 and schedule were within what was asked."""
    failed: str | None = None
    """Why the step gave nothing."""


class ProtectionProof(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """Whether the protection of a cell was seen to be in force: true, false, or None with why in ``absent``."""

    payload_not_seen: bool | None = None
    """A capture of what carried the messages does not hold the pattern that the same capture at ``none`` does."""
    stranger_refused: bool | None = None
    """A participant with another authority's certificate, or a key that nobody knows, was not let in."""
    unauthorised_refused: bool | None = None
    """One with a certificate and without permission got nothing."""
    absent: dict[str, str] = {}
    """By the names above as JSON has them."""

    @property
    def failed(self) -> tuple[str, ...]:
        """Those that are false, by the names that JSON has."""
        return tuple(name.replace("_", "-") for name in self.__struct_fields__ if getattr(self, name) is False)


class TrialOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One line of ``trials.jsonl``. What was not measured is None."""

    cell: int
    number: int
    order: int
    started: str
    """UTC, ISO 8601."""
    seconds: SecondsOrZero
    """From the first process to the last one reaped."""
    failed: Failure | None = None
    samples_file: str | None = None
    """Relative to the run's folder."""
    samples: Count = 0
    warmup_samples: int = 0
    measured_s: SecondsOrZero | None = None
    counts: TrialCounts | None = None
    discovery_ns: int | None = None
    handshake_ns: int | None = None
    """The same from opening the middleware on: some have proved who they are before there are topics."""
    first_sample_ns: int | None = None
    """From starting the first worker to the beginning of the first measured round trip, warm-up excluded."""
    clock: Clock | None = None
    placed: tuple[Placed, ...] = ()
    version: str | None = None
    actual_transport: str | None = None
    """shared-memory, udp, tcp, unix-socket, message-queue, process-memory; None when the evidence does not say."""
    protected_by: str | None = None
    """The algorithms in force, in the middleware's words; None: nothing protects the cell."""
    proof: ProtectionProof | None = None
    """Made once a cell, in its first round; None: in the others, and where nothing protects."""
    evidence: Evidence | None = None
    shm: Room | None = None
    """None: nobody looked."""
    link_how: str | None = None
    """How the link between its sites was emulated; None: there was none."""
    warnings: tuple[RunWarning, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[SamplesFile, ...] = ()
    """Of streams and clients; the ping has ``samples_file``."""
    publishers: tuple[Sent, ...] = ()
    subscribers: tuple[Arrived, ...] = ()
    costs: tuple[WorkerCost, ...] = ()
    companions: tuple[CompanionCost, ...] = ()
    """Of those that the kernel told of; the figures of ``costs`` have nothing of theirs."""
    network: NetworkCost | None = None
    series: tuple[Second, ...] = ()
    steps: tuple[Step, ...] = ()
    """In the order tried. The rest of the outcome is that of the step chosen: the highest rate that held, for a curve
    the saturation."""
    native_request_reply: bool | None = None
    """Request and reply were the middleware's own; false: two topics stood in; None: another pattern."""
    noise: Witnessed | None = None
    """What the machine did meanwhile; None: nobody looked, or nothing was measured."""
    imported: Imported | None = None
    """Set where another tool measured it: then there are no samples, and these are its figures."""
    stamps: Annotated[tuple[SamplesFile, ...], Meta(max_length=1)] = ()
    """Of the pong or server that every round trip went through: what it stamped of the messages it answered."""
    starts: tuple[Started, ...] = ()
    """Of the ping, or of the clients."""
    stamps_absent: str | None = None
    """Why stamps of both ends cannot be held against each other."""
    clocks: ClockOffset | None = None
    """By what line the instants of the second host were brought onto the clock of the first; None: it is one clock."""
    coding: Coding | None = None
    """Of messages of one type; None: octets, a workload, or the middleware (de)serialises within its own calls."""

    @property
    def timed(self) -> tuple[SamplesFile, ...]:
        """The ``files`` whose times can be told: a subscriber's are of two clocks."""
        return tuple(each for each in self.files if each.role != "subscriber" or self.stamps_absent is None)
