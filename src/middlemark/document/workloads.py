"""Workloads in sentences and as tables: the middlewares that hold at each scale, and their cost."""

from collections.abc import Iterator, Mapping, Sequence

from middlemark.document.numbers import ABSENT, megabytes, processors, ratio, us
from middlemark.document.statements import some
from middlemark.document.table import Column, Line, Table, TableCell, table_of
from middlemark.model.spelling import listing
from middlemark.model.times import Summary
from middlemark.model.units import format_seconds
from middlemark.stats.result import EdgeResult, HistoryResult, NodeResult, WorkloadResult
from middlemark.stats.workload import fails_most, worst_edge
from middlemark.verdicts.rows import Row, grouped
from middlemark.verdicts.workloads import Cheapest, ColumnVerdict, GraphTable

HOLDS = {True: "✓", False: "✗", None: "?"}
STATES = {True: "holds", False: "fails", None: "undecided"}
NO_VERDICT = "too few messages for a verdict"


def conclusion(table: GraphTable) -> str:
    """Return which middlewares meet the deadlines in each column, and which edge fails first over the others.

    The last column in which a middleware meets them also names the worst edges.
    """
    parts = []
    held = [at for at, _ in enumerate(table.columns) if table.verdict(at).holding]
    for at, column in enumerate(table.columns):
        found, where = table.verdict(at), table.at(column)
        where += worst_edges_in_words(_worst_edges(table, at, found.holding)) if held[-1:] == [at] else ""
        number = len(found.holding) + len(found.others)
        if found.mark == "undecided":
            parts.append(f"{NO_VERDICT}{where}, or no deadlines")
        elif found.mark == "does not hold":
            parts.append(f"misses deadlines over all {number}{where}: {_edges_of(table, at, found.others)}")
        elif not found.others:
            over = f"all {number}" if number > 1 else found.holding[0]
            parts.append(f"meets its deadlines over {over}{where}")
        else:
            others = _edges_of(table, at, found.others)
            parts.append(f"meets its deadlines over {every(found.holding)}{where}, not over {others}")
    return f"{table.name}: {'; '.join(parts)}."


def every(names: Sequence[str]) -> str:
    """Join all names: ``udp, shm and tcp``."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _worst_edges(table: GraphTable, column: int, names: Sequence[str]) -> dict[str, EdgeResult | None]:
    rows = {line.name: line.rows[column] for line in table.lines if line.name in names}
    found = {name: row.result.workload for name, row in rows.items() if row is not None}
    return {name: worst_edge(graph.topics) for name, graph in found.items() if graph is not None}


def worst_edges_in_words(edges: Mapping[str, EdgeResult | None]) -> str:
    """Return each name's worst edge in parentheses: `` (worst edge: image → detector)``; empty: no edge is known."""
    known = {name: edge.label for name, edge in edges.items() if edge}
    by_edge = grouped(known, known.__getitem__)
    several = len(by_edge) > 1
    shown = [f"{edge} over {every(names)}" if several else edge for edge, names in by_edge.items()]
    return f" (worst edge: {'; '.join(shown)})" if shown else ""


def _edges_of(table: GraphTable, column: int, names: Sequence[str]) -> str:
    """Return the names with the edge that fails first: ``vega udp and mira tcp (image → detector fails first)``."""
    results = {line.name: row.result.workload for line in table.lines if (row := line.rows[column]) is not None}
    by_edge = grouped(names, lambda name: getattr(results[name], "first_failing", None))
    return ", ".join(
        f"{every(members)} ({f'{edge} fails first' if edge else NO_VERDICT})" for edge, members in by_edge.items()
    )


def short_verdict(found: ColumnVerdict) -> str:
    """Return a column's verdict as a heading: ``lyra udp and vega udp meet the deadlines``."""
    if found.mark == "holds":
        return f"{some(found.holding)} {'meet' if len(found.holding) > 1 else 'meets'} the deadlines"
    return NO_VERDICT.capitalize() if found.mark == "undecided" else "None meets the deadlines"


def failing(table: GraphTable) -> Iterator[str]:
    """Yield a line for each middleware that fails: the first scale at which it fails, and its worst edge there."""
    for line in table.lines:
        for column, row in zip(table.columns, line.rows, strict=True):
            found = row.result.workload if row else None
            edge = fails_most(found.topics) if found else None
            if edge is None:
                continue
            yield f"{line.name}{table.at(column)}: {edge.label}, {why(edge)}"
            break


def why(edge: EdgeResult) -> str:
    """Return the shares of an edge's messages that fail: ``3.1 % lost, 40 % late``."""
    due = edge.sent + edge.unsent
    parts = ((edge.lost, "lost"), (edge.missed or 0, "late"), (edge.unsent, "never sent"))
    return (
        ", ".join(f"{100 * number / due:.3g} % {what}" for number, what in parts if number) if due else "nothing sent"
    )


