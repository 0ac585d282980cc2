"""What one transport can honour, and in which words it is said that it cannot."""

from middlemark.plan.cell import Cell
from middlemark.suite.model import Level
from middlemark.suite.spelling import listing
from middlemark.units import format_percent, format_rate, format_seconds, format_size
from middlemark.workers.description import Transport

SMALLEST_MESSAGE = 16
"""The core's header: sequence number and intended time."""

FALLBACK_DEPTH = 1000
"""A stream's depth on a transport that has neither keep-all nor a deepest history."""

CELL_FIELDS = {"recovery": "recovery_s", "max_p99": "max_p99_s"}
"""Factor → field of ``Cell``, where the names differ."""

_FLOATS = {
    "rate": format_rate,
    "recovery": format_seconds,
    "max_loss": format_percent,
    "max_p99": format_seconds,
}

CAPABILITIES = ("size", "receive", "reliability", "depth", "loan", "processes")
"""The factors that depend on the transport. All others are the bench's own and always honoured."""


def cannot(transport: Transport, factor: str, level: Level) -> str | None:
    """Return what stands against the level, to be read after the transport's name; None when it is honoured."""
    match factor:
        case "size":
            if isinstance(level, int) and level > transport.max_bytes:
                advice = f"; {transport.max_bytes_advice}" if transport.max_bytes_advice else ""
                return f"at most {format_size(transport.max_bytes)} in a message{advice}"
        case "depth":
            if level is None and not transport.keep_all:
                return "no keep-all history; give a depth" + _deepest(transport)
            if isinstance(level, int) and transport.max_depth is not None and level > transport.max_depth:
                return f"at most {transport.max_depth} messages of history"
        case "receive":
            if level not in transport.receive:
                return f"{listing(transport.receive)} only"
        case "reliability":
            if level not in transport.reliability:
                return f"{listing(transport.reliability)} only"
        case "loan":
            if level not in transport.loan:
                return "no memory to lend" if level else "lent memory only"
        case "processes":
            if level not in transport.processes:
                return "within one process only" if transport.processes == (1,) else "between processes only"
    return None


def own_level(transport: Transport, factor: str) -> Level:
    """Return what the transport has in place of a default that it lacks: its first level."""
    match factor:
        case "size":
            return transport.max_bytes
        case "receive":
            return transport.receive[0]
        case "reliability":
            return transport.reliability[0]
        case "loan":
            return transport.loan[0]
        case "processes":
            return transport.processes[0]
        case _:
            return 1


def own_depth(transport: Transport, pattern: str, publishers: int) -> Level:
    """Return the history depth where nobody names one: 1; of a stream keep-all, or the deepest that the transport has.

    Reliable keep-last 1 at full rate would measure how fast messages replace each other, not how fast they arrive.
    ``publishers``: of one topic; each of them has a history in the reader, and the deepest one is for all together.
    """
    if pattern != "stream":
        return 1
    return None if transport.keep_all else max(1, (transport.max_depth or FALLBACK_DEPTH) // publishers)


def show_level(factor: str, level: Level) -> str:
    """Print a level as a person would write it after its factor's name: ``size 64 KiB``, ``depth all``, ``pin 0,1``."""
    if factor == "size" and isinstance(level, int):
        return format_size(level)
    if level is None:
        return "all" if factor == "depth" else "off"
    if isinstance(level, float):
        return _FLOATS.get(factor, str)(level)
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, tuple):
        return ",".join(map(str, level))
    return str(level)


def level_of(cell: Cell, factor: str) -> Level:
    """Return the cell's level of a factor of the suite; those that are times carry their unit in the cell's name."""
    level: Level = getattr(cell, CELL_FIELDS.get(factor, factor))
    return level


def _deepest(transport: Transport) -> str:
    return f" of at most {transport.max_depth}" if transport.max_depth is not None else ""
