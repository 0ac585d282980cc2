"""Verdicts on a simulated machine keep their promise: they are seldom false, and differences that matter are found.

Latencies are correlated within a trial and have a heavy tail, the machine drifts from trial to trial, and each trial
has its own level, because its processes are new. A run has ten rounds, each with a trial of A and one of B.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from latencies import trial
from scipy.stats import mannwhitneyu

from middlemark.stats.signed_rank import signed_rank
from middlemark.stats.verdict import Judgement, Verdict, judge

pytestmark = pytest.mark.slow

PAIRS = 10
SAMPLES = 300
RUNS = 1_000

Trials = list[tuple[np.ndarray, np.ndarray]]


def run(rng: np.random.Generator, shift: float, *, interleaved: bool = True) -> Trials:
    """Return the samples of A and B, ten trials each. B takes longer by this share.

    If the trials are not interleaved, all trials of A come before all trials of B.
    """
    drift = np.cumsum(rng.normal(0, 0.02, 2 * PAIRS))
    found = []
    for index in range(PAIRS):
        places = [2 * index, 2 * index + 1] if interleaved else [index, PAIRS + index]
        if interleaved:
            rng.shuffle(places)
        own = 0.04 * rng.standard_t(5, 2) * math.sqrt(3 / 5)
        a, b = (trial(rng, SAMPLES, level=drift[at] + each) for at, each in zip(places, own, strict=True))
        found.append((a, b * (1 + shift)))
    return found


def medians(trials: Trials) -> list[tuple[float, float]]:
    return [(float(np.median(a)), float(np.median(b))) for a, b in trials]


def p_paired(trials: Trials) -> float:
    return signed_rank([math.log(b / a) for a, b in medians(trials)]).p


def p_pooled(trials: Trials) -> float:
    a, b = (np.concatenate(each) for each in zip(*trials, strict=True))
    return float(mannwhitneyu(a, b).pvalue)


def _verdict(pairs: list[tuple[float, float]]) -> Verdict:
    return judge([dict(enumerate(pairs))], higher_is_better=[False], questions=[0])[0].verdict


@pytest.fixture(scope="module")
def alike() -> list[Trials]:
    """Runs of A against A."""
    rng = np.random.default_rng(1)
    return [run(rng, 0.0) for _ in range(RUNS)]


def _found(p_value: Callable[[Trials], float], runs: list[Trials]) -> float:
    return sum(p_value(each) <= 0.05 for each in runs) / len(runs)


def test_the_paired_test_finds_a_false_difference_in_about_5_of_100_runs(alike: list[Trials]) -> None:
    assert 0.03 <= _found(p_paired, alike) <= 0.06


def test_a_verdict_on_a_against_a_is_false_in_at_most_5_of_100_runs(alike: list[Trials]) -> None:
    verdicts = [_verdict(medians(each)) for each in alike]
    assert sum(each in (Verdict.BETTER, Verdict.WORSE) for each in verdicts) <= 0.05 * RUNS


@pytest.mark.parametrize(("shift", "right"), [(0.10, Verdict.WORSE), (1 / 1.10 - 1, Verdict.BETTER)])
def test_a_shift_of_a_tenth_is_found_in_85_of_100_runs_with_the_right_sign(shift: float, right: Verdict) -> None:
    rng = np.random.default_rng(3)
    verdicts = [_verdict(medians(run(rng, shift))) for _ in range(RUNS // 4)]
    assert verdicts.count(right) >= 0.85 * len(verdicts)
    assert set(verdicts) <= {right, Verdict.UNDECIDED}


def test_the_interval_contains_the_true_shift_in_95_of_100_runs() -> None:
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(RUNS // 2):
        judged = judge([dict(enumerate(medians(run(rng, 0.2))))], higher_is_better=[False], questions=[0])[0]
        assert judged.low is not None
        assert judged.high is not None
        held += judged.low <= 0.2 <= judged.high
    assert 0.94 <= held / (RUNS // 2) <= 0.98


def test_pooled_samples_and_sequential_sides_would_break_the_promise(alike: list[Trials]) -> None:
    """Check that the simulation is hard enough for other methods to fail."""
    assert _found(p_pooled, alike[:200]) > 0.5
    rng = np.random.default_rng(6)
    assert _found(p_paired, [run(rng, 0.0, interleaved=False) for _ in range(300)]) > 0.15


RATIOS = st.lists(st.floats(0.5, 2.0).map(lambda ratio: round(ratio, 4)), min_size=1, max_size=16)


def _of(ratios: list[float]) -> Judgement:
    return judge(
        [{number: (100.0, 100.0 * ratio) for number, ratio in enumerate(ratios)}],
        higher_is_better=[False],
        questions=[0],
    )[0]


@given(RATIOS, st.floats(0.1, 10.0))
def test_scaling_b_scales_the_shift_and_its_interval(ratios: list[float], factor: float) -> None:
    before, after = _of(ratios), _of([factor * ratio for ratio in ratios])
    assert 1 + after.shift == pytest.approx(factor * (1 + before.shift))
    if before.low is not None and before.high is not None:
        assert 1 + (after.low or 0.0) == pytest.approx(factor * (1 + before.low))
        assert 1 + (after.high or 0.0) == pytest.approx(factor * (1 + before.high))


@given(RATIOS)
@example([2.0, 1.25, 0.8])  # log(1.25) and -log(0.8) differ in their last bit
def test_swapping_the_sides_inverts_the_shift_and_its_interval(ratios: list[float]) -> None:
    there, back = _of(ratios), _of([1 / ratio for ratio in ratios])
    assert (1 + there.shift) * (1 + back.shift) == pytest.approx(1)
    assert there.p == pytest.approx(back.p)
    if there.low is not None and there.high is not None:
        assert (1 + there.low) * (1 + (back.high or 0.0)) == pytest.approx(1)


@given(RATIOS)
@settings(max_examples=500)
def test_a_trial_without_a_difference_does_not_make_a_clear_verdict_different(ratios: list[float]) -> None:
    """Add a trial without a difference. An outlier's rank weighs little, so the verdict becomes ``different`` only if
    it nearly was before. It does not if p was above 10 % or the verdict was ``equivalent``. No verdict is reversed.
    """
    before, after = _of(ratios), _of([*ratios, 1.0])
    different = (Verdict.BETTER, Verdict.WORSE)
    if before.verdict in different:
        assert after.verdict in (before.verdict, Verdict.UNDECIDED, Verdict.EQUIVALENT)
    elif after.verdict in different:
        assert before.verdict is Verdict.UNDECIDED
        assert before.p <= 0.10
        assert (after.shift > 0) == (before.shift > 0)
