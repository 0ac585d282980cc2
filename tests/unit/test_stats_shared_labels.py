"""The rate of false verdicts from noise alone between labels that share trials."""

import itertools
import statistics

import numpy as np
import pytest
import scipy.stats

from middlemark.stats.selftest import RUNS, false_counts
from middlemark.stats.signed_rank import most_extreme, p_value


@pytest.mark.parametrize("trials", range(6, 21))
def test_the_most_extreme_sum_is_the_last_that_scipys_test_rejects(trials: int) -> None:
    extreme = most_extreme(trials, 0.05)
    ranks = np.arange(1, trials + 1)

    def p(lesser: int) -> float:
        """Return differences whose positive ranks add up to ``lesser``."""
        signs = np.full(trials, -1.0)
        for rank in ranks[::-1]:
            if rank <= lesser:
                signs[rank - 1] = 1.0
                lesser -= int(rank)
        return float(scipy.stats.wilcoxon(signs * ranks, method="exact").pvalue)

    assert p(extreme) <= 0.05 < p(extreme + 1)


def test_five_pairs_reject_nothing() -> None:
    assert most_extreme(5, 0.05) == -1
    assert not false_counts(6, 5, 1, 0.05).any()


@pytest.mark.parametrize("labels", [2, 6])
def test_each_comparison_is_false_as_often_as_its_test_promises(labels: int) -> None:
    ranks = np.arange(1.0, 11.0)
    signs = itertools.product((-1.0, 1.0), repeat=10)  # all sign patterns are equally likely
    promised = statistics.mean(p_value(np.array(each) * ranks) <= 0.05 for each in signs)
    counts = false_counts(labels, 10, 7, 0.05)
    assert counts.mean() / (labels * (labels - 1) / 2) == pytest.approx(promised, abs=0.01)
    assert len(counts) == RUNS


def test_comparisons_with_common_labels_are_false_together() -> None:
    separate = sum(false_counts(2, 10, seed, 0.05) for seed in range(15))
    shared = false_counts(6, 10, 1, 0.05)
    assert shared.mean() == pytest.approx(separate.mean(), rel=0.1)
    assert shared.var() > 1.6 * separate.var()


def test_a_seed_determines_the_false_counts() -> None:
    first, again, other = (false_counts(4, 10, seed, 0.05) for seed in (3, 3, 4))
    assert (first == again).all()
    assert (first != other).any()


def test_false_counts_equal_those_of_the_signed_rank_test_itself() -> None:
    values = np.random.default_rng(11).standard_normal((RUNS, 8, 3))
    counts = [
        sum(p_value(run[:, a] - run[:, b]) <= 0.05 for a, b in itertools.combinations(range(3), 2))
        for run in values[:300]
    ]
    assert false_counts(3, 8, 11, 0.05)[:300].tolist() == counts
