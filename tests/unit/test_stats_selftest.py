"""Tests of the selftest: its false findings, its true findings, and the limits of a few comparisons."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from middlemark.model.asked import Planted, SelfTestCell
from middlemark.model.cell import Cell
from middlemark.stats.comparisons import Side
from middlemark.stats.selftest import SelfTest, highest_rate, reckon, scatter

A = Cell(adapter="shm", transport="shm", size=1024)
LABELS = ("A1", "A2", "A3", "A4")
TENTH, HALF = Planted("A+10%", 0.1, 1000.0), Planted("A+50%", 0.5, 5000.0)
SETTING = SelfTestCell(A, 10_000.0, LABELS, (TENTH, HALF))


def side(label: str, values: Sequence[float], cell: Cell = A, native: tuple[tuple[str, str], ...] = ()) -> Side:
    labelled = msgspec.structs.replace(cell, label=label, native=native)
    figures = dict(enumerate(values, 1))
    nothing: dict[int, float] = {}
    return Side("", "run", labelled, True, "here", {"p50": figures, "p99": nothing})


def sides(noise: float, trials: int = 10, seed: int = 1, **factors: float) -> list[Side]:
    """Measure each label as 10 µs with normal noise, times its factor. A round's labels share the drift."""
    rng = np.random.default_rng(seed)
    drift = np.cumsum(rng.normal(0, 0.1, trials))
    part = {"A+10%": 1.1, "A+50%": 1.5, **factors}
    return [
        side(label, (10_000 * np.exp(drift + rng.normal(0, noise, trials)) * part.get(label, 1.0)).tolist(), native=own)
        for label, own in [
            *((each, ()) for each in LABELS),
            *((each, (("delay", "1"),)) for each in ("A+10%", "A+50%")),
        ]
    ]


def outcome_of(noise: float, **more: Any) -> SelfTest:
    return reckon(sides(noise, **more), [SETTING])


def test_a_quiet_machine_gives_no_false_verdict_and_finds_everything() -> None:
    test = outcome_of(0.005)
    p50, p99 = test.same
    assert (p50.metric, p50.tally.comparisons, p50.tally.equivalent, p50.tally.different) == ("p50", 6, 6, 0)
    assert (p99.metric, p99.tally.comparisons, p99.typical) == ("p99", 0, None)
    assert [(each.tally.slower, each.tally.faster, each.is_found) for each in test.power] == [(4, 0, True)] * 2
    assert [each.measured for each in test.power] == [pytest.approx(0.1, abs=0.01), pytest.approx(0.5, abs=0.01)]
    assert (test.false, test.compared, test.rate, test.holds, test.rounds) == (0, 6, 0.0, True, 10)
    assert test.smallest_found(SETTING) == TENTH


def test_a_noisy_machine_finds_only_large_differences_and_estimates_the_trials() -> None:
    test = outcome_of(0.15)
    tenth, half = test.power
    assert (tenth.is_found, half.is_found) == (False, True)
    assert test.smallest_found(SETTING) == HALF
    assert tenth.tally.trials_needed is not None
    assert tenth.tally.trials_needed > 10
    assert half.tally.trials_needed is None
    assert test.same[0].tally.equivalent == 0


def test_a_deviating_label_is_a_false_verdict_with_each_other_label() -> None:
    test = outcome_of(0.005, A3=1.2)
    tally = test.same[0].tally
    assert (tally.different, tally.equivalent) == (3, 3)
    assert test.false_together == 3
    assert (test.false, test.compared, test.rate) == (3, 6, 0.5)
    assert test.chance < 0.05
    assert not test.holds


def test_one_false_verdict_of_few_exceeds_five_percent_but_may_be_chance() -> None:
    test = outcome_of(0.005, A1=0.985, A3=1.04)
    assert (test.false, test.compared) == (1, 6)
    assert test.chance > 0.15
    assert test.holds


