"""How sure a cell's figure is: the interval of the median of its trials' figures."""

from collections.abc import Sequence

import numpy as np

RESAMPLES = 4000
FEWEST = 6
"""With fewer trials the interval would be little more than their range."""


def median_interval(figures: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the percentile bootstrap interval (Efron, 1979) of their median, over trials; None with too few.

    A trial is drawn whole: its samples hang together. The draws are the same every time.
    """
    if len(figures) < FEWEST:
        return None
    values = np.asarray(figures, dtype=np.float64)
    drawn = np.random.default_rng(len(values)).integers(0, len(values), (RESAMPLES, len(values)))
    medians = np.median(values[drawn], axis=1)
    low, high = np.quantile(medians, [(1 - confidence) / 2, (1 + confidence) / 2], method="inverted_cdf")
    return float(low), float(high)
