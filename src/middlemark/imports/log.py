"""What is read from a log, and what the formats share."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy.typing as npt

from middlemark.model.cell import FIELDS, Cell
from middlemark.model.levels import Level
from middlemark.model.outcome import Arrived, Failure, RunWarning, Sent, TrialCounts, WorkerCost
from middlemark.model.protocol import RoleKind
from middlemark.model.times import Times


class Records(msgspec.Struct, frozen=True, eq=False):
    """All that one role stamped, of the dtype that its samples file has."""

    role: RoleKind
    index: int
    raw: npt.NDArray[Any]


class ImportedTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One trial of one cell, from the log of a tool. Times are ns; round trips are whole."""

    cell: Cell
    times: Times = Times()
    samples: int = 0
    counts: TrialCounts | None = None
    counted: tuple[str, ...] = ()
    """The fields of ``counts`` that the tool counted."""
    rate_hz: float | None = None
    rate_total_hz: float | None = None
    sent_hz: float | None = None
    costs: tuple[WorkerCost, ...] = ()
    warnings: tuple[RunWarning, ...] = ()
    failed: Failure | None = None
    measured_s: float | None = None
    records: tuple[Records, ...] = ()
    """Where it has every message: then its times are in there, and these say who sent and who received it."""
    publishers: tuple[Sent, ...] = ()
    subscribers: tuple[Arrived, ...] = ()
    stamps_absent: str | None = None
    """Why stamps of both ends cannot be held against each other."""


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """All that was read. ``lines`` and ``unread`` count lines that are not empty; of JSON, measurements."""

    measured: tuple[ImportedTrial, ...]
    lines: int
    unread: int
    first_unread: tuple[int, str] | None = None
    unit: str = "line"
    """What ``lines`` counts: line or measurement."""
    notes: tuple[str, ...] = ()
    """What the log says about all of its measurements: the machine, a date."""


class LogFormat(msgspec.Struct, frozen=True):
    """One format of one tool. ``knows`` says whether a file with this beginning has it; ``read`` takes the blocks."""

    name: str
    tool: str
    knows: Callable[[bytes], bool]
    read: Callable[[Iterable[bytes]], Log]


class NotRead(Exception):
    """The log has the format but no figures. The text says what is in it instead."""


_FACTORS = tuple(each for each in FIELDS if each not in ("adapter", "pattern", "size", "label"))


def cell(
    adapter: str, size: int, pattern: str = "ping-pong", native: tuple[tuple[str, str], ...] = (), **levels: Level
) -> Cell:
    """Return a cell of which only the given levels are known. None, or a size of 0, means that it is not known."""
    known = {field: level for field, level in levels.items() if level is not None}
    told = (*known, *(("native",) if native else ()))
    unknown = (*(field for field in _FACTORS if field not in told), *(() if size else ("size",)))
    blank = Cell(adapter=adapter, transport="unknown", size=size, rate="unknown", native=native, unknown=unknown)
    return msgspec.structs.replace(blank, pattern=pattern, **known)


def imported_warning(of: Cell) -> RunWarning:
    """Return the warning of every imported row: what its log does not say about how it was measured."""
    telling = [each for each in _TELLING if each in of.unknown]
    return RunWarning(
        "imported",
        f"measured by another tool; its log does not tell the machine, {', '.join(telling)}",
        "do not rank it beside rows measured here: measure the same with `middlemark run` on that machine",
    )


_TELLING = ("size", "transport", "receive", "reliability", "depth", "payload", "processes", "rate", "pin")


def halved(tool: str, also: str = "") -> RunWarning:
    """Return the warning of figures that the tool printed as halves."""
    return RunWarning(
        "half-round-trip",
        f"{tool} prints half of each round trip{also}; doubled here, so these are whole",
        "where the tool's own figure was quoted, it is half of what stands here",
    )


def no_result(of: Cell, seen: str) -> ImportedTrial:
    """Return the trial of a run whose log has its beginning and no figure: ``seen`` says what is there."""
    text = f"its log has {seen} and no result after it: it hung, crashed or was ended"
    return ImportedTrial(
        cell=of, failed=Failure("no-result", text, "do not read a figure of another run in its place; measure it again")
    )


def not_read(log: Log) -> RunWarning | None:
    """Return the warning of a log that could not be read completely; None if it could."""
    if not log.unread:
        return None
    return RunWarning(
        "log-damaged",
        f"of its log {how_many_unread(log)}",
        "cut off, or written by two processes at once: import the log as the tool wrote it, one file a process",
    )


def how_many_unread(log: Log) -> str:
    """Say how much of a log could not be read, and which part was the first."""
    lines = log.unit if log.lines == 1 else f"{log.unit}s"
    first = f"; the first, {log.unit} {log.first_unread[0]:,}: {log.first_unread[1]}" if log.first_unread else ""
    return f"{log.unread:,} of {log.lines:,} {lines} could not be read{first}"
