"""Workloads in the report: who holds at which scale, at what cost, and every edge of each."""

from typing import Any

from middlemark.document.document import Document
from middlemark.document.numbers import megabytes, processors, ratio, us
from middlemark.document.table import Table
from middlemark.document.workloads import STATES, conclusion, edges_table, node_text
from middlemark.verdicts.rows import Row
from middlemark.verdicts.workloads import GraphTable

Json = dict[str, Any]

FULL = 1.5
"""Deadlines that the whole of a bar stands for."""


def texts_of(table: Table) -> Json:
    """Return a table as its texts: the titles of its columns, and its rows."""
    return {
        "header": [table.head, *(each.title.strip() for each in table.columns)],
        "rows": [[line.name, *(each.text.strip() for each in line.cells)] for line in table.lines],
    }


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
        "state": STATES[found.holds],
        "share": ratio(found.worst_share),
        "percent": None if part is None else round(100 * part),
        "cpu": processors(found.cpu),
        "mb": megabytes(found.rss_bytes),
        "first": found.first_failing or "",
    }


def _detail(name: str, column: str, row: Row) -> Json:
    found = row.result.workload
    assert found is not None
    return texts_of(edges_table(found)) | {
        "name": f"{name}, {column}",
        "state": STATES[found.holds],
        "nodes": "; ".join(map(node_text, found.nodes)),
        "discovery": us(found.discovery_ns),
        "wire": megabytes(found.wire_bytes),
    }
