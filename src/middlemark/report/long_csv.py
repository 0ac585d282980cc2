"""The result in long form: one row a cell and metric, for R, pandas and Quarto. Documented in docs/exports.md."""

import csv
import io
from collections.abc import Iterator, Sequence

from middlemark.plan.cell import Cell
from middlemark.report.factors import plain
from middlemark.report.run_facts import RunFacts
from middlemark.stats.floors import by_rate
from middlemark.stats.result import CellResult, Summary

FACTORS = tuple(each for each in Cell.__struct_fields__ if each != "unknown")
COLUMNS = (
    "run",
    "started",
    "cell",
    "name",
    "version",
    *FACTORS,
    "carried_by",
    "metric",
    "unit",
    "value",
    "low",
    "high",
    "trials",
)

_TIMES = (
    *("round_trip", "first_reply", "round_trip_from_intended", "one_way", "one_way_from_sent"),
    *("write", "take", "loan", "fill", "check"),
)
_QUANTILES = {
    **{name: name for name in ("min", "mean", "stdev", "p50", "p90", "p99", "max")},
    "p99_9": "p99.9",
    "p99_99": "p99.99",
}
_RATES = (
    ("offered_hz", "Hz"), ("sent_hz", "Hz"), ("rate_hz", "Hz"), ("rate_total_hz", "Hz"), ("bytes_per_s", "B/s"),
    ("blocked_share", "1"), ("times_floor", "1"), ("discovery_ns", "ns"),
)  # fmt: skip
_COUNTS = ("sent", "received", "lost", "late", "duplicated", "reordered", "damaged", "publish_failed")
_COSTS = {
    "cpu": "1", "ns_per_message": "ns", "rss_bytes": "B", "peak_rss_bytes": "B", "bytes_per_subscriber": "B",
    "voluntary_hz": "Hz", "involuntary_hz": "Hz",
}  # fmt: skip


def render(facts: RunFacts, results: Sequence[CellResult]) -> str:
    """Return the header and a line for each figure that was measured: what is absent has no row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    run = plain(", ".join(facts.suites))
    for index, result in enumerate(results):
        factors = [
            "" if factor in result.cell.unknown else _level(factor, getattr(result.cell, factor)) for factor in FACTORS
        ]
        before = [run, facts.started, index, plain(result.name), plain(result.version or ""), *factors]
        for metric, unit, value, low, high in _figures(result):
            writer.writerow(
                [
                    *before,
                    result.carried_by or "",
                    metric,
                    unit,
                    _number(value),
                    _number(low),
                    _number(high),
                    result.trials,
                ]
            )
    return out.getvalue()


Figure = tuple[str, str, float, float | None, float | None]


def _figures(result: CellResult) -> Iterator[Figure]:
    """Yield metric, unit, value and, for the figure that stands for the cell, the interval of its median."""
    if result.failed is not None:
        return
    low, high = result.interval or (None, None)
    stands = (
        "rate_hz" if by_rate(result.cell) else "one_way_p50" if result.cell.pattern == "stream" else "round_trip_p50"
    )

    def figure(metric: str, unit: str, value: float | None) -> Iterator[Figure]:
        if value is not None:
            own = metric == stands
            yield metric, unit, value, low if own else None, high if own else None

    for time in _TIMES:
        summary: Summary | None = getattr(result, f"{time}_ns")
        for field, shown in _QUANTILES.items():
            yield from figure(f"{time}_{shown}", "ns", getattr(summary, field) if summary else None)
    for name, unit in _RATES:
        yield from figure(name, unit, getattr(result, name))
    uncounted = result.imported.not_counted if result.imported else ()
    expected = result.counts.received + result.counts.lost
    yield from figure("loss", "1", result.counts.lost / expected if expected and "lost" not in uncounted else None)
    for name in (each for each in _COUNTS if each not in uncounted):
        yield from figure(name, "messages", float(getattr(result.counts, name)))
    if result.resources is not None:
        for name, unit in _COSTS.items():
            yield from figure(name, unit, getattr(result.resources, name))


def _level(factor: str, level: object) -> str:
    match level:
        case None:
            return {"depth": "all", "pin": "off"}.get(factor, "")
        case bool():
            return "true" if level else "false"
        case tuple():
            return plain(";".join("=".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in level))
        case _:
            return plain(str(level))


def _number(value: float | None) -> str:
    return "" if value is None else repr(int(value)) if float(value).is_integer() else repr(float(value))
