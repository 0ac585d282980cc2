"""All our samples in the format of Cyclone DDS's RoundtripPing: a line per second and ``# Overall``, in whole µs.

RoundtripPing's latency is half of the round trip. Times of writing and reading are not halved.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from middlemark.document.document import Document
from middlemark.model.samples import NOT_MEASURED
from middlemark.show import View
from middlemark.show.naming import log_head, log_title
from middlemark.stats.quantiles import summarise
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Samples
from middlemark.verdicts.names import plain

_SECOND = 1_000_000_000

# The header is that of the example's ping.c, but with "Half round trip" in place of "Latency".
_HEADER = (
    "#     Half round trip [us]                                   Write-access time [us]       Read-access time [us]",
    "# Seconds     Count   median      min      99%      max      Count   median      min      Count   median      min",
)
_COLUMNS = (
    ("round_trip_ns", 9, 2000, ("p50", "min", "p99", "max")),
    ("write_ns", 10, 1000, ("p50", "min")),
    ("take_ns", 10, 1000, ("p50", "min")),
)
"""For each field: (width of its count, divisor of its figures, the figures)."""


def render(document: Document, view: View) -> str:
    """Return a section for each cell: the seconds of each trial, then its ``# Overall``. Trials are never pooled."""
    lines = [
        log_head(document.runs[0]),
        "# Half round trips: the first median, min, 99% and max are halves of round trips, as in RoundtripPing.",
        "# Each of several trials has its own # Overall: samples of different trials are never pooled.",
        "# Seconds count from each trial's start. -: not measured, or too few samples (a median needs 20, 99% 1,000).",
    ]
    for row in document.rows:
        lines += ["", *_section(row.result, partial(view.samples_of, row.index))]
    return "\n".join(lines) + "\n"


def _section(result: CellResult, trials: Callable[[], Iterable[Samples]]) -> Iterator[str]:
    yield log_title(result)
    yield f"# payloadSize: {result.cell.size} | numSamples: {result.samples} | trials: {result.trials}"
    if result.failed is not None:
        yield f"# failed: {plain(result.failed.text)}"
        return
    if result.cell.pattern != "ping-pong":
        yield f"# {result.cell.pattern}: RoundtripPing has no line for this pattern; --format text"
        return
    yield from _HEADER
    for number, samples in enumerate(trials(), start=1):
        if result.trials > 1:
            yield f"# trial {number}"
        yield from _seconds(samples)
        yield ""
        yield _line("# Overall", samples)
    yield from (f"# {each.code}: {plain(each.text)}" for each in result.warnings)


def _seconds(samples: Samples) -> Iterator[str]:
    seconds = np.asarray(samples["begin_ns"]) // _SECOND
    begins = [0, *(np.flatnonzero(np.diff(seconds)) + 1).tolist(), len(seconds)] if len(seconds) else []
    due = 1
    for begin, end in pairwise(begins):
        second = int(seconds[begin]) + 1
        if second > due:
            yield f"# no sample in second{f' {due}' if second == due + 1 else f's {due} to {second - 1}'}"
        due = second + 1
        yield _line(f"{second:9}", samples[begin:end])


def _line(begins: str, samples: Samples) -> str:
    parts = [f"{begins:9}"]
    for field, width, divisor, figures in _COLUMNS:
        values = np.ascontiguousarray(samples[field])
        values = values if field == "round_trip_ns" else values[values != NOT_MEASURED]
        summary = summarise(values)
        quantiles = [getattr(summary, each) for each in figures]
        parts += [
            f"{len(values):{width}}",
            *(f"{'-':>8}" if each is None else f"{each / divisor:8.0f}" for each in quantiles),
        ]
    return " ".join(parts)
