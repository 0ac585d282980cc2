"""The comparison of two settings by one metric: their relative difference, its certainty, and one of four verdicts."""

import math
from collections.abc import Hashable, Mapping, Sequence
from enum import StrEnum
from statistics import NormalDist

import msgspec
import numpy as np

from middlemark.stats.family import family_p
from middlemark.stats.interval import FEWEST
from middlemark.stats.signed_rank import Shift, signed_rank

MARGIN = 0.05
"""The smallest relative difference that matters, unless the user sets another margin."""
CONFIDENCE = 0.95
POWER = 0.9
EFFICIENCY = 3 / math.pi
"""Efficiency of the signed-rank test relative to the t-test, for normal differences. With heavy tails, it is higher."""
MOST_TRIALS = 10_000


class Verdict(StrEnum):
    """The verdict on B compared with A. Undecided: neither a difference nor an equivalence is shown."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of B with A by one metric. ``shift``, ``low``, ``high``: relative, 0.1 is a tenth more than A."""

    shift: float
    low: float | None
    """Lower end of the interval; None: fewer than six pairs."""
    high: float | None
    p: float
    """p-value of the signed-rank test of this comparison only."""
    p_family: float
    """p-value over all comparisons that are judged together (``family.py``); with too few pairs equal to ``p``."""
    pairs: int
    verdict: Verdict
    trials_needed: int | None
    """If undecided: the number of trials of each side that would decide with a probability of about 0.9. None: more
    than 10,000."""


def judge(
    pairs: Sequence[Mapping[int, tuple[float, float]]],
    *,
    higher_is_better: Sequence[bool],
    questions: Sequence[Hashable],
    margin: float = MARGIN,
) -> tuple[Judgement, ...]:
    """Return a verdict on each comparison of a family. ``pairs``: round → (A's figure, B's figure), all positive.

    The differences are log-ratios. B is better or worse if three conditions hold: the p-value over the family is at
    most 5 %, 0 is outside of the interval, and the shift exceeds the margin. B is equivalent if the interval is within
    the margin, whatever the p-value. Comparisons with fewer than six rounds have no verdict and do not belong to the
    family. ``questions``: see ``family_p``.
    """
    differences = [{number: math.log(b / a) for number, (a, b) in sorted(each.items())} for each in pairs]
    shifts = [signed_rank([*each.values()], CONFIDENCE) for each in differences]
    members = [at for at, each in enumerate(differences) if len(each) >= FEWEST]
    adjusted = [each.p for each in shifts]
    for at, p in zip(
        members, family_p([differences[at] for at in members], [questions[at] for at in members]), strict=True
    ):
        adjusted[at] = p
    undecided = max(1, sum(adjusted[at] > 1 - CONFIDENCE for at in members))
    return tuple(
        _judged(shift, p, [*each.values()], higher, margin, undecided)
        for shift, p, each, higher in zip(shifts, adjusted, differences, higher_is_better, strict=True)
    )


def _judged(
    shift: Shift, p_family: float, differences: Sequence[float], higher: bool, margin: float, undecided: int
) -> Judgement:
    nearest, farthest = -math.log1p(margin), math.log1p(margin)
    if nearest <= shift.low and shift.high <= farthest:
        verdict = Verdict.EQUIVALENT
    elif p_family <= 1 - CONFIDENCE and not shift.low <= 0 <= shift.high and not nearest <= shift.shift <= farthest:
        verdict = Verdict.BETTER if (shift.shift > 0) == higher else Verdict.WORSE
    else:
        verdict = Verdict.UNDECIDED
    bounded = math.isfinite(shift.low)
    return Judgement(
        shift=math.expm1(shift.shift),
        low=math.expm1(shift.low) if bounded else None,
        high=math.expm1(shift.high) if bounded else None,
        p=shift.p,
        p_family=p_family,
        pairs=shift.pairs,
        verdict=verdict,
        trials_needed=_trials_needed(shift, differences, farthest, undecided) if verdict is Verdict.UNDECIDED else None,
    )


def _trials_needed(shift: Shift, differences: Sequence[float], margin: float, undecided: int) -> int | None:
    """Return about how many trials decide, by the normal approximation; None: more than 10,000.

    For a shift beyond the margin: enough to find the shift among ``undecided`` comparisons (Bonferroni's bound; the
    test needs fewer), and to find that it exceeds the margin. For a smaller shift: enough to find that it is within the
    margin.
    """
    away = abs(shift.shift)
    if len(differences) < 2 or away == margin:
        return None
    normal = NormalDist()
    found = normal.inv_cdf(POWER)
    if away > margin:
        reach = max(normal.inv_cdf(1 - (1 - CONFIDENCE) / 2 / undecided) + found, found * away / (away - margin)) / away
    else:
        reach = (normal.inv_cdf((1 + CONFIDENCE) / 2) + found) / (margin - away)
    needed = (reach * float(np.std(differences, ddof=1))) ** 2 / EFFICIENCY
    trials = max(FEWEST, shift.pairs + 1, math.ceil(min(needed, MOST_TRIALS + 1)))
    return trials if trials <= MOST_TRIALS else None
