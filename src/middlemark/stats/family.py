"""The p-values of many comparisons at once, adjusted for their number (family-wise error).

Comparisons with the same size, pattern and rate have one *question*: they scatter similarly.

The method is the step-down max-T of Westfall & Young (1993) with joint sign flips of the rounds (Romano & Wolf, 2005).
If A and B do not differ, chance decides in each round which side is slower, and the difference could as well have the
opposite sign. All comparisons of a round are flipped together, so comparisons that share a side, or a disturbance of
the machine, stay dependent. Holm's correction ignores that dependence. With few rounds no difference passes it: the
smallest possible p-value is 1/32 for six rounds and 1/512 for ten, however large the difference.
"""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

FLIPS = 2048
"""Number of sign flips: all possible flips for up to 12 rounds, random flips for more rounds."""
_LEAST = 1e-3
"""The least standard deviation of log-ratios. A smaller standard deviation is replaced by this value."""
_CLIP = 8.0
"""Log-ratios are clipped to this number of standard deviations of their question, so that one stall hides no
difference."""
_AT_A_TIME = 4_000_000


def family_p(differences: Sequence[Mapping[int, float]], questions: Sequence[Hashable]) -> list[float]:
    """Return the adjusted two-sided p-value of each comparison.

    ``differences``: for each comparison, round → log-ratio, at least two. The family-wise error is controlled: the
    probability that any comparison without a true difference has an adjusted p of at most x is at most x. Comparisons
    with equal ``questions`` are assumed to scatter alike. The variance of a comparison is taken as at least the median
    variance of its question. Without this rule, six values that agree by chance would count as precise.
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
    """The log-ratios as a matrix: a row per round, a column per comparison; zero where a comparison lacks the round."""

    def __init__(self, values: Values, counts: Values, questions: Sequence[Hashable]) -> None:
        members: dict[Hashable, list[int]] = {}
        for column, question in enumerate(questions):
            members.setdefault(question, []).append(column)
        self.members = [np.array(each) for each in members.values()]
        self.counts = counts
        raw = self._variances(values.sum(axis=0)[None], (values**2).sum(axis=0))
        self.scatter = np.maximum(self._shared(raw)[0], _LEAST**2)
        bound = _CLIP * np.sqrt(self.scatter)
        self.values = np.clip(values, -bound, bound)
        self.squares = (self.values**2).sum(axis=0)

    def adjusted(self) -> list[float]:
        """Return the p-values.

        The p-value of a comparison is the share of flips in which its own |t|, or the |t| of a comparison with a
        smaller observed |t|, reaches its observed |t|. It is at least the p-value of each comparison with a larger
        observed |t|.
        """
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
        """Return |t| (mean divided by standard error), a row for each flip and a column for each comparison.

        The standard error uses the larger of two variances: the comparison's own, and the median of its question.
        """
        sums = flips @ self.values
        variances = self._variances(sums, self.squares)
        # The median variance of the question in this flip, but at most the observed one: a true difference increases
        # the variance in most flips.
        least = np.clip(self._shared(variances), _LEAST**2, self.scatter)
        error = np.sqrt(np.maximum(variances, least) / self.counts)
        means = np.abs(sums) / self.counts
        t: Values = means / error
        return t

    def _variances(self, sums: Values, squares: Values) -> Values:
        """Return the sample variance of each comparison from its sum and its sum of squares."""
        about = np.maximum(squares / self.counts - (sums / self.counts) ** 2, 0.0)
        variances: Values = about * self.counts / (self.counts - 1)
        return variances

    def _shared(self, variances: Values) -> Values:
        """Return for each comparison the median variance of the comparisons with the same question."""
        shared = np.empty_like(variances)
        for each in self.members:
            shared[:, each] = np.median(variances[:, each], axis=1, keepdims=True)
        return shared


def _flips(rounds: int) -> Values:
    """Return the signs of the rounds, a row for each flip. The first row flips no round.

    Flipping all rounds would change no distance from zero, so the first round is never flipped.
    """
    if 2 ** (rounds - 1) <= FLIPS:
        bits = (np.arange(2 ** (rounds - 1))[:, None] >> np.arange(rounds - 1)) & 1
    else:
        bits = np.random.default_rng(rounds).integers(0, 2, (FLIPS, rounds - 1))
        bits[0] = 0
    return np.hstack([np.ones((len(bits), 1)), 1.0 - 2.0 * bits])
