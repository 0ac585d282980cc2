"""Workloads in sentences and as tables: who holds, at which scale, and at what cost."""

from collections.abc import Iterator

from middlemark.document.numbers import ABSENT, megabytes, processors, ratio
from middlemark.document.statements import some
from middlemark.document.table import Column, Line, Table, TableCell
from middlemark.model.units import format_seconds
from middlemark.stats.result import EdgeResult
from middlemark.stats.workload import fails_most
from middlemark.verdicts.rows import Row
from middlemark.verdicts.workloads import Cheapest, GraphTable

HOLDS = {True: "✓", False: "✗", None: "?"}


def conclusion(table: GraphTable) -> str:
    """Return who holds in which column, in a sentence or two."""
    told = []
    for at, column in enumerate(table.columns):
        lines = [line for line in table.lines if not line.floor] or table.lines
        rows = {line.name: line.rows[at] for line in lines}
        known = {name: found.holds for name, row in rows.items() if row and (found := row.result.workload)}
        holding = [name for name, holds in known.items() if holds]
        where = table.at(column)
        if known and all(holds is None for holds in known.values()):
            told.append(f"too few messages to say{where}, or no deadlines")
        elif not holding:
            told.append(f"does not hold over any of {len(known)}{where}")
        elif len(holding) == len(known):
            told.append(f"holds over all {len(known)}{where}" if len(known) > 1 else f"holds over {holding[0]}{where}")
        else:
            told.append(f"holds over {some(holding)}{where}, not over {some([n for n in known if n not in holding])}")
    return f"{table.name}: {'; '.join(told)}."


def failing(table: GraphTable) -> Iterator[str]:
    """Yield of each that does not hold, at the first scale at which it does not, which edge fails most."""
    for line in table.lines:
        for column, row in zip(table.columns, line.rows, strict=True):
            found = row.result.workload if row else None
            edge = fails_most(found.topics) if found else None
            if edge is None:
                continue
            yield f"{line.name}{table.at(column)}: {edge.label}, {why(edge)}"
            break


def why(edge: EdgeResult) -> str:
    """Return how an edge fails: ``3.1 % lost, 40 % late``."""
    due = edge.sent + edge.unsent
    parts = ((edge.lost, "lost"), (edge.missed or 0, "late"), (edge.unsent, "never sent"))
    return (
        ", ".join(f"{100 * number / due:.3g} % {what}" for number, what in parts if number) if due else "nothing sent"
    )


def histories(table: GraphTable) -> Iterator[str]:
    """Yield of each middleware with late joiners, in the first column, which took longest to get its history."""
    for line in table.lines:
        found = line.rows[0].result.workload if line.rows[0] else None
        late = [(history, each) for each in (found.topics if found else ()) if (history := each.history)]
        if not late:
            continue
        missing = sum(history.expected - history.received for history, _ in late)
        last, edge = max(late, key=lambda each: each[0].last_ns or 0.0)
        took = "" if last.last_ns is None else f" in {format_seconds(last.last_ns / 1e9)} at most ({edge.label})"
        lost = f", {missing:,} of its messages missing" if missing else ""
        yield f"{line.name}: who joins late has the history{took}{lost}"


def cheapest_text(table: GraphTable, found: Cheapest) -> str:
    """Return who takes the least processor time of those that hold, and whether that is significant."""
    against = "" if found.sure else f"; significantly less than {found.beaten} of {found.others}"
    where = table.at(found.column)
    return f"{found.row.name} takes the least processor time of those that hold{where}{against}"


def table_of(table: GraphTable) -> Table:
    """Return a line for each middleware, a column for each scale."""
    last = len(table.columns)
    return Table(
        title=f"{table.name}: the worst edge's p99 as part of its deadline, processors, MB: {table.title}",
        columns=tuple(Column(title, last - at) for at, title in enumerate(table.columns)),
        lines=tuple(
            Line(line.name, tuple(_entry(row, dim=line.floor) for row in line.rows), "dim" if line.floor else "")
            for line in table.lines
        ),
        legend=("✓ holds its deadlines", "✗ does not", "? too few messages to say"),
    )


def _entry(row: Row | None, *, dim: bool) -> TableCell:
    found = row.result.workload if row else None
    if row is None or found is None:
        return TableCell("failed" if row else ABSENT, "red" if row else "dim")
    style = "dim" if dim else {True: "green", False: "red", None: ""}[found.holds]
    figures = f"{ratio(found.worst_share):>5}  {processors(found.cpu):>4}  {megabytes(found.rss_bytes):>5}"
    return TableCell(f"{HOLDS[found.holds]} {figures}", style)
