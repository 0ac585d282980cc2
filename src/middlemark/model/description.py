"""What a worker prints for ``--describe``: the Python side of ``Description`` in ``core/settings.hpp``."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from middlemark.model.protocol import MessageType, Reception, Reliability, Security

AS_IT_COMES = "default"
"""The transport that is the middleware as a user gets it who configures nothing; measured only where it is named."""
ANY = "any"
"""The carrier of a transport whose middleware chooses by itself: what is seen to move the data is told."""
Credential = Literal["x509", "dds", "curve"]
"""Files of a set of certificates (docs/security.md): an authority's certificate with one and a key for each identity;
governance and permissions of DDS Security beside them; or key pairs of CURVE."""
SOME = Meta(min_length=1)
Name = Annotated[str, SOME]


class Transport(msgspec.Struct, frozen=True, kw_only=True):
    """What one transport of an adapter can carry; what is not listed is refused before anything runs."""

    name: Name
    carrier: str
    """What must be seen to move: shared-memory, udp, tcp, unix-socket, message-queue or process-memory.

    ``ANY``: whatever is seen.
    """
    segments: tuple[str, ...] = ()
    """Globs of file names under /dev/shm, one of which must be mapped when the carrier is shared memory."""
    processes: Annotated[tuple[Literal[1, 2], ...], SOME]
    receive: Annotated[tuple[Reception, ...], SOME]
    reliability: Annotated[tuple[Reliability, ...], SOME]
    loan: Annotated[tuple[bool, ...], SOME]
    hands_over: tuple[bool, ...] | None = None
    """At which of those levels a receiver is given a pointer or the index of a chunk, and nothing copies the bytes;
    empty: it always copies. None: the worker is older than this field."""
    max_bytes: Annotated[int, Meta(ge=16)]
    max_bytes_advice: str = ""
    max_depth: Annotated[int, Meta(ge=1)] | None = None
    keep_all: bool = True
    companions: bool = False
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
    max_history: Annotated[int, Meta(ge=0)] | None = 0
    """Messages of a transient-local topic that a subscriber can get which joins late; 0: volatile only."""
    security: Annotated[tuple[Security, ...], SOME] = ("none",)
    """The levels that it has."""
    security_why: str = ""
    """Why it has no others; empty: nothing is to be said of it."""
    permissions: bool = False
    """At those levels its peers give nothing to who is of the authority and has no permission: ``intruder``."""

    def loan_at(self, *, hands_over: bool) -> bool | None:
        """Return the level of loan at which it hands over, or at which it copies; None: it never does."""
        handing = tuple(each for each in self.loan if each) if self.hands_over is None else self.hands_over
        return next((each for each in self.loan if (each in handing) == hands_over), None)


class NativeSetting(msgspec.Struct, frozen=True, kw_only=True):
    """One of the middleware's own settings: what a value must be, where it has an effect, what it does."""

    type: str = "text"
    """boolean, integer, bytes, duration, choice, text or file: how the worker reads it."""
    least: int | None = None
    """Of a number; of a duration in ns."""
    most: int | None = None
    choices: tuple[str, ...] = ()
    """Of a choice; of a number: words that it may be instead."""
    allowed: str = "a text"
    """What a value must be, in the worker's words."""
    default: str = ""
    """In words; empty: the help says it, or there is none."""
    transports: tuple[str, ...] = ()
    """Those that it has an effect on; none named: all."""
    patterns: tuple[str, ...] = ()
    help: str


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """One adapter: its version is that of the library that is loaded."""

    protocol: int
    name: Name
    title: str
    version: str
    library: str
    licence: str
    floor: bool
    bench_only: bool
    transports: Annotated[tuple[Transport, ...], SOME]
    request_reply: bool
    credentials: tuple[Credential, ...] = ()
    """What of a set of certificates its security reads."""
    own_threads: bool
    residue: tuple[str, ...]
    native: dict[str, NativeSetting]
    """By key; one that ends in ``*`` stands for every key that begins so."""

    def transport(self, name: str) -> Transport | None:
        """Return the transport of that name, or None."""
        return next((each for each in self.transports if each.name == name), None)


class Worker(msgspec.Struct, frozen=True):
    """A worker that was found: its executable's absolute path and what it said of itself."""

    path: str
    description: Description


class BrokenWorker(msgspec.Struct, frozen=True):
    """An executable that was found but could not describe itself, and why."""

    name: str
    path: str
    reason: str


def floor_carrier(carrier: str | None) -> str | None:
    """Return what must carry the floor of a cell that is carried so.

    Within one process a middleware hands memory over, and shared memory between threads is what does only that.
    """
    return "shared-memory" if carrier == "process-memory" else carrier
