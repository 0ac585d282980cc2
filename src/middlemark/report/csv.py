"""The result for spreadsheets: one row a cell, the unit in each column's name, empty where nothing was measured."""

import csv
import io
from collections.abc import Sequence

from middlemark.launch.outcome import NetworkCost
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
    return [*(_RENAMED.get(key, key) for key in _BEFORE), *times, *_AFTER, *_further()]


_AFTER = ("discovery_ns", "times_floor", "floor", "warnings", "failed_code", "failed_text")
_FACTORS = ("publishers", "topics", "rate", "arrivals", "burst", "recovery_s", "max_loss", "max_p99_s")
_RATES = (
    *("native_request_reply", "offered_hz", "sent_hz", "rate_hz", "rate_total_hz", "bytes_per_s", "loss"),
    *("in_histogram", "blocked_ns", "blocked_share", "scheduled", "late_sends", "unsent", "timed_out", "knee_hz"),
)
_FURTHER = ("one_way", "one_way_from_sent", "round_trip_from_intended")
_SUSTAINABLE = {"sustainable_hz": "rate_hz", "sustainable_least_hz": "least_hz", "sustainable_most_hz": "most_hz"}
_COSTS = (
    *("cpu", "user", "system", "ns_per_message", "rss_bytes", "peak_rss_bytes", "bytes_per_subscriber"),
    *("voluntary_hz", "involuntary_hz", "voluntary_per_message", "involuntary_per_message"),
    *("minor_faults", "major_faults"),
)
_NETWORK = NetworkCost.__struct_fields__
_BEST = {"best_floor": "floor", "best_p50_ns": "p50_ns", "best_rate_hz": "rate_hz", "times_best": "times"}


def _further() -> list[str]:
    """Return the names of the columns that came later: they stand at the end, so that none before them moved."""
    times = [f"{time}_{figure}_ns" for time in _FURTHER for figure in _FIGURES]
    costs = [{"user": "cpu_user", "system": "cpu_system"}.get(each, each) for each in _COSTS]
    return [*_FACTORS, *_RATES, *times, *_SUSTAINABLE, *costs, *_NETWORK, *_BEST]


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
                    *(document[key] for key in (*_FACTORS, *_RATES)),
                    *((document[f"{time}_ns"] or {}).get(figure) for time in _FURTHER for figure in _FIGURES),
                    *((document["sustainable"] or {}).get(key) for key in _SUSTAINABLE.values()),
                    *((document["resources"] or {}).get(key) for key in _COSTS),
                    *(((document["resources"] or {}).get("network") or {}).get(key) for key in _NETWORK),
                    *((document["best"] or {}).get(key) for key in _BEST.values()),
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
