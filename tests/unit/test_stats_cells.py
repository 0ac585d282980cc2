"""The results of cells: medians of trials, never of pooled samples. An unmeasured value is None, with a reason."""

import weakref
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
import stats_cases
from stats_cases import DESCRIPTIONS, cell, outcome, plan

from middlemark.model.cell import Cell
from middlemark.model.outcome import Failure, RunWarning, TrialCounts, TrialOutcome
from middlemark.model.times import Summary
from middlemark.stats.cells import cell_results, samples_by_cell
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Samples, SamplesError

ROUND_TRIPS = np.arange(1, 1001) * 100


def samples(round_trips: np.ndarray, **fields: int) -> Samples:
    """Return a ping's records of these round trips, in an order without drift or warm-up."""
    return stats_cases.samples(np.random.default_rng(0).permutation(round_trips), **fields)


def _one(cell: Cell, *round_trips: np.ndarray, **fields: int) -> CellResult:
    """Return the result of a cell whose trials took these round trips."""
    planned = plan(cell, trials=len(round_trips))
    outcomes = [outcome(trial, samples=len(kept)) for trial, kept in zip(planned.trials, round_trips, strict=True)]
    (result,) = cell_results(planned, outcomes, lambda each: samples(round_trips[each.order], **fields), DESCRIPTIONS)
    return result


def _codes(result: CellResult) -> list[str]:
    """Return the codes of the warnings, except those about p99, which a few short trials always have."""
    return [each.code for each in result.warnings if each.code != "p99-few-samples"]


def test_a_figure_is_the_median_of_the_trials_and_not_of_all_samples() -> None:
    # Two thirds of all samples belong to the slow trial, so pooling would give its median.
    fast, middle, slow = ROUND_TRIPS[:100], ROUND_TRIPS[:100] + 7, np.repeat(ROUND_TRIPS, 3) + 90_000
    result = _one(cell(), fast, middle, slow)
    assert result.round_trip_ns is not None
    assert result.round_trip_ns.p50 == 5_007.0
    assert result.round_trip_ns.mean == 5_057.0
    assert (result.round_trip_ns.min, result.round_trip_ns.max) == (100.0, 190_000.0)
    assert (result.trials, result.samples) == (3, 3_200)


def test_a_quantile_needs_most_trials_and_covers_those_that_have_it() -> None:
    result = _one(cell(), ROUND_TRIPS, ROUND_TRIPS, ROUND_TRIPS[:15])
    assert result.round_trip_ns is not None
    assert result.round_trip_ns.p99 == 99_000.0
    assert result.round_trip_ns.p50 == 50_000.0
    assert result.round_trip_ns.p99_9 is None


def test_a_p99_of_one_trial_is_not_shown_with_a_p50_of_two() -> None:
    result = _one(cell(), ROUND_TRIPS, ROUND_TRIPS[:999] + 900_000)
    assert result.round_trip_ns is not None
    assert result.round_trip_ns.p50 == 500_000.0
    assert result.round_trip_ns.p99 is None, (
        "the p99 of the one trial that has it would be less than half of the cell's p50"
    )


def test_unmeasured_times_are_none_and_measured_ones_are_summarised() -> None:
    result = _one(cell(loan=True), ROUND_TRIPS, loan_ns=30, take_ns=40)
    assert result.loan_ns is not None
    assert result.loan_ns.p50 == 30.0
    assert result.take_ns is not None
    assert result.take_ns.max == 40.0
    assert result.write_ns is not None
    assert (result.fill_ns, result.check_ns) == (None, None)


def test_a_field_measured_for_some_samples_is_summarised_over_those_samples() -> None:
    kept = samples(ROUND_TRIPS)
    kept["take_ns"][:100] = np.arange(100)
    planned = plan(cell(), trials=1)
    (result,) = cell_results(planned, [outcome(planned.trials[0])], lambda _: kept, DESCRIPTIONS)
    assert result.take_ns is not None
    assert result.take_ns.max == 99.0


@pytest.mark.parametrize(
    ("levels", "is_reported"), [({}, False), ({"subscribers": 3}, True), ({"subscribers": 3, "echo": "first"}, False)]
)
def test_the_first_reply_is_reported_only_if_there_are_several(levels: dict[str, object], is_reported: bool) -> None:
    result = _one(cell(**levels), ROUND_TRIPS)
    assert (result.first_reply_ns is not None) == is_reported
    if result.first_reply_ns:
        assert result.first_reply_ns.p50 == 25_000.0


