"""The control protocol: every message between the launcher, its workers and the witness, declared once.

``scripts/protocol`` writes the core's half of it, ``core/protocol.hpp``, and the tables of ``docs/protocol.md``. A
field without a default must be said. The core's structs begin with a field's default, else with its first example.
"""

from typing import Annotated, Literal, cast

from msgspec import Meta, Struct

PROTOCOL_VERSION = 1
"""Of the control protocol and of the description; raised when either changes incompatibly."""

Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1, extra={"cpp": "std::uint64_t"})]
"""A number of things, bytes, ns or ticks."""
Index = Annotated[int, Meta(ge=0, le=(1 << 32) - 1, extra={"cpp": "unsigned"})]
Several = Annotated[int, Meta(ge=1, le=(1 << 32) - 1, examples=[1], extra={"cpp": "unsigned"})]
Depth = Annotated[int, Meta(ge=1, le=(1 << 32) - 1, extra={"cpp": "std::uint32_t"})]
"""Of a keep-last history, in messages."""
Cpu = Annotated[int, Meta(ge=0, le=(1 << 31) - 1, extra={"cpp": "int"})]
"""A processor's number."""
Pid = Annotated[int, Meta(ge=0, le=(1 << 31) - 1, extra={"cpp": "int"})]
"""Of a process or a thread."""
Seconds = Annotated[float, Meta(gt=0, le=1e9)]
"""No longer than anybody waits."""
SecondsOrZero = Annotated[float, Meta(ge=0, le=1e9)]
Nanoseconds = Annotated[float, Meta(ge=0, le=1e9)]
"""Of one reading of a clock."""
Hertz = Annotated[float, Meta(gt=0, le=1e12)]
"""Of a counter."""

Pattern = Literal["ping-pong", "stream", "request-reply"]
Reliability = Literal["reliable", "best-effort"]
Reception = Literal["poll", "block", "listen"]
Payload = Literal["filled", "untouched"]
MessageType = Literal["octets", "image", "point-cloud", "imu", "tf"]
"""What a message is: its bytes alone, or one of ROS's common messages, which is serialised and deserialised."""
Security = Literal["none", "authenticated", "signed", "encrypted"]
"""What protects the messages: nothing; the peers have proved who they are; what they send cannot be changed unseen
either; nobody else can read it either. Each level has those before it."""
Identity = Literal["sender", "receiver", "broker", "intruder", "stranger"]
"""Whose certificate and key a process has: docs/security.md. ``intruder``: valid and without permission; ``stranger``:
another authority's."""
LoadKind = Literal["max", "rate", "burst"]
Arrivals = Literal["periodic", "poisson"]
Policy = Literal["other", "fifo", "rr"]
RoleKind = Literal["ping", "pong", "publisher", "subscriber", "client", "server"]
Phase = Literal["waiting", "warm-up", "measuring", "echoing", "ended"]
ErrorCode = Literal["refused", "unmatched", "silent", "hung", "disk", "configure", "internal"]
WatchScope = Literal["processors", "workers"]
"""What the kernel lets be seen. ``processors``: every switch on a processor, and between whom, which needs
perf_event_paranoid <= 0 or CAP_PERFMON. ``workers``: when a worker's thread was pushed off, and until when,
not by whom."""
Ended = Literal["samples", "duration", "full", "limit", "stopped", "silent", "complete", "quiet"]
"""Why a role ended. ``samples`` and ``duration``: it has what was asked for. ``full``: the memory for samples is.
``limit``: its ``limit_s``, or a receiver's 10 s, came first. ``stopped``: it was told to. ``silent``: nobody answered
any more, or took what was sent. ``complete``: a receiver has all it could expect; ``quiet``: nothing comes any more."""


class Message(Struct, frozen=True, kw_only=True):
    """What crosses the control channel. What is left out is its default."""


# What a trial asks for.


