"""The values read from a log, and functions shared by the formats."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy.typing as npt

from middlemark.imports.columns import Form
from middlemark.model.cell import FIELDS, Cell
from middlemark.model.levels import Level
from middlemark.model.outcome import Arrived, Failure, RunWarning, Sent, TrialCounts, WorkerCost
from middlemark.model.protocol import RoleKind
from middlemark.model.times import Times
from middlemark.model.units import format_count


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
    loss: float | None = None
    """The share of messages that were lost, if the log has rates but no counts."""
    costs: tuple[WorkerCost, ...] = ()
    warnings: tuple[RunWarning, ...] = ()
    failed: Failure | None = None
    measured_s: float | None = None
    records: tuple[Records, ...] = ()
    """The records of single messages, if the log has them. The next two fields then have the facts of the roles."""
    publishers: tuple[Sent, ...] = ()
    subscribers: tuple[Arrived, ...] = ()
    stamps_absent: str | None = None
    """Why timestamps of both ends cannot be compared."""


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading a log.

    ``lines`` and ``unread`` count lines, or measurements if the log is JSON. ``prompts``: the unread lines that are
    shell prompts.
    """

    measured: tuple[ImportedTrial, ...]
    lines: int
    unread: int
    prompts: int = 0
    first_unread: tuple[int, str] | None = None
    unit: str = "line"
    """The unit of ``lines``: line or measurement."""
    notes: tuple[str, ...] = ()
    """Facts in the log that apply to all measurements, such as the machine or the date."""


class LogFormat(msgspec.Struct, frozen=True):
    """One format of one tool.

    ``known`` is a pattern that matches the beginning of each file in this format and of no other.
    """

    name: str
    tool: str
    known: re.Pattern[bytes]
    parse: Callable[[Iterable[bytes]], Log]
    forms: tuple[Form, ...] = ()
    """The forms of the output in the different versions of the tool."""

    def read(self, blocks: Iterable[bytes]) -> Log:
        """Read a file of this format, and mark figures that contradict each other. Raises NotRead."""
        from middlemark.imports.plausible import checked

        return checked(self.parse(blocks))


class NotRead(Exception):
    """The file has the format of the tool but no figures. The text names the content of the file."""


_FACTORS = tuple(each for each in FIELDS if each not in ("adapter", "pattern", "size", "label"))


def cell(
    adapter: str, size: int, pattern: str = "ping-pong", native: tuple[tuple[str, str], ...] = (), **levels: Level
) -> Cell:
    """Return a cell of which only the given levels are known. None, or a size of 0, is an unknown level."""
    stated = {field: level for field, level in levels.items() if level is not None}
    given = (*stated, *(("native",) if native else ()))
    unknown = (*(field for field in _FACTORS if field not in given), *(() if size else ("size",)))
    blank = Cell(adapter=adapter, transport="unknown", size=size, rate="unknown", native=native, unknown=unknown)
    return msgspec.structs.replace(blank, pattern=pattern, **stated)


def imported_warning(of: Cell) -> RunWarning:
    """Return the warning that every imported row has: what the log does not say about the measurement."""
    unknown = [each for each in _STATED if each in of.unknown]
    return RunWarning(
        "imported",
        f"measured by another tool; its log does not record the machine or these settings: {', '.join(unknown)}",
        "do not rank it with rows measured here; measure the configuration on that machine with `middlemark run`",
    )


_STATED = ("size", "transport", "receive", "reliability", "depth", "payload", "processes", "rate", "pin")


def halved(tool: str, also: str = "") -> RunWarning:
    """Return the warning about figures that the tool printed as half round trips.

    ``also``: another reason why the figures differ from the printed ones.
    """
    return RunWarning(
        "half-round-trip",
        f"{tool} prints half of each round trip{also}; the figures are doubled here, so they are whole round trips",
        "the tool's own figure is half of this one",
    )


def no_result(of: Cell, seen: str) -> ImportedTrial:
    """Return the failed trial of a log without figures. ``seen``: what the log has in place of figures."""
    text = f"its log has {seen} but no result after it: the tool hung, crashed or was stopped"
    return ImportedTrial(
        cell=of,
        failed=Failure("no-result", text, "measure the configuration again; do not use another run's figure instead"),
    )


def not_read(log: Log) -> RunWarning | None:
    """Return the warning about a log that could not be read completely, or None. Shell prompts are no damage."""
    if log.unread == log.prompts:
        return None
    return RunWarning(
        "log-damaged",
        f"its log: {how_many_unread(log)}",
        "other text in a paste does no harm; otherwise the log was cut off, or two processes wrote into it: import it "
        "as the tool wrote it, one file per process",
    )


def how_many_unread(log: Log) -> str:
    """Say how much of a log could not be read, and show the first line or measurement that could not be read."""
    lines = log.unit if log.lines == 1 else f"{log.unit}s"
    first = f"; the first, {log.unit} {log.first_unread[0]:,}: {log.first_unread[1]}" if log.first_unread else ""
    prompts = f" ({format_count(log.prompts, 'shell prompt')})" if log.prompts else ""
    return f"{log.unread:,} of {log.lines:,} {lines} could not be read{prompts}{first}"
