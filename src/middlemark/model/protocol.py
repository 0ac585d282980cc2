"""The control protocol: every message between the launcher, its workers and the witness, declared once.

``scripts/protocol`` generates ``core/protocol.hpp`` and the tables of ``docs/reference/protocol.md`` from this module.
A message must contain every field that has no default. In the core's structs each member is initialised with the
field's default, or with its first example if it has no default.
"""

from typing import Annotated, Literal, cast

from msgspec import Meta, Struct

PROTOCOL_VERSION = 1
"""Version of the control protocol and of the description; raised when either changes incompatibly."""

Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1, extra={"cpp": "std::uint64_t"})]
"""A number of things, bytes, ns or ticks."""
Index = Annotated[int, Meta(ge=0, le=(1 << 32) - 1, extra={"cpp": "unsigned"})]
Several = Annotated[int, Meta(ge=1, le=(1 << 32) - 1, examples=[1], extra={"cpp": "unsigned"})]
Depth = Annotated[int, Meta(ge=1, le=(1 << 32) - 1, extra={"cpp": "std::uint32_t"})]
"""Depth of a keep-last history, in messages."""
Cpu = Annotated[int, Meta(ge=0, le=(1 << 31) - 1, extra={"cpp": "int"})]
"""A processor's number."""
Pid = Annotated[int, Meta(ge=0, le=(1 << 31) - 1, extra={"cpp": "int"})]
"""Number of a process or a thread."""
Seconds = Annotated[float, Meta(gt=0, le=1e9)]
"""A timeout or a duration; the upper bound catches mistakes."""
SecondsOrZero = Annotated[float, Meta(ge=0, le=1e9)]
Nanoseconds = Annotated[float, Meta(ge=0, le=1e9)]
"""Time of one reading of a clock."""
Hertz = Annotated[float, Meta(gt=0, le=1e12)]
"""Frequency of a counter."""

Pattern = Literal["ping-pong", "stream", "request-reply", "crowd"]
Subscribe = Literal["next", "all"]
"""The topics to which a participant of a crowd subscribes. ``next``: the topics of the next participant; the last
participant subscribes to those of the first. ``all``: the topics of all other participants."""
Reliability = Literal["reliable", "best-effort"]
Reception = Literal["poll", "block", "listen"]
Payload = Literal["filled", "untouched"]
MessageType = Literal["octets", "image", "point-cloud", "imu", "tf"]
"""The content of a message: plain bytes, or one of ROS's common messages, which is serialised and deserialised."""
Security = Literal["none", "authenticated", "signed", "encrypted"]
"""Protection of the messages. ``none``: no protection. ``authenticated``: the peers have proved who they are.
``signed``: also, nobody can change a message unnoticed. ``encrypted``: also, nobody else can read a message."""
Via = Literal["direct", "router", "discovery-server"]
"""The processes between the peers. ``direct``: messages pass through no other process. ``router``: messages pass
through a router or a broker. ``discovery-server``: messages pass through no other process, and the peers find each
other by a server instead of the middleware's usual discovery."""
Identity = Literal["sender", "receiver", "broker", "intruder", "stranger"]
"""Whose certificate and key a process has: docs/how-to/security.md. ``intruder``: a valid certificate without
permission. ``stranger``: a certificate of another authority."""
LoadKind = Literal["max", "rate", "burst"]
Arrivals = Literal["periodic", "poisson"]
Policy = Literal["other", "fifo", "rr"]
RoleKind = Literal["ping", "pong", "publisher", "subscriber", "client", "server", "participant"]
Phase = Literal["waiting", "warm-up", "idle", "joining", "measuring", "echoing", "ended"]
CrowdPhase = Literal["join", "talk", "storm", "leave"]
"""A phase of a crowd after the idle phase. ``join``: participants send probes to the newcomer, which opens now.
``talk``: they send measured messages. ``storm``: they send probes until ``stop``, and the worker reports how many
publishers each has heard since. ``leave``: the worker reports how many subscribers each still has."""
ErrorCode = Literal["refused", "unmatched", "silent", "hung", "disk", "configure", "internal"]
WatchScope = Literal["processors", "workers"]
"""Which context switches the kernel reports. ``processors``: every switch on a processor and both its threads; needs
perf_event_paranoid <= 0 or CAP_PERFMON. ``workers``: when a thread of a worker was preempted and when it ran again, but
not by which thread it was preempted."""
Language = Literal["c", "cpp", "json5", "rust", "toml", "xml"]
Ended = Literal["samples", "duration", "limit", "stopped", "silent", "complete", "quiet"]
"""Why a role ended. ``samples``, ``duration``: the role has sent the requested number of messages, or has sent for the
requested time. ``limit``: a sender's ``limit_s``, or a receiver's limit of 10 s, has passed. ``stopped``: the launcher
stopped the role. ``silent``: replies no longer arrived, or no peer accepted messages. ``complete``: a receiver has
received all expected messages. ``quiet``: messages no longer arrived."""


