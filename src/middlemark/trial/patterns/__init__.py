"""The patterns of a trial, one in each module.

Each pattern defines its roles, and computes the outcome from the roles' results. Pure.
"""

from middlemark.model.cell import Cell
from middlemark.trial.patterns.crowd import CROWD
from middlemark.trial.patterns.graph import GRAPH
from middlemark.trial.patterns.pattern import Heard, Pattern, Roles, results_of
from middlemark.trial.patterns.ping_pong import PING_PONG
from middlemark.trial.patterns.request_reply import REQUEST_REPLY
from middlemark.trial.patterns.stream import STREAM

_PATTERNS: dict[str, Pattern] = {
    "ping-pong": PING_PONG,
    "stream": STREAM,
    "request-reply": REQUEST_REPLY,
    "crowd": CROWD,
}


def pattern_of(cell: Cell) -> Pattern:
    """Return the pattern of the cell."""
    return _PATTERNS[cell.pattern] if cell.workload is None else GRAPH


__all__ = ["Heard", "Pattern", "Roles", "pattern_of", "results_of"]
