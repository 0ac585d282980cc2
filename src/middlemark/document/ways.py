"""The cost of a router or a discovery server in two sentences for each middleware, with all sizes."""

from collections.abc import Iterable, Iterator, Sequence

from middlemark.document.document import Conclusion
from middlemark.document.numbers import ratio, us
from middlemark.document.statements import BESIDE, DECIDED_BESIDE
from middlemark.model.units import format_size
from middlemark.verdicts.names import plain
from middlemark.verdicts.rows import grouped
from middlemark.verdicts.ways import WayCost

_COMPANIONS = {"router": "router", "discovery-server": "discovery server"}
_UNITS = {"ping-pong": "round trip", "request-reply": "call"}


def conclusions(costs: Sequence[WayCost]) -> tuple[Conclusion, ...]:
    """Return a conclusion for each middleware, with all sizes."""
    return tuple(
        Conclusion(
            text=" ".join(_sentences(over)),
            sure="sure" if all(each.standing in DECIDED_BESIDE for each in over) else "unsure",
            cells=tuple(row.index for each in over for row in (each.row, each.direct)),
        )
        for over in _by_name(costs)
    )


def sentences(costs: Sequence[WayCost]) -> tuple[str, ...]:
    """Return two sentences for each middleware: its time beside the direct one, and the companion's processor time."""
    return tuple(text for over in _by_name(costs) for text in _sentences(over))


def _by_name(costs: Sequence[WayCost]) -> Iterable[Sequence[WayCost]]:
    return grouped(costs, lambda each: (each.row.run, each.row.name, each.row.result.cell.pattern)).values()


def _sentences(over: Sequence[WayCost]) -> Iterator[str]:
    first = over[0]
    unit = _UNITS.get(first.row.result.cell.pattern, "message")
    times = ", ".join(f"{ratio(each.times)} × at {_size(each)} ({_word(each)})" for each in over)
    yield plain(f"{first.row.name} ÷ direct, time of a {unit}: {times}.")
    used = [f"{us(each.companion_ns)} µs at {_size(each)}" for each in over if each.companion_ns is not None]
    if used:
        yield plain(f"The {_COMPANIONS[first.via]}'s processor time for each {unit}: {', '.join(used)}.")


def _size(cost: WayCost) -> str:
    return format_size(cost.row.result.cell.size)


def _word(cost: WayCost) -> str:
    """Return the interval and the standing: ``2.03 to 2.41, significantly slower``."""
    word = BESIDE.get(cost.standing, "undecided")
    return word if cost.low is None else f"{ratio(cost.low)} to {ratio(cost.high)}, {word}"