class Message(Struct, frozen=True, kw_only=True):
    """A message of the control channel, or a part of a message. An absent field has its default."""


# The request of a trial.


class TopicRequest(Message, frozen=True, kw_only=True):
    """One topic of a stream."""

    message_bytes: Annotated[int, Meta(ge=16, examples=[16], extra={"cpp": "std::size_t"})]
    """Size of every message, including the core's header."""
    publishers: Annotated[tuple[Index, ...], Meta(min_length=1)]
    """Indices of the topic's publishers."""
    subscribers: Annotated[tuple[Index, ...], Meta(min_length=1)]
    """Indices of the topic's subscribers."""
    reliability: Reliability
    depth: Annotated[Depth | None, Meta(examples=[1])]
    """Keep-last history depth in messages; null is keep-all."""
    type: MessageType = "octets"
    """Type of the messages; for a type other than ``octets``, ``message_bytes`` is the size of the main array."""
    sizes_path: str = ""
    """Absolute path of a file with the sizes of the messages in order of sending: uint32 in host order, at most
    ``message_bytes``. After the last size the sizes are repeated from the first. Empty: every message has
    ``message_bytes``."""
    history: Annotated[int, Meta(ge=0, le=(1 << 32) - 1, extra={"cpp": "std::uint32_t"})] = 0
    """Length of the transient-local history: all subscribers of this topic join late, and each must receive this number
    of messages. The topic then has one publisher. 0: volatile."""
    subscriber_processes: Annotated[int, Meta(ge=0, le=(1 << 16), extra={"cpp": "unsigned"})] = 0
    """Number of processes that contain the subscribers (some middlewares connect processes). 0: one process per
    subscriber."""
    replies_to: Index | None = None
    """If this topic carries the replies of a service: the number of the topic that carries its requests. Both topics
    together are one service of the middleware. The request topic has one subscriber, which forwards to this topic only.
    null: no service."""


class Settings(Message, frozen=True, kw_only=True):
    """The settings of one trial. The settings do not change, because an adapter reads them once, when it opens."""

    pattern: Pattern
    transport: str
    """One of the names in ``Description.transports``."""
    reliability: Reliability
    """If the topics of a stream differ: reliable if any topic is reliable."""
    reception: Annotated[Reception, Meta(examples=["block"])]
    """How the roles will receive. Some middlewares must know this when they open."""
    depth: Annotated[Depth | None, Meta(examples=[1])]
    """Keep-last history depth in messages; null: keep-all. If the topics of a stream differ: the largest depth."""
    loan: bool
    """Write into the middleware's own memory instead of the adapter's."""
    one_process: bool
    """All roles of the trial run in this process."""
    message_bytes: Annotated[int, Meta(ge=16, examples=[16], extra={"cpp": "std::size_t"})]
    """Size of every message, including the core's header. If the topics of a stream differ: the largest size."""
    type: MessageType = "octets"
    """Type of every message, except in a stream, where each topic has its own type."""
    publishers: Annotated[int, Meta(ge=1, le=1 << 16, examples=[1], extra={"cpp": "unsigned"})]
    """Number of publishers of a stream or of clients of request/reply; 1 under ping-pong. At most 65,536, because the
    header has 16 bits for the publisher id."""
    subscribers: Annotated[Index, Meta(examples=[1])]
    """Number of subscribers of a stream or of pongs (0: the ping receives its own messages); 1, the server, under
    request/reply."""
    topics: tuple[TopicRequest, ...] = ()
    """Topics of a stream; empty under the other patterns."""
    participants: Several = 1
    """Number of participants of a crowd, each with its own session of the middleware; 1 under the other patterns."""
    topics_each: Several = 1
    """Number of topics on which each participant of a crowd publishes; 1 under the other patterns."""
    subscribe: Subscribe = "next"
    participants_per_process: Annotated[int, Meta(ge=1, examples=[1], extra={"cpp": "std::size_t"})] = 1
    """The largest number of participants of a crowd in one process; 1 under the other patterns."""
    workers: Annotated[Several, Meta(examples=[2])]
    """Number of sessions of the middleware in the trial: one for each process, or in a crowd for each participant."""
    domain: Annotated[int, Meta(ge=0, le=232, extra={"cpp": "int"})]
    """A DDS domain, or another number by which a middleware separates trials."""
    scope: str
    """Unique name of the trial, [a-z0-9_]+. The name of every topic, segment or port file begins with this name."""
    scratch: str
    """Absolute path of a folder for this trial only, shared by its workers and removed afterwards."""
    interface: str = "lo"
    """The only network interface that the trial may use."""
    write_timeout_s: Annotated[Seconds, Meta(extra={"cpp": "std::chrono::nanoseconds"})] = 1.0
    """The longest time that publish() may block."""
    security: Security = "none"
    """The requested level. The adapter must provide exactly this level."""
    certs: str = ""
    """Absolute path of the folder of certificates and keys: docs/how-to/security.md. Empty at ``none``."""
    identity: Identity = "sender"
    """Whose certificate and key from ``certs`` this process uses."""
    via: Via = "direct"
    """The processes between the peers. ``companions`` of the adapter starts the router or the server."""
    paired: bool = False
    """The senders and the receivers of the trial use different adapters, whose transports have one ``wire``."""
    native: dict[str, str] = {}
    """The middleware's own settings; an adapter throws on an unknown key."""


