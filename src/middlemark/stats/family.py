"""Many comparisons at once: how likely so large a difference is anywhere among them, where none of them has one.

Westfall & Young's (1993) step-down max-T, by joint sign flips of the rounds (Romano & Wolf, 2005): where A and B do not
differ, B was the slower one of a round by chance, and every comparison of that round could have come out the other way
round. So rounds are flipped whole, which keeps what comparisons have in common: that they share a side, and a machine.
Holm's correction counts all of them as if they shared nothing, and with few rounds nothing passes it: the least
p-value of six rounds is 1/32, of ten 1/512, however large the difference.
"""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

FLIPS = 2048
"""All there are for up to 12 rounds, so many drawn ones for more."""
_LEAST = 1e-3
"""No trial's figure is known better than to this part of it."""
_CLIP = 8.0
"""Differences beyond so many times the question's scatter count as that: a stall in one round hides no difference."""
_AT_A_TIME = 4_000_000


def family_p(differences: Sequence[Mapping[int, float]], questions: Sequence[Hashable]) -> list[float]:
    """Return the adjusted two-sided p-value of each comparison: its differences (log-ratios) by round, at least two.

    The chance that any of these comparisons without a true difference has an adjusted p of at most x is at most x.
    ``questions``: comparisons of one question scatter alike, so none is thought to scatter by less than the median of
    its question. Without that the luck of six values that happen to agree would pass for precision.
    """
    if not differences:
        return []
    rounds = sorted({number for each in differences for number in each})
    place = {number: at for at, number in enumerate(rounds)}
    values = np.zeros((len(rounds), len(differences)))
    for column, each in enumerate(differences):
        for number, value in each.items():
            values[place[number], column] = value
    family = _Family(values, np.array([len(each) for each in differences], dtype=np.float64), questions)
    return family.adjusted()


class _Family:
    """Differences, a row a round and a column a comparison; a round that a comparison lacks is zero there."""

    def __init__(self, values: Values, counts: Values, questions: Sequence[Hashable]) -> None:
        members: dict[Hashable, list[int]] = {}
        for column, question in enumerate(questions):
            members.setdefault(question, []).append(column)
        self.members = [np.array(each) for each in members.values()]
        self.counts = counts
        raw = self._left(values.sum(axis=0)[None], (values**2).sum(axis=0))
        self.scatter = np.maximum(self._shared(raw)[0], _LEAST**2)
        bound = _CLIP * np.sqrt(self.scatter)
        self.values = np.clip(values, -bound, bound)
        self.squares = (self.values**2).sum(axis=0)

    def adjusted(self) -> list[float]:
        """Return the p-values: the share of flips in which this one, or one that was nearer to zero, is as far."""
        flips = _flips(len(self.values))
        observed = self._t(flips[:1])[0]
        order = np.argsort(-observed, kind="stable")
        back = order[::-1]
        as_far = np.zeros(len(order))
        step = max(1, _AT_A_TIME // len(order))
        for begin in range(0, len(flips), step):
            farthest = np.maximum.accumulate(self._t(flips[begin : begin + step])[:, back], axis=1)
            as_far[back] += (farthest >= observed[back] * (1 - 1e-9)).sum(axis=0)
        found = np.empty(len(order))
        found[order] = np.maximum.accumulate(as_far[order] / len(flips))
        return [float(each) for each in found]

    def _t(self, flips: Values) -> Values:
        """Return, a row a flip, each mean over its standard error; of its own scatter and its question's the larger."""
        sums = flips @ self.values
        left = self._left(sums, self.squares)
        # The question's scatter in that flip, but not more than it was: true differences make it larger in most flips.
        least = np.clip(self._shared(left), _LEAST**2, self.scatter)
        error = np.sqrt(np.maximum(left, least) / self.counts)
        means = np.abs(sums) / self.counts
        t: Values = means / error
        return t

    def _left(self, sums: Values, squares: Values) -> Values:
        """Return the variance about the mean."""
        about = np.maximum(squares / self.counts - (sums / self.counts) ** 2, 0.0)
        left: Values = about * self.counts / (self.counts - 1)
        return left

    def _shared(self, variances: Values) -> Values:
        """Return the median variance of each one's question."""
        shared = np.empty_like(variances)
        for each in self.members:
            shared[:, each] = np.median(variances[:, each], axis=1, keepdims=True)
        return shared


def _flips(rounds: int) -> Values:
    """Return signs, a row a flip; the first changes nothing.

    Changing all signs moves nothing farther or nearer, so the first round keeps its own.
    """
    if 2 ** (rounds - 1) <= FLIPS:
        bits = (np.arange(2 ** (rounds - 1))[:, None] >> np.arange(rounds - 1)) & 1
    else:
        bits = np.random.default_rng(rounds).integers(0, 2, (FLIPS, rounds - 1))
        bits[0] = 0
    return np.hstack([np.ones((len(bits), 1)), 1.0 - 2.0 * bits])