def histories(table: GraphTable) -> Iterator[str]:
    """Yield a line for each middleware with late joiners: the longest time until a late joiner had the history.

    Only the first column is used.
    """
    for line in table.lines:
        found = line.rows[0].result.workload if line.rows[0] else None
        late = [(history, each) for each in (found.topics if found else ()) if (history := each.history)]
        if not late:
            continue
        missing = sum(history.expected - history.received for history, _ in late)
        last, edge = max(late, key=lambda each: each[0].last_ns or 0.0)
        took = "" if last.last_ns is None else f" in {format_seconds(last.last_ns / 1e9)} at most ({edge.label})"
        lost = f", {missing:,} of its messages missing" if missing else ""
        yield f"{line.name}: late joiners have the history{took}{lost}"


def cheapest_text(table: GraphTable, found: Cheapest) -> str:
    """Return the middleware that takes the least processor time of those that hold, and how sure this is."""
    against = "" if found.sure else f"; significantly less than {found.beaten} of {found.others}"
    where = table.at(found.column)
    if used := _companions(found.row):
        where += f", without {used}"
    return f"{found.row.name} takes the least processor time of the rows that meet the deadlines{where}{against}"


def _companions(row: Row) -> str:
    """Return the processors that the row's companions used: ``0.31 of zenoh router``; empty: it has no companion."""
    resources = row.result.resources
    return listing([f"{processors(each.cpu)} of {each.who}" for each in (resources.companions if resources else ())])


def graph_table(table: GraphTable) -> Table:
    """Return a line for each middleware, a column for each scale."""
    last = len(table.columns)
    return Table(
        title=f"{table.name}: the worst edge's p99 as part of its deadline, processors, MB: {table.title}",
        columns=tuple(Column(title, last - at) for at, title in enumerate(table.columns)),
        lines=tuple(
            Line(
                line.name,
                tuple(_entry(row, dim=line.is_raw_transport) for row in line.rows),
                "dim" if line.is_raw_transport else "",
            )
            for line in table.lines
        ),
        legend=("✓ meets its deadlines", "✗ misses a deadline", f"? {NO_VERDICT}", *_notes_on_companions(table)),
    )


def _notes_on_companions(table: GraphTable) -> Iterator[str]:
    """Yield the processors of each line's companions in its last column, because its own processors exclude them."""
    for line in table.lines:
        used = _companions(line.rows[-1]) if line.rows[-1] else ""
        if used:
            yield f"{line.name}: processors without {used}"


def _entry(row: Row | None, *, dim: bool) -> TableCell:
    found = row.result.workload if row else None
    if row is None or found is None:
        return TableCell("failed" if row else ABSENT, "red" if row else "dim")
    style = "dim" if dim else {True: "green", False: "red", None: ""}[found.holds]
    figures = (ratio(found.worst_share), processors(found.cpu), megabytes(found.rss_bytes))
    return TableCell("\t".join((HOLDS[found.holds], *figures)), style)


def edges_table(graph: WorkloadResult) -> Table:
    """Return a line for each edge, then a line for each chain with its end-to-end times."""
    late = any(each.history for each in graph.topics)
    titles = ("edge", "due, Hz", "received, Hz", "deadline, µs", "p50, µs", "p99, µs", "failed", "holds?")
    rows = []
    for each in graph.topics:
        due, received = (ABSENT if hz is None else f"{hz:.4g}" for hz in (each.expected_hz, each.received_hz))
        deadline = us(None if each.deadline_s is None else each.deadline_s * 1e9)
        holds = "" if each.deadline_s is None else STATES[each.holds]
        figures = (due, received, deadline, *_p50_p99(each.one_way_ns), why(each) or "nothing", holds)
        rows.append((each.label, *figures, *([_history(each.history)] if late else [])))
    for chain in graph.chains:
        name, times = f"{' → '.join((*chain.topics, chain.to))} (end to end)", _p50_p99(chain.end_to_end_ns)
        rows.append((name, "", "", "", *times, "", "", *([""] if late else [])))
    return table_of((*titles, *(["history, joined late"] if late else [])), rows)


def _p50_p99(latency: Summary | None) -> tuple[str, str]:
    return (us(latency.p50), us(latency.p99)) if latency else (ABSENT, ABSENT)


def _history(history: HistoryResult | None) -> str:
    """Return the messages of the history that a late joiner received, and the time: ``9 of 10 in 120 µs``."""
    if history is None:
        return ABSENT
    came = f"{history.received:,} of {history.expected:,}"
    return came if history.last_ns is None else f"{came} in {us(history.last_ns)} µs"


def node_text(node: NodeResult) -> str:
    """Return the processors and memory of a node: ``camera (in perception): 0.12 processors, 34.1 MB``."""
    where = f" (in {node.process})" if node.process != node.name else ""
    memory = "" if node.rss_bytes is None else f", {megabytes(node.rss_bytes)} MB"
    return f"{node.name}{where}: {processors(node.cpu)} processors{memory}"
