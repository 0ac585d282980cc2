"""Exact quantiles of one trial's samples, and the rest of its summary."""

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from middlemark.model.times import QUANTILES, Summary

SAMPLES_BEYOND = 10
"""A quantile is told only when at least this many samples are expected beyond it."""

_CHUNK = 1 << 20

Numbers = npt.NDArray[Any]


@functools.cache
def samples_needed(quantile: Fraction) -> int:
    """Return how many samples a quantile needs: 20 for the median, 1,000 for p99, 100,000 for p99.99."""
    return _rounded_up(SAMPLES_BEYOND * quantile.denominator, quantile.denominator - quantile.numerator)


def rank_of(quantile: Fraction, count: int) -> int:
    """Return the nearest rank among so many samples, from 1."""
    return _rounded_up(quantile.numerator * count, quantile.denominator)


def _rounded_up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)  # of whole numbers: Fraction's own arithmetic takes longer than a short trial


def exact(values: Numbers, quantiles: tuple[Fraction, ...]) -> tuple[float | None, ...]:
    """Return nearest-rank quantiles: the smallest value with at least q·n values at or below it.

    ``values`` has one dimension. None where fewer than ``SAMPLES_BEYOND`` samples lie behind the quantile. Time is
    linear in n, memory one copy.
    """
    count = len(values)
    ranks = [rank_of(q, count) - 1 if count >= samples_needed(q) else None for q in quantiles]
    wanted = sorted({rank for rank in ranks if rank is not None})
    if not wanted:
        return (None,) * len(ranks)
    ordered = np.array(values)  # a copy, and contiguous: a field of the samples is neither ours nor dense
    ordered.partition(wanted)
    return tuple(None if rank is None else float(ordered[rank]) for rank in ranks)


def summarise(values: Numbers) -> Summary:
    """Return the summary of one dimension of ns. Without any value all of it is None, and stdev with fewer than two."""
    if len(values) == 0:
        return Summary()
    lowest, highest = float(values.min()), float(values.max())
    # Rounding may carry a mean of equal values an ulp past them.
    mean = min(max(chunked_sum(values, 0.0) / len(values), lowest), highest)
    stdev = math.sqrt(chunked_sum(values, mean, squared=True) / (len(values) - 1)) if len(values) > 1 else None
    found = dict(zip(QUANTILES, exact(values, tuple(QUANTILES.values())), strict=True))
    return Summary(min=lowest, mean=mean, stdev=stdev, max=highest, **found)


def chunked_sum(values: Numbers, origin: float, *, squared: bool = False) -> float:
    """Sum the distances from ``origin``, or their squares, in chunks: 10^8 samples need no second copy."""
    parts = []
    for begin in range(0, len(values), _CHUNK):
        distances = values[begin : begin + _CHUNK].astype(np.float64) - origin
        parts.append(float(distances @ distances if squared else distances.sum()))
    return math.fsum(parts)
