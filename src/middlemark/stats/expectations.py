"""Statistics of expectations: compare the figures of one part with its band, and plan the looks at a growing run.

The interval of a part is either of the ratio of B to A, as in ``compare`` (Hodges and Lehmann, exact, paired by round),
or of the median of a cell's trials.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping
from enum import StrEnum
from statistics import NormalDist

import msgspec

from middlemark.model.expectation import ALPHA, GrowthBound, Untestable, fewest_trials
from middlemark.model.parts import ClaimPart
from middlemark.model.plan import Plan
from middlemark.stats.interval import exact_median_interval
from middlemark.stats.signed_rank import signed_rank
from middlemark.stats.verdict import EFFICIENCY, MOST_TRIALS, POWER

Figures = Mapping[int, float]
"""Round → figure."""

_MEDIAN = 2 / math.pi
"""Efficiency of a median relative to a mean, for normally distributed trials."""
_FURTHER = 1.5
"""The number of trials at a look, divided by the number at the look before."""
_EQUAL_LOOKS = 4
_EQUAL_SHARE = 0.2
"""Each of the first ``_EQUAL_LOOKS`` looks uses this share of the error. Each further look uses half of the remaining
error."""


class ClaimVerdict(StrEnum):
    """The verdict on an expectation."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    UNDECIDED = "undecided"
    UNTESTABLE = "untestable"


class JudgedPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of an expectation with its estimate: a figure in its metric's unit, or a ratio of B to A."""

    part: ClaimPart
    estimate: float
    low: float | None
    """Lower end of the interval of the estimate. ``high`` is the upper end. None: too few trials for an interval."""
    high: float | None
    trials: int
    worst: tuple[int, float] | None = None
    """(number, figure) of the trial with the highest figure, or with the lowest figure if the band has no upper edge.
    """

    @property
    def is_inside(self) -> bool:
        """True if the interval is inside the band."""
        band = self.part.band
        if self.low is None or self.high is None:
            return False
        return (band.low is None or self.low >= band.low) and (band.high is None or self.high <= band.high)

    @property
    def is_disjoint(self) -> bool:
        """True if the interval and the band do not overlap."""
        band = self.part.band
        if self.low is None or self.high is None:
            return False
        return (band.high is not None and self.low > band.high) or (band.low is not None and self.high < band.low)

    @property
    def room(self) -> float:
        """Logarithmic distance of the estimate from the nearest edge of the band; negative outside the band."""
        band = self.part.band
        above = math.inf if band.high is None else _log_ratio(band.high, self.estimate)
        below = math.inf if band.low is None else _log_ratio(self.estimate, band.low)
        return min(above, below)


class Look(msgspec.Struct, frozen=True):
    """The number of trials at which expectations are judged, and the share of the error that this judgement uses."""

    trials: int
    share: float


def look_trials(plan: Plan) -> Iterator[int]:
    """Yield the numbers of trials after which the expectations of a growing run are judged."""
    testable = sum(not isinstance(each.claim, Untestable | GrowthBound) for each in plan.expectations)
    first = fewest_trials(ALPHA * _EQUAL_SHARE / max(1, testable))
    for look in itertools.count():
        yield math.ceil(first * _FURTHER**look)


def share_of(look: int) -> float:
    """Return the share of the error that a look uses.

    Looks count from 1; 0 is the only look at a run that does not grow.
    """
    return _EQUAL_SHARE * 0.5 ** max(0, look - _EQUAL_LOOKS) if look else 1.0


def looks(plan: Plan, trials: int, *, ended: bool) -> list[Look]:
    """Return the looks at an expectation with this number of trials.

    ``ended``: no trial follows, so the trials since the last look get a look of their own.
    """
    if plan.deciding is None:
        return [Look(trials, 1.0)]
    due = list(itertools.takewhile(lambda each: each <= trials, look_trials(plan)))
    if ended and trials not in due:
        due.append(trials)
    return [Look(each, share_of(number)) for number, each in enumerate(due, 1)]


def judged_part(part: ClaimPart, figures: Figures, level: float) -> JudgedPart:
    """Return the part with its interval. ``level``: the probability that the true value is outside the interval."""
    values = [*figures.values()]
    if part.b is not None:
        times, low, high = signed_rank([math.log(each) for each in values], 1 - level).ratio
        return JudgedPart(part=part, estimate=times, low=low, high=high, trials=len(values))
    low, high = exact_median_interval(values, 1 - level) or (None, None)
    upper = part.band.high is not None
    worst = max(figures.items(), key=lambda each: each[1] if upper else -each[1])
    return JudgedPart(
        part=part, estimate=statistics.median(values), low=low, high=high, trials=len(values), worst=worst
    )


def trials_needed(judged: JudgedPart, figures: Figures, level: float) -> int | None:
    """Return about how many trials show on which side of the band's edge the figure lies; None: too many.

    The number comes from the normal approximation.
    """
    values = [*figures.values()]
    fewest = max(fewest_trials(level), len(values) + 1)
    away = abs(judged.room)
    if len(values) < 2 or min(values) <= 0 or not all(map(math.isfinite, values)):
        return fewest
    if away == 0:
        return None
    normal = NormalDist()
    reach = (normal.inv_cdf(1 - level / 2) + normal.inv_cdf(POWER)) / away
    scatter = statistics.stdev(math.log(each) for each in values)
    needed = (reach * scatter) ** 2 / (_MEDIAN if judged.part.b is None else EFFICIENCY)
    trials = max(fewest, math.ceil(min(needed, MOST_TRIALS + 1)))
    return trials if trials <= MOST_TRIALS else None


def _log_ratio(more: float, less: float) -> float:
    if more == less:
        return 0.0
    if less <= 0 or more == math.inf:
        return math.inf
    return -math.inf if more <= 0 or less == math.inf else math.log(more / less)
