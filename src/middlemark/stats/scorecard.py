"""A weighted score over several metrics, and the certainty of the resulting order.

A candidate's score is the weighted geometric mean of its figures, each divided by the best candidate's figure. A
candidate with score 1 is the best in everything. Only its weight determines how much a metric counts, not its unit or
scale. The certainty comes from resampling the rounds (the bootstrap of Efron, 1979, with the percentile interval). One
draw has the same rounds for all candidates, as the paired verdicts do, so a disturbed round disturbs all candidates.
The draws are deterministic.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.stats.interval import FEWEST

RESAMPLES = 2000
_AT_A_TIME = 2_000_000
Values = npt.NDArray[np.float64]


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The score of one candidate.

    ``parts``: for each metric, the candidate's figure divided by the best candidate's figure.
    """

    score: float
    low: float | None
    """Lower end of the 95 % interval. With fewer than six rounds, ``low``, ``high`` and ``first`` are None."""
    high: float | None
    first: float | None
    """Share of the draws in which the candidate has the lowest score. Tied candidates share a draw."""
    parts: tuple[float, ...]


def scores(
    candidates: Sequence[Sequence[Mapping[int, float]]], weights: Sequence[float], higher_is_better: Sequence[bool]
) -> tuple[Score, ...]:
    """Return the score of each candidate.

    ``candidates``: for each candidate and metric, round → figure; all figures are positive. Only rounds that all
    candidates have are used.
    """
    rounds = sorted(set.intersection(*({*figures} for questions in candidates for figures in questions)))
    logs = np.log([[[figures[each] for each in rounds] for figures in questions] for questions in candidates])
    logs *= np.where(higher_is_better, -1.0, 1.0)[None, :, None]
    weighing = np.asarray(weights, dtype=np.float64) / sum(weights)
    behind = _behind(np.median(logs, axis=2)[:, :, None])[:, :, 0]
    found = np.exp(weighing @ behind.T)
    drawn = _drawn(logs, weighing) if len(rounds) >= FEWEST else None
    lows, highs = (None, None) if drawn is None else np.quantile(drawn, [0.025, 0.975], axis=1)
    best = None if drawn is None else np.isclose(drawn, drawn.min(axis=0), rtol=1e-12, atol=0)
    first = None if best is None else (best / best.sum(axis=0)).mean(axis=1)
    return tuple(
        Score(
            score=float(found[at]),
            low=None if lows is None else float(lows[at]),
            high=None if highs is None else float(highs[at]),
            first=None if first is None else float(first[at]),
            parts=tuple(map(float, np.exp(behind[at]))),
        )
        for at in range(len(candidates))
    )


def _behind(medians: Values) -> Values:
    """Return the logarithm of each figure divided by the best candidate's figure. The first axis is the candidates."""
    found: Values = medians - medians.min(axis=0, keepdims=True)
    return found


def _drawn(logs: Values, weighing: Values) -> Values:
    """Return the scores, a row for each candidate and a column for each draw."""
    rounds = logs.shape[2]
    picks = np.random.default_rng(rounds).integers(0, rounds, (RESAMPLES, rounds))
    step = max(1, _AT_A_TIME // logs.size)
    parts = [
        np.exp(np.einsum("q,cqd->cd", weighing, _behind(np.median(logs[:, :, picks[at : at + step]], axis=3))))
        for at in range(0, RESAMPLES, step)
    ]
    found: Values = np.concatenate(parts, axis=1)
    return found
