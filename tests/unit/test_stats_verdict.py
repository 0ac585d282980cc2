"""Verdicts keep their promise: seldom false, and a difference that matters is found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.stats.verdict import Judgement, Verdict, judge

Pairs = list[tuple[float, float]]


def one(pairs: Pairs, *, higher: bool = False, margin: float = 0.05) -> Judgement:
    (judged,) = judge([dict(enumerate(pairs))], higher_is_better=[higher], questions=[0], margin=margin)
    return judged


def trials(rng: np.random.Generator, pairs: int, shift: float) -> Pairs:
    """Return the p50 of A and of B in each round. Samples are correlated and have a heavy tail; the machine drifts.

    Each round has its own level (a random walk), and so has each trial (its processes are new). The level also wanders
    within a trial: consecutive samples are correlated by 0.95.
    """
    walk = np.cumsum(rng.normal(0, 0.05, pairs))

    def p50(level: float) -> float:
        steps = rng.normal(0, 0.03, 300)
        wander = np.empty(300)
        wander[0] = steps[0]
        for index in range(1, 300):
            wander[index] = 0.95 * wander[index - 1] + steps[index]
        tail = np.where(rng.random(300) < 0.02, rng.pareto(1.2, 300), 0.0)
        return float(np.median(np.exp(level + wander + np.abs(rng.normal(0, 0.05, 300))) + tail))

    own = 0.047 * rng.standard_t(5, (pairs, 2)) * np.sqrt(3 / 5)
    return [
        (p50(walk[index] + own[index, 0]), p50(walk[index] + own[index, 1]) * (1 + shift)) for index in range(pairs)
    ]


def test_a_against_a_is_seldom_judged_different() -> None:
    rng = np.random.default_rng(20)
    verdicts = [one(trials(rng, 10, 0.0)).verdict for _ in range(500)]
    assert sum(each in (Verdict.BETTER, Verdict.WORSE) for each in verdicts) <= 0.06 * 500


def test_ten_pairs_find_a_shift_of_a_tenth() -> None:
    rng = np.random.default_rng(21)
    verdicts = [one(trials(rng, 10, 0.10)).verdict for _ in range(300)]
    assert sum(each is Verdict.WORSE for each in verdicts) >= 0.85 * 300
    assert Verdict.BETTER not in verdicts


def test_the_verdict_is_reversed_for_a_rate() -> None:
    half = [(100.0 + index, 50.0 + index / 2) for index in range(10)]
    assert one(half).verdict is Verdict.BETTER
    assert one(half, higher=True).verdict is Verdict.WORSE
    assert one(half).shift == pytest.approx(-0.5)


def test_an_interval_within_the_margin_is_equivalent_even_if_significant() -> None:
    slightly = [(100.0, 101.0 + index / 100) for index in range(20)]
    judged = one(slightly)
    assert judged.p < 0.001
    assert judged.verdict is Verdict.EQUIVALENT
    assert one(slightly, margin=0.005).verdict is Verdict.WORSE


def test_five_pairs_are_undecided_and_six_are_needed() -> None:
    judged = one([(100.0, 150.0 + index) for index in range(5)])
    assert judged.verdict is Verdict.UNDECIDED
    assert (judged.low, judged.high) == (None, None)
    assert judged.trials_needed == 6


def test_wide_noise_needs_many_trials_and_a_verdict_needs_none() -> None:
    rng = np.random.default_rng(3)
    noisy = [(1.0, float(np.exp(rng.normal(0.02, 0.5)))) for _ in range(10)]
    needed = one(noisy).trials_needed
    assert needed is None or needed > 100
    assert one([(100.0, 200.0)] * 10).trials_needed is None


def test_a_larger_family_needs_more_trials() -> None:
    barely = [(1.0, 1.2 + index / 100) for index in range(6)]
    nothing = [(1.0, 1.0 + 0.1 * (-1) ** index * (index + 1)) for index in range(6)]
    assert one(barely).verdict is Verdict.WORSE
    family = [dict(enumerate(each)) for each in (barely, nothing, nothing)]
    together = judge(family, higher_is_better=[False] * 3, questions=[0] * 3)
    assert together[0].verdict is Verdict.UNDECIDED
    assert together[0].p_family > together[0].p


RATIOS = st.lists(
    st.tuples(st.floats(0.5, 2.0), st.floats(0.5, 2.0)).map(lambda pair: (round(pair[0], 4), round(pair[1], 4))),
    min_size=6,
    max_size=20,
)


@given(RATIOS)
def test_swapping_a_and_b_mirrors_the_verdict(pairs: Pairs) -> None:
    mirrored = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
    verdict = one(pairs).verdict
    assert one([(b, a) for a, b in pairs]).verdict is mirrored.get(verdict, verdict)


@given(RATIOS, st.floats(0.1, 1000))
def test_scaling_all_trials_changes_no_verdict(pairs: Pairs, scale: float) -> None:
    one_way, scaled = one(pairs), one([(a * scale, b * scale) for a, b in pairs])
    assert scaled.verdict is one_way.verdict
    assert scaled.shift == pytest.approx(one_way.shift, abs=1e-9)


@given(RATIOS)
def test_trials_without_a_difference_do_not_lead_to_a_difference(pairs: Pairs) -> None:
    before, after = one(pairs), one([*pairs, *[(1.0, 1.0)] * len(pairs)])
    assert before.verdict is not Verdict.UNDECIDED or after.verdict not in (Verdict.BETTER, Verdict.WORSE)
