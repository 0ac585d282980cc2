"""Read the output of Cyclone DDS's RoundtripPing: one line per second and ``# Overall``.

The log has the payload's size, but it does not show which process printed a line.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from middlemark.imports.columns import Form, Kind, PrintedColumn, summary_columns
from middlemark.imports.lines import Lines
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, halved, imported_warning, no_result
from middlemark.imports.plausible import ascending, contradiction, out_of_order
from middlemark.imports.values import Values
from middlemark.model.cell import Cell
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import Summary, Times

TOOL = "RoundtripPing"
_ADAPTER = "cyclonedds (RoundtripPing)"
_KEPT = 50_000
_US = 1e3
_FULL = 1_000
"""The 99 % of a second is used only if the second has at least this number of round trips."""


def _form(versions: str, known_by: str, source: str, kind: Kind, *, quantiles: bool) -> Form:
    """Return the columns in the order of a line, without the number of the second."""
    times = {"median": "p50", "min": "min", **({"99%": "p99", "max": "max"} if quantiles else {})}
    calls = {"median": "p50", "min": "min"}
    return Form(
        tool=TOOL,
        versions=versions,
        known_by=known_by,
        source=source,
        columns=(
            PrintedColumn("Count", "count", "", "interval", "received"),
            *summary_columns(kind, "us", "interval", "round_trip", times),
            PrintedColumn("Count of writes", "count", "", "interval"),
            *summary_columns("duration", "us", "interval", "write", calls),
            PrintedColumn("Count of reads", "count", "", "interval"),
            *summary_columns("duration", "us", "interval", "take", calls),
        ),
    )


_PING_C = "examples/roundtrip/ping.c"
NINE = _form(
    "April to August 2018",
    "Round trip time, nine columns",
    f"{_PING_C} at 11d9ce37",
    "whole round trip",
    quantiles=False,
)
WHOLE = _form(
    "August 2018", "Round trip time, twelve columns", f"{_PING_C} at e062da67", "whole round trip", quantiles=True
)
HALVES = _form("0.1.0 and later", "Latency [us]", f"{_PING_C} at V0.1.0 to 11.0.1", "half round trip", quantiles=True)

_HEADER = re.compile(rb"# payloadSize: (\d{1,12}) \| numSamples: \d+ \| timeOut: -?\d+")
_FIGURES = rb"((?: +\d{1,12}){%d}|(?: +\d{1,12}){%d})" % (len(NINE.columns), len(HALVES.columns))
_SECOND = re.compile(rb"(\d{1,12})" + _FIGURES)
_OVERALL = re.compile(rb"# Overall" + _FIGURES)
_HEADING = re.compile(rb"# Seconds +Count +median.*")
_KIND = re.compile(rb"#  +(Latency \[us\]|Round trip time \[us\]) .*")
_OTHER = re.compile(
    rb"# (?:Waiting for startup jitter to stabilise|Warm up complete\.|(?:Latency|Round trip) measurements \(in us\)|"
    rb"Latency \[us\] +Write-access.*)|Waiting for samples from ping .*|\d+\.\d+ \[\d*\] .+|"
    rb"Sending termination request\.|Received termination request\. Terminating\."
)
_KNOWN = re.compile(
    rb"^(?:# payloadSize: \d+ \| numSamples: |# Overall +\d+ |#  +(?:Latency|Round trip time) \[us\] +Write-access|"
    rb"# Seconds +Count +median)",
    re.M,
)


class _Tally:
    """The sums of several lines, by the kind of figure. Times are in whole µs."""

    def __init__(self) -> None:
        self.lines = self.count = self.wrong = 0
        """``wrong``: the number of lines whose minimum, median, 99 % and maximum do not ascend."""
        self.medians, self.minima, self.p99s, self.maxima = Values(), Values(), Values(), Values()
        self.writes, self.least_writes, self.reads, self.least_reads = Values(), Values(), Values(), Values()
        self.busy_ms, self.least_busy_ms = Values(), Values()
        """Count × median of each line, and count × minimum of each line."""

    def add(self, text: bytes) -> None:
        """Add the figures of a line. A line without a maximum has nine columns."""
        figures = [int(each) for each in text.split()]
        count, median, least, *others = figures[:-6]
        p99, most = others or (None, None)
        self.lines += 1
        self.count += count
        self.medians.add(median)
        self.minima.add(least)
        self.busy_ms.add(count * median // 1000)
        self.least_busy_ms.add(count * least // 1000)
        if p99 is not None and count >= _FULL:
            self.p99s.add(p99)
        else:
            p99 = None
        if most is not None:
            self.maxima.add(most)
        self.wrong += not ascending((least, median, p99, most))
        _, write, least_write, _, read, least_read = figures[-6:]
        for values, value in (
            (self.writes, write),
            (self.least_writes, least_write),
            (self.reads, read),
            (self.least_reads, least_read),
        ):
            values.add(value)


class _Run:
    """A header and the lines after it. Several headers without figures between them belong to one run."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.warm = 0
        """The number of processes that reported the end of their warm-up."""
        self.begun = False
        """True if the heading above the figures was read."""
        self.heading: Form | None = None
        """The form that the heading above the columns names; None: the log has no heading."""
        self.refused = False
        """True if figures were refused: the payload's size is unknown, or ``# Overall`` came twice."""
        self.seconds = _Tally()
        self.overall: _Tally | None = None
        self.last = 0
        self.mixed = False

    @property
    def size(self) -> int | None:
        """The payload's bytes; 0: the header is lost; None: lines of two sizes are mixed."""
        if self.warm > 1 and len(set(self.sizes)) > 1:
            return None
        return self.sizes[-1] if self.sizes else 0

    @property
    def result(self) -> _Tally:
        """The figures of the trial: those of ``# Overall``, or else the sums of the seconds."""
        return self.overall or self.seconds

    @property
    def form(self) -> Form:
        """The form, found by the heading and the number of columns."""
        if self.result.maxima.most is None:
            return NINE
        return self.heading or HALVES


