"""The result for spreadsheets: one row a cell, the unit in each column's name, empty where nothing was measured."""

import csv
import io
from collections.abc import Iterable, Mapping

from middlemark.document.document import Document
from middlemark.model.cell import FACTORS
from middlemark.model.outcome import NetworkCost
from middlemark.model.times import NAMES
from middlemark.show import View
from middlemark.show.json.cell import FURTHER, LATER, cell_document
from middlemark.stats.metrics import METRICS, PER_ROLE
from middlemark.verdicts.names import plain

_RENAMED = {each.field: each.column for each in FACTORS.values() if each.column}

Path = tuple[str, ...]
"""Where a figure lies in a cell of the JSON."""


def _times(*times: str) -> dict[str, Path]:
    return {f"{time}_{each}_ns": (f"{time}_ns", each) for time in times for each in NAMES.values()}


def _same(*keys: str) -> dict[str, Path]:
    return {_RENAMED.get(key, key): (key,) for key in keys}


def _costs(*keys: str) -> dict[str, Path]:
    return {key: ("resources", key) for key in keys}


COLUMNS: Mapping[str, Path] = {
    **_same("name", "adapter", "version", "pattern", "size", "transport", "carried_by"),
    **_same(*(each.field for each in FURTHER)),
    **_same("native", "trials", "failed_trials", "samples", "sent", "received", "lost", "late", "duplicated"),
    **_same("reordered", "damaged", "publish_failed"),
    **_times("round_trip", "first_reply", "write", "take", "loan", "fill", "check"),
    **_same("discovery_ns", "times_floor", "floor", "warnings"),
    "failed_code": ("failed", "code"),
    "failed_text": ("failed", "text"),
    **_same(*(each.field for each in LATER)),
    **_same("native_request_reply", "offered_hz", "sent_hz", "rate_hz", "rate_total_hz", "bytes_per_s", "loss"),
    **_same("in_histogram", "blocked_ns", "blocked_share", "scheduled", "late_sends", "unsent", "timed_out", "knee_hz"),
    **_times("one_way", "one_way_from_sent", "round_trip_from_intended"),
    "sustainable_hz": ("sustainable", "rate_hz"),
    "sustainable_least_hz": ("sustainable", "least_hz"),
    "sustainable_most_hz": ("sustainable", "most_hz"),
    **_costs("cpu"),
    "cpu_user": ("resources", "user"),
    "cpu_system": ("resources", "system"),
    **_costs("ns_per_message", "rss_bytes", "peak_rss_bytes", "bytes_per_subscriber", "voluntary_hz"),
    **_costs("involuntary_hz", "voluntary_per_message", "involuntary_per_message", "minor_faults", "major_faults"),
    **{each: ("resources", "network", each) for each in NetworkCost.__struct_fields__},
    "best_floor": ("best", "floor"),
    "best_p50_ns": ("best", "p50_ns"),
    "best_rate_hz": ("best", "rate_hz"),
    "times_best": ("best", "times"),
    **_same("protected_by", "handshake_ns"),
    "payload_not_seen": ("protection_proof", "payload-not-seen"),
    "stranger_refused": ("protection_proof", "stranger-refused"),
    "unauthorised_refused": ("protection_proof", "unauthorised-refused"),
    **{
        name: ("metrics", name, "median")
        for name, each in METRICS.items()
        if not each.of_cell and name.partition(".")[0] not in PER_ROLE
    },
}
"""By name, in their order: what came later stands at the end, so that no column before it moved."""


def render(document: Document, _view: View) -> str:
    """Return the header and one line a cell (also where a text has line breaks)."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in document.rows:
        cell = cell_document(row.result)
        cell["warnings"] = ";".join(each["code"] for each in cell["warnings"])
        writer.writerow(_field(_at(cell, path)) for path in COLUMNS.values())
    return out.getvalue()


def _at(value: object, path: Iterable[str]) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


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
