"""What Cyclone DDS's RoundtripPing prints, from all of our samples: a line a second and ``# Overall``, in whole µs.

Its latency is half of the round trip; its times of writing and reading are whole.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from middlemark.document.document import Document
from middlemark.model.samples import NOT_MEASURED
from middlemark.model.times import Summary
from middlemark.show import View
from middlemark.show.lines import log_head, log_title
from middlemark.stats.quantiles import Numbers, summarise
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Samples
from middlemark.verdicts.names import plain

_SECOND = 1_000_000_000

# As the example's ping.c prints them; "Latency" says here what it is.
_HEADER = (
    "#     Half round trip [us]                                   Write-access time [us]       Read-access time [us]",
    "# Seconds     Count   median      min      99%      max      Count   median      min      Count   median      min",
)


def render(document: Document, view: View) -> str:
    """Return a section a cell: of each trial its seconds, then ``# Overall``. No line has samples of two trials."""
    lines = [
        log_head(document.runs[0]),
        "# Half round trips: the first median, min, 99% and max are halves of round trips, as in RoundtripPing.",
        "# A trial of several has a # Overall of its own: samples of different trials are never pooled.",
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
        yield f"# {result.cell.pattern}: RoundtripPing has no line for it; --format table"
        return
    yield from _HEADER
    for number, samples in enumerate(trials(), start=1):
        if result.trials > 1:
            yield f"# trial {number}"
        yield from _seconds(samples)
        yield ""
        yield _line("# Overall", *(_column(samples, field) for field in ("round_trip_ns", "write_ns", "take_ns")))
    yield from (f"# {each.code}: {plain(each.text)}" for each in result.warnings)


def _seconds(samples: Samples) -> Iterator[str]:
    seconds = np.asarray(samples["begin_ns"]) // _SECOND
    begins = [0, *(np.flatnonzero(np.diff(seconds)) + 1).tolist(), len(seconds)] if len(seconds) else []
    due = 1
    for begin, end in pairwise(begins):
        second = int(seconds[begin]) + 1
        if second > due:
            yield (
                f"# no sample in second {due}" if second == due + 1 else f"# no sample in seconds {due} to {second - 1}"
            )
        due = second + 1
        part = samples[begin:end]
        yield _line(f"{second:9}", *(_column(part, field) for field in ("round_trip_ns", "write_ns", "take_ns")))


class _Column:
    """One field's values, those that were measured, with their number."""

    def __init__(self, values: Numbers) -> None:
        self.count = len(values)
        self.summary: Summary = summarise(values)


def _column(samples: Samples, field: str) -> _Column:
    return _Column(_measured(samples, field))


def _measured(samples: Samples, field: str) -> Numbers:
    values: Numbers = np.ascontiguousarray(samples[field])
    return values if field == "round_trip_ns" else values[values != NOT_MEASURED]


def _line(begins: str, round_trip: _Column, write: _Column, read: _Column) -> str:
    latency = [_whole(each, 2000) for each in (round_trip.summary.p50, round_trip.summary.min)]
    latency += [_whole(each, 2000) for each in (round_trip.summary.p99, round_trip.summary.max)]
    parts = [f"{begins:9} {round_trip.count:9}", *latency]
    for access in (write, read):
        parts += [f"{access.count:10}", _whole(access.summary.p50, 1000), _whole(access.summary.min, 1000)]
    return " ".join(parts)


def _whole(nanoseconds: float | None, divisor: int) -> str:
    return f"{'-':>8}" if nanoseconds is None else f"{nanoseconds / divisor:8.0f}"
