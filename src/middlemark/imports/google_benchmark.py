"""Read Google Benchmark's JSON. A repetition is a trial; the only figure is the mean time of an iteration."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from middlemark.imports.columns import Form, PrintedColumn
from middlemark.imports.lines import MOST
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, imported_warning
from middlemark.imports.objects import Element, Objects, count, elements, figure, text_of, word
from middlemark.model.cell import Cell
from middlemark.model.outcome import Failure, RunWarning
from middlemark.model.times import Summary, Times

TOOL = "Google Benchmark"
_KNOWN = re.compile(rb'"benchmarks"\s*:\s*\[')
FORM = Form(
    tool=TOOL,
    versions="1.7",
    known_by='"benchmarks": [',
    source="src/json_reporter.cc at v1.7.0 and v1.7.1",
    columns=(
        PrintedColumn("real_time", "duration", "ns", "run", "round_trip", "of one iteration, in time_unit"),
        PrintedColumn("bytes_per_second", "rate", "bytes/s", "run", "size", "by processor time, except for /real_time"),
    ),
)
_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_BY_REAL_TIME = ("/real_time", "/manual_time")
"""A benchmark whose name contains one of these has rates per real time; other benchmarks have rates per
processor time."""


def _read(blocks: Iterable[bytes]) -> Log:
    rows: list[Mapping[str, Any]] = []
    measured: list[ImportedTrial] = []
    notes: dict[str, None] = {}
    objects = Objects()
    for objects.number, each in enumerate(elements(text_of(blocks), "benchmarks"), start=1):
        if not isinstance(each, Element):
            objects.refuse(each)
            continue
        if note := _note(each.head):
            notes[note] = None
        rows.append(each.value)
    repeated = {_name(each) for each in rows if each.get("run_type") != "aggregate"}
    for row in rows:
        aggregate = row.get("run_type") == "aggregate"
        if aggregate and (row.get("aggregate_name") != "mean" or _name(row) in repeated):
            continue  # an aggregate other than the mean, or the mean of repetitions that are rows themselves
        found = _measured(row, aggregate)
        if found is None:
            objects.refuse(_name(row) or "a benchmark without a name")
        else:
            measured.append(found)
    return objects.log(measured, tuple(notes))


def _name(row: Mapping[str, Any]) -> str:
    return word(row.get("run_name")) or word(row.get("name"))


def _note(head: Mapping[str, Any]) -> str:
    context = head.get("context")
    if not isinstance(context, dict):
        return ""
    cpus, mhz = count(context.get("num_cpus")), count(context.get("mhz_per_cpu"))
    parts = [
        word(context.get("host_name")),
        f"{cpus} processors" if cpus else "",
        f"{mhz} MHz" if mhz else "",
        word(context.get("date")),
        "a library built for debugging" if context.get("library_build_type") == "debug" else "",
        "frequency scaling on" if context.get("cpu_scaling_enabled") is True else "",
    ]
    return ", ".join(each for each in parts if each)


def _measured(row: Mapping[str, Any], aggregate: bool) -> ImportedTrial | None:
    name = _name(row)
    if not name:
        return None
    real, unit = figure(row.get("real_time")), _UNITS.get(word(row.get("time_unit")) or "ns")
    size, guessed = _size(row, name)
    where = cell(f"{name.partition('/')[0]} ({TOOL})", size, native=(("benchmark", name),))
    if row.get("error_occurred") is True or row.get("skipped") is True:
        reason = word(row.get("error_message")) or word(row.get("skip_message")) or "no reason given"
        failure = Failure("imported", f"the benchmark failed: {reason}", "fix the reason, and run it again")
        return ImportedTrial(cell=where, failed=failure)
    if real is None or unit is None or real < 0:
        return None
    return ImportedTrial(
        cell=where,
        times=Times(round_trip_ns=Summary(mean=real * unit)),
        samples=0 if aggregate else count(row.get("iterations")) or 0,
        warnings=(imported_warning(where), *_warnings(where, guessed)),
    )


def _size(row: Mapping[str, Any], name: str) -> tuple[int, bool]:
    """Return the bytes of an iteration (0: unknown), and True if only the benchmark's name suggests the size."""
    by_real_time = any(part in name for part in _BY_REAL_TIME)
    rate, time = figure(row.get("bytes_per_second")), figure(row.get("real_time" if by_real_time else "cpu_time"))
    unit = _UNITS.get(word(row.get("time_unit")) or "ns")
    if rate and time and unit and 0 < rate * time * unit < 1e9 * MOST:
        return round(rate * time * unit / 1e9), False
    numbers = [part for part in name.split("/") if part.isascii() and part.isdigit() and len(part) < 16]
    return (int(numbers[-1]), True) if numbers else (0, False)


def _warnings(where: Cell, guessed: bool) -> list[RunWarning]:
    found = [
        RunWarning(
            "iteration-not-round-trip",
            "it is the time of one iteration of the benchmark, shown here as a round trip",
            "an iteration is a round trip only if the body sends a message and waits for the answer",
        ),
        RunWarning(
            "no-quantiles",
            "a repetition has only the mean of its iterations",
            "a mean is not a median, and one stall changes it; for quantiles, measure again with Middlemark",
        ),
    ]
    if guessed:
        found.append(
            RunWarning(
                "size-guessed",
                f"its size of {where.size:,} bytes is the last number in its name, because the log contains no size",
                "let the benchmark call SetBytesProcessed",
            )
        )
    return found


FORMAT = LogFormat("Google Benchmark's JSON", TOOL, _KNOWN, _read, (FORM,))
