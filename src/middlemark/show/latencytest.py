"""The table of Fast DDS 2.9's LatencyTest, from our samples. The times are half round trips in µs."""

from middlemark.document.document import Document
from middlemark.model.cell import ONE_WAY, subject
from middlemark.model.times import Summary
from middlemark.show import View
from middlemark.show.naming import log_head
from middlemark.stats.result import CellResult
from middlemark.verdicts.names import WORDS, plain, words

# The lines of LatencyTestPublisher::run() and print_stats() also end with a comma and a blank.
_HEADER = "   Bytes, Samples,   stdev,    mean,     min,     50%,     90%,     99%,  99.99%,     max"
_RULE = "--------," * 10
_FIGURES = ("stdev", "mean", "min", "p50", "p90", "p99", "p99_99", "max")


def render(document: Document, _view: View) -> str:
    """Return one table for each combination of levels except the size. A comment above the table names the levels."""
    tables: dict[tuple[str, str], list[CellResult]] = {}
    for each in document.rows:
        cell = each.result.cell
        tables.setdefault((subject(cell), words(cell, WORDS)), []).append(each.result)
    lines = [
        log_head(document.runs[0]),
        "# Half round trips in us: every time is half of a round trip, as in LatencyTest.",
        "# A figure is the median over the trials; min and max are of all trials. -: not measured, or too few samples.",
    ]
    for (name, factors), rows in tables.items():
        version = f" {rows[0].version}" if rows[0].version else ""
        lines += ["", f"# {plain(name)}{plain(version)}: half round trips in us; {plain(factors)}", _HEADER, _RULE]
        rows.sort(key=lambda each: each.cell.size)
        lines += [_row(each) for each in rows if each.failed is None and each.cell.pattern not in ONE_WAY]
        lines += [f"# {each.cell.size} bytes: {plain(text)}" for each in rows for text in _remarks(each)]
    return "\n".join(lines) + "\n"


def _row(result: CellResult) -> str:
    times = result.round_trip_ns or Summary()
    figures = [_half_us(getattr(times, figure)) for figure in _FIGURES]
    return ",".join([f"{result.cell.size:8}", f"{result.samples:8}", *figures]) + " "


def _remarks(result: CellResult) -> list[str]:
    failed = [f"failed: {result.failed.text}"] if result.failed else []
    if result.cell.pattern in ONE_WAY:
        failed.append("a stream has no round trips: --format text or ddsperf")
    return failed + [f"{each.code}: {each.text}" for each in result.warnings]


def _half_us(nanoseconds: float | None) -> str:
    return f"{'-':>8}" if nanoseconds is None else f"{nanoseconds / 2000:8.3f}"
