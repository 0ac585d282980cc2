"""HdrHistogram's interval log, version 1.2: a file a cell, a line a trial, values in ns to three digits.

The format: https://github.com/HdrHistogram/HdrHistogram, HistogramLogWriter. Written by PyPI's ``hdrhistogram``.
"""

import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

DIGITS = 3
_KEPT_BITS = 11
"""Three digits: 2048 buckets, so values below it are exact and of larger ones the highest eleven bits count."""
_CHUNK = 1 << 22


class Interval(msgspec.Struct, frozen=True):
    """One trial: when it began (s since the epoch), how long it measured (s), its latencies in ns.

    ``buckets``: histograms (``lower_ns``, ``upper_ns``, ``count``) of latencies that outgrew the memory for raw ones.
    """

    began: float
    seconds: float
    latencies: Sequence[npt.NDArray[Any]]
    buckets: Sequence[npt.NDArray[Any]] = ()


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
        begin = max(each.began - base, 1e-6)  # the writer takes a start of 0 for one that is not given
        to.output_interval_histogram(found, begin, begin + each.seconds, max_value_unit_ratio=1)
    return out.getvalue()


def _counted(trial: Interval) -> dict[int, int]:
    """Return how many samples are in each bucket of three digits, by the lowest value of the bucket."""
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
