"""Curves and searches: steps of several trials together, the knee, and the rate that was sustained."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_cases import cell, outcome, plan
from stream_cases import step

from middlemark.model.outcome import Step, TrialOutcome
from middlemark.stats.curve import curve, knee, search, sustainable

CURVE = cell(pattern="stream", rate="curve")
TRIALS = plan(CURVE).trials
SATURATED = step(None, held=False)


def _outcomes(*tried: tuple[Step, ...]) -> list[TrialOutcome]:
    return [outcome(trial, steps=each) for trial, each in zip(TRIALS, tried, strict=False)]


def _queue(shares: np.ndarray, capacity_hz: float = 100_000.0) -> list[Step]:
    """Return the steps of an M/M/1 queue: the mean is 1/(µ - λ), and the p99 is ln(100) times the mean."""
    return [
        step(rate, p50_ns=np.log(2) * 1e9 / (capacity_hz - rate), p99_ns=np.log(100) * 1e9 / (capacity_hz - rate))
        for rate in shares * capacity_hz
    ]


def test_steps_of_trials_are_joined_by_their_share_of_the_saturation() -> None:
    first = (step(None, received_hz=100_000.0), step(10_000.0, p99_ns=30.0), step(110_000.0, p99_ns=300.0))
    second = (step(None, received_hz=120_000.0), step(12_000.0, p99_ns=50.0))  # this trial ended before its last step
    found = curve(CURVE, _outcomes(first, second))
    assert [each.part for each in found] == [0.1, 1.1, None]
    assert [each.offered_hz for each in found] == [11_000.0, 110_000.0, None]
    assert [each.p99_ns for each in found[:2]] == [40.0, 300.0]
    assert [each.trials for each in found] == [2, 1, 2]


def test_the_saturation_is_divided_among_the_publishers() -> None:
    several = cell(pattern="stream", rate="curve", publishers=4, subscribers=4, topics=2)
    found = curve(several, _outcomes((step(None, received_hz=100_000.0), step(25_000.0))))
    assert [each.part for each in found] == [0.5, None]


def test_a_steps_loss_is_a_share_and_a_failed_step_has_its_reason() -> None:
    found = curve(
        CURVE,
        _outcomes(
            (step(None), step(12e3, lost=10), step(24e3, failed="crashed")),
            (step(None), step(12e3, lost=30), step(24e3, failed="hung")),
        ),
    )
    assert found[0].lost == 0.02
    assert (found[1].trials, found[1].failed, found[1].p99_ns, found[1].held) == (0, "crashed", None, False)


def test_a_step_holds_if_it_held_in_every_trial() -> None:
    found = curve(CURVE, _outcomes((step(None), step(10.0)), (step(None), step(10.0, held=False))))
    assert [each.held for each in found] == [False, True]


@given(st.floats(1e3, 1e7))
def test_the_knee_of_a_queue_lies_at_half_of_its_capacity(capacity_hz: float) -> None:
    saturated = step(None, received_hz=capacity_hz)
    found = curve(CURVE, _outcomes((saturated, *_queue(np.arange(1, 20) / 20, capacity_hz))))
    assert [round(each.offered_hz / capacity_hz, 6) for each in found if each.knee and each.offered_hz] == [0.5]


def test_a_latency_that_stays_flat_until_it_jumps_has_its_knee_before_the_jump() -> None:
    flat = [step(share * 1e5, p99_ns=50_000.0) for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    jump = step(1e5, p99_ns=900_000.0)
    found = curve(CURVE, _outcomes((SATURATED, *flat, jump)))
    assert [each.offered_hz for each in found if each.knee] == [0.9e5]


def test_a_load_with_losses_is_past_the_knee_despite_a_low_latency() -> None:
    found = curve(CURVE, _outcomes((SATURATED, step(1e4), step(9e4, lost=20), step(1e5, lost=900))))
    assert [each.offered_hz for each in found if each.knee] == [1e4]


def test_saturation_is_no_knee_because_its_latency_has_another_start() -> None:
    found = curve(CURVE, _outcomes((step(None, p99_ns=1.0), step(1e4), step(9e4))))
    assert [each.offered_hz for each in found if each.knee] == [9e4]


def test_without_a_p99_there_is_no_knee() -> None:
    found = curve(CURVE, _outcomes((step(None, p99_ns=None), step(1e4, p99_ns=None))))
    assert knee(found) is None
    assert not any(each.knee for each in found)


def test_a_trial_without_saturation_has_no_other_steps() -> None:
    found = curve(CURVE, _outcomes((step(None, failed="crashed", received_hz=0.0), step(1e4))))
    assert [(each.part, each.failed) for each in found] == [(None, "crashed")]


def test_the_sustainable_rate_is_the_median_over_trials_with_its_range() -> None:
    found = sustainable(
        _outcomes(
            # The rate 9.5e4 was sustained in a short step, but not for the whole duration.
            (SATURATED, step(1e4), step(9.5e4), step(9.5e4, held=False), step(9e4)),
            (SATURATED, step(2e5, held=False), step(8e4)),
            (SATURATED, step(5e4), step(1e5)),
        )
    )
    assert found is not None
    assert (found.rate_hz, found.least_hz, found.most_hz) == (9e4, 8e4, 1e5)


def test_a_search_shows_the_steps_of_the_trial_with_the_median_in_order() -> None:
    found = search(_outcomes((step(9e4),), (step(1e5, held=False), step(2e4), step(5e4)), (step(1e4),)))
    assert [each.offered_hz for each in found] == [1e5, 2e4, 5e4]
    assert not any(each.knee for each in found)
    assert search(_outcomes((step(9e4, held=False),))) == ()


@pytest.mark.parametrize("tried", [(), (step(1e4, held=False),), (step(1e4, failed="hung"),)])
def test_without_a_step_that_held_there_is_no_sustainable_rate(tried: tuple[Step, ...]) -> None:
    assert sustainable(_outcomes(tried)) is None
