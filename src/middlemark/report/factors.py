"""The levels of a cell's factors in words, and which of them a report must repeat because they vary within the run."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from middlemark.plan.cell import Cell
from middlemark.stats.result import CellResult
from middlemark.units import format_percent, format_rate, format_seconds, format_size


def _pattern(cell: Cell) -> str:
    if {"publishers", "subscribers"} & set(cell.unknown):
        return cell.pattern
    if cell.pattern == "stream":
        topics = f", {cell.topics} topics" if cell.topics > 1 else ""
        return f"stream, {cell.publishers} → {cell.subscribers}{topics}"
    clients = f", {cell.publishers} clients" if cell.pattern == "request-reply" and cell.publishers > 1 else ""
    return cell.pattern + clients


def _rate(cell: Cell) -> str:
    if cell.burst is not None:
        return f"bursts of {cell.burst:,}, {format_seconds(cell.recovery_s or 0.0)} apart"
    if isinstance(cell.rate, int | float):
        return f"rate {format_rate(cell.rate)}" + (" poisson" if cell.arrivals == "poisson" else "")
    if cell.rate == "max":
        return "as fast as possible" if cell.pattern == "stream" else "one at a time"
    limits = [f"loss up to {format_percent(cell.max_loss)}"] if cell.rate == "sustainable" else []
    if cell.rate == "sustainable" and cell.max_p99_s is not None:
        limits.append(f"p99 up to {format_seconds(cell.max_p99_s)}")
    poisson = " poisson" if cell.arrivals == "poisson" else ""
    return ", ".join([f"rate {cell.rate}{poisson}", *limits])


def _subscribers(cell: Cell) -> str:
    if cell.pattern != "ping-pong":
        return ""
    if copies_alone(cell):
        return "nobody receives"
    return "1 subscriber" if cell.subscribers == 1 else f"{cell.subscribers} subscribers"


def _processes(cell: Cell) -> str:
    if cell.processes == 1:
        return "1 process"
    return f"{cell.processes} processes" if cell.pattern == "ping-pong" else "a process each"


def _echo(cell: Cell) -> str:
    if cell.pattern != "ping-pong" or cell.subscribers <= 1:
        return ""
    return "all of them echo" if cell.echo == "all" else "one echoes"


_WORDS: dict[str, Callable[[Cell], str]] = {
    "pattern": _pattern,
    "rate": _rate,
    "receive": lambda cell: cell.receive,
    "processes": _processes,
    "subscribers": _subscribers,
    "echo": _echo,
    "payload": lambda cell: cell.payload,
    "pin": lambda cell: "not pinned" if cell.pin is None else f"pinned {','.join(map(str, cell.pin))}",
    "priority": lambda cell: f"priority {cell.priority}",
    "reliability": lambda cell: cell.reliability,
    "depth": lambda cell: "keep all" if cell.depth is None else f"depth {cell.depth}",
    "loan": lambda cell: "loan" if cell.loan else "no loan",
    "mlock": lambda cell: "mlock" if cell.mlock else "no mlock",
    "native": lambda cell: " ".join(f"{key}={value}" for key, value in cell.native) or "own defaults",
}


def _where_known(factor: str, tell: Callable[[Cell], str]) -> Callable[[Cell], str]:
    return lambda cell: "" if factor in cell.unknown else tell(cell)


WORDS = {factor: _where_known(factor, tell) for factor, tell in _WORDS.items()}
"""By factor, in the order they are told. Empty: the level means nothing there (who echoes, where there is one).

``pattern`` tells publishers, subscribers and topics of a stream too, ``rate`` its arrivals, bursts and limits.
"""

UNTOLD = ("", "no mlock", "own defaults")
"""Levels that nobody asked for: telling them everywhere would hide those that were."""

EXPERIMENT = ("pattern", "rate", "receive", "processes", "subscribers", "echo", "payload", "pin", "priority")
"""Factors that make another experiment: polling and blocking, or one process and two, never stand in one group."""

ASKED = ("reliability", "depth", "loan", "mlock", "native")
"""Factors that are asked of the middleware: rows that differ in them may be held against each other."""


def copies_alone(cell: Cell) -> bool:
    """Say whether nobody receives: one process copies, and has no levels of what others are asked for."""
    return cell.subscribers == 0


def meeting(results: Sequence[CellResult]) -> Sequence[CellResult]:
    """Return the results of those that somebody receives; all of them where there is none."""
    return [each for each in results if not copies_alone(each.cell)] or results


def varying(results: Sequence[CellResult]) -> frozenset[str]:
    """Return the factors of which more than one level is in the results, told in words that differ."""
    cells = [each.cell for each in meeting(results)]
    return frozenset(factor for factor, words in WORDS.items() if len({words(each) for each in cells}) > 1)


def usual(results: Sequence[CellResult], factors: frozenset[str]) -> dict[str, str]:
    """Return the commonest level, in words, of each of those factors (of equally common ones the first met)."""
    return {
        factor: Counter(tell(each.cell) for each in meeting(results)).most_common(1)[0][0]
        for factor, tell in WORDS.items()
        if factor in factors and results
    }


def words(cell: Cell, factors: Collection[str]) -> str:
    """Return the cell's levels of those factors, in the order of ``WORDS``: ``block, 2 processes``."""
    told = [tell(cell) for factor, tell in WORDS.items() if factor in factors]
    return ", ".join(each for each in told if each not in UNTOLD)


def subject(cell: Cell) -> str:
    """Return what is measured: adapter and transport, once where both have one name."""
    alone = cell.transport == cell.adapter or "transport" in cell.unknown
    return cell.adapter if alone else f"{cell.adapter} {cell.transport}"


def size(cell: Cell) -> str:
    """Return the message's size in words."""
    return "size unknown" if "size" in cell.unknown else format_size(cell.size)


def plain(text: str) -> str:
    """Return the text on one line, control characters made visible: it may be a crashed program's last words."""
    return "".join(
        character if character.isprintable() else " " if character in "\n\t" else ascii(character)[1:-1]
        for character in text
    )
