"""The messages that an adapter sees. Written by scripts/protocol from src/middlemark/model."""

from typing import Literal

from middlemark_kit.structs import Struct

DEFAULT_CONFIGURATION = "default"
"""Name of the transport with the middleware's default configuration. The adapter sets only the options that separate
the trial from others and keep the trial on its network interface. Descriptions list this transport last. The
transport is measured only if a user selects it by name."""
Pattern = Literal["ping-pong", "stream", "request-reply", "crowd"]
Subscribe = Literal["next", "all"]
"""The topics to which a participant of a crowd subscribes. `next`: the topics of the next participant; the last
participant subscribes to those of the first. `all`: the topics of all other participants."""
Reliability = Literal["reliable", "best-effort"]
Reception = Literal["poll", "block", "listen"]
MessageType = Literal["octets", "image", "point-cloud", "imu", "tf"]
"""The content of a message: plain bytes, or one of ROS's common messages, which is serialised and deserialised."""
Security = Literal["none", "authenticated", "signed", "encrypted"]
"""Protection of the messages. `none`: no protection. `authenticated`: the peers have proved who they are. `signed`:
also, nobody can change a message unnoticed. `encrypted`: also, nobody else can read a message."""
Via = Literal["direct", "router", "discovery-server"]
"""The processes between the peers. `direct`: messages pass through no other process. `router`: messages pass through
a router or a broker. `discovery-server`: messages pass through no other process, and the peers find each other by a
server instead of the middleware's usual discovery."""
Identity = Literal["sender", "receiver", "broker", "intruder", "stranger"]
"""Whose certificate and key a process has: docs/how-to/security.md. `intruder`: a valid certificate without
permission. `stranger`: a certificate of another authority."""
Language = Literal["c", "cpp", "json5", "rust", "toml", "xml"]
Credential = Literal["x509", "dds", "curve"]
"""Kinds of files in a set of certificates (docs/how-to/security.md). `x509`: an authority's certificate, and a
certificate and a key for each identity. `dds`: also the governance and permissions of DDS Security. `curve`: key
pairs of CURVE."""
WrittenIn = Literal["C++", "Rust", "Python"]
"""The language of the middleware's interface that an adapter calls."""
NativeType = Literal["boolean", "integer", "bytes", "duration", "choice", "text", "file"]
"""How the text of a native setting is read. `boolean`: true or false (also 1 and 0, on and off). `integer`: a whole
number. `bytes`: a number without or with a unit (65536, 64KiB). `duration`: a number with a unit (1.5ms). `choice`:
one of a few words. `text`: any text; the adapter checks the text. `file`: the absolute path of a user's file; results
record a hash of its content."""


class OwnSettings(Struct):
    """Settings that a worker applied, as a configuration file of its middleware or as lines of code."""

    language: Language = "c"
    text: str = ""
    """The text is made from the values that the worker passed to the middleware. The text contains no names of
    topics, no addresses and no paths of the trial, and no keys."""


class TopicRequest(Struct):
    """One topic of a stream."""

    message_bytes: int = 16
    """Size of every message, including the core's header."""
    publishers: tuple[int, ...] = ()
    """Indices of the topic's publishers."""
    subscribers: tuple[int, ...] = ()
    """Indices of the topic's subscribers."""
    reliability: Reliability = "reliable"
    depth: int | None = 1
    """Keep-last history depth in messages; null is keep-all."""
    type: MessageType = "octets"
    """Type of the messages; for a type other than `octets`, `message_bytes` is the size of the main array."""
    sizes_path: str = ""
    """Absolute path of a file with the sizes of the messages in order of sending: uint32 in host order, at most
    `message_bytes`. After the last size the sizes are repeated from the first. Empty: every message has
    `message_bytes`."""
    history: int = 0
    """Length of the transient-local history: all subscribers of this topic join late, and each must receive this
    number of messages. The topic then has one publisher. 0: volatile."""
    subscriber_processes: int = 0
    """Number of processes that contain the subscribers (some middlewares connect processes). 0: one process per
    subscriber."""
    replies_to: int | None = None
    """If this topic carries the replies of a service: the number of the topic that carries its requests. Both topics
    together are one service of the middleware. The request topic has one subscriber, which forwards to this topic
    only. null: no service."""


