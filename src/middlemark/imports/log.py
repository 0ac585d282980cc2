"""What a format makes of a log, and what formats share."""

from collections.abc import Callable, Iterable

import msgspec

from middlemark.launch.imported import Figures
from middlemark.launch.outcome import Counts, Doubt, Failure
from middlemark.plan.cell import Cell


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One trial of one cell, as its tool told it. Times are ns, and whole round trips."""

    cell: Cell
    times: dict[str, Figures] = {}
    samples: int = 0
    counts: Counts | None = None
    counted: tuple[str, ...] = ()
    """The fields of ``counts`` that the tool counted."""
    rate_hz: float | None = None
    rate_total_hz: float | None = None
    sent_hz: float | None = None
    doubts: tuple[Doubt, ...] = ()
    failed: Failure | None = None


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """All that was read. ``lines`` and ``unread`` count lines with anything on them; of JSON, its measurements."""

    measured: tuple[Measured, ...]
    lines: int
    unread: int
    first_unread: tuple[int, str] | None = None
    unit: str = "line"
    """What is counted: line or measurement."""
    notes: tuple[str, ...] = ()
    """What the log tells of all of it: the machine, a date."""


class Format(msgspec.Struct, frozen=True):
    """One format of one tool. ``knows`` says of a file's beginning whether it is of it; ``read`` takes the blocks."""

    name: str
    tool: str
    knows: Callable[[bytes], bool]
    read: Callable[[Iterable[bytes]], Log]


class NotRead(Exception):
    """The log is of the format, and nothing in it is a figure. The text says what there is instead."""


_TOLD = ("adapter", "pattern", "size", "label", "unknown")
_FACTORS = tuple(each for each in Cell.__struct_fields__ if each not in _TOLD)


def cell(adapter: str, size: int, pattern: str = "ping-pong", **known: object) -> Cell:
    """Return a cell of which only what is given is known. A size of 0 is none: the log does not tell it."""
    given = {"transport": "unknown", "rate": "unknown"} | known
    unknown = (*(factor for factor in _FACTORS if factor not in known), *(() if size else ("size",)))
    return Cell(adapter=adapter, size=size, pattern=pattern, unknown=unknown, **given)  # type: ignore[arg-type]


def untold(of: Cell) -> Doubt:
    """Return the doubt that every imported row has: what its log does not tell of how it was measured."""
    telling = [each for each in _TELLING if each in of.unknown]
    return Doubt(
        "imported",
        f"measured by another tool; its log does not tell the machine, {', '.join(telling)}",
        "do not rank it beside rows measured here: measure the same cell with `middlemark run` on that machine",
    )


_TELLING = ("size", "transport", "receive", "reliability", "depth", "payload", "processes", "rate", "pin")


def halved(tool: str, also: str = "") -> Doubt:
    """Return the doubt of figures that the tool printed as halves."""
    return Doubt(
        "half-round-trip",
        f"{tool} prints half of each round trip{also}; doubled here, so these are whole",
        "where the tool's own figure was quoted, it is half of what stands here",
    )


def not_read(log: Log) -> Doubt | None:
    """Return the doubt of a log in which something could not be read; None where all could."""
    if not log.unread:
        return None
    return Doubt(
        "log-damaged",
        f"of its log {how_many_unread(log)}",
        "cut off, or written by two processes at once: import the log as the tool wrote it, one file a process",
    )


def how_many_unread(log: Log) -> str:
    """Say how much of a log could not be read, and what came first."""
    lines = log.unit if log.lines == 1 else f"{log.unit}s"
    first = f"; the first, {log.unit} {log.first_unread[0]:,}: {log.first_unread[1]}" if log.first_unread else ""
    return f"{log.unread:,} of {log.lines:,} {lines} could not be read{first}"
