"""Read the output of Cyclone DDS's ThroughputSubscriber: a line for about each second, and totals at the end."""

import re
from collections.abc import Iterable

from middlemark.imports.columns import Form, PrintedColumn
from middlemark.imports.lines import Lines, number, whole
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, imported_warning
from middlemark.imports.plausible import in_lines, near
from middlemark.imports.values import Values
from middlemark.model.outcome import RunWarning, TrialCounts

TOOL = "ThroughputSubscriber"
FORM = Form(
    tool=TOOL,
    versions="0.1.0 to 11",
    known_by="=== [Subscriber]",
    source="examples/throughput/subscriber.c at V0.1.0 to 11.0.1",
    columns=(
        PrintedColumn("[Subscriber]", "duration", "s", "interval", "", "the length of the interval"),
        PrintedColumn("Payload size", "other", "bytes", "interval", "size"),
        PrintedColumn("Total received: … samples", "count", "", "so far", "received"),
        PrintedColumn("… bytes", "count", "bytes", "so far", "", "for each sample 8 bytes more than its payload"),
        PrintedColumn("Out of order", "count", "", "so far", "", "jumps of the number: messages lost or out of order"),
        PrintedColumn("samples/s", "rate", "1/s", "interval", "received"),
        PrintedColumn("Mbit/s", "rate", "Mbit/s", "interval", "", "bytes cut off to multiples of 125,000"),
    ),
)

_LINE = re.compile(
    rb"=== \[Subscriber\] +(\d{1,12}[.,]\d{1,9}) Payload size: (\d{1,12}) \| Total received: (\d{1,15}) samples, "
    rb"(\d{1,15}) bytes \| Out of order: (\d{1,15}) samples Transfer rate: (\d{1,12}[.,]\d\d) samples/s, "
    rb"(\d{1,12}[.,]\d{1,9}) Mbit/s"
)
_TOTAL = re.compile(rb"Total received: (\d{1,15}) samples, \d+ bytes")
_OTHER = re.compile(
    rb"Cycles: \d+ \| PollingDelay: -?\d+ \| Partition: .*|=== \[Subscriber\] Waiting for samples\.\.\.|"
    rb"Out of order: \d+ samples|Average transfer rate: .*|\d+\.\d+ \[\d*\] .+"
)
_KNOWN = re.compile(rb"^=== \[Subscriber\] +\d+[.,]\d+ Payload size: ", re.M)


class _Intervals:
    """The lines of one process with one payload. The total of a later line is never smaller."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rates = Values()
        self.first = self.last = self.bytes = self.jumps = 0
        self.wrong = 0
        """The number of lines whose totals, rates and interval do not fit together."""
        self.total: int | None = None
        """The number of all samples of the run, which the last lines of the output contain; None: not printed."""

    def add(self, total: int, total_bytes: int, jumps: int, interval_s: float, rate: float, mbits: float) -> None:
        """Add a line: the totals so far, the length of the interval and its rates."""
        each = self.size + _EXTRA_BYTES
        fits = near(mbits, rate * each * 8e-6, _MBIT / interval_s if interval_s else 0.0)
        if self.rates.number:
            more = total - self.last
            fits &= total_bytes - self.bytes == more * each and near(more, rate * interval_s, 1.0)
        else:
            self.first = total
        self.wrong += not fits
        self.last, self.bytes, self.jumps = total, total_bytes, jumps
        self.rates.add(rate)


_EXTRA_BYTES = 8
"""Bytes of the number and the length field of each sample, which the tool counts as received."""
_MBIT = 1.0
"""The tool rounds the bytes of an interval down to a multiple of 1 Mbit."""


def _read(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    runs: list[_Intervals] = []
    for index, line in lines.each():
        if found := _LINE.fullmatch(line):
            interval_s, size, total = number(found[1]), int(found[2]), whole(found[3])
            run = runs[-1] if runs else None
            if run is None or run.total is not None or total < run.last or size != run.size:
                run = _Intervals(size)
                runs.append(run)
            run.add(total, whole(found[4]), whole(found[5]), interval_s, number(found[6]), number(found[7]))
        elif (found := _TOTAL.fullmatch(line)) and runs:
            runs[-1].total = whole(found[1])
        elif _OTHER.fullmatch(line) is None:
            lines.refuse(index, line)
    measured = tuple(map(_measured, runs))
    return lines.log(measured)


def _measured(run: _Intervals) -> ImportedTrial:
    where = cell(f"cyclonedds ({TOOL})", run.size, "stream", subscribers=1, topics=1, reliability="reliable")
    rate = run.rates.median
    received = run.total
    if received is None:  # samples before the first line may be of another payload
        received = run.last - run.first if run.rates.number > 1 else run.last
    warnings = [
        imported_warning(where),
        RunWarning(
            "median-of-seconds",
            f"its rate is the median of the rates of {run.rates.number:,} intervals; its received messages are those "
            f"{'of the whole run' if run.total is not None else 'after the first line'}",
            "a stall of one second does not show",
        ),
        *in_lines(run.wrong, run.rates.number, "the totals, the rates and the interval do not fit together"),
    ]
    if run.jumps:
        warnings.append(
            RunWarning(
                "out-of-order",
                f"the tool counts {run.jumps:,} jumps in the samples' numbers: lost samples, or samples out of order",
                "measure again with Middlemark, which counts both",
            )
        )
    return ImportedTrial(
        cell=where,
        counts=TrialCounts(received=received),
        counted=("received",),
        rate_hz=rate,
        rate_total_hz=rate,
        warnings=tuple(warnings),
    )


FORMAT = LogFormat("ThroughputSubscriber's lines", TOOL, _KNOWN, _read, (FORM,))
