"""Read Fast DDS's LatencyTest: the table (one row per size) and the file of ``--export_raw_data`` (one per sample)."""

import re
from collections.abc import Iterable

from middlemark.imports.columns import Form, Kind, PrintedColumn, summary_columns
from middlemark.imports.lines import Lines, number
from middlemark.imports.log import ImportedTrial, Log, LogFormat, NotRead, cell, halved, imported_warning
from middlemark.imports.values import Values
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import QUANTILES, Summary, Times
from middlemark.stats.quantiles import samples_needed

TOOL = "LatencyTest"
_ADAPTER = "fastdds (LatencyTest)"

_FIGURES = {
    "stdev": "stdev",
    "mean": "mean",
    "min": "min",
    "50%": "p50",
    "90%": "p90",
    "99%": "p99",
    "99.99%": "p99_99",
    "max": "max",
}


def _form(versions: str, known_by: str, kind: Kind, note: str, source: str) -> Form:
    return Form(
        tool=TOOL,
        versions=versions,
        known_by=known_by,
        source=source,
        columns=(
            PrintedColumn("Bytes", "other", "bytes", "run", "size", note),
            PrintedColumn("Samples", "count", "", "run", "received"),
            *summary_columns(kind, "us", "run", "round_trip", _FIGURES),
        ),
    )


_SOURCE = "test/performance/latency/LatencyTestPublisher.cpp at v1.9.4 to v3.6.2"
HALVES = _form("1.9.4 and later", "three decimals, Overhead … ns or us", "half round trip", "", _SOURCE)
RAW_FORM = Form(
    tool=TOOL,
    versions="2.9, --export_raw_data",
    known_by="Sample,Payload [Bytes],Latency [us]",
    source="test/performance/latency/LatencyTestPublisher.cpp at v2.9.1",
    columns=(
        PrintedColumn("Payload [Bytes]", "other", "bytes", "interval", "size"),
        PrintedColumn("Latency [us]", "half round trip", "us", "interval", "round_trip", "one line per round trip"),
    ),
)
UNKNOWN = _form(
    "another program",
    "three decimals without Overhead",
    "round trip",
    "as printed",
    "not known: the program names itself nowhere",
)
REFUSED = _form(
    "before 1.9.4",
    "two decimals",
    "round trip",
    "whole up to 1.8.1 and in 1.9.0, halves in 1.8.2, 1.8.3 and 1.9.1 to 1.9.3; refused",
    "test/performance/LatencyTestPublisher.cpp at v1.8.1 to v1.9.3",
)

# Figures always have three decimals, so a comma before three last digits is a decimal comma.
_ROW = re.compile(rb"(\d{1,12}), *(\d{1,12})" + rb", *(-?\d{1,12}[.,]\d{3})" * 8)
_TWO_DECIMALS = re.compile(rb"(\d{1,12}), *(\d{1,12})" + rb", *(-?\d{1,12}[.,]\d{2})" * 8)
_HEADER = re.compile(rb"Bytes, *Samples, *stdev, *mean, *min, *50%, *90%, *99%, *99\.99%, *max")
_OTHER = re.compile(
    rb"Reading demands file: .*|Performing .*test with \d+ subscribers.*|Printing round-trip times .*|"
    rb"(?:-+,)+|EVERYTHING STOPPED FINE|"
    rb"(?:Pub|Sub)\w*: .*|.*(?:Matched|MATCHED|DISCOVERY COMPLETE).*|\d{4}-\d\d-\d\d .*"
)
_OVERHEAD = re.compile(rb"Overhead .+ [nu]s")
_INTRAPROCESS = re.compile(rb"Performing intraprocess test .*")
_KNOWN = re.compile(rb"^ *" + _HEADER.pattern, re.M)

_RAW_HEADER = re.compile(rb"Sample,Payload \[Bytes\],Latency \[us\]")
_RAW_ROW = re.compile(rb"(\d{1,12}),(\d{1,12}),(\d{1,12}(?:[.,]\d{1,12})?(?:e[+-]?0?\d)?)")
_RAW_KNOWN = re.compile(rb"^" + _RAW_HEADER.pattern, re.M)

_LESS = ", without the time that the echo and the reading of the clock take"


def _read(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    measured = []
    form, processes = UNKNOWN, None
    for index, line in lines.each():
        if row := _ROW.fullmatch(line.rstrip(b" ,")):
            size, samples, *figures = row.groups()
            measured.append(_row(form, processes, int(size), int(samples), [number(each) for each in figures]))
        elif _OVERHEAD.fullmatch(line):
            form = HALVES
        elif _TWO_DECIMALS.fullmatch(line.rstrip(b" ,")):
            raise NotRead(
                "its figures have two decimals, as in a LatencyTest before 1.9.4 or in another program; the "
                "table does not show whether its round trips are whole or halves; write the figures as "
                "[[figures]] with `halves`"
            )
        elif _OTHER.fullmatch(line):
            processes = 1 if _INTRAPROCESS.fullmatch(line) else processes
        elif _HEADER.fullmatch(line) is None:
            lines.refuse(index, line)
    return lines.log(tuple(measured))


def _row(form: Form, processes: int | None, size: int, samples: int, us: list[float]) -> ImportedTrial:
    # The tool prints quantiles for any number of samples. A quantile with fewer than ten samples above it is left out.
    times = {
        field: value * form[name].ns
        for (name, field), value in zip(_FIGURES.items(), us, strict=True)
        if field not in QUANTILES or samples >= samples_needed(QUANTILES[field])
    }
    return _measured(form, processes, size, samples, Summary(**times))


def _read_raw(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    by_size: dict[int, Values] = {}
    match = _RAW_ROW.fullmatch
    for index, line in lines.each():
        row = match(line)
        if row is not None:
            by_size.setdefault(int(row[2]), Values()).add(float(row[3].replace(b",", b".")))
        elif _RAW_HEADER.fullmatch(line) is None:
            lines.refuse(index, line)
    measured = []
    for size, halves in sorted(by_size.items()):
        summary = halves.summary(RAW_FORM["Latency [us]"].ns)
        measured.append(_measured(HALVES, None, size, halves.number, summary))
    return lines.log(tuple(measured))


def _measured(form: Form, processes: int | None, size: int, samples: int, summary: Summary) -> ImportedTrial:
    adapter = _ADAPTER if form is HALVES else f"middleware unknown ({TOOL}'s table)"
    where = cell(adapter, size, publishers=1, topics=1, rate="max" if form is HALVES else None, processes=processes)
    dropped = RunWarning(
        "samples-dropped",
        "with --data_loans LatencyTest drops every round trip of more than 20 ms, and the log does not say whether the "
        "option was set",
        "if it was set, the tail and the maximum are too low",
    )
    doubtful = RunWarning(
        "another-program",
        "the line `Overhead …` of Fast DDS's LatencyTest is missing, and other programs print this table too; its "
        "times are shown as printed",
        "if LatencyTest printed the log, the times are halves: import the log with the line `Overhead …`",
    )
    return ImportedTrial(
        cell=where,
        times=Times(round_trip_ns=summary),
        samples=samples,
        counts=TrialCounts(received=samples),
        counted=("received",),
        warnings=(imported_warning(where), *((halved(TOOL, _LESS), dropped) if form.halves else (doubtful,))),
    )


FORMAT = LogFormat("LatencyTest's table", TOOL, _KNOWN, _read, (HALVES, UNKNOWN, REFUSED))
RAW = LogFormat("LatencyTest's --export_raw_data", TOOL, _RAW_KNOWN, _read_raw, (RAW_FORM,))