class TopicRequest(Message, frozen=True, kw_only=True):
    """One topic of a stream."""

    message_bytes: Annotated[int, Meta(ge=16, examples=[16], extra={"cpp": "std::size_t"})]
    """Size of every message, the core's header included."""
    publishers: Annotated[tuple[Index, ...], Meta(min_length=1)]
    """By their ``index``."""
    subscribers: Annotated[tuple[Index, ...], Meta(min_length=1)]
    """Likewise."""
    reliability: Reliability
    depth: Annotated[Depth | None, Meta(examples=[1])]
    """Keep-last history depth in messages; null is keep-all."""
    type: MessageType = "octets"
    """``message_bytes`` are then those of its main array."""
    sizes_path: str = ""
    """Absolute; a uint32 in host order for each message in turn, repeated: its bytes, at most ``message_bytes``. Empty:
    each has ``message_bytes``."""
    history: Annotated[int, Meta(ge=0, le=(1 << 32) - 1, extra={"cpp": "std::uint32_t"})] = 0
    """Transient-local, with one publisher: so many messages a subscriber must receive that joins late, and all of this
    topic's do. 0: volatile."""
    subscriber_processes: Annotated[int, Meta(ge=0, le=(1 << 16), extra={"cpp": "unsigned"})] = 0
    """The subscribers are in so many processes: some middlewares have one connection with each. 0: each in its own."""
    replies_to: Index | None = None
    """The number of another topic with one subscriber, which forwards to this one and nothing else: the two are the
    requests and the replies of a service of the middleware's own. null: they are not."""


class Settings(Message, frozen=True, kw_only=True):
    """One trial's request. Frozen: an adapter reads it once, when it opens."""

    pattern: Pattern
    transport: str
    """One of the names in ``Description.transports``."""
    reliability: Reliability
    """Of a stream whose topics differ: reliable where any of them is."""
    reception: Annotated[Reception, Meta(examples=["block"])]
    """How the roles will receive; some middlewares must know when they open."""
    depth: Annotated[Depth | None, Meta(examples=[1])]
    """Keep-last history depth in messages; null is keep-all. Of a stream whose topics differ the deepest of them."""
    loan: bool
    """Write into the middleware's own memory instead of the adapter's."""
    one_process: bool
    """All roles of the trial live in this process."""
    message_bytes: Annotated[int, Meta(ge=16, examples=[16], extra={"cpp": "std::size_t"})]
    """Size of every message, the core's header included. Of a stream whose topics differ the largest of them."""
    type: MessageType = "octets"
    """Of every message; of a stream whose topics differ each has its own."""
    publishers: Annotated[int, Meta(ge=1, le=1 << 16, examples=[1], extra={"cpp": "unsigned"})]
    """Publishers of a stream, clients of request/reply; 1 under ping-pong. More would not fit the header."""
    subscribers: Annotated[Index, Meta(examples=[1])]
    """Of a stream; pongs of a ping-pong (0: the ping is alone); 1, the server, under request/reply."""
    topics: tuple[TopicRequest, ...] = ()
    """Of a stream, and of nothing else."""
    workers: Annotated[Several, Meta(examples=[2])]
    """Processes of the trial that open the middleware."""
    domain: Annotated[int, Meta(ge=0, le=232, extra={"cpp": "int"})]
    """A DDS domain, or anything else that separates trials."""
    scope: str
    """Unique for the trial, [a-z0-9_]+: every name of topic, segment or port file begins with it."""
    scratch: str
    """Absolute path of a folder of the trial's own, shared by its workers, removed afterwards."""
    interface: str = "lo"
    """Network interface the traffic keeps to."""
    write_timeout_s: Annotated[Seconds, Meta(extra={"cpp": "std::chrono::nanoseconds"})] = 1.0
    """The longest a publish() may block."""
    security: Security = "none"
    """The level asked for, no less and no more."""
    certs: str = ""
    """Absolute path of the set of certificates and keys: docs/security.md. Empty at ``none``."""
    identity: Identity = "sender"
    """Of the set: this process's."""
    native: dict[str, str] = {}
    """The middleware's own settings; an unknown key must be refused by throwing."""


class Placement(Message, frozen=True, kw_only=True):
    """Where a worker's threads run: asked for."""

    cpus: tuple[Cpu, ...]
    """Processors of the whole process; none: its affinity stays as it is."""
    policy: Policy
    priority: Annotated[int, Meta(ge=0, le=99, extra={"cpp": "int"})]
    """1..99 under fifo and rr."""
    mlock: bool
    """mlockall(MCL_CURRENT | MCL_FUTURE)."""
    rt_limit_s: Seconds = 30.0
    """RLIMIT_RTTIME: processor seconds that a real-time thread may spend without blocking."""


