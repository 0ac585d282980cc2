"""The elimination rule of a race: candidates that are significantly slower are eliminated, round after round.

So trials are spent on the candidates that may win. Each look uses a part of the error (Lan & DeMets, 1983): all looks
together eliminate the best candidate with a probability of at most 5 %.

With many candidates, a candidate is eliminated if it is slower than the leader by more than a t quantile, as in
multiple comparisons with the best (Hsu, 1981). The scatter is moderated (Smyth, 2004): the scatter of all candidates
counts as a few rounds of each candidate, because two values that happen to agree, or to differ, say little. The scatter
is a median deviation. Values farther from a candidate's median than the scatter explains are clipped (Huber, 1964). On
a machine with other work every fifth trial may be disturbed, and must not hide the undisturbed trials.

The last few candidates are eliminated by the exact signed-rank test of their paired rounds. With many candidates that
test finds nothing, because its smallest p-value is 2/2^n: for 27 rivals it needs about ten rounds.
"""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from middlemark.stats.signed_rank import Values, signed_rank
from middlemark.stats.verdict import MARGIN

FIRST_LOOK = 2
"""Rounds before the first elimination, because one round has no scatter."""
FINALISTS = 5
"""The exact test is used for at most this number of candidates. A tie has at most this number of candidates."""
FINAL_LOOKS = (8, 12, 17, 24, 34, 48, 68, 96, 136, 192)
"""Rounds after which the exact test is applied."""
_FINAL = (0.016, 0.007, 0.003, 0.002, 0.0015, 0.001, 0.0007, 0.0004, 0.0002, 0.0002)
"""The error that each look of ``FINAL_LOOKS`` may use. The first error, divided by four rivals, exceeds 2 ** -8. So
eight rounds can decide between five finalists."""
_SCREENING = 0.018
_PRIOR = 6
"""The scatter of all candidates counts as this number of degrees of freedom in each candidate's scatter."""
_CLIP = 2.5
"""Differences from the candidate's median are clipped to this many times the scatter, so that a stall does not count as
slow."""
_CORE = 1.3
"""Upper bound, from simulation, of the square of (scatter of the clipped differences ÷ median deviation)."""

Figures = Mapping[int, float]
"""Round → logarithm of the figure; less is better."""
Ended = Literal["best", "tie"]


class AfterLook(msgspec.Struct, frozen=True):
    """State after a look.

    ``running``: the candidates that may be the best, the leader first. ``eliminated``: the others.
    """

    running: tuple[Hashable, ...]
    eliminated: tuple[Hashable, ...]
    ended: Ended | None


def after_look(
    figures: Mapping[Hashable, Figures],
    margin: float = MARGIN,
    leaders: Collection[Hashable] | None = None,
    *,
    last: bool = False,
) -> AfterLook:
    """Return the candidates that are eliminated after this round, and the candidates that still run.

    Call it after every round, with the candidates that ran in the round. A round is used only if all these candidates
    have a figure in it. A candidate that is slower by less than the margin stays. ``tie``: all running candidates are
    within the margin of the leader, with 95 % confidence. ``leaders``: the candidates that may lead (at least one);
    None: all. ``last``: no time is left, so this look uses the remaining error. Using it is valid, because the number
    of rounds then depends on the duration of the trials and not on their results.
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
    eliminated = _screened(values, differences, rivals, margin)
    if len(eliminated) == len(rivals):  # only the exact test may find a winner
        eliminated.remove(rivals[0])
    if last or len(candidates) - len(eliminated) <= FINALISTS:
        running = [each for each in rivals if each not in eliminated]
        eliminated |= _beaten(differences, running, margin, last=last)
    running = [each for each in rivals if each not in eliminated]
    ended: Ended | None = None
    if not running:
        ended = "best"
    elif len(running) < FINALISTS and _tied(differences, running, margin):
        ended = "tie"
    return AfterLook(
        tuple(candidates[each] for each in (leader, *running)),
        tuple(candidates[each] for each in rivals if each in eliminated),
        ended,
    )


def equal_allocation(candidates: int, rounds: int) -> int:
    """Return the number of trials without any elimination, with at least the rounds that the exact test needs."""
    rivals = max(1, candidates - 1)
    able = (look for look, error in zip(FINAL_LOOKS, _FINAL, strict=True) if 2.0**-look <= error / rivals)
    return candidates * max(rounds, next(able, FINAL_LOOKS[-1]))


def _screened(values: Values, differences: Values, rivals: Sequence[int], margin: float) -> set[int]:
    """Return the rivals that are slower by more than chance explains, for this number of rivals and looks."""
    from scipy.special import chdtri, stdtrit  # type: ignore[import-untyped]

    rounds, candidates = values.shape
    look = rounds - FIRST_LOOK + 1
    level = _SCREENING * 6 / (math.pi * look) ** 2 / len(rivals)
    centred = values - np.median(values, axis=1, keepdims=True)
    residuals = centred - np.median(centred, axis=0)
    usual = float(chdtri(rounds - 1, 0.5)) / (rounds - 1)  # the median of sample variances if the true variance is 1
    pooled = 2 * float(np.median(np.var(residuals, axis=0, ddof=1))) / usual
    spread = 2 * math.sqrt(pooled)
    if candidates > FINALISTS:  # the median of few deviations is unreliable
        spread = 1.4826 * float(np.median(np.abs(residuals))) * math.sqrt(2 * rounds / (rounds - 1))
        pooled = min(pooled, _CORE * spread**2)
    prior = min(_PRIOR, candidates - 2)  # a common scatter of few candidates is unreliable
    slower = set()
    for each in rivals:
        own = differences[:, each]
        middle = float(np.median(own))
        own = np.clip(own, middle - _CLIP * spread, middle + _CLIP * spread)
        degrees = prior + rounds - 1
        variance = (prior * pooled + (rounds - 1) * float(np.var(own, ddof=1))) / degrees
        reach = float(stdtrit(degrees, 1 - level)) * math.sqrt(variance / rounds)
        if float(own.mean()) > max(reach, math.log1p(margin)):
            slower.add(each)
    return slower


def _beaten(differences: Values, rivals: Sequence[int], margin: float, *, last: bool) -> set[int]:
    """Return the finalists that the exact test finds slower.

    The test is used after the rounds in ``FINAL_LOOKS`` and after the last round of the race. After any other round the
    result is empty.
    """
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
    """Say whether every rival is within the margin of the leader, each with 95 % confidence (Berger, 1982)."""
    far = math.log1p(margin)
    shifts = (signed_rank(list(differences[:, each])) for each in rivals)
    return all(-far <= each.low and each.high <= far for each in shifts)
