"""The result for spreadsheets: one row a cell, the unit in each column's name, empty where nothing was measured."""

import csv
import io
from collections.abc import Sequence

from middlemark.report.factors import plain
from middlemark.report.json import cell_document
from middlemark.report.run_facts import RunFacts
from middlemark.stats.result import CellResult

_FIGURES = ("min", "mean", "stdev", "p50", "p90", "p99", "p99.9", "p99.99", "max")
_TIMES = ("round_trip", "first_reply", "write", "take", "loan", "fill", "check")
_BEFORE = (
    *("name", "adapter", "version", "pattern", "size", "transport", "carried_by", "receive", "reliability", "depth"),
    *("loan", "processes", "subscribers", "echo", "payload", "pin", "priority", "mlock", "native"),
    *("trials", "failed_trials", "samples", "sent", "received", "lost", "late"),
    *("duplicated", "reordered", "damaged", "publish_failed"),
)
_RENAMED = {"size": "size_bytes", "loan": "loaned"}
"""``loan`` is told apart from the columns of the time it took."""


def header() -> list[str]:
    """Return the names of the columns: ``round_trip_p50_ns`` and the like."""
    times = [f"{time}_{figure}_ns" for time in _TIMES for figure in _FIGURES]
    return [*(_RENAMED.get(key, key) for key in _BEFORE), *times, *_AFTER]


_AFTER = ("discovery_ns", "times_floor", "floor", "warnings", "failed_code", "failed_text")


def render(facts: RunFacts, results: Sequence[CellResult]) -> str:  # noqa: ARG001  every format is given both
    """Return the header and one line a cell (also where a text has line breaks)."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header())
    for result in results:
        document = cell_document(result)
        failed = document["failed"] or {"code": None, "text": None}
        writer.writerow(
            map(
                _field,
                (
                    *(document[key] for key in _BEFORE),
                    *((document[f"{time}_ns"] or {}).get(figure) for time in _TIMES for figure in _FIGURES),
                    document["discovery_ns"],
                    document["times_floor"],
                    document["floor"],
                    ";".join(each["code"] for each in document["warnings"]),
                    failed["code"],
                    failed["text"],
                ),
            )
        )
    return out.getvalue()


def _field(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return ",".join(map(str, value))
        case dict():
            return plain(";".join(f"{key}={level}" for key, level in value.items()))
        case _:
            return plain(str(value))
