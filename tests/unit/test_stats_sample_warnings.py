"""Warnings from raw samples and from a closed loop. Each has a case that raises it and one that does not."""

from collections.abc import Callable

import numpy as np
import pytest
from latencies import trial
from noise_cases import probe, witnessed
from stats_cases import DESCRIPTIONS, cell, outcome, plan, samples
from test_stats_costs import cost

from middlemark.model.cell import Cell
from middlemark.model.outcome import RunWarning, TrialCounts, TrialOutcome
from middlemark.model.times import Summary
from middlemark.stats.cells import cell_results
from middlemark.stats.quantiles import summarise
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Samples
from middlemark.stats.warnings.samples import of_most, sample_warnings, tail_warnings
from middlemark.stats.warnings.trials import mostly_idle, never_slept, time_unaccounted

TRIAL = plan(cell()).trials[0]
MANY = 20_000


def _ordinary(count: int = MANY, seed: int = 1) -> np.ndarray:
    return trial(np.random.default_rng(seed), count)


def _warnings(values: np.ndarray, asked: Cell | None = None, **given: object) -> dict[str, RunWarning]:
    found = sample_warnings(asked or cell(), outcome(TRIAL, **given), [values], summarise(values))
    return {each.code: each for each in found}


def _second_mode(values: np.ndarray) -> np.ndarray:
    return values * np.where(np.random.default_rng(2).random(len(values)) < 0.4, 3, 1).astype(np.uint64)


def _rising(values: np.ndarray) -> np.ndarray:
    return (values * np.linspace(1.0, 1.5, len(values))).astype(np.uint64)