def _read(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    runs = [_Run()]
    for index, line in lines.each():
        run = runs[-1]
        if header := _HEADER.fullmatch(line):
            if run.result.lines or run.begun:
                run = _Run()
                runs.append(run)
            run.sizes.append(int(header[1]))
        elif kind := _KIND.fullmatch(line):
            run.heading = WHOLE if kind[1].startswith(b"Round") else HALVES
        elif _HEADING.fullmatch(line):
            run.begun = bool(run.sizes) and run.warm <= 1
        elif line == b"# Warm up complete.":
            run.warm += 1
        elif second := _SECOND.fullmatch(line):
            number = int(second[1])
            if run.size is None or run.overall:
                run.refused = True
                lines.refuse(index, line)
                continue
            run.mixed |= number <= run.last or run.warm > 1
            run.last = number
            run.seconds.add(second[2])
        elif overall := _OVERALL.fullmatch(line):
            if run.size is None or run.overall:
                run.refused = True
                lines.refuse(index, line)
                continue
            run.overall = _Tally()
            run.overall.add(overall[1])
        elif _OTHER.fullmatch(line) is None:
            lines.refuse(index, line)
    for before, run in itertools.pairwise(runs):
        before.refused |= run.mixed  # lines of this run and of the next may be mixed
    measured = tuple(each for run in runs for each in _trials(run))
    return lines.log(measured)


def _trials(run: _Run) -> Iterator[ImportedTrial]:
    """Yield a failed trial for each header without figures, then the measured trial."""
    figures = run.result.lines > 0
    if not run.refused:
        # Each process that ended its warm-up printed a header and figures. The last headers count as the headers of
        # these processes.
        sharing = max(run.warm, 1) if figures else 0
        for size in run.sizes[: len(run.sizes) - sharing]:
            yield no_result(_cell(size), f"the heading of {size:,} bytes")
    if figures:
        yield _measured(run)


def _cell(size: int) -> Cell:
    return cell(_ADAPTER, size, subscribers=1, publishers=1, topics=1, reliability="reliable", rate="max")


def _measured(run: _Run) -> ImportedTrial:
    where = _cell(run.size or 0)
    result = run.result
    form, contradictions = _reading(run)
    warnings = [imported_warning(where)]
    if form.halves:
        warnings.append(halved(TOOL, ", cut off to whole µs"))
    warnings += [*contradictions, *_warnings(run, form)]
    ns = form["median"].ns
    times = Times(
        round_trip_ns=Summary(
            p50=_times(ns, result.medians.median),
            min=_times(ns, result.minima.least),
            p99=_times(ns, result.p99s.median),
            max=_times(ns, result.maxima.most),
        ),
        write_ns=Summary(p50=_times(_US, result.writes.median), min=_times(_US, result.least_writes.least)),
        take_ns=Summary(p50=_times(_US, result.reads.median), min=_times(_US, result.least_reads.least)),
    )
    return ImportedTrial(
        cell=where,
        times=times,
        samples=result.count,
        counts=TrialCounts(received=result.count),
        counted=("received",),
        warnings=tuple(warnings),
    )


def _times(ns: float, us: float | None) -> float | None:
    return None if us is None else ns * us


def _reading(run: _Run) -> tuple[Form, list[RunWarning]]:
    """Return the form by which the times are read, and a warning if the heading and the figures contradict each other.

    The tool sends a ping as soon as the reply arrives. So the number of round trips times their median is about one
    second if the times are whole, and half a second if the times are halves.
    """
    form = run.form
    wrong = run.seconds.wrong + (run.overall.wrong if run.overall else 0)
    found = [*out_of_order(wrong, run.seconds.lines + bool(run.overall)), *_overall(run)]
    busy_ms, least_busy_ms = run.seconds.busy_ms.median, run.seconds.least_busy_ms.median
    if busy_ms is None or least_busy_ms is None or run.mixed:
        return form, found
    busy_s = busy_ms / 1e3
    seen = f"count × median is {busy_s:.2f} s of each second"
    if not form.halves and busy_s < _WHOLE_S:
        text = f"its heading says whole round trips, but {seen}"
        if busy_s > _HALF_S[0]:
            return HALVES, [*found, contradiction(f"{text}, as for halves", "it is read as halves")]
        text = f"{text}, which fits neither whole nor half round trips"
        return form, [*found, contradiction(text, "it is read as whole round trips")]
    if form.halves and busy_s > _HALF_S[1]:
        heading = "its heading says halves" if run.heading else "it has no heading"
        text = f"{heading}, but {seen}, as for whole round trips"
        # If the times are halves, each round trip takes at least twice the minimum. Reject halves if the round trips
        # then would not fit into the seconds.
        if run.heading is None or least_busy_ms / 1e3 > _HALF_S[1]:
            return WHOLE, [*found, contradiction(text, "it is read as whole round trips")]
        return form, [
            *found,
            contradiction(text, "it is read as halves, because the tool printed only halves below this heading"),
        ]
    return form, found


def _overall(run: _Run) -> list[RunWarning]:
    """Return a warning if ``# Overall`` contradicts the lines of the seconds above it."""
    overall, seconds = run.overall, run.seconds
    if overall is None or not seconds.lines or run.mixed:
        return []
    least, most = (overall.minima.least, seconds.minima.least), (overall.maxima.most, seconds.maxima.most)
    text = ""
    if overall.count < seconds.count:
        text = f"`# Overall` counts {overall.count:,} round trips, but its seconds count {seconds.count:,}"
    elif (least[0] or 0.0) > (least[1] or 0.0) or (None not in most and (most[0] or 0.0) < (most[1] or 0.0)):
        text = "a second has a smaller minimum or a larger maximum than `# Overall`"
    return [contradiction(text, "the figures are those of `# Overall`")] if text else []


_WHOLE_S = 0.65
"""Whole round trips take at least this part of a second, even if a few are much longer than the median."""
_HALF_S = (0.3, 0.65)


def _warnings(run: _Run, form: Form) -> list[RunWarning]:
    found = []
    if run.form is NINE:
        found.append(
            RunWarning(
                "another-program",
                "the RoundtripPing of OpenSplice prints the same nine columns",
                "if OpenSplice's program wrote the log, read `cyclonedds` as OpenSplice",
            )
        )
    if run.overall is None:
        found.append(
            RunWarning(
                "median-of-seconds",
                "the log ends before `# Overall`, so each quantile is the median of that quantile's values in "
                f"{run.seconds.lines:,} single seconds",
                "a stall of one second shows only in the maximum",
            )
        )
    elif run.result.count > _KEPT:
        of_seconds = run.seconds.medians.median
        also = (
            f"; the median of the {run.seconds.lines} seconds' medians is {form['median'].ns / 1e3 * of_seconds:g} µs"
            if of_seconds is not None
            else ""
        )
        found.append(
            RunWarning(
                "first-samples-only",
                f"median and 99 % of `# Overall` include only the first {_KEPT:,} of {run.result.count:,} round trips"
                f"{also}",
                "minimum and maximum include all round trips; for quantiles of all, measure again with Middlemark",
            )
        )
    if run.mixed:
        found.append(
            RunWarning(
                "interleaved",
                "two processes wrote into this log, and RoundtripPing does not name them: its figures mix both",
                "let each process write to its own file",
            )
        )
    return found


FORMAT = LogFormat("RoundtripPing's lines", TOOL, _KNOWN, _read, (NINE, WHOLE, HALVES))
