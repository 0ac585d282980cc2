"""The description of an adapter: what ``--describe`` and ``--companions`` of a worker print, declared once.

``scripts/protocol`` writes what adapters are written with, ``core/description.hpp`` and the crate's ``description.rs``,
and the tables of ``docs/protocol.md``. The structs of both begin with a field's default, else with its first example.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from middlemark.model.protocol import PROTOCOL_VERSION, Depth, MessageType, Pattern, Reception, Reliability, Security

AS_IT_COMES = "default"
"""The transport that sets nothing but what keeps a trial apart from others and on its network interface: the middleware
as a user gets it who configures nothing. It is described last, and measured only where it is named."""
ANY = "any"
"""The carrier of a transport whose middleware chooses by itself: what is seen to move the data is told."""
Credential = Literal["x509", "dds", "curve"]
"""Files of a set of certificates (docs/security.md): an authority's certificate with one and a key for each identity;
governance and permissions of DDS Security beside them; or key pairs of CURVE."""
NativeType = Literal["boolean", "integer", "bytes", "duration", "choice", "text", "file"]
"""How the text of a native setting is read. ``boolean``: true or false (also 1 and 0, on and off). ``integer``: a whole
number. ``bytes``: a whole number, or one with a unit (64KiB). ``duration``: a number with a unit (1.5ms). ``choice``:
one of a few words. ``text``: anything; the adapter looks at it. ``file``: the absolute path of a file of the user's,
whose bytes are part of what is measured."""
SOME = Meta(min_length=1)
Name = Annotated[str, SOME]
Processes = Annotated[int, Meta(ge=1, le=2, extra={"cpp": "int"})]
NativeNumber = Annotated[int, Meta(extra={"cpp": "std::int64_t"})]


class Transport(msgspec.Struct, frozen=True, kw_only=True):
    """What one transport of an adapter can carry. What is not listed is refused before anything runs."""

    name: Name
    """``udp``, ``shm``: unique within the adapter. ``default``: the middleware's default configuration."""
    carrier: str
    """What must be seen to move: ``shared-memory``, ``udp``, ``tcp``, ``unix-socket``, ``message-queue`` or
    ``process-memory``. ``any``: the middleware chooses, and what is seen is told."""
    segments: tuple[str, ...] = ()
    """Shared memory: globs of file names under /dev/shm, one of which must be mapped. Of System V: ``SYSV*``."""
    processes: Annotated[tuple[Processes, ...], SOME] = (1, 2)
    """1: both roles in one process; 2: each role in its own."""
    receive: Annotated[tuple[Reception, ...], SOME] = ("poll", "block", "listen")
    reliability: Annotated[tuple[Reliability, ...], SOME] = ("reliable", "best-effort")
    loan: Annotated[tuple[bool, ...], SOME] = (False,)
    """false: the adapter's memory is sent; true: memory that the middleware lends is."""
    hands_over: Annotated[tuple[bool, ...] | None, Meta(extra={"cpp": "std::vector<bool>"})] = None
    """The levels of ``loan`` at which a receiver is given a pointer or the index of a chunk, and nothing copies the
    bytes; empty: it always copies. Left out by workers that are older than this field."""
    max_bytes: Annotated[int, Meta(ge=16, extra={"cpp": "std::size_t"})] = 64 << 20
    """The largest message."""
    max_bytes_advice: str = ""
    """How to lift ``max_bytes``; empty: it cannot be lifted."""
    max_depth: Depth | None = None
    """The deepest history; null: no bound."""
    keep_all: bool = True
    """Keep-all history can be honoured."""
    companions: bool = False
    """A daemon is needed: the adapter is asked for its ``companions``."""
    own_network: bool = False
    """It listens on every interface: a trial on this machine has a network of its own, with lo alone."""
    alone: bool = False
    """Nobody else takes part: a ping without pongs, which takes back what it has published."""
    best_effort_carrier: str = ""
    """What must be seen to move best effort, where that is not ``carrier``; a native service is not meant."""
    types: Annotated[tuple[MessageType, ...], SOME] = ("octets",)
    """Types of messages that it carries, octets first."""
    varying_sizes: bool = False
    """Messages of a topic may be shorter than its largest."""
    services: bool = False
    """Services of a graph are carried by request and reply of the middleware's own."""
    max_history: Annotated[int, Meta(ge=0, extra={"cpp": "std::uint32_t"})] | None = 0
    """Messages of a transient-local topic that a subscriber can get which joins late; 0: volatile only; null: no
    bound."""
    security: Annotated[tuple[Security, ...], SOME] = ("none",)
    """The levels that it has; ``protected_by()`` of the adapter says what protects them."""
    security_why: str = ""
    """Why it has no others; empty: nothing is to be said of it."""
    permissions: bool = False
    """At those levels its peers give nothing to who is of the authority and has no permission: ``intruder``."""

    def loan_at(self, *, hands_over: bool) -> bool | None:
        """Return the level of loan at which it hands over, or at which it copies; None: it never does."""
        handing = tuple(each for each in self.loan if each) if self.hands_over is None else self.hands_over
        return next((each for each in self.loan if (each in handing) == hands_over), None)