class Request(Struct):
    """The settings of one trial. The settings do not change, because an adapter reads them once, when it opens."""

    pattern: Pattern = "ping-pong"
    transport: str = ""
    """One of the names in `Description.transports`."""
    reliability: Reliability = "reliable"
    """If the topics of a stream differ: reliable if any topic is reliable."""
    reception: Reception = "block"
    """How the roles will receive. Some middlewares must know this when they open."""
    depth: int | None = 1
    """Keep-last history depth in messages; null: keep-all. If the topics of a stream differ: the largest depth."""
    loan: bool = False
    """Write into the middleware's own memory instead of the adapter's."""
    one_process: bool = False
    """All roles of the trial run in this process."""
    message_bytes: int = 16
    """Size of every message, including the core's header. If the topics of a stream differ: the largest size."""
    type: MessageType = "octets"
    """Type of every message, except in a stream, where each topic has its own type."""
    publishers: int = 1
    """Number of publishers of a stream or of clients of request/reply; 1 under ping-pong. At most 65,536, because the
    header has 16 bits for the publisher id."""
    subscribers: int = 1
    """Number of subscribers of a stream or of pongs (0: the ping receives its own messages); 1, the server, under
    request/reply."""
    topics: tuple[TopicRequest, ...] = ()
    """Topics of a stream; empty under the other patterns."""
    participants: int = 1
    """Number of participants of a crowd, each with its own session of the middleware; 1 under the other patterns."""
    topics_each: int = 1
    """Number of topics on which each participant of a crowd publishes; 1 under the other patterns."""
    subscribe: Subscribe = "next"
    participants_per_process: int = 1
    """The largest number of participants of a crowd in one process; 1 under the other patterns."""
    workers: int = 2
    """Number of sessions of the middleware in the trial: one for each process, or in a crowd for each participant."""
    domain: int = 0
    """A DDS domain, or another number by which a middleware separates trials."""
    scope: str = ""
    """Unique name of the trial, [a-z0-9_]+. The name of every topic, segment or port file begins with this name."""
    scratch: str = ""
    """Absolute path of a folder for this trial only, shared by its workers and removed afterwards."""
    interface: str = "lo"
    """The only network interface that the trial may use."""
    write_timeout_s: float = 1.0
    """The longest time that publish() may block."""
    security: Security = "none"
    """The requested level. The adapter must provide exactly this level."""
    certs: str = ""
    """Absolute path of the folder of certificates and keys: docs/how-to/security.md. Empty at `none`."""
    identity: Identity = "sender"
    """Whose certificate and key from `certs` this process uses."""
    via: Via = "direct"
    """The processes between the peers. `companions` of the adapter starts the router or the server."""
    paired: bool = False
    """The senders and the receivers of the trial use different adapters, whose transports have one `wire`."""
    native: dict[str, str] = {}
    """The middleware's own settings; an adapter throws on an unknown key."""


class Transport(Struct):
    """One transport of an adapter with its capabilities. Anything that is not listed is refused before a trial
    starts."""

    name: str = ""
    """Unique within the adapter: `udp`, `shm`. `default`: the middleware's default configuration."""
    carrier: str = ""
    """How the data must move: `shared-memory`, `udp`, `tcp`, `unix-socket`, `message-queue` or `process-memory`. The
    carrier is checked during the trial. `any`: the middleware chooses, and reports show the observed carrier."""
    segments: tuple[str, ...] = ()
    """For shared memory: globs of file names under /dev/shm, one of which must be mapped; `SYSV*` for System V."""
    processes: tuple[int, ...] = (1, 2)
    """1: all roles in one process; 2: each role in a process of its own."""
    patterns: tuple[Pattern, ...] = ("ping-pong", "stream", "request-reply")
    """Supported patterns."""
    patterns_why: str = ""
    """Why the transport does not support a crowd; empty: the adapter does not offer crowds."""
    participants_per_process: int = 1
    """The largest number of participants of a crowd that one process can contain."""
    discovery_by: str = ""
    """How peers find each other if the middleware has no discovery of its own; empty: it has one."""
    receive: tuple[Reception, ...] = ("poll", "block", "listen")
    reliability: tuple[Reliability, ...] = ("reliable", "best-effort")
    loan: tuple[bool, ...] = (False,)
    """false: the adapter's own memory is sent; true: memory that the middleware lends is sent."""
    hands_over: tuple[bool, ...] = ()
    """The levels of `loan` at which the transport copies no bytes but passes a pointer or the index of a chunk to the
    receiver; empty: the transport always copies. null: the worker is older than this field."""
    max_bytes: int = 67108864
    """Size of the largest message."""
    max_bytes_advice: str = ""
    """How to raise `max_bytes`; empty: no setting raises `max_bytes`."""
    max_depth: int | None = None
    """Depth of the deepest history; null: no limit."""
    keep_all: bool = True
    """True if the transport supports a keep-all history."""
    companions: bool = False
    """The transport needs daemons, which `companions` of the adapter lists."""
    own_network: bool = False
    """The transport listens on every interface, so trials on this machine run in a network namespace with only lo."""
    alone: bool = False
    """The ping has no pongs and receives the messages that it published itself."""
    best_effort_carrier: str = ""
    """Carrier under best effort, if it differs from `carrier`. Does not apply to a native service."""
    types: tuple[MessageType, ...] = ("octets",)
    """Supported message types, octets first."""
    varying_sizes: bool = False
    """True if the messages of a topic may have different sizes."""
    services: bool = False
    """Services of a workload use the middleware's own request and reply."""
    max_history: int | None = 0
    """The largest number of transient-local messages that a subscriber which joins late can receive; 0: volatile
    only; null: no limit."""
    security: tuple[Security, ...] = ("none",)
    """Supported levels of security. `protected_by()` of the adapter names the algorithms."""
    security_why: str = ""
    """Why the transport does not support the other levels; empty: no reason is known."""
    permissions: bool = False
    """With security, peers reject an `intruder`: a peer with a certificate of the authority but no permission."""
    via: tuple[Via, ...] = ("direct",)
    """The possible processes between the peers. `router` alone: every message passes through the middleware's
    broker."""
    via_why: str = ""
    """Why the transport does not support the other levels of `via`; empty: the middleware does not have them."""
    wire: str = ""
    """Name of the format on the network: `rtps`, `rtps-ros2`. Adapters with one wire exchange octets in a pair.
    Empty: no other adapter reads these messages."""