class Load(Message, frozen=True, kw_only=True, omit_defaults=True):
    """The load a sender offers: as fast as possible, at a rate, or in bursts."""

    kind: LoadKind = "max"
    rate_hz: Annotated[float, Meta(ge=1e-6, le=1e9)] = 0.0
    """rate: messages a second; open loop, the instants are those of an absolute schedule."""
    arrivals: Arrivals = "periodic"
    """rate: how the instants lie."""
    seed: Count = 0
    """poisson: of the arrivals; two senders of one trial want different ones."""
    burst: Annotated[int, Meta(ge=1, extra={"cpp": "std::uint64_t"})] = 0
    """burst: messages sent back to back."""
    recovery_s: SecondsOrZero = 0.0
    """burst: pause between the end of one burst and the next."""
    instants_path: str = ""
    """rate: absolute; a uint64 in host order for each message, ascending: its instant in ns from the start. Repeated
    every ``lap_ns``, which is above the last; ``rate_hz`` is their mean. Empty: ``arrivals`` says how they lie."""
    lap_ns: Count = 0
    sleeps: bool = False
    """The sender sleeps until the instant, as an application's timer does; else it wakes up before and spins."""


class RoleRequest(Message, frozen=True, kw_only=True, tag_field="role"):
    """What is asked of any role. Frozen while the role runs."""

    index: Index
    """Among its like; a ping is number 0."""
    payload: Payload
    """filled: every byte is written and checked; untouched: only the header is."""
    cpu: Cpu | None = None
    """Its thread is pinned to this one; null: it is not."""

    @property
    def role(self) -> str:
        """ping, pong, publisher, subscriber, client or server."""
        return str(self.__struct_config__.tag)

    @property
    def name(self) -> str:
        """``ping``, ``server``, ``pong 0``, ``publisher 0`` and so on: how errors name it."""
        return self.role if self.role in ("ping", "server") else f"{self.role} {self.index}"


class SenderRequest(RoleRequest, frozen=True, kw_only=True):
    """How long any sender goes on. Exactly one of ``samples`` and ``duration_s`` is set."""

    load: Load = Load()
    samples: Count | None
    """Messages to send."""
    duration_s: Seconds | None
    warmup_s: Annotated[SecondsOrZero, Meta(examples=[0.2])]
    limit_s: Annotated[Seconds, Meta(examples=[120.0])]
    """The measuring ends here whatever happens."""
    samples_path: str
    """Absolute; the .npy is written after the end."""


class CallerRequest(SenderRequest, frozen=True, kw_only=True):
    """Of a ping, and of a client, which is a ping that is answered by one server."""

    reply_timeout_s: Annotated[Seconds, Meta(examples=[1.0])]
    """A reply later than this is no sample."""
    echoing: Several
    """Replies that end a round trip: those of all pongs that echo; of a client the server's one."""


class PingRequest(CallerRequest, frozen=True, kw_only=True, tag="ping"):
    """The ping."""


class ClientRequest(CallerRequest, frozen=True, kw_only=True, tag="client"):
    """A client of request/reply."""


class AnswererRequest(RoleRequest, frozen=True, kw_only=True):
    """Of a pong, and of a server, which answers several clients.

    With a ``samples_path`` it stamps some of the messages it answers; ``samples`` or ``duration_s``, where known,
    spread what it keeps over all of the measuring.
    """

    samples_path: str = ""
    """Absolute; the .npy of what was stamped is written after the end. Empty: nothing is stamped."""
    samples: Count | None = None
    """Messages that will come, all senders together."""
    duration_s: Seconds | None = None


class PongRequest(AnswererRequest, frozen=True, kw_only=True, tag="pong"):
    """A pong."""

    echoes: Annotated[bool, Meta(examples=[True])]
    """It replies; one that does not only receives."""
    echoing: Several
    """Pongs of the trial that reply."""


class ServerRequest(AnswererRequest, frozen=True, kw_only=True, tag="server"):
    """The server of request/reply."""


