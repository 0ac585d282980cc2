"""The cell of trials of streams or of request and reply: every figure, every warning, and absent values."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from stats_cases import DESCRIPTIONS, cell, outcome, plan, samples
from stream_cases import START_NS, arrival, arrived, cost, files, kept_of, sending, sent, step

from middlemark.model.cell import Cell
from middlemark.model.outcome import Failure, SamplesFile, Second, TrialCounts, TrialOutcome
from middlemark.model.plan import Limits, Trial
from middlemark.stats.cells import cell_results
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Kept, SamplesError

LATENCIES = np.random.default_rng(0).permutation(np.arange(1, 1_001)) * 100
KEPT = (sending(np.zeros(1_001)), arrival(LATENCIES), arrival(LATENCIES * 2, index=1))


SHORT = {"p99-few-samples"}
"""The warnings about p99 that one short trial always has."""


def _stream(trial: Trial, **given: object) -> TrialOutcome:
    figures = {
        "publishers": (sent(),),
        "subscribers": (arrived(), arrived(1)),
        "files": files(*KEPT),
        "counts": TrialCounts(sent=1_001, received=2_000),
        "samples_file": None,
        "costs": (cost("publisher 0"), cost("subscriber 0"), cost("subscriber 1")),
    }
    return outcome(trial, **(figures | given))


def _one(asked: Cell, *given: dict[str, object], kept: tuple[Kept, ...] = KEPT) -> CellResult:
    """Return the result of a cell with these trials."""
    planned = plan(asked, trials=len(given))
    outcomes = [_stream(trial, **each) for trial, each in zip(planned.trials, given, strict=True)]
    (result,) = cell_results(planned, outcomes, lambda _: None, DESCRIPTIONS, kept_of(*kept))
    return result


def _codes(result: CellResult) -> set[str]:
    return {each.code for each in result.warnings}


FAN_OUT = cell(pattern="stream", subscribers=2, rate=1_000.0)


def test_rates_and_bytes_are_medians_over_trials_of_the_arrivals() -> None:
    def ended_after(seconds: int) -> dict[str, object]:
        last = START_NS + seconds * 1_000_000_000
        return {"subscribers": (arrived(last_received_ns=last), arrived(1, last_received_ns=last))}

    result = _one(FAN_OUT, ended_after(1), ended_after(5), ended_after(2))
    assert (result.rate_hz, result.rate_total_hz, result.bytes_per_s) == (500.0, 1_000.0, 500.0 * 1024)
    assert (result.offered_hz, result.sent_hz) == (1_000.0, pytest.approx(1_000.0))


def test_latency_covers_all_subscribers_and_each_is_also_listed() -> None:
    result = _one(FAN_OUT, {})
    assert result.one_way_ns is not None
    assert result.one_way_from_sent_ns == result.one_way_ns
    assert (result.one_way_ns.max, result.samples) == (200_000.0, 2_000)
    assert [(each.index, each.p50_ns) for each in result.per_subscriber] == [(0, 50_000.0), (1, 100_000.0)]
    assert result.write_ns is not None
    assert result.round_trip_ns is None


def test_delivery_is_reported_per_subscriber_over_all_trials() -> None:
    half = {"subscribers": (arrived(), arrived(1, received=500, lost=500))}
    result = _one(FAN_OUT, half, {})
    assert [(each.expected, each.received, each.lost, each.ratio) for each in result.per_subscriber] == [
        (2_000, 2_000, 0, 1.0),
        (2_000, 1_500, 500, 0.75),
    ]


def test_a_failed_trial_does_not_change_the_figures() -> None:
    result = _one(FAN_OUT, {}, {"failed": Failure("crashed", "subscriber 1 was killed"), "files": ()})
    assert (result.trials, result.failed_trials, result.rate_hz) == (1, 1, 1_000.0)


def test_a_trial_with_an_unreadable_record_has_failed_with_the_reason() -> None:
    def damaged(file: SamplesFile) -> Kept:
        raise SamplesError(Path(file.path or "x.npy"), "damaged", "measure that trial again")

    planned = plan(FAN_OUT, trials=1)
    (result,) = cell_results(planned, [_stream(planned.trials[0])], lambda _: None, DESCRIPTIONS, damaged)
    assert result.failed is not None
    assert result.failed.code == "samples"
    assert result.rate_hz is None


def test_costs_and_the_series_of_the_median_trial_are_kept() -> None:
    def with_rate(seconds: int, number: int) -> dict[str, object]:
        last = START_NS + seconds * 1_000_000_000
        series = (Second(at_s=1.0, seconds=1.0, who="subscriber 0", received=number),)
        return {"subscribers": (arrived(last_received_ns=last), arrived(1, last_received_ns=last)), "series": series}

    result = _one(msgspec.structs.replace(FAN_OUT, rate="max"), with_rate(1, 11), with_rate(9, 99), with_rate(2, 22))
    assert (result.series_trial, [each.received for each in result.series]) == (3, [22])
    assert result.resources is not None
    assert result.resources.bytes_per_subscriber == 10_000_000


def test_late_and_unsent_messages_are_added_over_publishers_and_trials() -> None:
    late = {
        "publishers": (sent(scheduled=1_000, late_sends=30, unsent=5), sent(1, scheduled=1_000, late_sends=1, unsent=0))
    }
    result = _one(FAN_OUT, late, late)
    assert (result.scheduled, result.late_sends, result.unsent, result.timed_out) == (4_000, 62, 10, 0)
    without = _one(FAN_OUT, {})
    assert (without.scheduled, without.late_sends, without.unsent) == (None, None, None)


def test_a_latency_without_from_sent_has_the_reason() -> None:
    short = (sending(np.zeros(10)), *KEPT[1:])
    result = _one(FAN_OUT, {"files": files(*short)}, kept=short)
    assert result.one_way_ns is not None
    assert result.one_way_from_sent_ns is None
    assert result.one_way_from_sent_absent is not None
    assert "first 10" in result.one_way_from_sent_absent


def test_a_paced_stream_is_compared_by_latency_and_a_flood_by_rate() -> None:
    for rate, expected in ((1_000.0, 2.0), ("max", 4.0)):
        planned = plan(cell(pattern="stream", rate=rate), cell("udp", pattern="stream", rate=rate), trials=1)
        last = [START_NS + seconds * 1_000_000_000 for seconds in (4, 1)]
        outcomes = [
            _stream(trial, subscribers=(arrived(last_received_ns=last[trial.cell]),), files=files(*KEPT[:2]))
            for trial in planned.trials
        ]
        slow, fast = (KEPT[0], arrival(LATENCIES * 2)), KEPT[:2]
        taken = iter([*slow, *fast])
        results = cell_results(planned, outcomes, lambda _: None, DESCRIPTIONS, lambda _, taken=taken: next(taken))
        assert [each.times_raw_transport for each in results] == [expected, 1.0]
        assert results[0].raw_transport == "udp"
        baseline = results[0].baseline
        assert baseline is not None
        assert (baseline.label, baseline.times) == ("udp", expected)
        assert (baseline.p50_ns is None) == (rate == "max")
        assert baseline.rate_hz == (results[1].rate_hz if rate == "max" else None)


def test_a_flood_faster_than_its_raw_transport_gets_a_warning_about_rates() -> None:
    planned = plan(cell(pattern="stream"), cell("udp", pattern="stream"), trials=1)
    last = [START_NS + seconds * 1_000_000_000 for seconds in (1, 2)]
    outcomes = [
        _stream(trial, subscribers=(arrived(last_received_ns=last[trial.cell]),), files=files(*KEPT[:2]))
        for trial in planned.trials
    ]
    result = cell_results(planned, outcomes, lambda _: None, DESCRIPTIONS, kept_of(*KEPT))[0]
    assert "receives 2 times as much as the raw transport (udp)" in [each.text for each in result.warnings]


def test_a_flood_is_marked_and_a_rate_or_a_burst_is_not() -> None:
    assert "flooded" in _codes(_one(msgspec.structs.replace(FAN_OUT, rate="max"), {}))
    assert "flooded" not in _codes(_one(FAN_OUT, {}))
    burst = msgspec.structs.replace(FAN_OUT, rate="max", burst=100, recovery_s=0.09)
    assert "flooded" not in _codes(_one(burst, {}))


@pytest.mark.parametrize(("lost", "codes"), [(0, set()), (20, {"loss"}), (21, {"loss", "loss-behind-latency"})])
def test_a_latency_with_over_one_percent_lost_gets_a_warning(lost: int, codes: set[str]) -> None:
    counts = TrialCounts(sent=1_000, received=2_000 - lost, lost=lost)
    assert _codes(_one(FAN_OUT, {"counts": counts})) & {"loss", "loss-behind-latency"} == codes


def test_a_falling_rate_and_differing_subscribers_get_warnings() -> None:
    series = tuple(
        Second(at_s=float(at), seconds=1.0, who="subscriber 0", received=number)
        for at, number in enumerate((1_000, 1_000, 700, 700, 400, 400))
    )
    slow = arrived(1, last_received_ns=START_NS + 2_000_000_000)
    result = _one(FAN_OUT, {"series": series, "subscribers": (arrived(), slow)})
    assert _codes(result) == {"rate-falls", "rate-varies", "subscribers-differ", *SHORT}
    assert _codes(_one(FAN_OUT, {"series": series[:2]})) == SHORT


def test_trials_of_a_flood_may_disagree_in_their_rates() -> None:
    slow = {"subscribers": (arrived(last_received_ns=START_NS + 2_000_000_000), arrived(1, received=500, lost=500))}
    flood = _one(msgspec.structs.replace(FAN_OUT, rate="max"), {}, slow)
    (text,) = [each.text for each in flood.warnings if each.code == "trials-disagree"]
    assert text == "the rates of its 2 trials go from 500 to 1,000 messages/s"
    assert "trials-disagree" not in _codes(_one(FAN_OUT, {}, slow)), "at a rate, only latencies can disagree"


@pytest.mark.parametrize(
    ("publishers", "is_warned"),
    [
        ((sent(sent=1_000), sent(1, sent=1_000)), False),
        ((sent(sent=999, timed_out=1), sent(1, sent=1_000)), False),
        ((sent(sent=999), sent(1, sent=1_000)), True),
    ],
)
def test_a_stream_ended_early_if_its_publishers_sent_fewer_messages_than_requested(
    publishers: tuple, is_warned: bool
) -> None:
    asked = cell(pattern="stream", publishers=2, subscribers=2, rate=1_000.0)
    planned = plan(asked, trials=1, limits=Limits(samples=1_000))
    counts = TrialCounts(sent=sum(each.sent for each in publishers), received=2_000)
    measured = _stream(planned.trials[0], publishers=publishers, counts=counts)
    (result,) = cell_results(planned, [measured], lambda _: None, DESCRIPTIONS, kept_of(*KEPT))
    assert ("ended-early" in _codes(result)) == is_warned


def test_timed_out_publishes_are_not_counted_again_as_failed() -> None:
    counts = TrialCounts(sent=1_000, received=2_000, publish_failed=7)
    assert _codes(_one(FAN_OUT, {"counts": counts, "publishers": (sent(timed_out=7),)})) == SHORT
    failed = _one(FAN_OUT, {"counts": counts, "publishers": (sent(timed_out=4, publish_failed=3),)})
    (text,) = [each.text for each in failed.warnings if each.code == "publish-failed"]
    assert text.startswith("3 of ")


def test_a_search_reports_the_rate_that_held_and_a_curve_its_steps() -> None:
    tried = (step(None, p99_ns=9e6), step(5e3), step(2e4, held=False), step(9e3))
    search = _one(msgspec.structs.replace(FAN_OUT, rate="sustainable"), {"steps": tried})
    assert search.sustainable is not None
    assert search.sustainable.rate_hz == 9e3
    curve = _one(msgspec.structs.replace(FAN_OUT, rate="curve"), {"steps": tried})
    assert curve.sustainable is None
    assert [each.offered_hz for each in curve.steps] == [5e3, 9e3, 2e4, None]
    assert sum(each.knee for each in curve.steps) == 1


def test_calls_of_all_clients_are_joined_in_a_trial() -> None:
    asked = cell(pattern="request-reply", publishers=2)
    clients = tuple(Kept("client", index, samples(LATENCIES + 100_000 * index)) for index in range(2))
    planned = plan(asked, trials=1)
    measured = outcome(
        planned.trials[0],
        files=files(*clients),
        samples_file=None,
        samples=2_000,
        counts=TrialCounts(sent=2_000, received=2_000),
        measured_s=4.0,
        native_request_reply=True,
    )
    (result,) = cell_results(planned, [measured], lambda _: None, DESCRIPTIONS, kept_of(*clients))
    assert result.round_trip_ns is not None
    assert (result.round_trip_ns.min, result.round_trip_ns.max) == (100.0, 200_000.0)
    assert (result.rate_hz, result.samples, result.native_request_reply) == (500.0, 2_000, True)


def test_a_ping_with_a_rate_is_also_measured_from_the_intended_instant() -> None:
    late = samples(LATENCIES)
    late["late_ns"] = 5_000
    for rate, from_intended in ((1_000.0, 5_100.0), ("max", None)):
        planned = plan(cell(rate=rate), trials=1)
        (result,) = cell_results(planned, [outcome(planned.trials[0])], lambda _: late, DESCRIPTIONS)
        assert result.round_trip_ns is not None
        assert result.round_trip_ns.min == 100.0
        intended = result.round_trip_from_intended_ns
        assert (intended.min if intended else None) == from_intended


def test_a_ping_pong_has_no_figures_of_a_stream() -> None:
    planned = plan(cell(), trials=1)
    (result,) = cell_results(planned, [outcome(planned.trials[0])], lambda _: samples(LATENCIES), DESCRIPTIONS)
    for field in ("rate_hz", "sent_hz", "bytes_per_s", "one_way_ns", "blocked_ns", "offered_hz", "resources"):
        assert getattr(result, field) is None, field
    assert (result.per_subscriber, result.series, result.steps) == ((), (), ())
