"""The description of an adapter: what ``--describe`` and ``--companions`` of a worker print, declared once.

``scripts/protocol`` generates ``core/description.hpp``, the crate's ``description.rs`` and the tables of
``docs/reference/protocol.md`` from this module. In the structs of both languages each member is initialised with the
field's default, or with its first example if it has no default.
"""

from pathlib import PurePath
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from middlemark.model.protocol import (
    PROTOCOL_VERSION,
    Depth,
    MessageType,
    Pattern,
    Reception,
    Reliability,
    Security,
    Via,
)

DEFAULT_CONFIGURATION = "default"
"""Name of the transport with the middleware's default configuration. The adapter sets only the options that separate
the trial from others and keep the trial on its network interface. Descriptions list this transport last. The transport
is measured only if a user selects it by name."""
ANY = "any"
"""Carrier of a transport whose middleware chooses the carrier. Reports show the carrier that was observed."""
Credential = Literal["x509", "dds", "curve"]
"""Kinds of files in a set of certificates (docs/how-to/security.md). ``x509``: an authority's certificate, and a
certificate and a key for each identity. ``dds``: also the governance and permissions of DDS Security. ``curve``: key
pairs of CURVE."""
WrittenIn = Literal["C++", "Rust", "Python"]
"""The language of the middleware's interface that an adapter calls."""
NativeType = Literal["boolean", "integer", "bytes", "duration", "choice", "text", "file"]
"""How the text of a native setting is read. ``boolean``: true or false (also 1 and 0, on and off). ``integer``: a whole
number. ``bytes``: a number without or with a unit (65536, 64KiB). ``duration``: a number with a unit (1.5ms).
``choice``: one of a few words. ``text``: any text; the adapter checks the text. ``file``: the absolute path of a user's
file; results record a hash of its content."""
SOME = Meta(min_length=1)
Name = Annotated[str, SOME]
Processes = Annotated[int, Meta(ge=1, le=2, extra={"cpp": "int"})]
NativeNumber = Annotated[int, Meta(extra={"cpp": "std::int64_t"})]