class PublisherRequest(SenderRequest, frozen=True, kw_only=True, tag="publisher"):
    """A publisher of a stream."""

    topic: Index
    """Its number in ``Settings.topics``."""
    kept: Count
    """Records kept raw; a histogram takes those beyond."""


class ForwardRequest(Message, frozen=True, kw_only=True):
    """What a subscriber publishes of each message that it receives: one step of a chain.

    It has a publisher's result. Its record n is of the n-th message received; that message's intended instant is when
    the other was received, and ``work_s`` later.
    """

    index: Index
    """Among the publishers of the trial."""
    topic: Index
    """Its number in ``Settings.topics``."""
    work_s: SecondsOrZero = 0.0
    """Processor time that is taken first."""
    samples_path: str
    """Absolute; the .npy is written after the end."""
    kept: Count
    """Records kept raw; a histogram takes those beyond."""


class SubscriberRequest(RoleRequest, frozen=True, kw_only=True, tag="subscriber"):
    """A subscriber of a stream."""

    topic: Index
    """Its number in ``Settings.topics``."""
    samples_path: str
    """Absolute; the .npy is written after the end."""
    kept: Count
    """Records kept raw; a histogram takes those beyond."""
    forwards: tuple[ForwardRequest, ...] = ()
    """What it publishes of each message that it receives."""


AnyRoleRequest = PingRequest | PongRequest | PublisherRequest | SubscriberRequest | ClientRequest | ServerRequest


# What the launcher says.


class ConfigureCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="configure"):
    """One worker's whole task."""

    settings: Settings
    placement: Placement
    match_timeout_s: Seconds = 10.0
    """Every role must have found its peers within this."""
    tells_ends: bool = False
    """Of a stream: the end of each role is told at once (``ended``), and a subscriber ends only when it is told to."""
    roles: Annotated[tuple[AnyRoleRequest, ...], Meta(min_length=1)]


class JoinCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="join"):
    """All histories are published: the subscribers of transient-local topics open their ends."""


class StartCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="start"):
    """The roles begin."""


class StopCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="stop"):
    """The roles end: senders, servers and pongs that echo at once.

    A receiver that only receives ends when it has what it can expect, when nothing has come for 1 s (reliable) or
    0.25 s (best effort), or after 10 s.
    """

    expected: Count = 0
    """Different measured messages that such a receiver can expect; 0: it ends at once."""
    subscribers: tuple[Index, ...] = ()
    """Only these end; none: every role does."""


class QuitCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="quit"):
    """The worker closes the middleware and exits with status 0."""


Command = ConfigureCommand | JoinCommand | StartCommand | StopCommand | QuitCommand


class CompanionsRequest(Message, frozen=True, kw_only=True):
    """What ``--companions`` reads, one line."""

    settings: Settings


# What a worker says.


class Clock(Message, frozen=True, kw_only=True):
    """The ruler: ``source`` is ``tsc``, ``cntvct`` or ``clock_monotonic``; cost and resolution as measured."""

    source: str
    ticks_per_second: Hertz
    cost_ns: Nanoseconds
    resolution_ns: Nanoseconds


class HelloEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="hello"):
    """Who it is. The first thing that a worker says."""

    protocol: int
    adapter: str
    version: str
    """Of the middleware."""
    pid: Pid
    clock: Clock


class InForce(Message, frozen=True, kw_only=True):
    """What is in force for the thread that asks, read back from the kernel."""

    cpus: tuple[Cpu, ...]
    policy: Policy
    priority: Annotated[int, Meta(ge=0, le=99, extra={"cpp": "int"})]
    mlocked: bool


class PublishedEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="published"):
    """Where a topic of the trial has a history: those that this worker's publishers owe are published."""


class ReadyEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="ready"):
    """Every role has found its peers."""

    discovery_ns: Count
    """From the topics being made to the peers being found; where subscribers join late, from their joining."""
    opening_ns: Count = 0
    """Before that: from opening the middleware to the topics being made."""
    placement: InForce
    notes: tuple[str, ...]
    """The adapter's own, of how the settings were carried out."""
    protected_by: str = ""
    """The algorithms in force, in the middleware's words; empty at ``security`` none, and never otherwise."""


