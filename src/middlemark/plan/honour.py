"""What one transport can honour, and in which words it is said that it cannot."""

from middlemark.suite.model import Level
from middlemark.suite.spelling import listing
from middlemark.units import format_size
from middlemark.workers.description import Transport

SMALLEST_MESSAGE = 16
"""The core's header: sequence number and intended time."""

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


def show_level(factor: str, level: Level) -> str:
    """Print a level as a person would write it after its factor's name: ``size 64 KiB``, ``depth all``, ``pin 0,1``."""
    if factor == "size" and isinstance(level, int):
        return format_size(level)
    if level is None:
        return "off" if factor == "pin" else "all"
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, tuple):
        return ",".join(map(str, level))
    return str(level)


def _deepest(transport: Transport) -> str:
    return f" of at most {transport.max_depth}" if transport.max_depth is not None else ""