class Transport(msgspec.Struct, frozen=True, kw_only=True):
    """One transport of an adapter with its capabilities.

    Anything that is not listed is refused before a trial starts.
    """

    name: Name
    """Unique within the adapter: ``udp``, ``shm``. ``default``: the middleware's default configuration."""
    carrier: str
    """How the data must move: ``shared-memory``, ``udp``, ``tcp``, ``unix-socket``, ``message-queue`` or
    ``process-memory``. The carrier is checked during the trial. ``any``: the middleware chooses, and reports show the
    observed carrier."""
    segments: tuple[str, ...] = ()
    """For shared memory: globs of file names under /dev/shm, one of which must be mapped; ``SYSV*`` for System V."""
    processes: Annotated[tuple[Processes, ...], SOME] = (1, 2)
    """1: all roles in one process; 2: each role in a process of its own."""
    patterns: Annotated[tuple[Pattern, ...], SOME] = ("ping-pong", "stream", "request-reply")
    """Supported patterns."""
    patterns_why: str = ""
    """Why the transport does not support a crowd; empty: the adapter does not offer crowds."""
    participants_per_process: Annotated[int, Meta(ge=1, extra={"cpp": "std::size_t"})] = 1
    """The largest number of participants of a crowd that one process can contain."""
    discovery_by: str = ""
    """How peers find each other if the middleware has no discovery of its own; empty: it has one."""
    receive: Annotated[tuple[Reception, ...], SOME] = ("poll", "block", "listen")
    reliability: Annotated[tuple[Reliability, ...], SOME] = ("reliable", "best-effort")
    loan: Annotated[tuple[bool, ...], SOME] = (False,)
    """false: the adapter's own memory is sent; true: memory that the middleware lends is sent."""
    hands_over: Annotated[tuple[bool, ...] | None, Meta(extra={"cpp": "std::vector<bool>"})] = None
    """The levels of ``loan`` at which the transport copies no bytes but passes a pointer or the index of a chunk to the
    receiver; empty: the transport always copies. null: the worker is older than this field."""
    max_bytes: Annotated[int, Meta(ge=16, extra={"cpp": "std::size_t"})] = 64 << 20
    """Size of the largest message."""
    max_bytes_advice: str = ""
    """How to raise ``max_bytes``; empty: no setting raises ``max_bytes``."""
    max_depth: Depth | None = None
    """Depth of the deepest history; null: no limit."""
    keep_all: bool = True
    """True if the transport supports a keep-all history."""
    companions: bool = False
    """The transport needs daemons, which ``companions`` of the adapter lists."""
    own_network: bool = False
    """The transport listens on every interface, so trials on this machine run in a network namespace with only lo."""
    alone: bool = False
    """The ping has no pongs and receives the messages that it published itself."""
    best_effort_carrier: str = ""
    """Carrier under best effort, if it differs from ``carrier``. Does not apply to a native service."""
    types: Annotated[tuple[MessageType, ...], SOME] = ("octets",)
    """Supported message types, octets first."""
    varying_sizes: bool = False
    """True if the messages of a topic may have different sizes."""
    services: bool = False
    """Services of a workload use the middleware's own request and reply."""
    max_history: Annotated[int, Meta(ge=0, extra={"cpp": "std::uint32_t"})] | None = 0
    """The largest number of transient-local messages that a subscriber which joins late can receive; 0: volatile only;
    null: no limit."""
    security: Annotated[tuple[Security, ...], SOME] = ("none",)
    """Supported levels of security. ``protected_by()`` of the adapter names the algorithms."""
    security_why: str = ""
    """Why the transport does not support the other levels; empty: no reason is known."""
    permissions: bool = False
    """With security, peers reject an ``intruder``: a peer with a certificate of the authority but no permission."""

    via: Annotated[tuple[Via, ...], SOME] = ("direct",)
    """The possible processes between the peers. ``router`` alone: every message passes through the middleware's
    broker."""
    via_why: str = ""
    """Why the transport does not support the other levels of ``via``; empty: the middleware does not have them."""
    wire: str = ""
    """Name of the format on the network: ``rtps``, ``rtps-ros2``. Adapters with one wire exchange octets in a pair.
    Empty: no other adapter reads these messages."""

    def has_companions(self, via: Via) -> bool:
        """Return true if trials at this level of ``via`` need daemons."""
        return self.companions or via != "direct"

    def loan_at(self, *, hands_over: bool) -> bool | None:
        """Return the level of ``loan`` at which the transport hands over a pointer, or copies; None: no such level."""
        handing = tuple(each for each in self.loan if each) if self.hands_over is None else self.hands_over
        return next((each for each in self.loan if (each in handing) == hands_over), None)