class Counts(Message, frozen=True, kw_only=True):
    """What a role has counted so far, measured messages only. null: not what a role of its kind counts."""

    role: RoleKind
    index: Index
    sent: Count | None = None
    publish_failed: Count | None = None
    blocked_ns: Count | None = None
    """A publisher's: time that its thread slept within publish(); null as well where the kernel does not tell."""
    received: Count | None = None
    duplicated: Count | None = None
    reordered: Count | None = None
    damaged: Count | None = None


class ThreadUse(Message, frozen=True, kw_only=True):
    """One thread of the worker."""

    tid: Pid
    name: str
    cpu_ns: Count
    waiting_ns: Count | None = None
    """Runnable, but another had the processor; null: the kernel does not tell."""


class Resources(Message, frozen=True, kw_only=True):
    """What the process has used since it began. Take two and subtract.

    ``user_ns`` and ``system_ns`` together are exact to the microsecond; the kernel divides them by where its ticks
    fell.
    """

    rss_bytes: Count
    peak_rss_bytes: Count
    bench_bytes: Count
    """The part of the resident memory that holds the bench's own samples."""
    user_ns: Count
    system_ns: Count
    voluntary: Count
    """Context switches of threads that had to wait for something."""
    involuntary: Count
    """Of threads that were pushed off their processor."""
    minor_faults: Count
    major_faults: Count
    threads: tuple[ThreadUse, ...]
    """Those alive, the process's first one first."""


class Account(Message, frozen=True, kw_only=True, tag_field="event"):
    """What the roles have counted and the process has used, all of it since the process began."""

    at_ns: Count
    """CLOCK_MONOTONIC."""
    roles: tuple[Counts, ...]
    resources: Resources


class TickEvent(Account, frozen=True, kw_only=True, tag="tick"):
    """At once when the leading role (the first that sends, otherwise the first) is in its loop, then once a second."""

    role: RoleKind
    """The leading one."""
    phase: Phase
    samples: Count
    """In a flood that is stamped in part, this and ``sent`` may be up to 15 messages behind."""
    elapsed_s: SecondsOrZero
    """Since ``start``."""


class MeasuringEvent(Account, frozen=True, kw_only=True, tag="measuring"):
    """Once, when the first role begins to measure; not at all when it was over before the control thread had a look."""


class DoneEvent(Account, frozen=True, kw_only=True, tag="done"):
    """The roles have ended."""

    role: RoleKind
    """The leading one."""


class EndedEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="ended"):
    """A publisher or a subscriber has ended, where ``tells_ends`` asked for it."""

    role: RoleKind
    index: Index
    sent: Count
    """Measured messages; of a subscriber 0."""
    forwarded: tuple[Count, ...] = ()
    """Likewise, of each of a subscriber's forwards."""


class ErrorEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="error"):
    """What went wrong. The worker exits with status 1; after ``silent`` the results still come."""

    code: ErrorCode
    text: str
    advice: str = ""


# What a role says at its end: the measured messages only.


class RoleResult(Message, frozen=True, kw_only=True, tag_field="role"):
    """What any role says. Its samples file is complete when it says so."""

    event: Literal["result"] = "result"
    index: Index
    ended: Ended
    last_error: str
    """The middleware's own words; empty: none."""

    @property
    def role(self) -> RoleKind:
        """What stands in its tag."""
        return cast(RoleKind, self.__struct_config__.tag)


class CallerResult(RoleResult, frozen=True, kw_only=True):
    """Of a ping or a client."""

    samples: Count
    """Round trips in the samples file."""
    warmup_samples: Count
    measured_s: SecondsOrZero
    first_begin_ns: Count
    """CLOCK_MONOTONIC of the first measured message; 0: there was none."""
    start_ticks: Count
    """What ``begin_ns`` of the samples counts from, by the raw counter."""
    ticks_per_second: Hertz
    """Of that counter."""
    sent: Count
    """Publishes that succeeded."""
    received: Count
    """Different replies, the damaged among them included."""
    lost: Count
    late: Count
    """Replies after their timeout."""
    duplicated: Count
    reordered: Count
    damaged: Count
    publish_failed: Count
    """The middleware refused: neither sent nor lost."""
    scheduled: Count | None = None
    """Intended instants within the measuring; null without a schedule."""
    late_sends: Count | None = None
    """Sent more than a period of the schedule after their instant."""
    unsent: Count | None = None
    """Instants for which nothing was sent before the end."""
    pacing_ns: Count
    """The thread waited for intended instants."""
    serialize_p50_ns: Count | None = None
    """Median; null: octets, or within the middleware's own calls."""
    deserialize_p50_ns: Count | None = None
    """Likewise."""


