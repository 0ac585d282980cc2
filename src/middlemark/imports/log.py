"""The values read from a log, and functions shared by the formats."""

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
    """All records of one role, with the dtype of its samples file."""

    role: RoleKind
    index: int
    raw: npt.NDArray[Any]


class ImportedTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One trial of one cell from a tool's log. Times are in ns; round trips are whole."""

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
    """If it has every message: their times, and then the next fields are the roles that sent and received them."""
    publishers: tuple[Sent, ...] = ()
    subscribers: tuple[Arrived, ...] = ()
    stamps_absent: str | None = None
    """Why timestamps of both ends cannot be compared."""


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """Everything read from a log. ``lines`` and ``unread`` count non-empty lines, or measurements in JSON."""

    measured: tuple[ImportedTrial, ...]
    lines: int
    unread: int
    first_unread: tuple[int, str] | None = None
    unit: str = "line"
    """The unit of ``lines``: line or measurement."""
    notes: tuple[str, ...] = ()
    """Facts in the log about all its measurements: the machine, a date."""


class LogFormat(msgspec.Struct, frozen=True):
    """One format of one tool. ``knows``: says whether a file with this beginning has it. ``read``: reads the blocks."""

    name: str
    tool: str
    knows: Callable[[bytes], bool]
    read: Callable[[Iterable[bytes]], Log]


class NotRead(Exception):
    """The log has the format but no figures. The text says what it contains instead."""


_FACTORS = tuple(each for each in FIELDS if each not in ("adapter", "pattern", "size", "label"))


def cell(
    adapter: str, size: int, pattern: str = "ping-pong", native: tuple[tuple[str, str], ...] = (), **levels: Level
) -> Cell:
    """Return a cell of which only the given levels are known. None, or a size of 0, means unknown."""
    known = {field: level for field, level in levels.items() if level is not None}
    given = (*known, *(("native",) if native else ()))
    unknown = (*(field for field in _FACTORS if field not in given), *(() if size else ("size",)))
    blank = Cell(adapter=adapter, transport="unknown", size=size, rate="unknown", native=native, unknown=unknown)
    return msgspec.structs.replace(blank, pattern=pattern, **known)


def imported_warning(of: Cell) -> RunWarning:
    """Return the warning of every imported row: what its log does not say about the measurement."""
    unknown = [each for each in _STATED if each in of.unknown]
    return RunWarning(
        "imported",
        f"measured by another tool; its log does not record the machine, {', '.join(unknown)}",
        "do not rank it with rows measured here: measure the same with `middlemark run` on that machine",
    )


_STATED = ("size", "transport", "receive", "reliability", "depth", "payload", "processes", "rate", "pin")


def halved(tool: str, also: str = "") -> RunWarning:
    """Return the warning about figures that the tool printed as half round trips."""
    return RunWarning(
        "half-round-trip",
        f"{tool} prints half of each round trip{also}; doubled here, so these are whole",
        "the tool's own figure is half of this one",
    )


def no_result(of: Cell, seen: str) -> ImportedTrial:
    """Return the failed trial of a log without figures. ``seen``: what it contains."""
    text = f"its log has {seen} but no result after it: it hung, crashed or was stopped"
    return ImportedTrial(
        cell=of, failed=Failure("no-result", text, "do not use a figure of another run instead; measure it again")
    )


def not_read(log: Log) -> RunWarning | None:
    """Return the warning about a log that could not be read completely, or None."""
    if not log.unread:
        return None
    return RunWarning(
        "log-damaged",
        f"its log: {how_many_unread(log)}",
        "cut off, or written by two processes at once: import the log as the tool wrote it, one file per process",
    )


def how_many_unread(log: Log) -> str:
    """Say how much of a log could not be read, and what came first."""
    lines = log.unit if log.lines == 1 else f"{log.unit}s"
    first = f"; the first, {log.unit} {log.first_unread[0]:,}: {log.first_unread[1]}" if log.first_unread else ""
    return f"{log.unread:,} of {log.lines:,} {lines} could not be read{first}"
