"""Rates found by search: the rates tried and chosen, the stored data, and the message when no rate is sustained."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from launching import Launching

from middlemark.model.outcome import TrialOutcome, Underway
from middlemark.model.plan import Limits
from middlemark.trial import search
from middlemark.trial.observe import observe_trial

pytestmark = pytest.mark.slow

CAPACITY = 8000.0


@pytest.fixture
def launching(tmp_path: Path) -> Launching:
    return Launching(tmp_path)


def sought(
    launching: Launching, rate: str = "sustainable", script: dict[str, str] | None = None, **factors: Any
) -> TrialOutcome:
    return launching.trial({"capacity": str(CAPACITY), **(script or {})}, rate=rate, **factors)


def test_a_search_begins_with_a_flood_and_ends_within_2_percent_of_the_lossless_rate(
    launching: Launching,
) -> None:
    outcome = sought(launching)
    assert outcome.failed is None
    first, second, *_, chosen = outcome.steps
    assert first.rate_hz is None
    assert first.lost > 0
    assert second.rate_hz == pytest.approx(CAPACITY, rel=0.01)
    assert chosen.held
    assert chosen.rate_hz is not None
    assert CAPACITY / 1.02 <= chosen.rate_hz <= CAPACITY
    assert outcome.counts is not None
    assert outcome.counts.lost == 0
    assert outcome.counts.sent == round(chosen.rate_hz)
    only_its_samples_are_kept(launching, outcome)
    rates = {tick.step: tick.rate_hz for tick in launching.ticks}
    assert rates[1] is None
    assert rates == {number: step.rate_hz for number, step in enumerate(outcome.steps, 1) if number in rates}


def only_its_samples_are_kept(launching: Launching, outcome: TrialOutcome) -> None:
    """Check that only the samples of the chosen step are kept."""
    assert launching.kept() == ["00007-publisher-0.npy", "00007-subscriber-0.npy"]
    assert [each.path for each in outcome.files] == [f"samples/{name}" for name in launching.kept()]


def test_an_allowed_loss_lets_a_higher_rate_hold(launching: Launching) -> None:
    outcome = sought(launching, max_loss=0.2)
    assert outcome.failed is None
    rate = outcome.steps[-1].rate_hz
    assert rate is not None
    assert CAPACITY * 1.25 / 1.03 <= rate <= CAPACITY * 1.26


def test_a_p99_limit_bounds_the_rate(launching: Launching) -> None:
    outcome = sought(launching, script={"p99_per_hz": "1000"}, max_p99_s=2e-3)
    assert outcome.failed is None
    rate = outcome.steps[-1].rate_hz
    assert rate is not None
    assert 2000 / 1.02 <= rate <= 2000
    assert (outcome.steps[-1].p99_ns or 0) <= 2e6


def test_each_publisher_sends_at_the_found_rate(launching: Launching) -> None:
    outcome = sought(launching, publishers=4, subscribers=2, topics=2)
    assert outcome.failed is None
    rate = outcome.steps[-1].rate_hz
    assert rate is not None
    assert CAPACITY / 2 / 1.02 <= rate <= CAPACITY / 2, "two publishers share the capacity of a topic"


def test_the_found_rate_is_confirmed_over_the_whole_duration(launching: Launching) -> None:
    cell = launching.cell({"capacity": str(CAPACITY)}, rate="sustainable")
    limits = Limits(duration_s=5.0, warmup_s=0.0, match_timeout_s=60.0)
    outcome = asyncio.run(launching.measure(cell, limits))
    assert outcome.measured_s == 5.0
    assert outcome.counts is not None
    assert outcome.counts.sent == pytest.approx(5 * (outcome.steps[-1].rate_hz or 0), rel=0.01)
    assert outcome.steps[1].expected == pytest.approx(CAPACITY, rel=0.01), "steps before the confirmation take a second"


def test_a_rate_that_does_not_exist_is_a_failure_with_the_reason(launching: Launching) -> None:
    outcome = sought(launching, script={"p99_per_hz": "1000000000"}, max_p99_s=1e-6)
    assert outcome.failed is not None
    assert outcome.failed.code == "unsustainable"
    assert "even 8 Hz exceeded the limits: p99 was" in outcome.failed.text
    assert "(allowed: 1 µs)" in outcome.failed.text
    assert "--rate curve" in outcome.failed.advice
    assert outcome.counts is None
    assert len(outcome.steps) > 1
    assert launching.kept() == []


def test_a_curve_spans_from_a_hundredth_of_saturation_to_above_it(launching: Launching) -> None:
    outcome = sought(launching, "curve")
    assert outcome.failed is None
    saturated, *offered = outcome.steps
    assert saturated.rate_hz is None
    shares = [(step.rate_hz or 0) / saturated.received_hz for step in offered]
    assert shares == pytest.approx([0.01, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.1])
    assert offered[0].held
    assert not offered[-1].held
    assert outcome.counts is not None
    assert outcome.counts.lost == saturated.lost > 0, "the figures of a curve are those of the saturation"
    assert outcome.publishers[0].scheduled is None
    only_its_samples_are_kept(launching, outcome)


def test_a_step_that_fails_did_not_hold_and_the_search_continues_below_it(launching: Launching) -> None:
    outcome = sought(launching, script={"at": "publisher 0", "does": "die", "rates": "7000 9000"})
    assert outcome.failed is None
    failing = [step for step in outcome.steps if step.failed]
    assert failing
    assert all("SIGABRT" in (step.failed or "") and not step.held for step in failing)
    assert 7000 / 1.02 <= (outcome.steps[-1].rate_hz or 0) <= 7000


def test_consecutive_failing_steps_fail_the_cell(launching: Launching) -> None:
    outcome = sought(launching, script={"at": "publisher 0", "does": "die", "rates": "0 9000"})
    assert outcome.failed is not None
    assert outcome.failed.code == "crashed"
    assert len(outcome.steps) == 3


def test_a_failure_at_full_speed_fails_the_cell(launching: Launching) -> None:
    outcome = sought(launching, script={"at": "publisher 0", "does": "fail"})
    assert outcome.failed is not None
    assert outcome.failed.code == "refused"
    assert [step.failed for step in outcome.steps] == ["publisher 0: no"]


def test_an_interrupt_ends_the_search_and_keeps_no_samples(launching: Launching) -> None:
    steps: list[int] = []

    async def interrupted() -> None:
        def tick(event: Underway) -> None:
            steps.append(event.step or 0)
            if event.step == 3:
                measuring.cancel()

        measuring = asyncio.create_task(
            launching.measure(launching.cell({"capacity": "8000"}, rate="sustainable"), None, tick)
        )
        with pytest.raises(asyncio.CancelledError):
            await measuring

    asyncio.run(interrupted())
    assert max(steps) == 3
    assert launching.kept() == []


def test_an_interrupt_while_a_step_is_being_closed_does_not_start_the_next(
    launching: Launching, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe = observe_trial
    observed: list[str] = []

    async def closing(*arguments: Any, part: str) -> Any:
        observed.append(part)
        result = await observe(*arguments, part=part)
        if len(observed) == 2:  # as in run_trial: a cancellation then only speeds up the closing
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.sleep(0)
        return result

    monkeypatch.setattr(search, "observe_trial", closing)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(launching.measure(launching.cell({"capacity": "8000"}, rate="curve")))
    assert observed == ["_1", "_2"]
    assert launching.kept() == []