def test_counts_are_summed_over_measured_trials_and_discovery_is_their_median() -> None:
    planned = plan(cell())
    outcomes = [
        outcome(planned.trials[0], discovery_ns=1, counts=TrialCounts(sent=1000, received=998, lost=2, damaged=1)),
        outcome(planned.trials[1], discovery_ns=900, counts=TrialCounts(sent=1000, received=999, lost=1)),
        outcome(planned.trials[2], discovery_ns=5, failed=Failure("crashed", "gone"), counts=TrialCounts(lost=77)),
    ]
    (result,) = cell_results(planned, outcomes, lambda _: samples(ROUND_TRIPS), DESCRIPTIONS)
    assert result.counts == TrialCounts(sent=2000, received=1997, lost=3, damaged=1)
    assert result.discovery_ns == 450.5
    assert (result.trials, result.failed_trials, result.failed) == (2, 1, None)
    assert result.failures == (Failure("crashed", "gone"),), "the reason of the failed trial is kept"


def test_a_cell_without_a_measured_trial_fails_with_the_first_reason() -> None:
    planned = plan(cell())
    reasons = [Failure("hung", "the pong hung"), Failure("crashed", "the ping crashed"), Failure("hung", "again")]
    outcomes = [outcome(trial, failed=reason, samples=0) for trial, reason in zip(planned.trials, reasons, strict=True)]
    # Pass the outcomes in reverse. Their failures must be in the order of measuring nevertheless.
    (result,) = cell_results(planned, outcomes[::-1], _never, DESCRIPTIONS)
    assert result.failed == reasons[0]
    assert (result.trials, result.failed_trials, result.failures) == (0, 3, tuple(reasons))
    assert (result.round_trip_ns, result.times_raw_transport, result.actual_transport, result.discovery_ns) == (
        None,
    ) * 4
    assert result.version == "1.0"


def test_a_cell_that_the_run_did_not_reach_is_marked_not_measured() -> None:
    planned = plan(cell(), cell("udp"), trials=1)
    first, second = cell_results(planned, [outcome(planned.trials[0])], lambda _: samples(ROUND_TRIPS), DESCRIPTIONS)
    assert first.failed is None
    assert second.failed is not None
    assert second.failed.code == "not-measured"


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda _: None, "1,000 samples were measured and 0 are in the file"),
        (lambda _: samples(ROUND_TRIPS[:7]), "1,000 samples were measured and 7 are in the file"),
        (lambda _: _damaged(), "/x.npy: damaged"),
    ],
)
def test_a_trial_with_incomplete_samples_has_failed(read: Callable[[TrialOutcome], Samples | None], text: str) -> None:
    planned = plan(cell())
    outcomes = [outcome(trial) for trial in planned.trials]

    def first_is_bad(each: TrialOutcome) -> Samples | None:
        return read(each) if each.order == 0 else samples(ROUND_TRIPS)

    (result,) = cell_results(planned, outcomes, first_is_bad, DESCRIPTIONS)
    assert (result.trials, result.failed_trials) == (2, 1)
    assert _codes(result) == ["trials-failed"]
    assert result.warnings[0].text == f"1 of 3 trials failed; the first: {text}"


def test_a_trial_that_measured_nothing_needs_no_file() -> None:
    planned = plan(cell(), trials=1)
    counts = TrialCounts(sent=1000, lost=1000)
    (result,) = cell_results(planned, [outcome(planned.trials[0], samples=0, counts=counts)], lambda _: None, {})
    assert result.failed is None
    assert result.round_trip_ns is None
    assert _codes(result) == ["loss", "few-samples"]


def test_each_cell_is_compared_with_its_raw_transport() -> None:
    planned = plan(cell(), cell("udp"), cell(transport="tcp"), trials=2)
    outcomes = [outcome(trial) for trial in planned.trials]
    speeds = {0: 3, 1: 2, 2: 9}
    results = cell_results(planned, outcomes, lambda each: samples(ROUND_TRIPS * speeds[each.cell]), DESCRIPTIONS)
    assert [(each.times_raw_transport, each.raw_transport) for each in results] == [
        (1.5, "udp"),
        (1.0, "udp"),
        (None, None),
    ]


def test_a_row_is_compared_with_the_memcpy_of_its_run() -> None:
    one_process = {"receive": "poll", "processes": 1, "subscribers": 0, "size": 1 << 20}
    planned = plan(cell(size=1 << 20), cell("memcpy", "memcpy", **one_process), trials=2)
    outcomes = [outcome(trial) for trial in planned.trials]
    for slow, warned in ((9, True), (1, False)):
        speeds = {0: 3, 1: slow}
        results = cell_results(
            planned, outcomes, lambda each, speeds=speeds: samples(ROUND_TRIPS * speeds[each.cell]), DESCRIPTIONS
        )
        assert ("above-memcpy" in _codes(results[0])) == warned
        assert "above-memcpy" not in _codes(results[1])


def test_each_cell_names_the_fastest_baseline_over_any_transport() -> None:
    planned = plan(cell(), cell("udp"), cell(transport="tcp"), cell("shm", "shm"), cell(size=64), trials=2)
    speeds = {0: 3, 1: 2, 2: 9, 3: 1, 4: 5}
    outcomes = [outcome(trial) for trial in planned.trials]
    results = cell_results(planned, outcomes, lambda each: samples(ROUND_TRIPS * speeds[each.cell]), DESCRIPTIONS)
    assert [each.baseline and (each.baseline.label, each.baseline.times) for each in results] == [
        ("shm", 3.0), ("shm", 2.0), ("shm", 9.0), ("shm", 1.0), None,
    ]  # fmt: skip
    shm = results[3].round_trip_ns
    baseline = results[0].baseline
    assert baseline is not None
    assert shm is not None
    assert (baseline.p50_ns, baseline.rate_hz) == (shm.p50, None)


