"""What of a breakdown went into serialising and deserialising. Pure.

Publishing begins with the one, and taking ends with the other, so each is cut from the part that holds it. The parts
are means over the messages near the median, and serialising was timed over all of them, of which the median is known:
two figures of one thing, which may differ a little.
"""

from collections.abc import Iterator, Mapping

from middlemark.model.cell import Cell
from middlemark.model.outcome import Coding
from middlemark.stats.breakdown import IN_BETWEEN, Breakdown, shares
from middlemark.stats.result import Part

NEAR = 1.2
"""So many times the part that holds it a median may be; the part is then taken to be nothing else."""

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
    for part, holder, ns in _timed(found.coding, parts):
        if ns is None:
            doubts.append(f"{part}: no message was timed")
        elif ns > NEAR * parts[holder]:
            doubts.append(
                f"{part}: its median over all messages, {ns / 1000:,.3g} µs, is more than the {holder} of those near"
                f" the median, {parts[holder] / 1000:,.3g} µs"
            )
        else:
            parts = _divided(parts, holder, part, min(ns, parts[holder]))
    return shares(parts), "; ".join(doubts) or None


def _timed(coding: Coding, parts: Mapping[str, float]) -> Iterator[tuple[str, str, float | None]]:
    """Yield each part that there may be, the part that holds it, and its time."""
    for way, serialize, deserialize in _WAYS:
        if f"{way}write" not in parts:
            continue  # of a stream there is one way
        yield f"{way}serialize", f"{way}write", getattr(coding, serialize)
        taken = f"{way}take" if f"{way}take" in parts else f"{way}{IN_BETWEEN}"
        yield f"{way}deserialize", taken, getattr(coding, deserialize)


def _divided(parts: Mapping[str, float], holder: str, name: str, ns: float) -> dict[str, float]:
    divided = {}
    for part, whole in parts.items():
        if part != holder:
            divided[part] = whole
        elif name.endswith("deserialize"):
            divided |= {part: whole - ns, name: ns}
        else:
            divided |= {name: ns, part: whole - ns}
    return divided
