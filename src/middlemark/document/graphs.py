"""Workloads as tables: a line for each middleware, a column for each scale; whether it holds, and at what cost."""

import math
from collections.abc import Iterator, Sequence

import msgspec

from middlemark.document.document import Row
from middlemark.document.judged import JudgedDocument
from middlemark.document.words import EXPERIMENT, plain, words
from middlemark.model.spelling import listing
from middlemark.model.units import format_seconds
from middlemark.stats.result import EdgeResult
from middlemark.stats.verdict import Verdict
from middlemark.stats.workload import fails_most


class GraphLine(msgspec.Struct, frozen=True):
    """One middleware over one transport; ``rows`` by column, None where it was not measured."""

    name: str
    floor: bool
    rows: tuple[Row | None, ...]


class GraphTable(msgspec.Struct, frozen=True, kw_only=True):
    """One workload in one experiment, by scale and copies. Lines: floors, who holds most, who takes the least."""

    name: str
    title: str
    columns: tuple[str, ...]
    lines: tuple[GraphLine, ...]

    def at(self, column: str) -> str:
        """Return where that is, to be read after a name; empty where there is one column."""
        return f" at {column}" if len(self.columns) > 1 else ""


def graph_tables(rows: Sequence[Row]) -> tuple[GraphTable, ...]:
    """Return a table for each workload and experiment of the rows that carry one."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        cell = row.result.cell
        if cell.workload is not None:
            groups.setdefault((row.run, cell.workload, cell.receive, cell.processes, cell.payload), []).append(row)
    return tuple(_table(each) for each in groups.values())


def _table(rows: Sequence[Row]) -> GraphTable:
    cell = rows[0].result.cell
    assert cell.workload is not None
    under = sorted({(each.result.cell.scale, each.result.cell.copies) for each in rows})
    several = [len({each[at] for each in under}) > 1 for at in (0, 1)]
    lines: dict[str, dict[tuple[float, int], Row]] = {}
    for row in rows:
        lines.setdefault(row.name, {})[row.result.cell.scale, row.result.cell.copies] = row
    told = [GraphLine(name, next(iter(of.values())).floor, tuple(map(of.get, under))) for name, of in lines.items()]
    title = words(cell, frozenset(("receive", "processes", "payload")) & frozenset(EXPERIMENT))
    return GraphTable(
        name=cell.workload.name,
        title=plain(title),
        columns=tuple(_column(scale, copies, *several) for scale, copies in under),
        lines=tuple(sorted(told, key=_order)),
    )


def _column(scale: float, copies: int, by_scale: bool, by_copies: bool) -> str:
    told = [f"scale {scale:g}" if by_scale or not by_copies else "", f"copies {copies}" if by_copies else ""]
    return ", ".join(each for each in told if each)


def _order(line: GraphLine) -> tuple[bool, int, float]:
    known = [found for row in line.rows if row and (found := row.result.workload)]
    held = sum(each.holds is True for each in known)
    return not line.floor, -held, min((each.cpu for each in known if each.cpu is not None), default=math.inf)


def conclusion(table: GraphTable) -> str:
    """Return who holds in which column, in a sentence or two."""
    told = []
    for at, column in enumerate(table.columns):
        rows = [(line.name, line.rows[at]) for line in table.lines if not line.floor]
        if not rows:
            rows = [(line.name, line.rows[at]) for line in table.lines]
        known = {name: found.holds for name, row in rows if row and (found := row.result.workload)}
        holding = [name for name, holds in known.items() if holds]
        where = table.at(column)
        if known and all(holds is None for holds in known.values()):
            told.append(f"too few messages to say{where}, or no deadlines")
        elif not holding:
            told.append(f"does not hold over any of {len(known)}{where}")
        elif len(holding) == len(known):
            told.append(f"holds over all {len(known)}{where}" if len(known) > 1 else f"holds over {holding[0]}{where}")
        else:
            told.append(f"holds over {_some(holding)}{where}, not over {_some([n for n in known if n not in holding])}")
    return f"{table.name}: {'; '.join(told)}."


def _some(names: Sequence[str]) -> str:
    return listing(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


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


def cheapest(table: GraphTable, judged: JudgedDocument) -> Iterator[tuple[str, bool]]:
    """Yield of each column who takes the least processor time of those that hold, and whether that is sure."""
    for at, column in enumerate(table.columns):
        rows = [line.rows[at] for line in table.lines if not line.floor]
        holding = {
            row.index: (found.cpu, row)
            for row in rows
            if row and (found := row.result.workload) and found.holds and found.cpu is not None
        }
        if len(holding) < 2:
            continue
        best, *others = (row for _, row in sorted(holding.values(), key=lambda each: each[0]))
        verdicts = [judged.find(best.index, other.index, "cpu") for other in others]
        more = sum(each is not None and each.judged.verdict is Verdict.WORSE for each in verdicts)
        where = table.at(column)
        sure = more == len(others)
        against = "" if sure else f"; sure against {more} of {len(others)}"
        yield f"{best.name} takes the least processor time of those that hold{where}{against}", sure