def test_comparisons_with_common_labels_count_as_fewer_independent_ones() -> None:
    four = outcome_of(0.005)
    assert four.worth is not None
    assert 2 <= four.worth < 6
    assert four.at_most == pytest.approx(1 - 0.05 ** (1 / four.worth))
    both = [
        msgspec.structs.replace(each, figures={**each.figures, "p99": each.figures["p50"]}) for each in sides(0.005)
    ]
    twice = reckon(both, [SETTING])
    assert (twice.compared, twice.worth) == (12, four.worth)


def test_a_delay_that_seems_to_speed_up_is_never_found() -> None:
    test = outcome_of(0.005, **{"A+50%": 0.5})
    half = test.power[1]
    assert (half.tally.slower, half.tally.faster, half.is_found) == (0, 4, False)


def test_a_found_difference_does_not_count_if_a_larger_one_is_missed() -> None:
    assert outcome_of(0.005, **{"A+50%": 1.0}).smallest_found(SETTING) is None


def test_noise_without_a_difference_seldom_gives_a_false_verdict() -> None:
    """The share may be 5 %. Many machines are simulated, because labels of one machine share trials."""
    tests = [outcome_of(0.3, seed=seed) for seed in range(150)]
    assert sum(each.false for each in tests) <= 0.06 * sum(each.compared for each in tests)
    assert sum(each.false for each in tests) > 0
    assert sum(each.false_together for each in tests) < sum(each.false for each in tests)
    assert sum(each.false_together > 0 for each in tests) <= 0.06 * len(tests)
    assert sum(not each.holds for each in tests) <= 0.06 * len(tests)


def test_a_run_cut_short_gives_no_comparisons_and_a_missing_label_is_left_out() -> None:
    test = outcome_of(0.005, trials=3)
    assert test.rounds == 3
    assert (test.same[0].tally.comparisons, test.compared, len(test.comparisons)) == (0, 0, 14)
    missing = reckon([each for each in sides(0.005) if each.cell.label not in ("A4", "A+10%")], [SETTING])
    assert missing.same[0].tally.comparisons == 3
    assert [each.tally.comparisons for each in missing.power] == [0, 3]
    nothing = reckon([], [SETTING])
    assert (nothing.compared, nothing.rate, nothing.at_most, nothing.rounds) == (0, None, None, 0)
    assert nothing.power[0].part is None


def test_another_setting_with_the_same_labels_is_kept_separate() -> None:
    other = msgspec.structs.replace(A, size=64)
    stranger = [side(label, [1.0] * 10, other) for label in LABELS]
    assert reckon([*stranger, *sides(0.005)], [SETTING]).same == outcome_of(0.005).same


def test_the_delay_is_a_part_of_as_time_in_the_run() -> None:
    part = outcome_of(0.005).power[0].part
    typical = outcome_of(0.005).same[0].typical
    assert typical is not None
    assert part == pytest.approx(1000 / typical)


def test_the_scatter_is_the_standard_deviation_of_logarithms_and_robust() -> None:
    values = np.exp(np.random.default_rng(5).normal(3, 0.1, 2000)).tolist()
    assert scatter(values) == pytest.approx(np.expm1(0.1), rel=0.05)
    assert scatter([*values[:50], 1e9]) == pytest.approx(np.expm1(0.1), rel=0.3)
    assert scatter(values[:5]) is None


@given(st.integers(1, 200).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_upper_bound_of_the_rate_is_the_one_sided_exact_limit(counts: tuple[int, int]) -> None:
    found, total = counts
    test = scipy.stats.binomtest(found, total, alternative="less")
    assert highest_rate(found, total) == pytest.approx(test.proportion_ci(0.95, method="exact").high, rel=1e-6)


def test_zero_of_thirty_false_verdicts_leave_a_rate_of_a_tenth_possible() -> None:
    assert highest_rate(0, 30) == pytest.approx(1 - 0.05 ** (1 / 30))
    assert highest_rate(30, 30) == 1.0
