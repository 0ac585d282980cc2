"""What of a breakdown went into serialising and deserialising. Pure.

Publishing begins with the one, and taking ends with the other, so each is cut from the part that holds it. A take that
began while the message was still written is two parts, the last of which may be too short for it.
The parts are means over the messages near the median, and serialising was timed over all of them, of which the median
is known: two figures of one thing, which may differ a little.
"""

from collections.abc import Iterator, Mapping

from middlemark.model.cell import Cell
from middlemark.model.outcome import Coding
from middlemark.stats.breakdown import IN_BETWEEN, TOGETHER, Breakdown, shares
from middlemark.stats.result import Part

NEAR = 1.2
"""So many times what holds it a median may be; that is then taken to be nothing else."""

_WAYS = (("", "serialize_ns", "deserialize_ns"), ("reply ", "reply_serialize_ns", "reply_deserialize_ns"))


def with_coding(found: Breakdown, cell: Cell) -> tuple[tuple[Part, ...], str | None]:
    """Return the parts with ``serialize`` and ``deserialize`` among them, or why they, or some of them, are not."""
    if cell.type == "octets" or not found.parts:
        return found.parts, None
    if found.coding is None:
        return (
            found.parts,
            f"serialize and deserialize: {cell.adapter} does both within its own calls, which no stamp divides",
        )
    parts = {each.part: each.ns for each in found.parts}
    doubts = []
    for part, holders, ns in _timed(found.coding, parts):
        room = sum(parts[each] for each in holders)
        if ns is None:
            doubts.append(f"{part}: no message was timed")
        elif ns > NEAR * room:
            doubts.append(
                f"{part}: its median over all messages, {ns / 1000:,.3g} µs, is more than the {holders[0]}"
                f" of those near the median, {room / 1000:,.3g} µs"
            )
        else:
            parts = _divided(parts, holders, part, min(ns, room))
    return shares(parts), "; ".join(doubts) or None


def _timed(coding: Coding, parts: Mapping[str, float]) -> Iterator[tuple[str, tuple[str, ...], float | None]]:
    """Yield each part that there may be, the parts that hold it, the one that it is cut from first, and its time."""
    for way, serialize, deserialize in _WAYS:
        write = f"{way}write"
        if write not in parts:
            continue  # of a stream there is one way
        yield f"{way}serialize", (write,), getattr(coding, serialize)
        taken = (f"{way}take", TOGETHER[write]) if f"{way}take" in parts else (f"{way}{IN_BETWEEN}",)
        yield f"{way}deserialize", tuple(each for each in taken if each in parts), getattr(coding, deserialize)


def _divided(parts: Mapping[str, float], holders: tuple[str, ...], name: str, ns: float) -> dict[str, float]:
    left = ns
    cut = dict(parts)
    for each in holders:
        cut[each] -= (taken := min(left, cut[each]))
        left -= taken
    divided = {}
    for part, whole in cut.items():
        if part != holders[0]:
            divided[part] = whole
        elif name.endswith("deserialize"):
            divided |= {part: whole, name: ns}
        else:
            divided |= {name: ns, part: whole}
    return divided
