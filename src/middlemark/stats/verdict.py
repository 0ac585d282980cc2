"""Two settings by one metric: by what part they differ, how sure that is, and one of four verdicts."""

import math
from collections.abc import Sequence
from enum import StrEnum
from statistics import NormalDist

import msgspec
import numpy as np

from middlemark.stats.signed_rank import Shift, holm, signed_rank

MARGIN = 0.05
"""A smaller part than this is no difference that matters, unless somebody says otherwise."""
CONFIDENCE = 0.95
_POWER = 0.9
_EFFICIENCY = 3 / math.pi
"""Of the signed-rank test against the t-test where differences are normal; with heavy tails it is more."""
_MOST_TRIALS = 10_000


class Verdict(StrEnum):
    """Of B, beside A. What is neither shown to differ by enough nor to be near enough cannot be told."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    CANNOT_TELL = "cannot tell"


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """B beside A by one metric. ``shift``, ``low`` and ``high`` are parts: 0.1 is a tenth more than A has."""

    shift: float
    low: float | None
    """None: too few pairs for an interval; six are the fewest."""
    high: float | None
    p: float
    """Of the signed-rank test, alone."""
    p_family: float
    """The same by Holm, over all that was compared together."""
    pairs: int
    verdict: Verdict
    trials_needed: int | None
    """Where it cannot be told: about how many trials of each would tell, nine times in ten; None: more than 10,000."""


def judge(
    pairs: Sequence[Sequence[tuple[float, float]]], *, higher_is_better: Sequence[bool], margin: float = MARGIN
) -> tuple[Judgement, ...]:
    """Return a verdict on each comparison of a family: its trials of A and of B, paired by their round; all positive.

    The differences are log-ratios. B is better or worse where Holm's p-value over the family is at most 5 % and the
    shift itself is beyond the margin (and 0 outside of its interval: where trials tie, the two may differ); equivalent
    where the interval lies within the margin, whatever the p-value.
    """
    shifts = [signed_rank([math.log(b / a) for a, b in each], CONFIDENCE) for each in pairs]
    adjusted = holm([each.p for each in shifts])
    return tuple(
        _judged(shift, p, [math.log(b / a) for a, b in each], higher, margin)
        for shift, p, each, higher in zip(shifts, adjusted, pairs, higher_is_better, strict=True)
    )


def _judged(shift: Shift, p_family: float, differences: Sequence[float], higher: bool, margin: float) -> Judgement:
    nearest, farthest = -math.log1p(margin), math.log1p(margin)
    if nearest <= shift.low and shift.high <= farthest:
        verdict = Verdict.EQUIVALENT
    elif p_family <= 1 - CONFIDENCE and not shift.low <= 0 <= shift.high and not nearest <= shift.shift <= farthest:
        verdict = Verdict.BETTER if (shift.shift > 0) == higher else Verdict.WORSE
    else:
        verdict = Verdict.CANNOT_TELL
    bounded = math.isfinite(shift.low)
    return Judgement(
        shift=math.expm1(shift.shift),
        low=math.expm1(shift.low) if bounded else None,
        high=math.expm1(shift.high) if bounded else None,
        p=shift.p,
        p_family=p_family,
        pairs=shift.pairs,
        verdict=verdict,
        trials_needed=_trials_needed(shift, differences, farthest) if verdict is Verdict.CANNOT_TELL else None,
    )


def _trials_needed(shift: Shift, differences: Sequence[float], margin: float) -> int | None:
    """By the normal theory: to see the shift there seems to be, or, of a small one, that it is within the margin."""
    away = abs(shift.shift)
    target = away if away > margin else margin - away
    if len(differences) < 2 or target <= 0:
        return None
    normal = NormalDist()
    reach = normal.inv_cdf((1 + CONFIDENCE) / 2) + normal.inv_cdf(_POWER)
    needed = (reach * float(np.std(differences, ddof=1)) / target) ** 2 / _EFFICIENCY
    trials = max(6, shift.pairs + 1, math.ceil(needed))
    return trials if trials <= _MOST_TRIALS else None