class PingResult(CallerResult, frozen=True, kw_only=True, tag="ping"):
    """The ping's."""


class ClientResult(CallerResult, frozen=True, kw_only=True, tag="client"):
    """A client's."""

    native: bool
    """Request and reply were the middleware's own."""


class AnswererResult(RoleResult, frozen=True, kw_only=True):
    """Of a pong or a server."""

    received: Count
    echoed: Count
    stamped: Count
    """Answers in the samples file."""
    lost: Count
    duplicated: Count
    reordered: Count
    damaged: Count
    publish_failed: Count
    serialize_p50_ns: Count | None = None
    """Median, of a server over topics that of the replies to its first client; null: octets, or within the middleware's
    own calls."""
    deserialize_p50_ns: Count | None = None
    """Median; null likewise."""


class PongResult(AnswererResult, frozen=True, kw_only=True, tag="pong"):
    """A pong's."""


class ServerResult(AnswererResult, frozen=True, kw_only=True, tag="server"):
    """The server's."""

    native: bool
    """Request and reply were the middleware's own."""


class PublisherResult(RoleResult, frozen=True, kw_only=True, tag="publisher"):
    """A publisher's."""

    topic: Index
    scheduled: Count | None = None
    """Intended instants within the measuring; null without a schedule."""
    sent: Count
    """Publishes that succeeded."""
    sent_bytes: Count | None = None
    """Theirs, all together, where sizes vary; null: each has the topic's size."""
    timed_out: Count
    """Publishes that back-pressure held beyond the write timeout: neither sent nor lost."""
    publish_failed: Count
    """The middleware refused: neither sent nor lost."""
    late_sends: Count | None = None
    """Sent more than a period of the schedule after their instant."""
    unsent: Count | None = None
    """Instants for which nothing was sent before the end."""
    blocked_ns: Count | None = None
    """The thread slept while it was not waiting for an instant: within publish()."""
    pacing_ns: Count
    """The thread waited for intended instants."""
    writing_ns: Count | None = None
    """Time within publish(); null where not every message was stamped."""
    serialize_p50_ns: Count | None = None
    """Median; null: octets, forwarded, or within the middleware's own calls."""
    stamped_every: Several
    """Of so many messages the first was stamped."""
    first_sent_ns: Count
    """CLOCK_MONOTONIC; 0: nothing was sent."""
    last_sent_ns: Count
    measured_s: SecondsOrZero
    samples: Count
    """Records in the samples file."""
    in_histogram: Count
    """Those that came when that was full."""
    warmup_samples: Count


class SubscriberResult(RoleResult, frozen=True, kw_only=True, tag="subscriber"):
    """A subscriber's. The one-way figures count from the intended instant and are known to 0.4 %."""

    topic: Index
    received: Count
    """Different messages, the damaged among them included."""
    duplicated: Count
    reordered: Count
    damaged: Count
    by_publisher: tuple[Count, ...] = ()
    """Different messages received, by publisher."""
    last_warm_up_ns: Count = 0
    """CLOCK_MONOTONIC; of the warm-up's messages that came before the first measured one. 0: none did."""
    first_received_ns: Count
    """CLOCK_MONOTONIC; 0: nothing came."""
    last_received_ns: Count
    samples: Count
    """Records in the samples file."""
    in_histogram: Count
    """Those that came when that was full."""
    one_way_p50_ns: Count | None = None
    one_way_p99_ns: Count | None = None
    one_way_max_ns: Count | None = None
    deserialize_p50_ns: Count | None = None
    """Median; null: octets, or within the middleware's own calls."""
    history_due: Count = 0
    """Messages of the topic's history that it had to receive, because it joined late."""
    history_received: Count = 0
    """Different ones that came."""
    history_ns: Count | None = None
    """From just before its end was opened to the last of them; null: none came."""