class Placement(Message, frozen=True, kw_only=True):
    """Where and with which priority a worker's threads must run."""

    cpus: tuple[Cpu, ...]
    """Processors that the process may use; empty: the affinity of the process is not changed."""
    policy: Policy
    priority: Annotated[int, Meta(ge=0, le=99, extra={"cpp": "int"})]
    """1..99 under fifo and rr."""
    mlock: bool
    """mlockall(MCL_CURRENT | MCL_FUTURE)."""
    rt_limit_s: Seconds = 30.0
    """RLIMIT_RTTIME: processor time in seconds that a real-time thread may use without blocking."""


class Load(Message, frozen=True, kw_only=True, omit_defaults=True):
    """The load of a sender: as fast as possible, at a rate, or in bursts."""

    kind: LoadKind = "max"
    rate_hz: Annotated[float, Meta(ge=1e-6, le=1e9)] = 0.0
    """rate: messages per second. The instants are absolute (open loop): a late message does not delay later
    messages."""
    arrivals: Arrivals = "periodic"
    """rate: distribution of the intended instants."""
    seed: Count = 0
    """poisson: seed of the arrivals; the seed must differ between the senders of a trial."""
    burst: Annotated[int, Meta(ge=1, extra={"cpp": "std::uint64_t"})] = 0
    """burst: number of messages sent without a pause."""
    recovery_s: SecondsOrZero = 0.0
    """burst: pause between the end of one burst and the beginning of the next."""
    instants_path: str = ""
    """rate: absolute path of a file with the intended instant of each message: uint64 in host order, ascending, in ns
    from the start. The instants are repeated every ``lap_ns``, which is larger than the last instant; ``rate_hz`` is
    the mean rate. Empty: ``arrivals`` is the distribution."""
    lap_ns: Count = 0
    sleeps: bool = False
    """true: the sender sleeps until the intended instant, as an application's timer does. false: the sender wakes up
    earlier and spins until the instant."""


class RoleRequest(Message, frozen=True, kw_only=True, tag_field="role"):
    """The request to one role. The request does not change while the role runs."""

    index: Index
    """Number of the role among the roles of its kind; 0 for a ping."""
    payload: Payload
    """filled: every byte is written and checked; untouched: only the header is written and checked."""
    cpu: Cpu | None = None
    """Processor that the role's thread is pinned to; null: not pinned."""

    @property
    def role(self) -> str:
        """ping, pong, publisher, subscriber, client, server or participant."""
        return str(self.__struct_config__.tag)

    @property
    def name(self) -> str:
        """Name of the role in errors: ``ping``, ``server``, ``pong 0``, ``publisher 0`` and so on."""
        return self.role if self.role in ("ping", "server") else f"{self.role} {self.index}"


class SenderRequest(RoleRequest, frozen=True, kw_only=True):
    """The request to a role that sends. Exactly one of ``samples`` and ``duration_s`` is set."""

    load: Load = Load()
    samples: Count | None
    """Number of messages to send."""
    duration_s: Seconds | None
    warmup_s: Annotated[SecondsOrZero, Meta(examples=[0.2])]
    limit_s: Annotated[Seconds, Meta(examples=[120.0])]
    """The measuring ends at the latest after this time."""
    samples_path: str
    """Absolute path of the .npy, which is written after the end."""


class CallerRequest(SenderRequest, frozen=True, kw_only=True):
    """The request to a ping or a client. A client is a ping whose messages one server answers."""

    reply_timeout_s: Annotated[Seconds, Meta(examples=[1.0])]
    """A round trip that takes longer is not recorded."""
    echoing: Several
    """Number of replies that complete a round trip: the number of pongs that echo; 1 for a client."""


class PingRequest(CallerRequest, frozen=True, kw_only=True, tag="ping"):
    """The request to the ping."""


class ClientRequest(CallerRequest, frozen=True, kw_only=True, tag="client"):
    """The request to a client of request/reply."""


class AnswererRequest(RoleRequest, frozen=True, kw_only=True):
    """The request to a pong, or to a server, which answers several clients.

    With a ``samples_path`` the role stamps some of the messages that it answers. ``samples`` or ``duration_s``, if
    set, are used to spread these messages over the whole measuring.
    """

    samples_path: str = ""
    """Absolute path of the .npy with the stamps, which is written after the end. Empty: no message is stamped."""
    samples: Count | None = None
    """Number of messages that all senders together will send."""
    duration_s: Seconds | None = None