def test_a_cell_faster_than_its_raw_transport_gets_a_warning() -> None:
    planned = plan(cell(), cell("udp"), trials=1)
    outcomes = [outcome(trial) for trial in planned.trials]
    ten, nine = (
        cell_results(
            planned,
            outcomes,
            lambda each, own=own: samples(ROUND_TRIPS * (own if each.cell == 0 else 10)),
            DESCRIPTIONS,
        )[0]
        for own in (9, 8)
    )
    assert _codes(ten) == []
    assert _codes(nine) == ["faster-than-baseline"]


def test_the_common_actual_transport_is_reported_and_differing_ones_are_a_warning() -> None:
    planned = plan(cell(), trials=2)
    for carriers, common, codes in (
        (("udp", "udp"), "udp", []),
        (("udp", None), "udp", []),
        ((None, None), None, []),
        (("udp", "tcp"), None, ["transport-contradicted", "actual-transport-varies"]),
        (("tcp", "tcp"), "tcp", ["transport-contradicted"]),
    ):
        outcomes = [
            outcome(trial, actual_transport=carrier) for trial, carrier in zip(planned.trials, carriers, strict=True)
        ]
        (result,) = cell_results(planned, outcomes, lambda _: samples(ROUND_TRIPS), DESCRIPTIONS)
        assert (result.actual_transport, _codes(result)) == (common, codes)


def test_a_launchers_warning_is_reported_once_with_its_number_of_trials() -> None:
    planned = plan(cell())
    noisy = RunWarning("noisy", "another process took 30 % of a processor", "stop it")
    outcomes = [
        outcome(planned.trials[0], warnings=(noisy, noisy)),
        outcome(planned.trials[1]),
        outcome(planned.trials[2], warnings=(msgspec.structs.replace(noisy, text="another process took 40 %"),)),
    ]
    (result,) = cell_results(planned, outcomes, lambda _: samples(ROUND_TRIPS), DESCRIPTIONS)
    assert result.warnings == (
        RunWarning("noisy", "another process took 30 % of a processor (in 2 of 3 trials)", "stop it"),
    )


def test_a_count_with_a_warning_of_the_launcher_becomes_one_warning_with_both_texts() -> None:
    planned = plan(cell(), trials=1)
    warning = RunWarning("loss", "pongs that do not echo missed 4 messages", "a deeper history")
    lossy = outcome(planned.trials[0], warnings=(warning,), counts=TrialCounts(sent=1000, received=999, lost=1))
    (result,) = cell_results(planned, [lossy], lambda _: samples(ROUND_TRIPS), DESCRIPTIONS)
    assert _codes(result) == ["loss"]
    assert result.warnings[0].text.startswith("1 of 1,000 replies never arrived (0.1 %)")
    assert result.warnings[0].text.endswith("; pongs that do not echo missed 4 messages")


def test_only_one_trials_samples_are_in_memory_at_a_time() -> None:
    planned = plan(cell(), cell("udp"))
    outcomes = [outcome(trial) for trial in planned.trials]
    loaded: list[weakref.ref[Samples]] = []

    def load(_: TrialOutcome) -> Samples:
        assert all(each() is None for each in loaded)
        kept = samples(ROUND_TRIPS)
        loaded.append(weakref.ref(kept))
        return kept

    cell_results(planned, outcomes, load, DESCRIPTIONS)
    assert len(loaded) == 6


def test_samples_of_measured_trials_are_grouped_by_cell_in_order() -> None:
    planned = plan(cell(), cell("udp"))
    outcomes = [
        outcome(trial, failed=Failure("hung", "hung") if trial.order == 2 else None) for trial in planned.trials
    ]

    def samples_of(each: TrialOutcome) -> Samples | None:
        return _damaged() if each.order == 1 else samples(ROUND_TRIPS + each.order)

    by_cell = samples_by_cell(planned, outcomes[::-1], samples_of)
    assert [int(kept["round_trip_ns"].min()) for kept in by_cell(0)] == [100, 104]
    assert [int(kept["round_trip_ns"].min()) for kept in by_cell(1)] == [103, 105]


def test_a_summary_is_written_with_the_fields_own_names() -> None:
    assert list(msgspec.to_builtins(Summary())) == [
        "min",
        "mean",
        "stdev",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "p99.99",
        "max",
    ]


def _never(_: TrialOutcome) -> Samples:
    raise AssertionError("a failed trial has no samples to load")


def _damaged() -> Samples:
    raise SamplesError(Path("/x.npy"), "damaged", "measure that trial again")
