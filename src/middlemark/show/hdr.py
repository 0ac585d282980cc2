"""HdrHistogram's interval log, version 1.2: a file for each cell, a line for each trial, ns to three digits.

The format: https://github.com/HdrHistogram/HdrHistogram, HistogramLogWriter. PyPI's ``hdrhistogram`` writes it.
"""

import datetime
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.document.document import Document
from middlemark.model.cell import ONE_WAY
from middlemark.model.outcome import TrialOutcome
from middlemark.show import TrialsOf
from middlemark.show.naming import cell_name, file_name
from middlemark.stats.samples import Kept

DIGITS = 3
_KEPT_BITS = 11
"""Precision of three digits: values below 2048 are exact, and larger values keep their highest eleven bits."""
_CHUNK = 1 << 22


MODULES = ("hdrh.histogram", "hdrh.log")
"""The modules that write the log, from PyPI's hdrhistogram."""


class Interval(msgspec.Struct, frozen=True):
    """One trial: its beginning (s since the epoch), its duration (s), and its latencies in ns.

    ``buckets``: histograms (``lower_ns``, ``upper_ns``, ``count``) of the latencies that did not fit into memory as
    samples.
    """

    began: float
    seconds: float
    latencies: Sequence[npt.NDArray[Any]]
    buckets: Sequence[npt.NDArray[Any]] = ()


def write(document: Document, folder: Path, trials_of: TrialsOf, histograms: Any, logs: Any) -> None:
    """Write a log for each cell. ``histograms`` and ``logs`` are MODULES. Raises OSError."""
    file = document.runs[0].file
    for row in document.rows:
        cell = row.result.cell
        field = "one_way_ns" if cell.pattern in ONE_WAY else "round_trip_ns"
        about = f"{cell_name(cell)}, {field}, {', '.join(file.suites)}"
        intervals = _intervals(trials_of(row.index), field, file.started)
        text = log(about, intervals, histograms.HdrHistogram, logs.HistogramLogWriter)
        (folder / f"{file_name(row.index, cell)}.hlog").write_text(text, encoding="utf-8")


def _intervals(trials: Iterable[tuple[TrialOutcome, Sequence[Kept]]], field: str, started: str) -> Iterator[Interval]:
    for trial, roles in trials:
        if trial.stamps_absent is not None and field == "one_way_ns":
            continue
        latencies = [each.raw[field] for each in roles if field in (each.raw.dtype.names or ())]
        if latencies:
            began = datetime.datetime.fromisoformat(trial.started or started).timestamp()
            buckets = [each.histogram for each in roles if each.role == "subscriber" and each.histogram is not None]
            yield Interval(began, trial.measured_s or trial.seconds, latencies, buckets)


def log(about: str, trials: Iterable[Interval], histogram: Callable[..., Any], writer: Callable[..., Any]) -> str:
    """Return the log of one cell; ``histogram``, ``writer``: HdrHistogram and HistogramLogWriter of ``hdrh``."""
    out = io.StringIO()
    to = writer(out)
    to.output_comment(f"[{about}]")
    to.output_log_format_version()
    base: float | None = None
    for each in trials:
        counted = _counted(each)
        if not counted:
            continue
        if base is None:
            base = each.began
            out.write(f"#[StartTime: {base:.3f} (seconds since epoch), of the first trial]\n")
            to.output_base_time(base * 1000.0)
            to.output_legend()
        found = histogram(1, max(2, 2 * max(counted)), DIGITS)
        for value, count in sorted(counted.items()):
            found.record_value(value, count)
        begin = max(each.began - base, 1e-6)  # the writer ignores a start of 0
        to.output_interval_histogram(found, begin, begin + each.seconds, max_value_unit_ratio=1)
    return out.getvalue()


def _counted(trial: Interval) -> dict[int, int]:
    """Return lowest value of a bucket → number of samples in it. Buckets have a precision of three digits."""
    totals: dict[int, int] = {}

    def add(values: npt.NDArray[np.int64], counts: npt.NDArray[np.int64] | None) -> None:
        _, exponents = np.frexp(values.astype(np.float64))
        shifts = np.maximum(exponents.astype(np.int64) - _KEPT_BITS, 0)
        lowest, where = np.unique((values >> shifts) << shifts, return_inverse=True)
        sums = np.bincount(where, weights=counts, minlength=len(lowest))
        for value, count in zip(lowest.tolist(), sums.tolist(), strict=True):
            totals[value] = totals.get(value, 0) + int(count)

    for part in trial.latencies:
        for begin in range(0, len(part), _CHUNK):
            add(np.maximum(np.asarray(part[begin : begin + _CHUNK]).astype(np.int64), 1), None)
    for each in trial.buckets:
        middle = (each["lower_ns"].astype(np.int64) + each["upper_ns"].astype(np.int64) - 1) // 2
        add(np.maximum(middle, 1), each["count"].astype(np.int64))
    return totals