class NativeSetting(Struct):
    """One of the middleware's own settings. The core refuses an invalid value before the middleware is opened."""

    help: str = ""
    """Effect of the setting."""
    least: int | None = None
    """The lowest number; in ns for a duration."""
    most: int | None = None
    """The highest number; in ns for a duration."""
    choices: tuple[str, ...] = ()
    """For a choice: the words, in the order of the values. For a number: words that are allowed instead of a
    number."""
    transports: tuple[str, ...] = ()
    """The transports that the setting affects; empty: all transports."""
    patterns: tuple[Pattern, ...] = ()
    """The patterns that the setting affects; empty: all patterns."""
    default: str = ""
    """The default in words; empty: the help names the default, or there is no default."""
    type: NativeType = "text"
    """In an adapter's source, `text` (the default) means that the type follows from the type of the C++ member."""
    allowed: str = "a text"
    """The allowed values in words. The core sets this field."""


class Description(Struct):
    """The description of an adapter, which its worker prints without opening the middleware."""

    protocol: int = 1
    name: str = ""
    """Name of the adapter's folder."""
    title: str = ""
    """Full name: Eclipse Cyclone DDS."""
    version: str = ""
    """Version of the loaded library, not of the headers."""
    library: str = ""
    """Path of the loaded library; empty: no library."""
    licence: str = ""
    """SPDX identifier."""
    language: WrittenIn = "C++"
    """The language of the middleware's interface that is measured. Kits for other languages than C++ set it."""
    client_of: str = ""
    """Name of the adapter that measures the same middleware in the language of its library: `zeromq` for `pyzmq`.
    Empty: the adapter is not such a client."""
    implementation: str = ""
    """Name and version of the library that moves a client's messages: `libzmq 4.3.5`. Empty: the file name of
    `library`, or else `name`, and `version`."""
    is_raw_transport: bool = False
    """true: a raw transport, which serves as baseline; false: a middleware."""
    bench_only: bool = False
    """The adapter is for tests of the bench itself and is never part of `all`."""
    transports: tuple[Transport, ...] = ()
    """The transports. The first transport is used if the user names no transport."""
    request_reply: bool = False
    """True if the middleware has its own request and reply. The core sets this field: true if the adapter has
    `client()` and `server()`."""
    credentials: tuple[Credential, ...] = ()
    """The kinds of certificate files that the adapter reads."""
    own_threads: bool = False
    """True if the middleware receives on its own threads. They need a processor on which no role polls."""
    most_per_take: int | None = None
    """A `take()` returns after this number of messages, so that the role can check for the stop. If each publisher
    has its own queue, the number is per publisher. null: `take()` visits all messages that had arrived at the call.
    The core sets this field from the subscriber's class."""
    residue: tuple[str, ...] = ()
    """Files that a killed worker may leave: absolute globs (`{scope}` is replaced); for System V: `sysv:*`."""
    native: dict[str, NativeSetting] = {}
    """Every native setting by key; a key that ends in `*` matches every key with the same beginning."""


class Companion(Struct):
    """A daemon that must run while the workers run."""

    name: str = ""
    argv: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    """Variables for the companion and for every worker of the trial."""
    ready_pattern: str = ""
    """Regular expression for the line that the daemon prints on stdout or stderr when it is ready."""
    ready_timeout_s: float = 10.0
