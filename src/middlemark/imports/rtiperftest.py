"""Read RTI's perftest with ``-outputFormat json``: one object per data length. Only a publisher's log has latencies."""

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, halved, imported_warning
from middlemark.imports.objects import Element, Objects, count, elements, figure, text_of
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import Summary, Times

TOOL = "rtiperftest"
_ADAPTER = "middleware unknown (rtiperftest)"
_KNOWN = re.compile(rb'"perftest"\s*:\s*\[')

_LATENCIES = {
    "min": "latency_min",
    "mean": "latency_ave",
    "stdev": "latency_std",
    "p50": "latency_50",
    "p90": "latency_90",
    "p99": "latency_99",
    "p99_99": "latency_99.99",
    "max": "latency_max",
}


def _read(blocks: Iterable[bytes]) -> Log:
    measured: list[ImportedTrial] = []
    objects = Objects()
    for objects.number, each in enumerate(elements(text_of(blocks), "perftest", "intervals"), start=1):
        found = _measured(each.value) if isinstance(each, Element) else None
        if found is not None:
            measured.append(found)
        if not isinstance(each, Element):
            objects.refuse(each)
        elif found is None or not each.whole:
            objects.refuse("it has no figures" if found is None else "its end is missing")
    return objects.log(measured)


def _measured(value: Mapping[str, Any]) -> ImportedTrial | None:
    length = count(value.get("length"))
    listed = value.get("intervals")
    intervals = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    summary = value.get("summary")
    summary = summary if isinstance(summary, dict) else None
    if length is None:
        return None
    figures = summary or (intervals[-1] if intervals else {})
    if not figures:
        return None
    latency = any(key.startswith("latency") for key in figures)
    return _latency(length, summary, intervals) if latency else _throughput(length, summary, intervals)


def _latency(
    length: int, summary: Mapping[str, Any] | None, intervals: Sequence[Mapping[str, Any]]
) -> ImportedTrial | None:
    where = cell(_ADAPTER, length, publishers=1, topics=1)
    # Without a summary, use the last interval: its mean, minimum and maximum include all earlier intervals.
    figures = summary or intervals[-1]
    times = {
        ours: None if (us := figure(figures.get(theirs))) is None else 2e3 * us for ours, theirs in _LATENCIES.items()
    }
    if times["mean"] is None:
        return None
    warnings = [imported_warning(where), halved(TOOL, ", in whole µs, and calls it one-way"), *_cut(summary)]
    warnings.append(
        RunWarning(
            "load-unknown",
            "without -latencyTest perftest sends its pings among samples at the full rate, and the log does not say "
            "whether the option was set",
            "if it was not set, these times include waiting in queues",
        )
    )
    if summary is not None:
        warnings.append(
            RunWarning(
                "samples-unknown",
                "the log does not say over how many round trips its percentiles are",
                "with only a few thousand samples, 99.99 % is the maximum; check -latencyCount and -numIter",
            )
        )
    return ImportedTrial(cell=where, times=Times(round_trip_ns=Summary(**times)), warnings=tuple(warnings))


def _throughput(
    length: int, summary: Mapping[str, Any] | None, intervals: Sequence[Mapping[str, Any]]
) -> ImportedTrial | None:
    where = cell(_ADAPTER, length, "stream", subscribers=1, topics=1)
    figures = summary or intervals[-1]
    received, lost = count(figures.get("packets")), count(figures.get("lost"))
    rate = figure(figures.get("packets/sAve"))
    if summary is None:
        of_each = [hz for each in intervals if (hz := figure(each.get("packets/s"))) is not None]
        rate = statistics.median(of_each) if of_each else None
    if rate is None or received is None:
        return None
    return ImportedTrial(
        cell=where,
        counts=TrialCounts(received=received, lost=lost or 0),
        counted=("received", "lost") if lost is not None else ("received",),
        rate_hz=rate,
        rate_total_hz=rate,
        warnings=(imported_warning(where), *_cut(summary)),
    )


def _cut(summary: object) -> list[RunWarning]:
    if summary is not None:
        return []
    return [
        RunWarning(
            "no-summary",
            "the log ends before its summary: the rate is the median of its intervals, and the latencies are those of "
            "the last interval",
            "let perftest end normally, for example with -executionTime",
        )
    ]


FORMAT = LogFormat("rtiperftest's JSON", TOOL, _KNOWN, _read)
