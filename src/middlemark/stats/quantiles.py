"""Exact quantiles of one trial's samples, and the other figures of its summary."""

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from middlemark.model.times import QUANTILES, Summary

SAMPLES_BEYOND = 10
"""A quantile is reported only if at least this number of samples is expected above it."""

_CHUNK = 1 << 20

Numbers = npt.NDArray[Any]


@functools.cache
def samples_needed(quantile: Fraction) -> int:
    """Return the number of samples that a quantile needs: 20 for the median, 1,000 for p99, 100,000 for p99.99."""
    return _rounded_up(SAMPLES_BEYOND * quantile.denominator, quantile.denominator - quantile.numerator)


def rank_of(quantile: Fraction, count: int) -> int:
    """Return the nearest rank of a quantile among ``count`` samples, from 1."""
    return _rounded_up(quantile.numerator * count, quantile.denominator)


def _rounded_up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)  # Fraction is far slower than integers


def exact(values: Numbers, quantiles: tuple[Fraction, ...]) -> tuple[float | None, ...]:
    """Return nearest-rank quantiles: the smallest value with at least q·n values at or below it.

    ``values`` has one dimension. None: fewer than ``SAMPLES_BEYOND`` samples are expected above the quantile. The time
    is linear in n, and one copy of the values is made.
    """
    count = len(values)
    ranks = [rank_of(q, count) - 1 if count >= samples_needed(q) else None for q in quantiles]
    wanted = sorted({rank for rank in ranks if rank is not None})
    if not wanted:
        return (None,) * len(ranks)
    ordered = np.array(values)  # a contiguous copy, because the samples' memory is strided and must not be reordered
    ordered.partition(wanted)
    return tuple(None if rank is None else float(ordered[rank]) for rank in ranks)


def summarise(values: Numbers) -> Summary:
    """Return the summary of a one-dimensional array in ns.

    Without values all figures are None; with one value stdev is None.
    """
    if len(values) == 0:
        return Summary()
    lowest, highest = float(values.min()), float(values.max())
    # By rounding, the mean of equal values may be slightly outside of their range.
    mean = min(max(chunked_sum(values, 0.0) / len(values), lowest), highest)
    stdev = math.sqrt(chunked_sum(values, mean, squared=True) / (len(values) - 1)) if len(values) > 1 else None
    found = dict(zip(QUANTILES, exact(values, tuple(QUANTILES.values())), strict=True))
    return Summary(min=lowest, mean=mean, stdev=stdev, max=highest, **found)


def chunked_sum(values: Numbers, origin: float, *, squared: bool = False) -> float:
    """Return the sum of the differences from ``origin``, or of their squares.

    Works in chunks, so that up to 10^8 samples are never copied at once.
    """
    parts = []
    for begin in range(0, len(values), _CHUNK):
        distances = values[begin : begin + _CHUNK].astype(np.float64) - origin
        parts.append(float(distances @ distances if squared else distances.sum()))
    return math.fsum(parts)
