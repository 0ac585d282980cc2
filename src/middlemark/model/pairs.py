"""Pairs of adapters: the senders of a trial use one adapter, and the receivers use another with the same wire."""

import re
from collections.abc import Mapping
from typing import TypeVar

from msgspec.structs import replace

from middlemark.model.description import Description, Transport, Worker
from middlemark.model.levels import Kind, Level, Wrong
from middlemark.model.spelling import listing, quoted

SAME = "same"
"""The level of ``pair`` at which senders and receivers use the same adapter."""
EVERY = "all"
"""The level of ``pair`` for ``same`` and for all ordered pairs of the requested adapters with a common wire."""
NO_INTEROP = "no-interop"
"""Code of the failure of a trial in which two different adapters exchange no messages."""
OWN_WIRE = "its own"
"""The words for the wire of a transport whose messages no other adapter reads."""
Each = TypeVar("Each")
_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}(@[\w./+~-]{1,200})?"


def _read(value: object) -> str:
    if value in (SAME, EVERY):
        return str(value)
    if not isinstance(value, str) or not re.fullmatch(f"{_NAME}:{_NAME}", value):
        raise Wrong(
            f"{quoted(value)} is not a pair; write '{SAME}', '{EVERY}' or SENDERS:RECEIVERS, as in 'cyclonedds:fastdds'"
        )
    senders, receivers = sides_of(value)
    if senders == receivers:
        raise Wrong(f"{quoted(value)} names one adapter twice; write '{SAME}' and --adapter {senders}")
    return value


PAIR = Kind(read=_read)


def sides_of(name: str) -> tuple[str, str]:
    """Return the senders' and the receivers' adapter of ``A:B``. For ``A``, return A twice."""
    senders, _, receivers = name.partition(":")
    return senders, receivers or senders


def pair_of(name: str) -> str:
    """Return the level of ``pair`` for the name in a description: ``A:B``, or ``same`` for one adapter."""
    return name if ":" in name else SAME


def named_in(levels: tuple[Level, ...]) -> tuple[str, ...]:
    """Return the adapters in these levels of ``pair``, each once."""
    pairs = [sides_of(str(level)) for level in levels if level not in (SAME, EVERY)]
    return tuple(dict.fromkeys(name for pair in pairs for name in pair))


def without_common_wire(senders: Description, receivers: Description) -> str | None:
    """Return the wire protocols of each adapter if they have none in common; None: they have one."""
    wires = [list(dict.fromkeys(each.wire for each in about.transports if each.wire)) for about in (senders, receivers)]
    if set(wires[0]) & set(wires[1]):
        return None
    shown = (
        f"{about.name} speaks {listing(own) if own else OWN_WIRE}"
        for about, own in zip((senders, receivers), wires, strict=True)
    )
    return f"different wire protocols: {', '.join(shown)}"


def why_apart(senders: Description, receivers: Description, transport: str) -> str | None:
    """Return why these adapters cannot exchange messages over the transport; None: they can."""
    ends = senders.transport(transport), receivers.transport(transport)
    lacking = [about.name for about, end in zip((senders, receivers), ends, strict=True) if end is None]
    if lacking:
        return f"{' and '.join(lacking)} has no transport '{transport}'"
    wires = [end.wire if end else "" for end in ends]
    if wires[0] != wires[1] or not wires[0]:
        shown = [
            f"{about.name} {transport} speaks {wire or OWN_WIRE}"
            for about, wire in zip((senders, receivers), wires, strict=True)
        ]
        return f"different wire protocols: {', '.join(shown)}"
    if senders.request_reply != receivers.request_reply:
        return "only one of them has requests and replies of its own"
    return None


def together(senders: Description, receivers: Description) -> Description:
    """Return the description of a pair: the transports with the same wire, and the levels that both sides support."""
    transports = [
        _shared(first, second)
        for first in senders.transports
        if (second := receivers.transport(first.name)) and why_apart(senders, receivers, first.name) is None
    ]
    return replace(
        senders,
        name=f"{senders.name}:{receivers.name}",
        title=f"{senders.title} to {receivers.title}",
        transports=tuple(transports),
        credentials=_both(senders.credentials, receivers.credentials),
        own_threads=senders.own_threads or receivers.own_threads,
        residue=tuple(dict.fromkeys((*senders.residue, *receivers.residue))),
    )


def _both(first: tuple[Each, ...], second: tuple[Each, ...]) -> tuple[Each, ...]:
    return tuple(each for each in first if each in second)


def _shared(first: Transport, second: Transport) -> Transport:
    smaller = min(first, second, key=lambda each: each.max_bytes)
    depths = [each.max_depth for each in (first, second) if each.max_depth is not None]
    lacking = min(first, second, key=lambda each: len(each.security))
    return replace(
        first,
        segments=(),
        processes=(2,),
        receive=_both(first.receive, second.receive),
        reliability=_both(first.reliability, second.reliability),
        loan=(False,),
        hands_over=(),
        max_bytes=smaller.max_bytes,
        max_bytes_advice=smaller.max_bytes_advice,
        max_depth=min(depths, default=None),
        keep_all=first.keep_all and second.keep_all,
        own_network=first.own_network or second.own_network,
        types=("octets",),
        services=False,
        max_history=0,
        security=_both(first.security, second.security),
        security_why=lacking.security_why,
        permissions=first.permissions and second.permissions,
        via=_both(first.via, second.via),
        via_why="only one of the two has it" if first.via != second.via else first.via_why,
    )


def worker_of(sides: tuple[str, str], workers: Mapping[str, Worker]) -> Worker:
    """Return the worker of an adapter.

    For a pair, return the senders' worker, with the receivers' worker as ``peer``.
    """
    senders, receivers = (workers[name] for name in sides)
    if senders is receivers:
        return senders
    about = together(senders.description, receivers.description)
    return Worker(senders.path, about, receivers)