class PongRequest(AnswererRequest, frozen=True, kw_only=True, tag="pong"):
    """The request to a pong."""

    echoes: Annotated[bool, Meta(examples=[True])]
    """true: the pong replies; false: the pong only receives."""
    echoing: Several
    """Number of pongs of the trial that reply."""


class ServerRequest(AnswererRequest, frozen=True, kw_only=True, tag="server"):
    """The request to the server of request/reply."""


class PublisherRequest(SenderRequest, frozen=True, kw_only=True, tag="publisher"):
    """The request to a publisher of a stream."""

    topic: Index
    """Number of the topic in ``Settings.topics``."""
    kept: Count
    """Largest number of raw records; further messages are added to a histogram."""


class ForwardRequest(Message, frozen=True, kw_only=True):
    """The request to publish a message on a topic for each message that a subscriber receives: one step of a chain.

    The result is a publisher's result. Record n belongs to the n-th message received. The intended instant of the
    forwarded message is ``work_s`` after the reception.
    """

    index: Index
    """Number of this publisher among all publishers of the trial."""
    topic: Index
    """Number of the topic in ``Settings.topics``."""
    work_s: SecondsOrZero = 0.0
    """Processor time that the subscriber uses before it publishes."""
    samples_path: str
    """Absolute path of the .npy, which is written after the end."""
    kept: Count
    """Largest number of raw records; further messages are added to a histogram."""


class SubscriberRequest(RoleRequest, frozen=True, kw_only=True, tag="subscriber"):
    """The request to a subscriber of a stream."""

    topic: Index
    """Number of the topic in ``Settings.topics``."""
    samples_path: str
    """Absolute path of the .npy, which is written after the end."""
    kept: Count
    """Largest number of raw records; further messages are added to a histogram."""
    forwards: tuple[ForwardRequest, ...] = ()
    """The topics on which the subscriber publishes a message for each message that it receives."""


class ParticipantRequest(RoleRequest, frozen=True, kw_only=True, tag="participant"):
    """The request to one participant of a crowd: a session with publishers and subscribers of its own.

    From its opening until ``start``, the participant sends probes on each of its topics. After ``start`` it is idle,
    and then it follows the commands ``crowd``. The newcomer has the first index after those of the participants. It
    receives no ``start``.
    """

    probe_s: Annotated[Seconds, Meta(examples=[0.01])]
    """Time between two probes of a topic."""
    idle_s: SecondsOrZero
    """Time after ``start`` in which nothing is sent."""
    rate_hz: Annotated[float, Meta(ge=1e-6, le=1e9, examples=[1.0])]
    """Measured messages per second on each topic."""
    messages: Annotated[int, Meta(ge=1, le=(1 << 32) - 1, examples=[1], extra={"cpp": "std::uint64_t"})]
    """Number of measured messages on each topic."""
    samples_path: str
    """Absolute path of the .npy, which is written after the end. Empty: the records are not kept."""
    storms: bool = False
    """true: after its messages the participant waits for ``storm``, and ends only after ``stop``."""


AnyRoleRequest = (
    PingRequest
    | PongRequest
    | PublisherRequest
    | SubscriberRequest
    | ClientRequest
    | ServerRequest
    | ParticipantRequest
)


# Commands of the launcher.


class ConfigureCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="configure"):
    """Everything that one worker must do in a trial."""

    settings: Settings
    placement: Placement
    match_timeout_s: Seconds = 10.0
    """Time within which every role must find its peers."""
    tells_ends: bool = False
    """In a stream: the worker reports each role's end at once (``ended``). Subscribers end only after ``stop``."""
    latencies: bool = False
    """In a long trial: every report contains the roles' latencies since the previous report."""
    roles: Annotated[tuple[AnyRoleRequest, ...], Meta(min_length=1)]


class JoinCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="join"):
    """All histories are published. The worker now opens the subscribers of transient-local topics."""


class StartCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="start"):
    """The roles begin."""


class CrowdCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="crowd"):
    """The participants begin the next phase of a crowd. ``leave`` is sent after the results."""

    phase: CrowdPhase
    at_ns: Count = 0
    """talk: CLOCK_MONOTONIC at which the first message of the first topic is due."""


class StopCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="stop"):
    """Ends the roles.

    Senders, servers and pongs that echo end at once. A role that only receives ends when it has received all expected
    messages, when no message has arrived for 1 s (reliable) or 0.25 s (best effort), or after 10 s.
    """

    expected: Count = 0
    """Number of distinct measured messages that a role which only receives must wait for; 0: the role ends at once."""
    subscribers: tuple[Index, ...] = ()
    """The subscribers to end; empty: every role ends."""


class QuitCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="quit"):
    """The worker closes the middleware and exits with status 0."""


