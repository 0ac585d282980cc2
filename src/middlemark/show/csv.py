"""CSV with a row for each cell (column names contain the units), or in long form with a row for each figure."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from middlemark.document.columns import FIGURES, judged_figure
from middlemark.document.document import Document
from middlemark.model.cell import FACTORS, FIELDS
from middlemark.model.outcome import NetworkCost
from middlemark.model.times import NAMES
from middlemark.show import View
from middlemark.show.json.cell import FURTHER, LATER, cell_document
from middlemark.stats.metrics import METRICS, PER_ROLE
from middlemark.verdicts.names import plain
from middlemark.verdicts.rows import Row

_RENAMED = {each.field: each.column for each in FACTORS.values() if each.column}

Path = tuple[str, ...]
"""The keys from a cell of the JSON to a figure."""


def _times(*times: str) -> dict[str, Path]:
    return {f"{time}_{each}_ns": (f"{time}_ns", each) for time in times for each in NAMES.values()}


def _same(*keys: str) -> dict[str, Path]:
    return {_RENAMED.get(key, key): (key,) for key in keys}


def _costs(*keys: str) -> dict[str, Path]:
    return {key: ("resources", key) for key in keys}


COLUMNS: Mapping[str, Path] = {
    **_same("name", "adapter", "version", "pattern", "size", "transport", "actual_transport"),
    **_same(*(each.field for each in FURTHER)),
    **_same("native", "trials", "failed_trials", "samples", "sent", "received", "lost", "late", "duplicated"),
    **_same("reordered", "damaged", "publish_failed"),
    **_times("round_trip", "first_reply", "write", "take", "loan", "fill", "check"),
    **_same("discovery_ns", "times_raw_transport", "raw_transport", "warnings"),
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
    "baseline": ("baseline", "label"),
    "baseline_p50_ns": ("baseline", "p50_ns"),
    "baseline_rate_hz": ("baseline", "rate_hz"),
    "times_baseline": ("baseline", "times"),
    **_same("protected_by", "handshake_ns"),
    "payload_not_seen": ("protection_proof", "payload-not-seen"),
    "stranger_refused": ("protection_proof", "stranger-refused"),
    "unauthorised_refused": ("protection_proof", "unauthorised-refused"),
    **{
        name: ("metrics", name, "median")
        for name, each in METRICS.items()
        if not each.of_cell and name.partition(".")[0] not in PER_ROLE
    },
    **_same("language"),
}
"""Name of a column → keys of its figure in the JSON. New columns are added at the end, so that no column moves."""


_BEFORE = ("run", "started", "cell", "name", "version")
LONG_COLUMNS = (*_BEFORE, *FIELDS, "actual_transport", "metric", "unit", "value", "low", "high", "trials")
_NONE = {each.field: each.none or "" for each in FACTORS.values()}


def render(document: Document, _view: View) -> str:
    """Return the header and one line for each cell; texts contain no line breaks."""
    cells = [cell_document(row.result) for row in document.rows]
    cells = [cell | {"warnings": ";".join(each["code"] for each in cell["warnings"])} for cell in cells]
    return written(COLUMNS, ([field(_at(cell, path)) for path in COLUMNS.values()] for cell in cells))


def render_long(document: Document, _view: View) -> str:
    """Return the header and a line for each figure that was measured.

    For R, pandas and Quarto (docs/reference/exports.md). Only the figure by which the cell's trials are compared has an
    interval.
    """
    return written(LONG_COLUMNS, (line for row in document.rows for line in _figures(document, row)))


def _figures(document: Document, row: Row) -> Iterator[Sequence[object]]:
    file, result, cell = document.runs[0].file, row.result, row.result.cell
    levels = ["" if each in cell.unknown else _level(each, getattr(cell, each)) for each in FIELDS]
    names = (plain(", ".join(file.suites)), file.started, row.index, plain(result.name), plain(result.version or ""))
    for name, figure in FIGURES.items() if result.failed is None else ():
        value = figure.of(result)
        if value is not None:
            interval = (name == judged_figure(result) and result.interval) or (None, None)
            figures = map(_number, (value, *interval))
            yield (*names, *levels, result.actual_transport or "", name, figure.unit, *figures, result.trials)


def written(header: Iterable[str], lines: Iterable[Sequence[object]]) -> str:
    """Return the header and the lines as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return out.getvalue()


def _at(value: object, path: Iterable[str]) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def field(value: object) -> str:
    """Return the text of a CSV field for a value of JSON."""
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


def _level(factor: str, level: object) -> str:
    match level:
        case None:
            return _NONE.get(factor, "")
        case bool():
            return "true" if level else "false"
        case tuple():
            return plain(";".join("=".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in level))
        case _:
            return plain(str(level))


def _number(value: float | None) -> str:
    return "" if value is None else repr(int(value)) if float(value).is_integer() else repr(float(value))
