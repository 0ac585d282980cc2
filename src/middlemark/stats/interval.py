"""How sure a cell's figure is: the interval of the median of its trials' figures."""

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RESAMPLES = 4000
FEWEST = 6
"""With fewer trials the interval would be little more than their range."""


def median_interval(figures: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the percentile bootstrap interval (Efron, 1979) of their median, over trials; None with too few.

    A trial is drawn whole: its samples hang together. The draws are the same every time.
    """
    if len(figures) < FEWEST:
        return None
    lower, upper = _middle_ranks(len(figures))
    ordered = np.sort(np.asarray(figures, dtype=np.float64))
    medians = (ordered[lower] + ordered[upper]) / 2
    low, high = np.quantile(medians, [(1 - confidence) / 2, (1 + confidence) / 2], method="inverted_cdf")
    return float(low), float(high)


@functools.lru_cache(maxsize=64)
def _middle_ranks(count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the ranks, among ``count`` trials, of the two in the middle of each draw: the draws know no figures."""
    drawn = np.sort(np.random.default_rng(count).integers(0, count, (RESAMPLES, count)), axis=1)
    return drawn[:, (count - 1) // 2], drawn[:, count // 2]
