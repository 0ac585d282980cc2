"""Workloads as tables: a line for each middleware, a column for each scale; the result and the processor time."""

import math
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Literal

import msgspec

from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.names import EXPERIMENT, plain, words
from middlemark.verdicts.rows import Row, grouped


class GraphLine(msgspec.Struct, frozen=True):
    """One middleware over one transport. ``rows``: for each column, or None if not measured."""

    name: str
    is_raw_transport: bool
    rows: tuple[Row | None, ...]


class ColumnVerdict(msgspec.Struct, frozen=True):
    """Which middlewares meet every deadline of a workload in one column, without middlewares that were not measured."""

    mark: Literal["holds", "undecided", "does not hold"]
    """``undecided``: no middleware had enough messages, or the workload has no deadlines."""
    holding: tuple[str, ...]
    others: tuple[str, ...]
    """The middlewares that miss a deadline, or had too few messages."""
    failed: tuple[str, ...]
    """The middlewares without a result."""


class GraphTable(msgspec.Struct, frozen=True, kw_only=True):
    """One workload in one experiment, by scale and copies. Raw transports come first.

    The other lines are ordered by the number of columns that hold, the largest first, then by processor time.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    lines: tuple[GraphLine, ...]

    def verdict(self, column: int) -> "ColumnVerdict":
        """Return the verdict on a column. Raw transports count only if there are no others."""
        lines = [each for each in self.lines if not each.is_raw_transport] or self.lines
        found = {each.name: row.result.workload for each in lines if (row := each.rows[column]) is not None}
        holds = {name: result.holds for name, result in found.items() if result}
        holding = tuple(name for name, each in holds.items() if each)
        undecided = bool(holds) and all(each is None for each in holds.values())
        mark: Literal["holds", "undecided", "does not hold"] = "undecided" if undecided else "does not hold"
        others = tuple(each for each in holds if each not in holding)
        failed = tuple(name for name, result in found.items() if result is None)
        return ColumnVerdict("holds" if holding else mark, holding, others, failed)

    def at(self, column: str) -> str:
        """Return `` at COLUMN``, to append to a name; empty if there is only one column."""
        return f" at {column}" if len(self.columns) > 1 else ""


def graph_tables(rows: Sequence[Row]) -> tuple[GraphTable, ...]:
    """Return a table for each run, workload and experiment. Rows without a workload are ignored."""
    graphs = (row for row in rows if row.result.cell.workload is not None)
    apart = attrgetter("run", *(f"result.cell.{each}" for each in ("workload", "receive", "processes", "payload")))
    return tuple(map(_table, grouped(graphs, apart).values()))


def _table(rows: Sequence[Row]) -> GraphTable:
    cell = rows[0].result.cell
    assert cell.workload is not None
    under = sorted({(each.result.cell.scale, each.result.cell.copies) for each in rows})
    several = [len({each[at] for each in under}) > 1 for at in (0, 1)]
    lines = []
    for name, members in grouped(rows, lambda row: row.name).items():
        by_column = {(row.result.cell.scale, row.result.cell.copies): row for row in members}
        lines.append(GraphLine(name, members[0].is_raw_transport, tuple(map(by_column.get, under))))
    return GraphTable(
        name=cell.workload.name,
        title=plain(words(cell, {"receive", "processes", "payload"} & {*EXPERIMENT})),
        columns=tuple(_column(scale, copies, *several) for scale, copies in under),
        lines=tuple(sorted(lines, key=_order)),
    )


def _column(scale: float, copies: int, by_scale: bool, by_copies: bool) -> str:
    parts = [f"scale {scale:g}" if by_scale or not by_copies else "", f"copies {copies}" if by_copies else ""]
    return ", ".join(each for each in parts if each)


def _order(line: GraphLine) -> tuple[bool, int, float]:
    results = [found for row in line.rows if row and (found := row.result.workload)]
    held = sum(each.holds is True for each in results)
    return (
        not line.is_raw_transport,
        -held,
        min((each.cpu for each in results if each.cpu is not None), default=math.inf),
    )


class Cheapest(msgspec.Struct, frozen=True):
    """The row with the lowest processor time of the rows that hold in one column."""

    column: str
    row: Row
    others: int
    """The number of other rows that hold."""
    beaten: int
    """The number of other rows that hold and take significantly more processor time."""

    @property
    def sure(self) -> bool:
        """True if every other row takes significantly more processor time."""
        return self.beaten == self.others


def cheapest(table: GraphTable, comparisons: Comparisons) -> Iterator[Cheapest]:
    """Yield the cheapest row of each column in which several rows hold."""
    for at, column in enumerate(table.columns):
        rows = [line.rows[at] for line in table.lines if not line.is_raw_transport]
        holding = [
            (found.cpu, row.index, row)
            for row in rows
            if row and (found := row.result.workload) and found.holds and found.cpu is not None
        ]
        if len(holding) < 2:
            continue
        best, *others = (row for _, _, row in sorted(holding, key=lambda each: each[:2]))
        results = [comparisons.find(best.index, other.index, "cpu") for other in others]
        yield Cheapest(column, best, len(others), sum(each is not None and each.is_worse for each in results))