class NativeSetting(msgspec.Struct, frozen=True, kw_only=True, rename={"otherwise": "default"}):
    """One of the middleware's own settings. The core refuses an invalid value before the middleware is opened."""

    help: str
    """Effect of the setting."""
    least: NativeNumber | None = None
    """The lowest number; in ns for a duration."""
    most: NativeNumber | None = None
    """The highest number; in ns for a duration."""
    choices: tuple[str, ...] = ()
    """For a choice: the words, in the order of the values. For a number: words that are allowed instead of a number."""
    transports: tuple[str, ...] = ()
    """The transports that the setting affects; empty: all transports."""
    patterns: tuple[Pattern, ...] = ()
    """The patterns that the setting affects; empty: all patterns."""
    otherwise: str = ""
    """The default in words; empty: the help names the default, or there is no default."""
    type: NativeType = "text"
    """In an adapter's source, ``text`` (the default) means that the type follows from the type of the C++ member."""
    allowed: str = "a text"
    """The allowed values in words. The core sets this field."""


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """The description of an adapter, which its worker prints without opening the middleware."""

    protocol: Annotated[int, Meta(ge=0, le=(1 << 31) - 1, extra={"cpp": "int"}, examples=[PROTOCOL_VERSION])]
    name: Name
    """Name of the adapter's folder."""
    title: str
    """Full name: Eclipse Cyclone DDS."""
    version: str
    """Version of the loaded library, not of the headers."""
    library: str
    """Path of the loaded library; empty: no library."""
    licence: str
    """SPDX identifier."""
    language: WrittenIn = "C++"
    """The language of the middleware's interface that is measured. Kits for other languages than C++ set it."""
    client_of: str = ""
    """Name of the adapter that measures the same middleware in the language of its library: ``zeromq`` for ``pyzmq``.
    Empty: the adapter is not such a client."""
    implementation: str = ""
    """Name and version of the library that moves a client's messages: ``libzmq 4.3.5``. Empty: the file name of
    ``library``, or else ``name``, and ``version``."""
    is_raw_transport: bool
    """true: a raw transport, which serves as baseline; false: a middleware."""
    bench_only: bool
    """The adapter is for tests of the bench itself and is never part of ``all``."""
    transports: Annotated[tuple[Transport, ...], SOME]
    """The transports. The first transport is used if the user names no transport."""
    request_reply: bool
    """True if the middleware has its own request and reply. The core sets this field: true if the adapter has
    ``client()`` and ``server()``."""
    credentials: tuple[Credential, ...] = ()
    """The kinds of certificate files that the adapter reads."""
    own_threads: bool
    """True if the middleware receives on its own threads. They need a processor on which no role polls."""
    most_per_take: Annotated[int, Meta(ge=1, extra={"cpp": "std::size_t"})] | None = None
    """A ``take()`` returns after this number of messages, so that the role can check for the stop. If each publisher
    has its own queue, the number is per publisher. null: ``take()`` visits all messages that had arrived at the call.
    The core sets this field from the subscriber's class."""
    residue: tuple[str, ...]
    """Files that a killed worker may leave: absolute globs (``{scope}`` is replaced); for System V: ``sysv:*``."""
    native: dict[str, NativeSetting]
    """Every native setting by key; a key that ends in ``*`` matches every key with the same beginning."""

    def transport(self, name: str) -> Transport | None:
        """Return the transport of that name, or None."""
        return next((each for each in self.transports if each.name == name), None)

    def asked_for(self, name: str) -> Transport | None:
        """Return the transport that a user means by the name, or None.

        A middleware without a transport ``default`` has its first transport for that name, because each of its
        transports is in its default configuration (an RMW of ROS 2).
        """
        found = self.transport(name)
        is_library = not self.is_raw_transport and not self.bench_only
        return self.transports[0] if found is None and is_library and name == DEFAULT_CONFIGURATION else found

    @property
    def moved_by(self) -> str:
        """The name and version of the library that moves the messages: ``libzmq 4.3.4``."""
        return self.implementation or f"{PurePath(self.library).name.partition('.')[0] or self.name} {self.version}"


class CompanionSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A daemon that must run while the workers run."""

    name: str
    argv: Annotated[tuple[str, ...], SOME]
    environment: dict[str, str] = {}
    """Variables for the companion and for every worker of the trial."""
    ready_pattern: str = ""
    """Regular expression for the line that the daemon prints on stdout or stderr when it is ready."""
    ready_timeout_s: float = 10.0


class Worker(msgspec.Struct, frozen=True):
    """A worker that was found: the absolute path of its executable, and its description."""

    path: str
    description: Description
    peer: "Worker | None" = None
    """The receivers' worker, in a pair of different adapters. ``description`` is then that of the pair."""


class BrokenWorker(msgspec.Struct, frozen=True):
    """An executable that was found but could not describe itself, and why."""

    name: str
    path: str
    reason: str


def raw_transport_carrier(carrier: str | None) -> str | None:
    """Return the carrier of the raw transport that is the baseline of a cell with this carrier.

    A transport within one process hands over a pointer. The only raw transport that hands over a pointer is shared
    memory.
    """
    return "shared-memory" if carrier == "process-memory" else carrier
