"""Read RTI's perftest with ``-outputFormat json``: one object per data length. Only a publisher's log has latencies."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from middlemark.imports.columns import Form, PrintedColumn, summary_columns
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, halved, imported_warning
from middlemark.imports.objects import Element, Objects, count, elements, figure, text_of
from middlemark.imports.plausible import contradiction, differ
from middlemark.imports.values import Values
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import QUANTILES, Summary, Times
from middlemark.stats.quantiles import samples_needed

TOOL = "rtiperftest"
_ADAPTER = "middleware unknown (rtiperftest)"
_KNOWN = re.compile(rb'"perftest"\s*:\s*\[')

_LATENCIES = {
    "latency_min": "min",
    "latency_ave": "mean",
    "latency_std": "stdev",
    "latency_50": "p50",
    "latency_90": "p90",
    "latency_99": "p99",
    "latency_99.99": "p99_99",
    "latency_max": "max",
}


def _form(versions: str, source: str, known_by: str, rate: str, names: Mapping[str, str]) -> Form:
    return Form(
        tool=TOOL,
        versions=versions,
        known_by=known_by,
        source=source,
        columns=(
            *summary_columns("half round trip", "us", "run", "round_trip", dict(names)),
            PrintedColumn("packets, Total Samples", "count", "", "so far", "received"),
            PrintedColumn(rate, "rate", "1/s", "run", "received"),
            PrintedColumn("lost", "count", "", "so far", "lost"),
            PrintedColumn("cpu", "rate", "% of one processor", "run"),
        ),
    )


_CSV_NAMES = {
    {"ave": "Ave", "std": "Std", "min": "Min", "max": "Max"}.get(key[8:], f"{key[8:]}%"): field
    for key, field in _LATENCIES.items()
}
_PRINTER = "srcCppCommon/PerftestPrinter.cxx"
FORMS = (
    _form(
        "3.0.1 and later, -outputFormat json",
        f"{_PRINTER} at 3.1 to 4.3",
        '"perftest": [',
        "packets/sAve, packets/s_ave",
        _LATENCIES,
    ),
    _form("3.1 to 3.3, CSV", f"{_PRINTER} at 3.1 to 3.3", "Length (Bytes)", "Ave Samples/s", _CSV_NAMES),
    _form("4, CSV", f"{_PRINTER} at 4.0 to 4.3", "Sample Size (Bytes)", "Ave Samples/s", _CSV_NAMES),
    _form(
        "before 3.1; later -outputFormat legacy",
        f"srcCpp/perftest_publisher.cxx at 2.4 and 3.0.1, {_PRINTER} at 3.1 to 4.3",
        "Length: … Latency: Ave",
        "Packets/s(ave)",
        _CSV_NAMES,
    ),
)


def _read(blocks: Iterable[bytes]) -> Log:
    measured: list[ImportedTrial] = []
    objects = Objects()
    for objects.number, each in enumerate(elements(text_of(blocks), "perftest", "intervals"), start=1):
        found = measured_of(each.value) if isinstance(each, Element) else None
        if found is not None:
            measured.append(found)
        if not isinstance(each, Element):
            objects.refuse(each)
        elif found is None or not each.whole:
            objects.refuse("the row has no figures" if found is None else "the end of the row is missing")
    return objects.log(measured)


class PrintedIntervals:
    """The intervals of one data length: the figures of the last interval, and the rates of all intervals."""

    def __init__(self, listed: object = None) -> None:
        """``listed``: the intervals in the JSON, each a mapping."""
        self.number = 0
        self.last: Mapping[str, Any] = {}
        self.rates = Values()
        self.repeated = 0
        """The number of intervals that repeat the interval before."""
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, dict):
                self.add(each)

    def add(self, figures: Mapping[str, Any]) -> None:
        """Add an interval."""
        self.number += 1
        self.repeated += self._repeats(figures)
        self.last = figures
        if (hz := figure(figures.get("packets/s"))) is not None:
            self.rates.add(hz)

    def _repeats(self, figures: Mapping[str, Any]) -> bool:
        """Say whether the figures cannot be those of a new interval.

        A subscriber's total grows by its rate. Two round trips of a publisher may be equal, but the second changes the
        standard deviation, which is of all round trips so far. The first round trip has no line.
        """
        total, before = figure(figures.get("packets")), figure(self.last.get("packets"))
        if total is not None and before is not None:
            return total <= before and (figure(figures.get("packets/s")) or 0.0) > 0
        last, mean, stdev = (figure(figures.get(name)) for name in ("latency", "latency_ave", "latency_std"))
        if figures != self.last or last is None or mean is None or stdev is None:
            return False
        share = 1 / (self.number + 1)
        expected = math.sqrt((1 - share) * (stdev**2 + share * (last - mean) ** 2))
        return abs(expected - stdev) > _STDEV_ROUNDING


_STDEV_ROUNDING = 0.2
"""The standard deviations of two lines are printed with one decimal of a µs, so they may be too far apart by this."""


def measured_of(value: Mapping[str, Any]) -> ImportedTrial | None:
    """Return the trial of one data length; None: there are no figures. Times are in µs."""
    length = count(value.get("length"))
    listed = value.get("intervals")
    intervals = listed if isinstance(listed, PrintedIntervals) else PrintedIntervals(listed)
    summary = value.get("summary")
    summary = summary if isinstance(summary, dict) else None
    if length is None:
        return None
    figures = summary or intervals.last
    if not figures:
        return None
    latency = any(key.startswith("latency") for key in figures)
    return _latency(length, summary, intervals) if latency else _throughput(length, summary, intervals)


def _latency(length: int, summary: Mapping[str, Any] | None, intervals: PrintedIntervals) -> ImportedTrial | None:
    where = cell(_ADAPTER, length, publishers=1, topics=1)
    # Without a summary, use the last interval: the mean, minimum and maximum of the last interval include all earlier
    # intervals.
    figures = summary or intervals.last
    # The tool prints a line for each round trip except the first, unless -noPrintIntervals is used.
    samples = intervals.number + 1 if intervals.number else 0
    times = {
        field: us * FORMS[0][name].ns
        for name, field in _LATENCIES.items()
        if (us := figure(figures.get(name))) is not None
        and (field not in QUANTILES or not samples or samples >= samples_needed(QUANTILES[field]))
    }
    if "mean" not in times:
        return None
    warnings = [
        imported_warning(where),
        halved(TOOL, ", in whole µs, and calls it one-way"),
        *_cut(summary),
        *_repeated(intervals),
        *_costs(figures),
    ]
    warnings.append(
        RunWarning(
            "load-unknown",
            "without -latencyTest perftest sends its pings among samples at the full rate, and the log does not say "
            "whether the option was set",
            "if it was not set, these times include waiting in queues",
        )
    )
    if not samples:
        warnings.append(
            RunWarning(
                "samples-unknown",
                "the log does not say over how many round trips its percentiles are",
                "with only a few thousand samples, 99.99 % is the maximum; check -latencyCount and -numIter",
            )
        )
    return ImportedTrial(
        cell=where,
        times=Times(round_trip_ns=Summary(**times)),
        samples=samples,
        counts=TrialCounts(received=samples) if samples else None,
        counted=("received",) if samples else (),
        warnings=tuple(warnings),
    )


def _costs(figures: Mapping[str, Any]) -> list[RunWarning]:
    """Return warnings that name figures which a row cannot show: processor time and serialization."""
    found = []
    if (cpu := figure(figures.get("cpu"))) is not None:
        found.append(
            RunWarning(
                "cost-of-one-process",
                f"perftest printed {cpu:g} % of one processor for its own process",
                "rows measured here include all processes",
            )
        )
    write, read = figure(figures.get("serialize")), figure(figures.get("deserialize"))
    if write is not None and read is not None:
        found.append(
            RunWarning(
                "serialization",
                f"perftest printed {write:g} µs for the serialization of a message and {read:g} µs for its "
                "deserialization; these times are whole, not halved",
            )
        )
    return found


def _throughput(length: int, summary: Mapping[str, Any] | None, intervals: PrintedIntervals) -> ImportedTrial | None:
    where = cell(_ADAPTER, length, "stream", subscribers=1, topics=1)
    figures = summary or intervals.last
    received, lost = count(figures.get("packets")), count(figures.get("lost"))
    rate = figure(figures.get("packets/sAve", figures.get("packets/s_ave")))
    if summary is None:
        rate = intervals.rates.median
    if rate is None or received is None:
        return None
    mbps = figure(next((figures[key] for key in ("mbpsAve", "mbps_ave") if key in figures), None))
    doubts = () if mbps is None else differ("its mean Mbit/s", mbps, "the rate times the size", rate * length * 8 / 1e6)
    return ImportedTrial(
        cell=where,
        counts=TrialCounts(received=received, lost=lost or 0),
        counted=("received", "lost") if lost is not None else ("received",),
        rate_hz=rate,
        rate_total_hz=rate,
        warnings=(imported_warning(where), *doubts, *_cut(summary), *_repeated(intervals), *_costs(figures)),
    )


def _repeated(intervals: PrintedIntervals) -> list[RunWarning]:
    if not intervals.repeated:
        return []
    text = f"{intervals.repeated:,} of its intervals repeat the interval before"
    return [contradiction(text, "all intervals are counted")]


def _cut(summary: object) -> list[RunWarning]:
    if summary is not None:
        return []
    return [
        RunWarning(
            "no-summary",
            "the log ends before its summary: the rate is the median of its intervals, and the latencies are "
            "from the last interval",
            "let perftest end normally, for example with -executionTime",
        )
    ]


FORMAT = LogFormat("rtiperftest's JSON", TOOL, _KNOWN, _read, FORMS[:1])
