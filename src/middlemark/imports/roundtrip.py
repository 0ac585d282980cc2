"""Read the output of Cyclone DDS's RoundtripPing: one line per second and ``# Overall``.

The log contains the payload's size, but does not say which process printed a line.
"""

import itertools
import re
import statistics
from collections.abc import Iterable, Iterator

import msgspec

from middlemark.imports.lines import Lines
from middlemark.imports.log import ImportedTrial, Log, LogFormat, cell, halved, imported_warning, no_result
from middlemark.model.cell import Cell
from middlemark.model.outcome import RunWarning, TrialCounts
from middlemark.model.times import Summary, Times

TOOL = "RoundtripPing"
_ADAPTER = "cyclonedds (RoundtripPing)"
_KEPT = 50_000

_HEADER = re.compile(rb"# payloadSize: (\d{1,12}) \| numSamples: \d+ \| timeOut: -?\d+")
# The count; median, min, 99 % and max of half round trips; count, median and min of writing; those three of reading.
_FIGURES = rb" +(\d{1,12})" * 11
_SECOND = re.compile(rb"(\d{1,12})" + _FIGURES)
_OVERALL = re.compile(rb"# Overall" + _FIGURES)
_HEADING = re.compile(rb"# Seconds +Count +median.*")
_OTHER = re.compile(
    rb"# (?:Waiting for startup jitter to stabilise|Warm up complete\.|Latency measurements \(in us\)|"
    rb"Latency \[us\] +Write-access.*)|Waiting for samples from ping .*|\d+\.\d+ \[\d*\] .+|"
    rb"#  +Latency \[us\] .*|Sending termination request\.|Received termination request\. Terminating\."
)
_KNOWN = re.compile(
    rb"^(?:# payloadSize: \d+ \| numSamples: |# Overall +\d+ |#  +Latency \[us\] +Write-access|"
    rb"# Seconds +Count +median)",
    re.M,
)


class _Line(msgspec.Struct, frozen=True):
    """The figures of one line, in whole µs; the first five are half round trips."""

    count: int
    median: int
    least: int
    p99: int
    most: int
    writes: tuple[int, int, int]
    reads: tuple[int, int, int]


class _Run:
    """A header and the lines after it. If several headers come before the first figures, all belong to the run."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.warm = 0
        """The number of processes that reported the end of their warm-up."""
        self.begun = False
        """True if the heading above the figures was read."""
        self.refused = False
        """True if figures were refused, as their size is unknown or a second ``# Overall`` came."""
        self.seconds: list[_Line] = []
        self.overall: _Line | None = None
        self.last = 0
        self.mixed = False

    @property
    def size(self) -> int | None:
        """The payload's bytes; 0: the header is lost; None: lines of two sizes are mixed."""
        if self.warm > 1 and len(set(self.sizes)) > 1:
            return None
        return self.sizes[-1] if self.sizes else 0


def _read(blocks: Iterable[bytes]) -> Log:
    lines = Lines(blocks)
    runs = [_Run()]
    for index, line in lines.each():
        run = runs[-1]
        if header := _HEADER.fullmatch(line):
            if run.seconds or run.overall or run.begun:
                run = _Run()
                runs.append(run)
            run.sizes.append(int(header[1]))
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
            run.seconds.append(_line(second.groups()[1:]))
        elif overall := _OVERALL.fullmatch(line):
            if run.size is None or run.overall:
                run.refused = True
                lines.refuse(index, line)
                continue
            run.overall = _line(overall.groups())
        elif _OTHER.fullmatch(line) is None:
            lines.refuse(index, line)
    for before, run in itertools.pairwise(runs):
        before.refused |= run.mixed  # lines of this run may be mixed with those of the next
    measured = tuple(each for run in runs for each in _trials(run))
    return Log(measured=measured, lines=lines.filled, unread=lines.unread, first_unread=lines.first_unread)


def _line(groups: tuple[bytes, ...]) -> _Line:
    count, median, least, p99, most, *access = map(int, groups)
    return _Line(count, median, least, p99, most, (access[0], access[1], access[2]), (access[3], access[4], access[5]))


def _trials(run: _Run) -> Iterator[ImportedTrial]:
    """Yield a failed trial for each header without figures, then the measured trial."""
    figures = bool(run.seconds or run.overall)
    if not run.refused:
        sharing = max(run.warm, 1) if figures else 0  # the number of last headers whose processes printed the figures
        for size in run.sizes[: len(run.sizes) - sharing]:
            yield no_result(_cell(size), f"the heading of {size:,} bytes")
    if figures:
        yield _measured(run)


def _cell(size: int) -> Cell:
    return cell(_ADAPTER, size, subscribers=1, publishers=1, topics=1, reliability="reliable", rate="max")


def _measured(run: _Run) -> ImportedTrial:
    where = _cell(run.size or 0)
    lines = [run.overall] if run.overall else run.seconds
    count = sum(each.count for each in lines)
    warnings = [imported_warning(where), halved(TOOL, ", cut off to whole µs"), *_warnings(run, count)]
    times = Times(
        round_trip_ns=_figures(
            [(each.median, each.least, each.p99 if each.count >= 1_000 else None, each.most) for each in lines], 2_000
        ),
        write_ns=_figures([(*each.writes[1:], None, None) for each in lines], 1_000),
        take_ns=_figures([(*each.reads[1:], None, None) for each in lines], 1_000),
    )
    return ImportedTrial(
        cell=where,
        times=times,
        samples=count,
        counts=TrialCounts(received=count),
        counted=("received",),
        warnings=tuple(warnings),
    )


def _figures(lines: list[tuple[int, int, int | None, int | None]], ns: int) -> Summary:
    def over(values: list[int]) -> float | None:
        return ns * statistics.median(values) if values else None

    most = [each[3] for each in lines if each[3] is not None]
    return Summary(
        p50=over([each[0] for each in lines]),
        min=ns * min(each[1] for each in lines),
        p99=over([each[2] for each in lines if each[2] is not None]),
        max=ns * max(most) if most else None,
    )


def _warnings(run: _Run, count: int) -> list[RunWarning]:
    found = []
    if run.overall is None:
        found.append(
            RunWarning(
                "median-of-seconds",
                "the log ends before `# Overall`, so each quantile is the median of that quantile's values in "
                f"{len(run.seconds):,} single seconds",
                "a stall of one second shows only in the maximum",
            )
        )
    elif count > _KEPT:
        seconds = [each.median for each in run.seconds]
        of_seconds = (
            f"; the median of the {len(seconds)} seconds' medians is {2 * statistics.median(seconds):g} µs"
            if seconds
            else ""
        )
        found.append(
            RunWarning(
                "first-samples-only",
                f"median and 99 % of `# Overall` are those of the first {_KEPT:,} of {count:,} round trips{of_seconds}",
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


FORMAT = LogFormat("RoundtripPing's lines", TOOL, _KNOWN, _read)