Command = ConfigureCommand | JoinCommand | StartCommand | CrowdCommand | StopCommand | QuitCommand


class CompanionsRequest(Message, frozen=True, kw_only=True):
    """The line that ``--companions`` reads."""

    settings: Settings


# Events of a worker.


class Clock(Message, frozen=True, kw_only=True):
    """The clock that a worker measures with, and its measured cost and resolution.

    ``source`` is ``tsc``, ``cntvct`` or ``clock_monotonic``.
    """

    source: str
    ticks_per_second: Hertz
    cost_ns: Nanoseconds
    resolution_ns: Nanoseconds


class HelloEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="hello"):
    """The first event of a worker: the adapter of the worker, and its clock."""

    protocol: int
    adapter: str
    version: str
    """Version of the middleware."""
    pid: Pid
    clock: Clock


class InForce(Message, frozen=True, kw_only=True):
    """The placement in force for the calling thread, read back from the kernel."""

    cpus: tuple[Cpu, ...]
    policy: Policy
    priority: Annotated[int, Meta(ge=0, le=99, extra={"cpp": "int"})]
    mlocked: bool


class OwnSettings(Message, frozen=True, kw_only=True):
    """Settings that a worker applied, as a configuration file of its middleware or as lines of code."""

    language: Language
    text: Annotated[str, Meta(min_length=1)]
    """The text is made from the values that the worker passed to the middleware. The text contains no names of topics,
    no addresses and no paths of the trial, and no keys."""


class PublishedEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="published"):
    """This worker's publishers have published their histories. Sent only if a topic of the trial has a history."""


class ReadyEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="ready"):
    """Every role has found its peers."""

    discovery_ns: Count
    """Time from the creation of the topics (late joiners: from their own creation) until all peers are found."""
    opening_ns: Count = 0
    """Time from opening the middleware until the topics are created; ``discovery_ns`` begins afterwards."""
    placement: InForce
    notes: tuple[str, ...]
    """The adapter's notes on how it applied the settings."""
    protected_by: str = ""
    """The algorithms in force, as the middleware names them; empty if and only if ``security`` is none."""
    segment_bytes: Count = 0
    """Size of the shared-memory segment through which this worker sends its messages; 0: unknown, or no limit."""
    segment_setting: str = ""
    """The middleware's setting that makes the segment larger."""
    settings: OwnSettings | None = None
    """null: the adapter does not report its settings."""


class Counts(Message, frozen=True, kw_only=True):
    """Numbers of measured messages of one role so far. null: a role of this kind does not have this counter."""

    role: RoleKind
    index: Index
    sent: Count | None = None
    publish_failed: Count | None = None
    blocked_ns: Count | None = None
    """For a publisher: time that its thread slept in publish(). Also null if the kernel does not report the time."""
    received: Count | None = None
    duplicated: Count | None = None
    reordered: Count | None = None
    damaged: Count | None = None


class Latencies(Message, frozen=True, kw_only=True):
    """Latencies that a ping, a client or a subscriber recorded since the previous report.

    They begin at the intended instant, or at publish if the load has no schedule.
    """

    role: RoleKind
    index: Index
    max_ns: Count
    """The longest latency; 0: there is none. Exact to 0.8 % after the memory for raw records is full."""
    buckets: tuple[tuple[Count, Count], ...] = ()
    """(lower bound in ns, number of latencies), from the lowest. A bucket is exact below 256 ns. Above, its width is
    1/128 of the largest power of two that is not larger than the bound. Empty buckets are left out."""


class ThreadUse(Message, frozen=True, kw_only=True):
    """One thread of the worker."""

    tid: Pid
    name: str
    cpu_ns: Count
    waiting_ns: Count | None = None
    """Time that the thread was runnable but had no processor; null: the kernel does not report it."""


class Resources(Message, frozen=True, kw_only=True):
    """Resources that the process has used since it began. The difference of two reports is the use between them.

    The sum of ``user_ns`` and ``system_ns`` is exact to the microsecond. The kernel estimates the split between the two
    from samples at its clock ticks.
    """

    rss_bytes: Count
    peak_rss_bytes: Count
    bench_bytes: Count
    """Part of the resident memory that contains the bench's own samples."""
    user_ns: Count
    system_ns: Count
    voluntary: Count
    """Number of context switches because a thread blocked."""
    involuntary: Count
    """Number of context switches because a thread was preempted."""
    minor_faults: Count
    major_faults: Count
    private_bytes: Count | None = None
    """Resident memory that belongs to no file and to no other process (RssAnon). It contains ``bench_bytes``. null: the
    kernel does not report it."""
    descriptors: Count | None = None
    """Number of open file descriptors. The bench holds two of them for each thread. null: not read."""
    threads: tuple[ThreadUse, ...]
    """The living threads; the process's first thread comes first."""


