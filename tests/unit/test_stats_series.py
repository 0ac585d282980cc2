"""The series: the trial whose seconds represent a cell, and whether the rate was steady."""

import pytest
from stats_cases import cell, outcome, plan

from middlemark.model.outcome import Second, TrialOutcome
from middlemark.stats.rates import falls, received_by_second, representative, varies

TRIALS = plan(cell(pattern="stream"), trials=4).trials


def _seconds(who: str, *received: int | None, last: float = 1.0) -> tuple[Second, ...]:
    lengths = [1.0] * (len(received) - 1) + [last]
    return tuple(
        Second(at_s=float(at + 1), seconds=seconds, who=who, received=number)
        for at, (number, seconds) in enumerate(zip(received, lengths, strict=True))
    )


def _with_series(count: int) -> list[TrialOutcome]:
    return [outcome(trial, series=_seconds("subscriber 0", trial.order)) for trial in TRIALS[:count]]


@pytest.mark.parametrize(
    ("figures", "chosen"), [((5.0, 9.0, 7.0), 2), ((4.0, 1.0, 3.0, 2.0), 3), ((None, 8.0), 1), ((None, None), 0)]
)
def test_the_trial_with_the_median_figure_represents_its_cell(figures: tuple[float | None, ...], chosen: int) -> None:
    found = representative(_with_series(len(figures)), figures)
    assert found is not None
    assert found.order == chosen


def test_a_trial_without_a_series_represents_no_cell() -> None:
    assert representative([outcome(TRIALS[0])], [1.0]) is None
    assert representative([], []) is None


def test_seconds_are_summed_over_receivers_only() -> None:
    series = (*_seconds("publisher 0", None, None), *_seconds("subscriber 0", 10, 20), *_seconds("subscriber 1", 1, 2))
    assert received_by_second(series) == [11.0, 22.0]


def test_a_short_last_step_counts_as_a_rate_from_half_a_second() -> None:
    assert received_by_second(_seconds("subscriber 0", 100, 60, last=0.5)) == [100.0, 120.0]
    assert received_by_second(_seconds("subscriber 0", 100, 1, last=0.4)) == [100.0]


def test_a_rate_that_fell_by_a_fifth_is_reported() -> None:
    assert falls([100, 100, 90, 90, 79, 79]) == (100, 79)
    assert falls([100, 100, 90, 90, 81, 81]) is None
    assert falls([100, 50, 10]) is None, "a third of three seconds is one second, too few for a mean"


def test_a_rate_that_varies_between_seconds_is_reported() -> None:
    assert varies([100, 160, 120]) == (100, 160)
    assert varies([100, 150, 120]) is None
    assert varies([100, 900]) is None
