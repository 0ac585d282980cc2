"""How many of the comparisons of some labels with one another are false where noise alone decides. Simulated.

Those that share a label are false together, so their count scatters by more than a binomial one. How much more has no
closed form; it is drawn here from normal trials, with a fixed seed: the same question has the same answer.
"""

import itertools

import numpy as np
import numpy.typing as npt

from middlemark.stats.signed_rank import most_extreme

RUNS = 4000
_CELLS = 20_000_000
"""Ranks that are held at a time, at most: runs × trials × comparisons."""


def false_counts(labels: int, trials: int, seed: int, level: float) -> npt.NDArray[np.int64]:
    """Return how many of all pairs of ``labels`` the signed-rank test calls different, in ``RUNS`` runs of A alone.

    ``level``: the two-sided p-value at which it does. One count a run; all zero where there are too few trials.
    """
    pairs = list(itertools.combinations(range(labels), 2))
    counts = np.zeros(RUNS, dtype=np.int64)
    extreme = most_extreme(trials, level)
    if extreme < 0 or not pairs:
        return counts
    draw = np.random.default_rng(seed)
    first, second = np.array(pairs).T
    sums = trials * (trials + 1) // 2
    step = max(1, _CELLS // (trials * len(pairs)))
    for begin in range(0, RUNS, step):
        values = draw.standard_normal((min(step, RUNS - begin), trials, labels))
        differences = values[:, :, first] - values[:, :, second]
        ranks = np.abs(differences).argsort(axis=1).argsort(axis=1) + 1
        above = (ranks * (differences > 0)).sum(axis=1)
        counts[begin : begin + step] = (np.minimum(above, sums - above) <= extreme).sum(axis=1)
    return counts
