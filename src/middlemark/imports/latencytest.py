"""Read Fast DDS's LatencyTest: its table (one row per size) and the file of ``--export_raw_data`` (one per sample)."""

import re
from array import array
from collections.abc import Iterable

import msgspec
import numpy as np

from middlemark.imports.lines import Lines, number
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, halved, imported_warning
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import Summary, Times
from middlemark.stats.quantiles import summarise

TOOL = "LatencyTest"
_ADAPTER = "fastdds (LatencyTest)"

# Figures always have three decimals, which distinguishes a decimal comma from the comma between columns.
_ROW = re.compile(rb"(\d{1,12}), *(\d{1,12})" + rb", *(-?\d{1,12}[.,]\d{3})" * 8)
_HEADER = re.compile(rb"Bytes, *Samples, *stdev, *mean, *min, *50%, *90%, *99%, *99\.99%, *max")
_OTHER = re.compile(
    rb"Reading demands file: .*|Performing .*test with \d+ subscribers.*|Overhead .+ ns|Printing round-trip times .*|"
    rb"(?:-+,)+|EVERYTHING STOPPED FINE|"
    rb"(?:Pub|Sub)\w*: .*|.*(?:Matched|MATCHED|DISCOVERY COMPLETE).*|\d{4}-\d\d-\d\d .*"
)
_KNOWN = re.compile(rb"^ *" + _HEADER.pattern, re.M)

_RAW_HEADER = re.compile(rb"Sample,Payload \[Bytes\],Latency \[us\]")
_RAW_ROW = re.compile(rb"(\d{1,12}),(\d{1,12}),(\d{1,12}(?:[.,]\d{1,12})?(?:e[+-]?0?\d)?)")
_RAW_KNOWN = re.compile(rb"^" + _RAW_HEADER.pattern, re.M)

_LESS = ", without the time that the echo and the reading of the clock take"


def _read(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    measured = []
    for index, line in lines.each():
        if row := _ROW.fullmatch(line.rstrip(b" ,")):
            size, samples, *figures = row.groups()
            measured.append(_row(int(size), int(samples), [number(each) for each in figures]))
        elif _HEADER.fullmatch(line) is None and _OTHER.fullmatch(line) is None:
            lines.refuse(index, line)
    return Log(measured=tuple(measured), lines=lines.filled, unread=lines.unread, first_unread=lines.first_unread)


def _row(size: int, samples: int, us: list[float]) -> ImportedTrial:
    stdev, mean, low, p50, p90, p99, p99_99, high = (2_000 * each for each in us)
    # The tool prints quantiles for any number of samples. A quantile with fewer than ten samples above it is left out.
    summary = Summary(
        min=low,
        mean=mean,
        stdev=stdev,
        p50=p50 if samples >= 20 else None,
        p90=p90 if samples >= 100 else None,
        p99=p99 if samples >= 1_000 else None,
        p99_99=p99_99 if samples >= 100_000 else None,
        max=high,
    )
    return _measured(size, samples, summary)


def _read_raw(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    by_size: dict[int, array[float]] = {}
    match = _RAW_ROW.fullmatch
    for index, line in lines.each():
        row = match(line)
        if row is not None:
            by_size.setdefault(int(row[2]), array("d")).append(float(row[3].replace(b",", b".")))
        elif _RAW_HEADER.fullmatch(line) is None:
            lines.refuse(index, line)
    measured = []
    for size, halves in sorted(by_size.items()):
        summary = summarise(2_000 * np.frombuffer(halves))
        measured.append(_measured(size, len(halves), Summary(**msgspec.structs.asdict(summary))))
    return Log(measured=tuple(measured), lines=lines.filled, unread=lines.unread, first_unread=lines.first_unread)


def _measured(size: int, samples: int, summary: Summary) -> ImportedTrial:
    where = cell(_ADAPTER, size, publishers=1, topics=1, rate="max")
    dropped = RunWarning(
        "samples-dropped",
        "with --data_loans LatencyTest drops every round trip of more than 20 ms, and the log does not say whether the "
        "option was set",
        "if it was set, the tail and the maximum are too low",
    )
    return ImportedTrial(
        cell=where,
        times=Times(round_trip_ns=summary),
        samples=samples,
        counts=TrialCounts(received=samples),
        counted=("received",),
        warnings=(imported_warning(where), halved(TOOL, _LESS), dropped),
    )


FORMAT = LogFormat("LatencyTest's table", TOOL, _KNOWN, _read)
RAW = LogFormat("LatencyTest's --export_raw_data", TOOL, _RAW_KNOWN, _read_raw)
