"""Workloads in the report: who holds at which scale, at what cost, and every edge of each."""

from typing import Any

from middlemark.document.document import Document
from middlemark.document.numbers import megabytes, processors, ratio, us
from middlemark.document.workloads import conclusion, why
from middlemark.stats.result import EdgeResult, HistoryResult
from middlemark.verdicts.rows import Row
from middlemark.verdicts.workloads import GraphTable

Json = dict[str, Any]

FULL = 1.5
"""Deadlines that the whole of a bar stands for."""
_STATES = {True: "holds", False: "fails", None: "untold"}


def graphs(document: Document) -> list[Json]:
    """Return a table for each workload and experiment, with the edges of each of its rows."""
    return [_table(each) for each in document.workloads]


def _table(table: GraphTable) -> Json:
    return {
        "name": table.name,
        "title": table.title,
        "conclusion": conclusion(table),
        "columns": list(table.columns),
        "lines": [
            {"name": line.name, "floor": line.floor, "entries": [_entry(row) for row in line.rows]}
            for line in table.lines
        ],
        "details": [
            _detail(line.name, column, row)
            for line in table.lines
            for column, row in zip(table.columns, line.rows, strict=True)
            if row is not None and row.result.workload is not None
        ],
    }


def _entry(row: Row | None) -> Json | None:
    if row is None:
        return None
    found = row.result.workload
    if found is None:
        return {"state": "failed"}
    part = None if found.worst_share is None else min(found.worst_share / FULL, 1.0)
    return {
        "state": _STATES[found.holds],
        "share": ratio(found.worst_share),
        "percent": None if part is None else round(100 * part),
        "cpu": processors(found.cpu),
        "mb": megabytes(found.rss_bytes),
        "first": found.first_failing or "",
    }


def _detail(name: str, column: str, row: Row) -> Json:
    found = row.result.workload
    assert found is not None
    return {
        "name": f"{name}, {column}",
        "state": _STATES[found.holds],
        "joins_late": any(each.history for each in found.topics),
        "edges": [_edge(each) for each in found.topics],
        "chains": [
            {
                "name": " → ".join((*each.topics, each.to)),
                "p50": us(each.end_to_end_ns.p50 if each.end_to_end_ns else None),
                "p99": us(each.end_to_end_ns.p99 if each.end_to_end_ns else None),
            }
            for each in found.chains
        ],
        "nodes": [
            {
                "name": each.name,
                "process": each.process,
                "cpu": processors(each.cpu),
                "mb": megabytes(each.rss_bytes),
            }
            for each in found.nodes
        ],
        "discovery": us(found.discovery_ns),
        "wire": megabytes(found.wire_bytes),
    }


def _edge(edge: EdgeResult) -> Json:
    latency = edge.one_way_ns
    return {
        "name": edge.label,
        "hz": f"{edge.expected_hz:.4g}",
        "received": "–" if edge.received_hz is None else f"{edge.received_hz:.4g}",
        "deadline": us(None if edge.deadline_s is None else edge.deadline_s * 1e9),
        "p50": us(latency.p50 if latency else None),
        "p99": us(latency.p99 if latency else None),
        "fails": why(edge) or "nothing",
        "history": _history(edge.history),
        "state": _STATES[edge.holds],
    }


def _history(history: HistoryResult | None) -> str:
    """Return how many messages of its topic's history came to who joined late, of how many, and when the last did."""
    if history is None:
        return "–"
    came = f"{history.received:,} of {history.expected:,}"
    return came if history.last_ns is None else f"{came} in {us(history.last_ns)} µs"