AnyRoleResult = PingResult | PongResult | PublisherResult | SubscriberResult | ClientResult | ServerResult


# The witness.


class Durations(Message, frozen=True, kw_only=True):
    """Durations of 1 µs and more, by octave."""

    total_ns: Count = 0
    longest_ns: Count = 0
    counts: tuple[tuple[Count, Count], ...] = ()
    """(lower bound in ns, how many): a bucket ends at twice its lower bound. Those without any are left out."""


class Still(Message, frozen=True, kw_only=True):
    """One processor just before or just after a trial, as a thread found it that only wanted to read the clock."""

    cpu: Cpu
    spun_ns: Count
    gaps: Durations
    """The processor stood still although the thread had it: interrupts, the hypervisor."""
    taken: Durations
    """Another thread had it, or prolonged a sleep."""
    wakes: Count = 0
    """Timed sleeps of 0.2 ms, where the trial's roles sleep."""
    late: Durations = Durations()
    """How much later than asked they ended."""
    waited_ns: Count = 0
    """Of that, all together, the kernel says that the thread waited for the processor, which nobody else had."""


class Other(Message, frozen=True, kw_only=True):
    """Somebody who had the roles' processors while they were measured."""

    name: str | None
    """None: it had ended, or the kernel does not tell."""
    pid: Pid | None
    ns: Count


class ProbeCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="probe"):
    """How still the processors are: a thread on each only wants to read the clock."""

    cpus: tuple[Cpu, ...]
    sleeping: tuple[Cpu, ...] = ()
    """On these the first half of the time is timed sleeps."""
    duration_ns: Annotated[int, Meta(ge=0, le=1_000_000_000, extra={"cpp": "std::uint64_t"})]


class ProbedEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="probed"):
    """What the probe found."""

    cpus: tuple[Still, ...]


class AwakeCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="awake"):
    """Keep processors from halting, from now on: a thread on each spins and gives way to all that wants to run."""

    cpus: tuple[Cpu, ...] = ()
    """None: those that were kept awake may halt again."""
    limit_ns: Annotated[int, Meta(ge=0, le=86_400_000_000_000, extra={"cpp": "std::uint64_t"})] = 0
    """It ends by itself after this, and with the process that started the witness."""


class AwakeEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="awake"):
    """What is kept awake."""

    cpus: tuple[Cpu, ...] = ()
    absent: str | None = None
    """Why it is not what was asked for; nothing is kept awake then."""


class WatchCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="watch"):
    """Who has the processors, from now on."""

    cpus: tuple[Cpu, ...]
    pids: tuple[Pid, ...]
    """The workers and their companions: what is neither theirs nor idle is another's."""


class WatchingEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="watching"):
    """What the kernel lets be seen."""

    scope: WatchScope | None = None
    """null: nothing is seen."""
    absent: str | None = None
    """Why nothing is."""


class TellCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="tell"):
    """What was seen between two instants, CLOCK_MONOTONIC. It ends the watching."""

    from_ns: Count
    to_ns: Count


class CpuOthers(Message, frozen=True, kw_only=True):
    """How long one processor was another's."""

    cpu: Cpu
    others_ns: Count


class SeenEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="seen"):
    """What was seen."""

    scope: WatchScope | None = None
    """null: nothing was watched, and nothing below means anything."""
    complete: bool = False
    """No record was lost."""
    records: Count = 0
    lost: Count = 0
    cpus: tuple[CpuOthers, ...] = ()
    others: tuple[Other, ...] = ()
    """The eight that had the most."""
    spells: tuple[tuple[Count, Count, Cpu], ...] = ()
    """(from ns, to ns, processor): the 2,000 longest."""
    shorter: Count = 0
    """How many there were beyond these."""
    longest_of_the_shorter_ns: Count = 0


WitnessCommand = ProbeCommand | AwakeCommand | WatchCommand | TellCommand

Event = (
    HelloEvent
    | PublishedEvent
    | ReadyEvent
    | TickEvent
    | MeasuringEvent
    | EndedEvent
    | DoneEvent
    | ErrorEvent
    | ProbedEvent
    | AwakeEvent
    | WatchingEvent
    | SeenEvent
)
"""What a worker or the witness says, but for the results of the roles."""
