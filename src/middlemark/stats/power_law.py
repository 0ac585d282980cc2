"""Fit a power law y = a · x^b that a few wrong points do not change.

The exponent b is the Theil-Sen slope of the logarithms: the median of the slopes between all pairs of points. Its
interval is from Sen, Estimates of the regression coefficient based on Kendall's tau, JASA 63 (1968); the tests compare
both with ``scipy.stats.theilslopes``.
"""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

FEWEST_LEVELS = 3
"""A power law through two levels always fits exactly, so its residual could not show a bad fit."""
CONFIDENCE = 0.95


class PowerLaw(msgspec.Struct, frozen=True, kw_only=True):
    """A fitted power law."""

    exponent: float
    low: float
    """The lower end of the 95 % interval of the exponent."""
    high: float
    factor: float
    """The value at x = 1."""
    residual: float
    """How far the level that fits worst is from the line: its median divided by the line's value, or the inverse if
    that is larger. 1: all levels are on the line."""

    def at(self, x: float) -> float:
        """Return the value of the line at ``x``."""
        return self.factor * math.pow(x, self.exponent)


def power_law(points: Iterable[tuple[float, float]]) -> PowerLaw | None:
    """Return the power law through the points (x, y).

    None: fewer than ``FEWEST_LEVELS`` different x have a positive y.
    """
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    levels: dict[float, list[float]] = {}
    for x, y in logs:
        levels.setdefault(x, []).append(y)
    if len(levels) < FEWEST_LEVELS:
        return None
    slopes = sorted((y - v) / (x - u) for (u, v), (x, y) in itertools.combinations(logs, 2) if x != u)
    exponent = statistics.median(slopes)
    low, high = _interval(slopes, [x for x, _ in logs], [y for _, y in logs])
    offset = statistics.median(y - exponent * x for x, y in logs)
    residual = max(abs(statistics.median(ys) - offset - exponent * x) for x, ys in levels.items())
    return PowerLaw(exponent=exponent, low=low, high=high, factor=math.exp(offset), residual=math.exp(residual))


def _interval(slopes: Sequence[float], xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return the interval of the median slope. ``slopes``: ascending."""

    def tied(values: Sequence[float]) -> int:
        return sum(_spread(each) for each in Counter(values).values() if each > 1)

    sigma = math.sqrt(max(0.0, (_spread(len(xs)) - tied(xs) - tied(ys)) / 18))
    z = statistics.NormalDist().inv_cdf((1 - CONFIDENCE) / 2)
    upper = min(round((len(slopes) - z * sigma) / 2), len(slopes) - 1)
    lower = max(round((len(slopes) + z * sigma) / 2) - 1, 0)
    return slopes[lower], slopes[upper]


def _spread(number: int) -> int:
    return number * (number - 1) * (2 * number + 5)