def _slow_at_first(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values[: len(values) // 20] * np.uint64(2), values[len(values) // 20 :]])


def _one_stall(values: np.ndarray) -> np.ndarray:
    changed = np.minimum(values, np.uint64(20_000))
    changed[9_000:9_300] += np.arange(300, 0, -1, dtype=np.uint64) * np.uint64(1_000)
    return changed


SHAPED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "bimodal": _second_mode,
    "drift": _rising,
    "warm-up-short": _slow_at_first,
    "p99-few-incidents": _one_stall,
}


@pytest.mark.parametrize("code", SHAPED)
def test_each_shape_raises_its_warning_and_ordinary_samples_raise_none(code: str) -> None:
    assert _warnings(_ordinary()) == {}
    warnings = _warnings(SHAPED[code](_ordinary()))
    assert list(warnings) == [code]
    assert warnings[code].advice


def test_the_warnings_texts_describe_the_samples() -> None:
    two = _warnings(_second_mode(_ordinary()))["bimodal"].text
    assert two.startswith("59 % of its samples lie around 12")
    assert "the others around 3" in two
    assert _warnings(_rising(_ordinary()))["drift"].text.startswith("its latency rose to 1.5 times")
    assert _warnings(_rising(_ordinary())[::-1])["drift"].text.startswith("its latency fell to 0.6")
    slow = _warnings(_slow_at_first(_ordinary()), measured_s=0.4)["warm-up-short"]
    assert slow.text.startswith("the first 4.7 % of its samples (0.035 s) took 2")
    assert slow.advice.endswith("--warmup 2s")
    stalled = _warnings(_one_stall(_ordinary()))["p99-few-incidents"].text
    assert stalled.startswith("the 200 samples beyond its p99 came in 1 cluster: something happened once")


def test_a_cell_that_is_not_pinned_is_advised_to_pin_first() -> None:
    two = _second_mode(_ordinary())
    assert "--pin 0,1" in _warnings(two)["bimodal"].advice
    assert "--pin" not in _warnings(two, cell(pin=(0, 1)))["bimodal"].advice


def test_a_mode_of_a_time_slice_is_attributed_to_another_process() -> None:
    waits = np.where(np.random.default_rng(2).random(MANY) < 0.2, np.uint64(2_500_000), np.uint64(0))
    advice = _warnings(_ordinary() + waits, cell(pin=(0, 1)))["bimodal"].advice
    assert advice.startswith("see which other processes use the processors")
    assert "idle states" in _warnings(_second_mode(_ordinary()))["bimodal"].advice


def test_each_client_is_examined_separately() -> None:
    slow, fast = _ordinary() * np.uint64(3), _ordinary()
    together = np.concatenate([slow, fast])
    asked = cell(pattern="request-reply", publishers=2)
    assert sample_warnings(asked, outcome(TRIAL), [slow, fast], summarise(together)) == ()
    assert "bimodal" in {each.code for each in sample_warnings(asked, outcome(TRIAL), [together], None)}


@pytest.mark.parametrize("levels", [{"rate": "max"}, {"rate": "curve"}, {"burst": 10, "recovery_s": 0.1}])
def test_unavoidable_queues_raise_no_further_warning(levels: dict[str, object]) -> None:
    rising = _rising(_ordinary())
    assert _warnings(rising, cell(pattern="stream", **levels)) == {}
    assert list(_warnings(rising, cell(pattern="stream", rate=1_000.0))) == ["drift"]


def test_a_warning_of_fewer_than_half_of_the_trials_is_not_the_cells() -> None:
    drift, other = RunWarning("drift", "rose"), RunWarning("carried", "by udp")
    assert of_most([(drift, other), (), ()]) == [(other,), (), ()]
    assert of_most([(drift, other), (drift,), (), ()]) == [(drift, other), (drift,), (), ()]
    assert of_most([]) == []


def _tail(samples: tuple[int, ...], *p99s: float | None) -> list[str]:
    return [each.code for each in tail_warnings(samples, [Summary(p50=1.0, p99=p99) for p99 in p99s])]


def test_a_p99_needs_thirty_samples_beyond_it_over_the_trials() -> None:
    assert _tail((2_999,), 5.0) == ["p99-few-samples"]
    assert _tail((3_000,), 5.0) == []
    assert _tail((1_000,) * 3, 5.0, 5.0, 5.0) == []
    assert _tail((1_000, 900, 900), 5.0, None, None) == [], "the cell then has no p99"
    text = tail_warnings((1_000, 1_100), [Summary(p99=5.0)] * 2)[0].text
    assert text.startswith("its p99 depends on the 21 slowest samples of 2 trials")


def test_p99s_that_differ_by_a_factor_of_three_raise_a_warning() -> None:
    assert _tail((9_000,) * 2, 1_000.0, 3_000.0) == []
    assert _tail((9_000,) * 2, 1_000.0, 3_001.0) == ["p99-disagrees"]


def _loop(spent_s: float, asked: Cell | None = None, **given: object) -> RunWarning | None:
    figures: dict[str, object] = {"counts": TrialCounts(sent=10_000, received=10_000), "measured_s": 1.0} | given
    return time_unaccounted(asked or cell(), outcome(TRIAL, **figures), spent_s * 1e9, 10_000)


def test_round_trips_that_do_not_fill_the_time_report_the_missing_share() -> None:
    assert _loop(0.80) is None
    warning = _loop(0.60)
    assert warning is not None
    assert warning.text == (
        "its 10,000 round trips, with writing and checking the payloads, make up 0.6 of the 1 s measured: "
        "40 % of the time passed between round trips"
    )


def test_time_with_another_explanation_is_not_missing() -> None:
    assert _loop(0.1, cell(rate=1_000.0)) is None, "at a rate the ping waits between messages"
    assert _loop(0.1, counts=TrialCounts(sent=10_001, received=10_000, lost=1)) is None, (
        "the ping waited for a lost reply"
    )
    assert _loop(0.1, measured_s=None) is None
    assert _loop(1.7, cell(pattern="request-reply", publishers=2)) is None
    assert _loop(1.0, cell(pattern="request-reply", publishers=2)) is not None, "each of two clients has the whole time"
    fast = outcome(TRIAL, counts=TrialCounts(sent=1_000_000, received=1_000_000), measured_s=1.0)
    assert time_unaccounted(cell(), fast, 0.5e9, 1_000_000) is None, "stamps and records take as long as such a message"


def _slept(times: int, asked: Cell, received: int = 1_000) -> RunWarning | None:
    given = outcome(
        TRIAL, costs=(cost("ping", voluntary_switches=times),), counts=TrialCounts(sent=1_000, received=received)
    )
    return never_slept(asked, given)


def test_blocking_without_sleeps_was_polling() -> None:
    warning = _slept(3, cell())
    assert warning is not None
    assert warning.code == "reception-not-in-force"
    assert "slept 3 times in 1,000 round trips" in warning.text
    assert _slept(2_000, cell()) is None
    assert _slept(3, cell(receive="poll")) is None
    assert _slept(3, cell(rate=1_000.0)) is None
    assert _slept(3, cell(subscribers=0)) is None, "memcpy waits for no other role"
    assert _slept(3, cell(), received=50) is None, "too few round trips"
    assert never_slept(cell(), outcome(TRIAL)) is None, "the sleeps were not counted"


def _idle(asked: Cell | None = None, *, ran_ms: int = 100, late_us: int = 32, **given: object) -> RunWarning | None:
    """Return the warning for a second in which the two workers together ran for twice ``ran_ms``."""
    woken = probe(wakes=50, late=((late_us * 1000, 50),))
    figures: dict[str, object] = {
        "costs": tuple(
            cost(who, seconds=1.0, user_ns=0, system_ns=ran_ms * 1_000_000, voluntary_switches=20_000)
            for who in ("ping", "pong 0")
        ),
        "counts": TrialCounts(sent=10_000, received=10_000),
        "noise": witnessed(before=(woken, woken)),
    }
    return mostly_idle(asked or cell(), outcome(TRIAL, **(figures | given)), 10_000)


def test_mostly_idle_blocking_round_trips_are_reported_with_advice_to_use_awake() -> None:
    warning = _idle()
    assert warning is not None
    assert warning.code == "mostly-idle"
    assert "for 80 % of its time no thread ran" in warning.text
    assert "32 µs late" in warning.text
    assert "--awake" in warning.advice
    assert _idle(cell(pattern="request-reply")) is not None


def test_rows_that_are_not_idle_by_themselves_get_no_idle_warning() -> None:
    assert _idle(ran_ms=260) is None, "the workers ran for most of the second"
    assert _idle(late_us=2) is None, "idle processors of this machine do not halt"
    assert _idle(cell(awake=True)) is None
    assert _idle(cell(receive="poll")) is None
    assert _idle(cell(rate=1_000.0)) is None, "at a rate the ping waits between messages"
    assert _idle(cell(size=8192)) is None
    assert _idle(cell(subscribers=2)) is None
    assert _idle(cell(pattern="stream", depth=None)) is None
    assert _idle(counts=TrialCounts(sent=10_001, received=10_000, lost=1)) is None, (
        "a ping that waits for a timeout is also idle"
    )
    assert _idle(noise=None) is None
    assert _idle(noise=witnessed(before=None)) is None
    others = witnessed(before=(probe(wakes=50, late=((32_000, 50),)),), delay_ns=500_000_000)
    assert _idle(noise=others) is None, "other processes used the processors"


def _codes(result: CellResult) -> list[str]:
    return [each.code for each in result.warnings]


def test_a_cells_warnings_are_those_of_most_trials() -> None:
    planned = plan(cell(), trials=3)
    outcomes = [
        outcome(each, samples=MANY, measured_s=0.3, counts=TrialCounts(sent=MANY, received=MANY))
        for each in planned.trials
    ]

    def codes_of(drifting: set[int]) -> list[str]:
        def kept(each: TrialOutcome) -> Samples:
            record = samples(_ordinary(seed=each.order))
            values = _ordinary(seed=each.order)
            record["round_trip_ns"] = _rising(values) if each.order in drifting else values
            return record

        return _codes(cell_results(planned, outcomes, kept, DESCRIPTIONS)[0])

    assert codes_of(set()) == []
    assert codes_of({1}) == []
    assert codes_of({0, 2}) == ["drift"]
