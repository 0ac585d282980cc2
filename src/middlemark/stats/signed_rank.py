"""Paired differences: the Hodges-Lehmann shift, its exact interval, and Wilcoxon's exact two-sided p-value.

Hodges & Lehmann, "Estimates of location based on rank tests" (1963). The interval inverts the signed-rank test (Tukey).
Zero differences keep their ranks and are not flipped (Pratt, 1959). There is no normal approximation.
"""

import functools
import math
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


class Shift(msgspec.Struct, frozen=True):
    """The shift of ``pairs`` differences, in their unit. With too few pairs the interval is infinite."""

    shift: float
    low: float
    high: float
    p: float
    pairs: int

    @property
    def ratio(self) -> tuple[float, float | None, float | None]:
        """The ratio and its interval, if the differences are differences of logarithms.

        The interval is None with too few pairs.
        """
        if not math.isfinite(self.low):
            return math.exp(self.shift), None, None
        return math.exp(self.shift), math.exp(self.low), math.exp(self.high)


def signed_rank(differences: Sequence[float], confidence: float = 0.95) -> Shift:
    """Return the shift of the differences (at least one, all finite). ``confidence``: of the two-sided interval."""
    values = np.asarray(differences, dtype=np.float64)
    if len(values) == 0 or not np.isfinite(values).all():
        raise ValueError("a shift needs at least one difference, and finite ones")
    walsh = _walsh_averages(values)
    low, high = _interval(walsh, len(values), confidence)
    return Shift(float(np.median(walsh)), low, high, p_value(values), len(values))


def p_value(differences: Values) -> float:
    """Return the probability of a rank sum at least as extreme if all signs were random (two-sided)."""
    ranks = _doubled_ranks(np.abs(differences))
    moved = differences != 0
    observed = int(ranks[moved & (differences > 0)].sum())
    chances = _rank_sums(tuple(sorted(int(rank) for rank in ranks[moved])))
    below = float(chances[: observed + 1].sum())
    above = float(chances[observed:].sum())
    return min(1.0, 2 * min(below, above))


def most_extreme(pairs: int, level: float) -> int:
    """Return the largest smaller rank sum that is significant at ``level``, if there are no ties; -1: none is."""
    chances = _rank_sums(tuple(range(2, 2 * pairs + 1, 2)))[::2]  # ranks are doubled, as elsewhere
    return int(np.searchsorted(np.cumsum(chances), level / 2, side="right")) - 1


def _interval(walsh: Values, pairs: int, confidence: float) -> tuple[float, float]:
    cut = most_extreme(pairs, 1 - confidence) + 1  # number of Walsh averages that may be excluded at each end
    if cut == 0:
        return -math.inf, math.inf
    return float(walsh[cut - 1]), float(walsh[len(walsh) - cut])


def _walsh_averages(values: Values) -> Values:
    first, second = np.triu_indices(len(values))
    return np.sort((values[first] + values[second]) / 2)


def _doubled_ranks(sizes: Values) -> npt.NDArray[np.int64]:
    """Return twice the mean ranks, which are integers even for ties. Sizes that differ only by rounding are ties."""
    sizes = np.round(sizes / (float(sizes.max()) or 1.0), 12)
    ordered = np.sort(sizes)
    before = np.searchsorted(ordered, sizes, side="left")
    through = np.searchsorted(ordered, sizes, side="right")
    return (before + through + 1).astype(np.int64)


@functools.lru_cache(maxsize=256)
def _rank_sums(ranks: tuple[int, ...]) -> Values:
    """Return the probability of each sum of ranks, if each rank is included with a probability of one half."""
    chances = np.zeros(sum(ranks) + 1)
    chances[0] = 1.0
    reach = 0
    for rank in ranks:
        shifted = np.zeros_like(chances)
        shifted[rank : rank + reach + 1] = chances[: reach + 1]
        chances = (chances + shifted) / 2
        reach += rank
    return chances
