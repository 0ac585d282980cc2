"""Change points of a series of runs, by ruptures (Truong, Oudre and Vayatis, 2020).

The search uses the ranks of the runs, so that a single extreme run counts no more than any other. The thresholds limit
false changes: without any change, at most one series in 200 has a change point (bench/change_points.py).
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.problems import MeasureError

Values = npt.NDArray[np.float64]

FEWEST_RUNS = 12
"""The fewest runs in which a change can be found."""
SHORTEST = 3
"""The fewest runs before a change point, and the fewest after it."""
LEVEL = 0.005
"""The highest probability of a change point in a series without a change."""
FAMILY = 0.05
"""The highest probability of a change point in any of several series that are searched together."""
THRESHOLDS = {
    12: (9.0, 10.2), 16: (10.4, 12.4), 24: (11.9, 14.9), 32: (12.5, 15.8), 48: (13.5, 18.2), 64: (14.1, 19.8),
    96: (14.4, 20.8), 128: (14.6, 21.5), 256: (15.0, 23.0), 512: (15.6, 26.0),
}  # fmt: skip
"""Number of runs → the least gain of one change point, and of two change points. From bench/change_points.py."""
CONFIDENCE = 0.95


class LevelShift(msgspec.Struct, frozen=True):
    """The relative difference between two groups of runs: 0.1 is a tenth more.

    ``low`` and ``high``: its 95 % interval.
    """

    part: float
    low: float
    high: float


def change_points(values: Sequence[float], series: int = 1) -> tuple[int, ...]:
    """Return the position of the first run after each change.

    ``series``: the number of series that are searched together. The probability of a false change in any of them is
    limited (Bonferroni).
    """
    level = min(LEVEL, FAMILY / series)
    return _placed(np.log(values), sorted(_within(np.asarray(values, dtype=np.float64), 0, level)))


def shift(before: Sequence[float], after: Sequence[float]) -> LevelShift:
    """Return the Hodges-Lehmann shift of the logarithms with the interval of the rank-sum test (Lehmann, 1963)."""
    differences = np.sort(np.subtract.outer(np.log(after), np.log(before)), axis=None)
    pairs, runs = len(before) * len(after), len(before) + len(after)
    reach = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * math.sqrt(pairs * (runs + 1) / 12)
    cut = max(0, math.floor(pairs / 2 - reach))
    middle, low, high = np.median(differences), differences[cut], differences[pairs - 1 - cut]
    return LevelShift(math.expm1(middle), math.expm1(low), math.expm1(high))


def _placed(logarithms: Values, found: Sequence[int]) -> tuple[int, ...]:
    """Return the change points, each moved to where the medians before and after it fit best.

    A search in ranks places a change too near to the middle, because ranks do not show how far the two levels are
    apart.
    """
    ends = [0, *found, len(logarithms)]
    for at in range(1, len(ends) - 1):
        part = logarithms[ends[at - 1] : ends[at + 1]]
        first, _ = _ruptures().Binseg(model="l1", min_size=SHORTEST, jump=1).fit(part).predict(n_bkps=1)
        ends[at] = ends[at - 1] + first
    return tuple(ends[1:-1])


def gains(values: Values) -> tuple[tuple[float, Sequence[int]], ...]:
    """Return (gain, positions) for the best single change point, and for the best two.

    The gain is the decrease of the sum of squares of the ranks, divided by the variance of the ranks.
    """
    ranks = _ranks(values)
    scaled = (ranks - ranks.mean()) / ranks.std()
    fitted = _ruptures().KernelCPD(kernel="linear", min_size=SHORTEST).fit(scaled[:, None])
    found = []
    for number in (1, 2):
        *places, _ = fitted.predict(n_bkps=number)
        parts = np.split(scaled, places)
        found.append((float(sum(len(part) * part.mean() ** 2 for part in parts)), places))
    return tuple(found)


def _within(values: Values, begin: int, level: float) -> Iterator[int]:
    """Yield the change points.

    Each part between two change points is searched again, because ranks of the whole series hide small changes.

    Two change points are searched at once, because one change point does not find a change that is later undone.
    """
    if len(values) < FEWEST_RUNS or np.ptp(values) == 0:
        return
    tried = zip(gains(values), _thresholds(len(values), level), strict=True)
    (excess, places), *_ = sorted(((gain - least, places) for (gain, places), least in tried), reverse=True)
    if excess <= 0:
        return
    ends = [0, *places, len(values)]
    for start, end in itertools.pairwise(ends):
        if start:
            yield begin + start
        yield from _within(values[start:end], begin + start, level)


def _ruptures() -> Any:
    """Return the library, whose import takes 0.3 s. Raises MeasureError if it is missing."""
    try:
        import ruptures
    except ImportError:
        raise MeasureError(
            "change points need the package ruptures, which is missing",
            "pip install ruptures; it has no release for Python 3.14 and later",
        ) from None
    return ruptures


def _ranks(values: Values) -> Values:
    """Return the ranks. Equal values get the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    means: Values = np.cumsum(counts) - (counts - 1) / 2
    return means[places]


def _thresholds(runs: int, level: float) -> list[float]:
    """Return the least gain of one change point, and of two. The tail of false gains is nearly chi-squared."""
    known = sorted(THRESHOLDS)
    return [
        float(np.interp(math.log(runs), np.log(known), [THRESHOLDS[each][number] for each in known]))
        + 2 * math.log(LEVEL / level)
        for number in (0, 1)
    ]