class NativeSetting(msgspec.Struct, frozen=True, kw_only=True, rename={"otherwise": "default"}):
    """One of the middleware's own settings. The core refuses what does not fit before the middleware is opened."""

    help: str
    """What it does."""
    least: NativeNumber | None = None
    """The lowest number; of a duration in ns."""
    most: NativeNumber | None = None
    """The highest number; of a duration in ns."""
    choices: tuple[str, ...] = ()
    """The words of a choice, in the order of its values; of a number: words that it may be instead."""
    transports: tuple[str, ...] = ()
    """Those that it has an effect on; none named: all."""
    patterns: tuple[Pattern, ...] = ()
    """Those that it has an effect on; none named: all."""
    otherwise: str = ""
    """The default, in words; empty: the help says it, or there is none."""
    type: NativeType = "text"
    """In an adapter's table ``text`` also stands for the type of the member that holds the value."""
    allowed: str = "a text"
    """What a value must be, in words. The core writes it."""


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """What an adapter says of itself without opening the middleware."""

    protocol: Annotated[int, Meta(ge=0, le=(1 << 31) - 1, extra={"cpp": "int"}, examples=[PROTOCOL_VERSION])]
    name: Name
    """The folder's name."""
    title: str
    """As people call it: Eclipse Cyclone DDS."""
    version: str
    """Of the library that is loaded, not of the headers."""
    library: str
    """Path of that library; empty: there is none."""
    licence: str
    """SPDX."""
    is_raw_transport: bool
    """It is what the machine can do, not a middleware."""
    bench_only: bool
    """It tests the bench itself and is never part of ``all``."""
    transports: Annotated[tuple[Transport, ...], SOME]
    """The first is the default."""
    request_reply: bool
    """It has request and reply of its own. The core writes it: there are ``client()`` and ``server()``."""
    credentials: tuple[Credential, ...] = ()
    """What of a set of certificates its security reads."""
    own_threads: bool
    """The middleware receives on threads of its own, which need a processor beside a polling role."""
    most_per_take: Annotated[int, Meta(ge=1, extra={"cpp": "std::size_t"})] | None = None
    """A ``take()`` of a subscriber returns after this number of messages, so that the role can look for its stop; the
    number is per publisher where each publisher has its own queue. null: ``take()`` visits what was there when it was
    called. The core writes it, from what the subscriber's class states."""
    residue: tuple[str, ...]
    """What a killed worker may leave: absolute globs (``{scope}`` is replaced); of System V: ``sysv:*``."""
    native: dict[str, NativeSetting]
    """Every native setting, by key; one that ends in ``*`` stands for every key that begins so."""

    def transport(self, name: str) -> Transport | None:
        """Return the transport of that name, or None."""
        return next((each for each in self.transports if each.name == name), None)


class CompanionSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A daemon that has to run while workers do."""

    name: str
    argv: Annotated[tuple[str, ...], SOME]
    environment: dict[str, str] = {}
    """For the companion and for every worker of the trial."""
    ready_pattern: str = ""
    """Regular expression over a line of its stdout or stderr that says it is ready."""
    ready_timeout_s: float = 10.0


class Worker(msgspec.Struct, frozen=True):
    """A worker that was found: its executable's absolute path and what it said of itself."""

    path: str
    description: Description


class BrokenWorker(msgspec.Struct, frozen=True):
    """An executable that was found but could not describe itself, and why."""

    name: str
    path: str
    reason: str


def raw_transport_carrier(carrier: str | None) -> str | None:
    """Return the carrier of the raw transport that a cell with that carrier is compared with.

    A transport within one process hands memory over; the raw transport that does only that is shared memory.
    """
    return "shared-memory" if carrier == "process-memory" else carrier