class Account(Message, frozen=True, kw_only=True, tag_field="event"):
    """The counters of the roles, and the resources that the process has used since it began."""

    at_ns: Count
    """CLOCK_MONOTONIC."""
    roles: tuple[Counts, ...]
    resources: Resources
    latencies: tuple[Latencies, ...] = ()
    """Empty unless ``configure`` sets ``latencies``."""


class TickEvent(Account, frozen=True, kw_only=True, tag="tick"):
    """Sent after ``start`` and then once per second.

    The leading role is the first role that sends, or else the first role.
    """

    role: RoleKind
    """The leading role."""
    phase: Phase
    samples: Count
    """Samples so far. If not every message is stamped, this and ``sent`` may be up to 15 messages behind."""
    elapsed_s: SecondsOrZero
    """Time since ``start``."""


class MeasuringEvent(Account, frozen=True, kw_only=True, tag="measuring"):
    """Sent once, when the first role begins to measure. Not sent if all roles end before the worker notices."""


class DoneEvent(Account, frozen=True, kw_only=True, tag="done"):
    """The roles have ended."""

    role: RoleKind
    """The leading role."""


class EndedEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="ended"):
    """A publisher or a subscriber has ended. Sent only if ``tells_ends`` is set."""

    role: RoleKind
    index: Index
    sent: Count
    """Number of measured messages that the role sent; 0 for a subscriber."""
    forwarded: tuple[Count, ...] = ()
    """Number of measured messages that a subscriber sent, for each ``ForwardRequest``."""


class Peers(Message, frozen=True, kw_only=True):
    """The peers of one participant."""

    index: Index
    found: Count
    """storm: number of publishers heard since the command. leave: number of subscribers that its publishers match."""


class PeersEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="peers"):
    """Sent at once after ``crowd`` with ``storm`` or ``leave``, and then whenever a number has changed."""

    at_ns: Count
    """CLOCK_MONOTONIC."""
    participants: tuple[Peers, ...]


class ErrorEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="error"):
    """An error. The worker exits with status 1; after ``silent`` it still sends the results."""

    code: ErrorCode
    text: str
    advice: str = ""


# Result of a role at its end: measured messages only.


class RoleResult(Message, frozen=True, kw_only=True, tag_field="role"):
    """The result of one role. Only measured messages count. Sent when the samples file is complete."""

    event: Literal["result"] = "result"
    index: Index
    ended: Ended
    last_error: str
    """The middleware's own message about its last error; empty: no error."""

    @property
    def role(self) -> RoleKind:
        """The role named by the tag."""
        return cast(RoleKind, self.__struct_config__.tag)


class CallerResult(RoleResult, frozen=True, kw_only=True):
    """The result of a ping or a client."""

    samples: Count
    """Number of round trips in the samples file."""
    in_histogram: Count = 0
    """Number of round trips in the histogram: all that were completed after the samples file was full."""
    warmup_samples: Count
    measured_s: SecondsOrZero
    first_begin_ns: Count
    """CLOCK_MONOTONIC of the start of the measuring; 0: no message was measured."""
    start_ticks: Count
    """The value of the raw counter at which ``begin_ns`` of the samples is 0."""
    ticks_per_second: Hertz
    """Frequency of the raw counter."""
    sent: Count
    """Number of publishes that succeeded."""
    received: Count
    """Number of distinct replies, including damaged replies."""
    lost: Count
    late: Count
    """Number of replies that arrived after their timeout."""
    duplicated: Count
    reordered: Count
    damaged: Count
    publish_failed: Count
    """Number of publishes that the middleware refused; refused messages count as neither sent nor lost."""
    scheduled: Count | None = None
    """Number of intended instants within the measuring; null without a schedule."""
    late_sends: Count | None = None
    """Number of messages sent more than one period of the schedule after their intended instant."""
    unsent: Count | None = None
    """Number of intended instants for which no message was sent before the end."""
    pacing_ns: Count
    """Processor time that the thread spent on waiting for intended instants."""
    serialize_p50_ns: Count | None = None
    """Median; null: the type is octets, or the middleware serialises within its own calls."""
    deserialize_p50_ns: Count | None = None
    """Median; null: the type is octets, or the middleware deserialises within its own calls."""


class PingResult(CallerResult, frozen=True, kw_only=True, tag="ping"):
    """The result of the ping."""


class ClientResult(CallerResult, frozen=True, kw_only=True, tag="client"):
    """The result of a client."""

    native: bool
    """true: the middleware's own request/reply was used; false: two topics."""


class AnswererResult(RoleResult, frozen=True, kw_only=True):
    """The result of a pong or a server."""

    received: Count
    echoed: Count
    stamped: Count
    """Number of answers in the samples file."""
    lost: Count
    duplicated: Count
    reordered: Count
    damaged: Count
    publish_failed: Count
    serialize_p50_ns: Count | None = None
    """Median; for a server over topics, only of the replies to its first client. null: the type is octets, or the
    middleware serialises within its own calls."""
    deserialize_p50_ns: Count | None = None
    """Median; null: the type is octets, or the middleware deserialises within its own calls."""


