"""A race: who of many candidates is surely not the best leaves, round after round; trials go to those that matter.

Each look spends a part of the error (Lan & DeMets, 1983), so that all looks together stop the best one with a chance of
at most 5 %. While there are many, whoever is slower than the leader by more than a t quantile leaves, as multiple
comparisons with the best have it (Hsu, 1981). Its scatter is moderated (Smyth, 2004): that of all candidates together
counts as some rounds of its own, since two values that happen to agree, or not to, say little. That of all is the
median deviation, and what is farther from a candidate's median than it explains counts as its end (Huber, 1964): on a
machine with other work every fifth trial may be disturbed, and must not hide the others. The last few leave by
the exact signed-rank test of their paired rounds. That test alone could not screen: its least p-value is 2/2^n, and 27
rivals are out of its reach before some ten rounds.
"""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from middlemark.stats.signed_rank import Values, signed_rank
from middlemark.stats.verdict import MARGIN

FIRST_LOOK = 2
"""Rounds before anybody leaves: one has no scatter."""
FINALISTS = 5
"""So many or fewer are told apart by the exact test; a tie names no more either."""
FINAL_LOOKS = (8, 12, 17, 24, 34, 48, 68, 96, 136, 192)
"""Rounds after which it is asked."""
_FINAL = (0.016, 0.007, 0.003, 0.002, 0.0015, 0.001, 0.0007, 0.0004, 0.0002, 0.0002)
"""The error that each of these looks spends: of the first enough that eight rounds can tell five finalists apart, since
over four rivals it is more than 2 ** -8."""
_SCREENING = 0.018
_PRIOR = 6
"""Degrees of freedom that the scatter of all candidates together has in that of each."""
_CLIP = 2.5
"""A difference from the candidate's median beyond so many times the scatter counts as that: a stall is no speed."""
_CORE = 1.3
"""Squared: what the scatter of such differences is, at most, where the median deviation says 1 (simulated)."""

Figures = Mapping[int, float]
"""By round: the logarithm of what is to be small."""
Ended = Literal["best", "tie"]


class AfterLook(msgspec.Struct, frozen=True):
    """``running``: the candidates that may be the best, the leader first; ``eliminated``: the others."""

    running: tuple[Hashable, ...]
    eliminated: tuple[Hashable, ...]
    ended: Ended | None


def standing(
    figures: Mapping[Hashable, Figures],
    margin: float = MARGIN,
    leaders: Collection[Hashable] | None = None,
    *,
    last: bool = False,
) -> AfterLook:
    """Return who leaves after this round, of the candidates that ran in it (``figures`` holds only those).

    To be called after every round, with those that were running then. A round that one of them lacks counts for none.
    Who is slower by less than the margin stays. ``tie``: all that are left are surely within the margin of the leader.
    ``leaders``: who may lead, at least one of them; None: everybody. ``last``: the time is spent, no look follows, and
    this one spends the error that is left. When that is depends on how long trials take, not on what they come to.
    """
    candidates = [*figures]
    rounds = sorted(set.intersection(*(set(each) for each in figures.values())))
    values = np.array([[figures[each][number] for each in candidates] for number in rounds])
    if len(candidates) == 1:
        return AfterLook((candidates[0],), (), "best")
    if len(rounds) < FIRST_LOOK:
        return AfterLook((*candidates,), (), None)
    order = [int(each) for each in np.argsort(np.median(values, axis=0), kind="stable")]
    leader = next(each for each in order if leaders is None or candidates[each] in leaders)
    rivals = [each for each in order if each != leader]
    differences = values - values[:, [leader]]
    leaving = _screened(values, differences, rivals, margin)
    if len(leaving) == len(rivals):  # that there is a winner is for the exact test to say
        leaving.remove(rivals[0])
    if last or len(candidates) - len(leaving) <= FINALISTS:
        staying = [each for each in rivals if each not in leaving]
        leaving |= _beaten(differences, staying, margin, last=last)
    staying = [each for each in rivals if each not in leaving]
    ended: Ended | None = None
    if not staying:
        ended = "best"
    elif len(staying) < FINALISTS and _tied(differences, staying, margin):
        ended = "tie"
    return AfterLook(
        tuple(candidates[each] for each in (leader, *staying)),
        tuple(candidates[each] for each in rivals if each in leaving),
        ended,
    )


def equal_allocation(candidates: int, rounds: int) -> int:
    """Return the trials of such a race if nobody left, with at least the rounds that the exact test then asks for."""
    rivals = max(1, candidates - 1)
    able = (look for look, error in zip(FINAL_LOOKS, _FINAL, strict=True) if 2.0**-look <= error / rivals)
    return candidates * max(rounds, next(able, FINAL_LOOKS[-1]))


def _screened(values: Values, differences: Values, rivals: Sequence[int], margin: float) -> set[int]:
    """Return the rivals that are slower by more than chance explains, among so many and over so many looks."""
    from scipy.special import chdtri, stdtrit  # type: ignore[import-untyped]

    rounds, candidates = values.shape
    look = rounds - FIRST_LOOK + 1
    level = _SCREENING * 6 / (math.pi * look) ** 2 / len(rivals)
    centred = values - np.median(values, axis=1, keepdims=True)
    residuals = centred - np.median(centred, axis=0)
    usual = float(chdtri(rounds - 1, 0.5)) / (rounds - 1)  # the median of such variances, where the true one is 1
    pooled = 2 * float(np.median(np.var(residuals, axis=0, ddof=1))) / usual
    spread = 2 * math.sqrt(pooled)
    if candidates > FINALISTS:  # the median deviation of few says little
        spread = 1.4826 * float(np.median(np.abs(residuals))) * math.sqrt(2 * rounds / (rounds - 1))
        pooled = min(pooled, _CORE * spread**2)
    prior = min(_PRIOR, candidates - 2)  # few know little of each other
    leaving = set()
    for each in rivals:
        own = differences[:, each]
        middle = float(np.median(own))
        own = np.clip(own, middle - _CLIP * spread, middle + _CLIP * spread)
        degrees = prior + rounds - 1
        variance = (prior * pooled + (rounds - 1) * float(np.var(own, ddof=1))) / degrees
        reach = float(stdtrit(degrees, 1 - level)) * math.sqrt(variance / rounds)
        if float(own.mean()) > max(reach, math.log1p(margin)):
            leaving.add(each)
    return leaving


def _beaten(differences: Values, rivals: Sequence[int], margin: float, *, last: bool) -> set[int]:
    """Return the finalists that the exact test calls slower, where this round is one of its looks, or the last."""
    rounds = len(differences)
    spent = [
        error for look, error in zip(FINAL_LOOKS, _FINAL, strict=True) if look == rounds or (last and look > rounds)
    ]
    if not spent or not rivals:
        return set()
    level = sum(spent) / len(rivals)
    found = {each: signed_rank(list(differences[:, each])) for each in rivals}
    return {each for each, shift in found.items() if shift.shift > math.log1p(margin) and shift.p <= 2 * level}


def _tied(differences: Values, rivals: Sequence[int], margin: float) -> bool:
    """Say whether each of them lies within the margin of the leader, by its own 95 % as all must (Berger, 1982)."""
    far = math.log1p(margin)
    shifts = (signed_rank(list(differences[:, each])) for each in rivals)
    return all(-far <= each.low and each.high <= far for each in shifts)
