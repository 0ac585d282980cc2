"""What a trial of each pattern consists of, one room each: its roles, and what their words at the end come to. Pure."""

from middlemark.launch.patterns.graph import GRAPH
from middlemark.launch.patterns.pattern import Heard, Pattern, Roles, results_of
from middlemark.launch.patterns.ping_pong import PING_PONG
from middlemark.launch.patterns.request_reply import REQUEST_REPLY
from middlemark.launch.patterns.stream import STREAM
from middlemark.model.cell import Cell

_PATTERNS: dict[str, Pattern] = {"ping-pong": PING_PONG, "stream": STREAM, "request-reply": REQUEST_REPLY}


def pattern_of(cell: Cell) -> Pattern:
    """Return the room of the cell's pattern."""
    return _PATTERNS[cell.pattern] if cell.workload is None else GRAPH


__all__ = ["Heard", "Pattern", "Roles", "pattern_of", "results_of"]