class PongResult(AnswererResult, frozen=True, kw_only=True, tag="pong"):
    """The result of a pong."""


class ServerResult(AnswererResult, frozen=True, kw_only=True, tag="server"):
    """The result of the server."""

    native: bool
    """true: the middleware's own request/reply was used; false: two topics."""


class PublisherResult(RoleResult, frozen=True, kw_only=True, tag="publisher"):
    """The result of a publisher."""

    topic: Index
    scheduled: Count | None = None
    """Number of intended instants within the measuring; null without a schedule."""
    sent: Count
    """Number of publishes that succeeded."""
    sent_bytes: Count | None = None
    """Size of all sent messages together, if sizes vary; null: every message has the topic's size."""
    timed_out: Count
    """Number of publishes that back-pressure blocked beyond the write timeout; such messages count as neither sent nor
    lost."""
    publish_failed: Count
    """Number of publishes that the middleware refused; refused messages count as neither sent nor lost."""
    late_sends: Count | None = None
    """Number of messages sent more than one period of the schedule after their intended instant."""
    unsent: Count | None = None
    """Number of intended instants for which no message was sent before the end."""
    blocked_ns: Count | None = None
    """Time that the thread slept in publish(). Sleep until an intended instant is not included."""
    pacing_ns: Count
    """Processor time that the thread spent on waiting for intended instants."""
    writing_ns: Count | None = None
    """Total time in publish(); null if not every message was stamped."""
    serialize_p50_ns: Count | None = None
    """Median; null: the type is octets, messages are forwarded, or the middleware serialises within its own calls."""
    stamped_every: Several
    """N: every N-th message was stamped, beginning with the first."""
    first_sent_ns: Count
    """CLOCK_MONOTONIC; 0: no message was sent."""
    last_sent_ns: Count
    measured_s: SecondsOrZero
    samples: Count
    """Number of records in the samples file."""
    in_histogram: Count
    """Number of messages in the histogram: all that were sent after the samples file was full."""
    warmup_samples: Count


class SubscriberResult(RoleResult, frozen=True, kw_only=True, tag="subscriber"):
    """The result of a subscriber. One-way times begin at the intended instant and are accurate to 0.4 %."""

    topic: Index
    received: Count
    """Number of distinct messages, including damaged messages."""
    duplicated: Count
    reordered: Count
    damaged: Count
    by_publisher: tuple[Count, ...] = ()
    """Number of distinct messages received from each publisher."""
    last_warm_up_ns: Count = 0
    """CLOCK_MONOTONIC of the last warm-up message before the first measured message; 0: no such message."""
    first_received_ns: Count
    """CLOCK_MONOTONIC; 0: no message arrived."""
    last_received_ns: Count
    samples: Count
    """Number of records in the samples file."""
    in_histogram: Count
    """Number of messages in the histogram: all stamped messages that arrived after the samples file was full."""
    one_way_p50_ns: Count | None = None
    one_way_p99_ns: Count | None = None
    one_way_max_ns: Count | None = None
    deserialize_p50_ns: Count | None = None
    """Median; null: the type is octets, or the middleware deserialises within its own calls."""
    history_due: Count = 0
    """Number of history messages that the subscriber had to receive; 0 if the subscriber did not join late."""
    history_received: Count = 0
    """Number of distinct history messages that arrived."""
    history_ns: Count | None = None
    """Time from just before the subscriber was opened to the last history message; null: no such message arrived."""


class ParticipantResult(RoleResult, frozen=True, kw_only=True, tag="participant"):
    """The result of a participant of a crowd. All instants are of CLOCK_MONOTONIC; 0: the event did not occur."""

    opening_ns: Count
    """Instant just before the session was opened."""
    opened_ns: Count
    """Instant at which all publishers and subscribers of the participant existed."""
    complete_ns: Count
    """Instant at which the participant had heard all these publishers; 0: it never heard some of them."""
    publishers_due: Count
    """Number of publishers of the topics to which the participant subscribes."""
    publishers_heard: Count
    """Number of these publishers from which a message had arrived before ``start``."""
    probes: Count
    """Number of probes that the participant sent."""
    sent: Count
    """Number of measured messages that the middleware accepted, on all topics together."""
    publish_failed: Count
    """Number of measured messages that were refused or timed out; they count as neither sent nor lost."""
    late_sends: Count
    """Number of measured messages sent more than one period of the schedule after their intended instant."""
    expected: Count
    """Number of measured messages that all publishers of the subscribed topics intended to send."""
    received: Count
    """Number of distinct measured messages, including damaged messages."""
    duplicated: Count
    reordered: Count
    damaged: Count
    first_sent_ns: Count
    last_sent_ns: Count
    first_received_ns: Count
    last_received_ns: Count
    samples: Count
    """Number of records in the samples file."""


