"""The workloads of a document for the page's script: the graph of each row, with its edges and their deadlines."""

from middlemark.document.document import Document
from middlemark.document.numbers import megabytes, processors, ratio, rounded, us
from middlemark.document.workloads import STATES, conclusion, edges_table, node_text, short_verdict
from middlemark.show.html.values import Json, present, texts_of
from middlemark.stats.result import EdgeResult
from middlemark.stats.workload import part_of
from middlemark.verdicts.rows import Row
from middlemark.verdicts.workloads import ColumnVerdict, GraphTable

FULL = 1.5
"""The bar of an edge is full if its p99 is at least this multiple of its deadline."""


def graphs(document: Document) -> list[Json]:
    """Return a table for each workload and experiment, with the edges of each of its rows."""
    return [_table(each) for each in document.workloads]


def _table(table: GraphTable) -> Json:
    return {
        "name": table.name,
        "title": table.title,
        "conclusion": conclusion(table),
        "columns": list(table.columns),
        "verdicts": [_column(table.verdict(at)) for at in range(len(table.columns))],
        "lines": [
            {
                "name": line.name,
                "is_raw_transport": line.is_raw_transport,
                "entries": [_entry(row) for row in line.rows],
            }
            for line in table.lines
        ],
        "details": [
            _detail(line.name, column, row)
            for line in table.lines
            for column, row in zip(table.columns, line.rows, strict=True)
            if row is not None and row.result.workload is not None
        ],
    }


def _column(found: ColumnVerdict) -> Json:
    measured = len(found.holding) + len(found.others) + len(found.failed)
    figure = "" if found.mark == "undecided" else f"{len(found.holding)} of {measured}"
    return {"mark": found.mark, "headline": short_verdict(found), "figure": figure, "holding": list(found.holding)}


def _entry(row: Row | None) -> Json | None:
    if row is None:
        return None
    found = row.result.workload
    if found is None:
        return {"state": "failed", "row": row.index}
    part = None if found.worst_share is None else min(found.worst_share / FULL, 1.0)
    return {
        "state": STATES[found.holds],
        "row": row.index,
        "times": rounded(found.worst_share),
        "edges": [*map(_edge, found.topics)],
        "share": ratio(found.worst_share),
        "percent": None if part is None else round(100 * part),
        "cpu": processors(found.cpu),
        "mb": megabytes(found.rss_bytes),
        "first": found.first_failing or "",
    }


def _edge(edge: EdgeResult) -> Json:
    """Return an edge of the graph; ``share``: the edge's p99 divided by the edge's deadline."""
    share = part_of(edge.deadline_s, edge.one_way_ns)
    state = STATES[edge.holds] if edge.deadline_s else None
    return present({"topic": edge.name, "from": edge.source, "to": edge.to, "share": rounded(share), "state": state})


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
