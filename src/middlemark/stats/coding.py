"""The parts of a breakdown that serialising and deserialising took.

Publishing begins with serialising, and taking ends with deserialising, so each of these times is cut from the part that
contains it. A take that overlaps with the writing is two parts, and the second part may be shorter than the
deserialising. The parts are means over the messages near the median, while the time of serialising is the median over
all messages. The mean and the median may therefore differ a little.
"""

from collections.abc import Iterator, Mapping

from middlemark.model.cell import Cell
from middlemark.model.outcome import Coding
from middlemark.stats.breakdown import IN_BETWEEN, TOGETHER, Breakdown, shares
from middlemark.stats.result import Part

NEAR = 1.2
"""The time of (de)serialising may exceed the part that contains it by at most this factor. It is then cut to the part's
length."""

_WAYS = (("", "serialize_ns", "deserialize_ns"), ("reply ", "reply_serialize_ns", "reply_deserialize_ns"))


def with_coding(found: Breakdown, cell: Cell) -> tuple[tuple[Part, ...], str | None]:
    """Return the parts with ``serialize`` and ``deserialize``, and the reason if one of these is missing."""
    if cell.type == "octets" or not found.parts:
        return found.parts, None
    if found.coding is None:
        return (
            found.parts,
            f"serialize and deserialize: {cell.adapter} does both within its own calls, so no stamp separates them",
        )
    parts = {each.part: each.ns for each in found.parts}
    doubts = []
    for part, holders, ns in _timed(found.coding, parts):
        room = sum(parts[each] for each in holders)
        if ns is None:
            doubts.append(f"{part}: no message was timed")
        elif ns > NEAR * room:
            doubts.append(
                f"{part}: left out, because its median over all messages is {ns / 1000:,.3g} µs, but in messages "
                f"of median latency {' and '.join(holders)}, which contains it, takes only {room / 1000:,.3g} µs"
            )
        else:
            parts = _divided(parts, holders, part, min(ns, room))
    return shares(parts), "; ".join(doubts) or None


def _timed(coding: Coding, parts: Mapping[str, float]) -> Iterator[tuple[str, tuple[str, ...], float | None]]:
    """Yield (name, the parts that contain it, its time in ns or None) for each time of (de)serialising."""
    for way, serialize, deserialize in _WAYS:
        write = f"{way}write"
        if write not in parts:
            continue  # a stream has only one direction
        yield f"{way}serialize", (write,), getattr(coding, serialize)
        taken = (f"{way}take", TOGETHER[write]) if f"{way}take" in parts else (f"{way}{IN_BETWEEN}",)
        yield f"{way}deserialize", tuple(each for each in taken if each in parts), getattr(coding, deserialize)


def _divided(parts: Mapping[str, float], holders: tuple[str, ...], name: str, ns: float) -> dict[str, float]:
    remaining = ns
    cut = dict(parts)
    for each in holders:
        cut[each] -= (taken := min(remaining, cut[each]))
        remaining -= taken
    divided = {}
    for part, whole in cut.items():
        if part != holders[0]:
            divided[part] = whole
        elif name.endswith("deserialize"):
            divided |= {part: whole, name: ns}
        else:
            divided |= {name: ns, part: whole}
    return divided