AnyRoleResult = (
    PingResult | PongResult | PublisherResult | SubscriberResult | ClientResult | ServerResult | ParticipantResult
)


# Commands and events of the witness.


class Durations(Message, frozen=True, kw_only=True):
    """Histogram of durations of 1 µs and more, by octave."""

    total_ns: Count = 0
    longest_ns: Count = 0
    counts: tuple[tuple[Count, Count], ...] = ()
    """(lower bound in ns, number of durations). A bucket ends at twice its lower bound. Empty buckets are left out."""


class Still(Message, frozen=True, kw_only=True):
    """Disturbances of one processor just before or after a trial, measured by a thread that only reads the clock."""

    cpu: Cpu
    spun_ns: Count
    gaps: Durations
    """Gaps between two readings without a preemption: interrupts, the hypervisor."""
    taken: Durations
    """Gaps in which another thread had the processor, also at the end of a sleep."""
    wakes: Count = 0
    """Number of timed sleeps of 0.2 ms; 0 if no role of the trial sleeps on this processor."""
    late: Durations = Durations()
    """Delay of the end of each sleep."""
    waited_ns: Count = 0
    """The part of the total delay in which the thread waited for the processor although no other thread had it."""


class Other(Message, frozen=True, kw_only=True):
    """Another process or thread that ran on the roles' processors while they measured."""

    name: str | None
    """null: the process had ended, or the kernel does not report its name."""
    pid: Pid | None
    ns: Count


class ProbeCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="probe"):
    """Measures how much the processors are disturbed: on each processor a thread only reads the clock."""

    cpus: tuple[Cpu, ...]
    sleeping: tuple[Cpu, ...] = ()
    """Processors on which the first half of the time is spent in timed sleeps."""
    duration_ns: Annotated[int, Meta(ge=0, le=1_000_000_000, extra={"cpp": "std::uint64_t"})]


class ProbedEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="probed"):
    """The result of a probe."""

    cpus: tuple[Still, ...]


class AwakeCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="awake"):
    """Keeps processors from halting, from now on: on each processor a thread spins that yields to all other threads."""

    cpus: tuple[Cpu, ...] = ()
    """The processors; empty: the spinning ends, and all processors may halt again."""
    limit_ns: Annotated[int, Meta(ge=0, le=86_400_000_000_000, extra={"cpp": "std::uint64_t"})] = 0
    """The spinning ends after this time, or when the process that started the witness ends."""


class AwakeEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="awake"):
    """The processors that are kept awake."""

    cpus: tuple[Cpu, ...] = ()
    absent: str | None = None
    """Why no processor is kept awake."""


class WatchCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="watch"):
    """Records the threads that run on the processors, from now on."""

    cpus: tuple[Cpu, ...]
    pids: tuple[Pid, ...]
    """The workers and their companions. All other threads except the idle thread count as threads of others."""


class WatchingEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="watching"):
    """The processes whose time on processors is recorded. Answers ``watch`` (WatchCommand)."""

    scope: WatchScope | None = None
    """null: nothing is recorded."""
    absent: str | None = None
    """Why nothing is recorded."""


class SwitchesCommand(Message, frozen=True, kw_only=True, tag_field="command", tag="tell"):
    """Requests the records between two instants of CLOCK_MONOTONIC, and ends the watching."""

    from_ns: Count
    to_ns: Count


class CpuOthers(Message, frozen=True, kw_only=True):
    """How long other processes had one processor."""

    cpu: Cpu
    others_ns: Count


class SeenEvent(Message, frozen=True, kw_only=True, tag_field="event", tag="seen"):
    """The times during which other processes had the watched processors. Answers ``tell`` (SwitchesCommand)."""

    scope: WatchScope | None = None
    """null: nothing was recorded; ignore the other fields."""
    complete: bool = False
    """No record was lost."""
    records: Count = 0
    lost: Count = 0
    cpus: tuple[CpuOthers, ...] = ()
    others: tuple[Other, ...] = ()
    """The eight processes that ran longest."""
    spells: tuple[tuple[Count, Count, Cpu], ...] = ()
    """The 2,000 longest times during which another process had a processor: (from ns, to ns, processor)."""
    shorter: Count = 0
    """Number of such times that are not in ``spells``."""
    longest_of_the_shorter_ns: Count = 0


WitnessCommand = ProbeCommand | AwakeCommand | WatchCommand | SwitchesCommand

Event = (
    HelloEvent
    | PublishedEvent
    | ReadyEvent
    | TickEvent
    | MeasuringEvent
    | EndedEvent
    | PeersEvent
    | DoneEvent
    | ErrorEvent
    | ProbedEvent
    | AwakeEvent
    | WatchingEvent
    | SeenEvent
)
"""An event of a worker or the witness. The results of the roles are separate messages."""
