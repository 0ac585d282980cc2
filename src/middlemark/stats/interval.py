"""The interval of the median of a cell's trials, and the cells that need more trials."""

import functools
import math
import statistics
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.model.plan import Precision

RESAMPLES = 4000
FEWEST = 6
"""Fewest trials for an interval. With fewer trials, the interval would be little more than the range of the figures."""


def median_interval(figures: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the percentile bootstrap interval (Efron, 1979) of the median; None: fewer than ``FEWEST`` figures.

    Whole trials are drawn, because samples of one trial are correlated. The draws are deterministic.
    """
    if len(figures) < FEWEST:
        return None
    lower, upper = _middle_ranks(len(figures))
    ordered = np.sort(np.asarray(figures, dtype=np.float64))
    medians = (ordered[lower] + ordered[upper]) / 2
    low, high = np.quantile(medians, [(1 - confidence) / 2, (1 + confidence) / 2], method="inverted_cdf")
    return float(low), float(high)


def exact_median_interval(figures: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Return the two figures between which the distribution's median lies, with at least this confidence.

    The interval inverts the sign test (Thompson, 1936) and is valid for any distribution, also a bimodal one. None: too
    few figures for this confidence.
    """
    trials = len(figures)
    beyond, outside = -1, 0.0
    while (outside := outside + 2.0 * math.comb(trials, beyond + 1) / 2.0**trials) <= 1 - confidence:
        beyond += 1
    ordered = sorted(figures)
    return None if beyond < 0 else (ordered[beyond], ordered[trials - 1 - beyond])


@functools.lru_cache(maxsize=64)
def _middle_ranks(count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the ranks of the middle two figures in each bootstrap draw of ``count`` trials, as two arrays."""
    drawn = np.sort(np.random.default_rng(count).integers(0, count, (RESAMPLES, count)), axis=1)
    return drawn[:, (count - 1) // 2], drawn[:, count // 2]


class Imprecision(msgspec.Struct, frozen=True):
    """Indices of the cells whose medians are not precise enough, and indices of the cells without a figure."""

    imprecise: tuple[int, ...]
    unmeasured: tuple[int, ...]


def reach(figures: Sequence[float]) -> float | None:
    """Return the distance from the median to the farther end of its interval, as a share of the median.

    None: fewer than six figures have no interval.
    """
    interval = median_interval(figures)
    if interval is None:
        return None
    median = statistics.median(figures)
    return max(median - interval[0], interval[1] - median) / median


def imprecision(precision: Precision, figures: Mapping[int, Sequence[float]], rounds: int) -> Imprecision:
    """Return the cells that are not precise enough after these rounds. ``figures``: cell → its trials' figures."""
    imprecise = []
    unmeasured = []
    for cell in precision.focus:
        measured = figures.get(cell, ())
        if not measured and rounds >= FEWEST:
            unmeasured.append(cell)
            continue
        part = reach(measured)
        if part is None or part > precision.part:
            imprecise.append(cell)
    return Imprecision(tuple(imprecise), tuple(unmeasured))
