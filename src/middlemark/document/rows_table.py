"""All rows with their figures, as tables. Rows that may be compared are in one table, raw transports first."""

from collections.abc import Mapping, Sequence

import msgspec

from middlemark.document.columns import HEADS, RowColumn, columns_of
from middlemark.document.numbers import ABSENT, brief, share, us
from middlemark.document.statements import how_it_works
from middlemark.document.table import Column, Line, Table, TableCell, cells
from middlemark.model.cell import Cell
from middlemark.stats.baselines import by_rate
from middlemark.stats.result import CellResult, CurveStep
from middlemark.stats.warnings.cells import NOT_MEASURED
from middlemark.verdicts.names import EXPERIMENT, only_copies, plain, size, varying, words
from middlemark.verdicts.rows import Row, latency_of, place_of

_OF_A_COPY = ("payload", "pin", "priority")
"""Factors that also apply to a memory copy, which has no receiver."""
_STEPS = ("offered/s", "msgs/s", "lost", "p50", "p99")
_KNEE = "← knee"


class RowGroup(msgspec.Struct, frozen=True):
    """The rows of one size and experiment. Groups of one pattern have the same columns."""

    pattern: str
    rows: Sequence[Row]
    table: Table
    unreached: str
    """Titles of the rows that were not measured before the run ended."""


def groups_of(
    rows: Sequence[Row], everything: Sequence[Row], numbers: Mapping[str, int], metrics: Sequence[str]
) -> list[RowGroup]:
    """Return the rows in groups, sizes ascending. ``numbers``: the numbers of the warnings, by code."""
    patterns = dict.fromkeys(row.result.cell.pattern for row in rows)
    columns = {
        pattern: columns_of([row for row in rows if row.result.cell.pattern == pattern], numbers, metrics)
        for pattern in patterns
    }
    return [
        _group(title, members, everything, numbers, columns[members[0].result.cell.pattern])
        for title, members in together(rows)
    ]


def _group(
    title: str,
    members: Sequence[Row],
    everything: Sequence[Row],
    numbers: Mapping[str, int],
    columns: Sequence[RowColumn],
) -> RowGroup:
    reached = [row for row in members if not _unreached(row)]
    baselines = dict.fromkeys(
        row.baseline_row for row in members if row.baseline_row is not None and not row.is_raw_transport
    )
    named = [_baseline(row) for row in everything if row.index in baselines]
    pattern = members[0].result.cell.pattern
    table = Table(
        title=title + (f"; baseline: {', '.join(named)}" if named else ""),
        head=f"  {HEADS[pattern]}" if any(row.result.failed is None for row in reached) else "",
        columns=tuple(each.column for each in columns) if any(row.result.failed is None for row in reached) else (),
        lines=tuple(_line(row, numbers, columns) for row in reached),
    )
    return RowGroup(pattern, members, table, "; ".join(row.title for row in members if _unreached(row)))


def _baseline(row: Row) -> str:
    rated, latency = by_rate(row.result.cell), latency_of(row.result)
    figure = f"{brief(row.result.rate_hz)}/s" if rated else f"{us(latency.p50 if latency else None)} µs"
    return f"{how_it_works(row)} {figure}"


def together(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Return the title and the rows of each group: sizes ascending, else in the order of the plan.

    Within a group the raw transports come first, then the rows by rising figure. A memory copy has no experiment of its
    own. It is added to the first group of round trips with the same size, payload, processor and priority.
    """
    varied = varying([row.result for row in rows]) & frozenset(EXPERIMENT)
    found: dict[tuple[int, str], list[Row]] = {}
    homes: dict[tuple[object, ...], tuple[int, str]] = {}
    for row in rows:
        cell = row.result.cell
        if not only_copies(cell):
            key = (cell.size, words(cell, varied))
            found.setdefault(key, []).append(row)
            if cell.pattern == "ping-pong":
                homes.setdefault(_home(cell), key)
    for row in rows:
        cell = row.result.cell
        if only_copies(cell):
            apart = (
                cell.size,
                ", ".join(filter(None, ("one process", words(cell, varied & frozenset(_OF_A_COPY))))),
            )
            found.setdefault(homes.get(_home(cell), apart), []).append(row)

    return [
        (
            ", ".join(filter(None, (size(members[0].result.cell), shown_words))),
            sorted(members, key=lambda row: (row.result.failed is not None, *place_of(row))),
        )
        for (_, shown_words), members in sorted(found.items(), key=lambda item: item[0][0])
    ]


def _home(cell: Cell) -> tuple[object, ...]:
    return (cell.size, cell.payload, None if cell.pin is None else cell.pin[:1], cell.priority)


def _unreached(row: Row) -> bool:
    return row.result.failed is not None and row.result.failed.code == NOT_MEASURED


def _line(row: Row, numbers: Mapping[str, int], columns: Sequence[RowColumn]) -> Line:
    failed = row.result.failed
    if failed is None:
        figures = tuple(TableCell(each.text(row), each.style(row)) for each in columns)
        return Line(f"  {row.title}", figures, below=_steps(row.result))
    see = [str(numbers[each.code]) for each in row.result.warnings]
    reason = f"failed: {plain(failed.text)}" + (f" (warnings {', '.join(see)})" if see else "")
    return Line(f"  {row.title}", (), "red", (reason, *([f"→ {plain(failed.advice)}"] if failed.advice else [])))


def _steps(result: CellResult) -> Table | None:
    """Return a table of the steps of a load curve, by rising load; None: the cell is no load curve."""
    if result.cell.rate != "curve" or not result.steps:
        return None
    lines = []
    for step in result.steps:
        failed = TableCell(f"failed: {plain(step.failed)}"[:40], "red") if step.failed is not None else None
        lines.append(Line("    ", (*cells(*_step(step)), failed or TableCell(_KNEE if step.knee else "", "bold"))))
    return Table(columns=(*map(Column, _STEPS), Column("", left=True)), lines=tuple(lines))


def _step(step: CurveStep) -> tuple[str, ...]:
    offered = "max" if step.offered_hz is None else brief(step.offered_hz)
    if step.failed is not None:
        return (offered, ABSENT, ABSENT, ABSENT, ABSENT)
    lost = "0" if step.lost == 0 else share(step.lost)
    return (offered, brief(step.received_hz), lost, us(step.p50_ns), us(step.p99_ns))
