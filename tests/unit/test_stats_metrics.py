"""Every metric of a trial, computed from the stored outcome."""

import msgspec
import numpy as np
import pytest
from stats_cases import cell, outcome, plan, samples
from stream_cases import arrived, cost, kept_of, sent

from middlemark.model.cell import Cell
from middlemark.model.outcome import CompanionCost, Second, ThreadCost, TrialOutcome
from middlemark.stats.metrics import METRICS, by_trial, times_of
from middlemark.stats.rates import rates
from middlemark.stats.trials import TrialSummary, trial_summary

TRIAL = plan(cell()).trials[0]


def _trips(measured_cell: Cell, **given: object) -> TrialSummary:
    kept = samples(np.arange(1, 1001) * 1000, take_ns=200)
    return trial_summary(measured_cell, outcome(TRIAL, **given), lambda _: kept, kept_of())


def _figures(measured_cell: Cell, trial: TrialSummary) -> dict[str, float | None]:
    return {name: values[0] for name, values in by_trial(measured_cell, [trial]).items()}


def test_the_times_of_round_trips_come_from_their_samples() -> None:
    found = _figures(cell(), _trips(cell()))
    assert (found["min"], found["max"], found["range"]) == (1_000, 1_000_000, 999_000)
    assert found["p50"] == pytest.approx(500_000, rel=0.01)
    assert found["spread"] == pytest.approx(490_000, rel=0.01)
    assert (found["write"], found["take"]) == (10, 200)
    assert "p99.99" not in found, "a thousand samples have no p99.99"


def test_a_tail_is_a_ratio_to_the_median() -> None:
    found = _figures(cell(), _trips(cell()))
    assert found["tail"] == pytest.approx(1.98, rel=0.01)
    assert "far_tail" not in found, "a thousand samples have no p99.99"


def test_rates_of_round_trips_cover_the_measured_part() -> None:
    found = _figures(cell(), _trips(cell(), measured_s=0.5))
    assert (found["round_trips"], found["bytes"]) == (2_000, 2_000 * 1024)
    paced = cell(rate=100.0)
    assert not {"round_trips", "bytes", "throughput"} & _figures(paced, _trips(paced)).keys(), (
        "the schedule determines these rates"
    )


def test_start_and_discovery_times_are_metrics() -> None:
    found = _figures(cell(), _trips(cell(), discovery_ns=5_000, first_sample_ns=7_000))
    assert (found["discovery"], found["start"]) == (5_000, 7_000)


def test_costs_cover_all_workers_and_each_role() -> None:
    threads = (ThreadCost(name="ping", threads=2, cpu_ns=1),)
    workers = (
        cost("ping", rss_bytes=10, voluntary_switches=100, threads=threads),
        cost("pong 0", rss_bytes=5, voluntary_switches=30),
        cost("pong 1", rss_bytes=6, voluntary_switches=30),
    )
    found = _figures(cell(), _trips(cell(), costs=workers))
    assert (found["memory"], found["memory.ping"], found["memory.pong"]) == (21, 10, 11)
    seconds = workers[0].seconds
    assert (found["voluntary.ping"], found["voluntary.pong"]) == (100 / seconds, 60 / seconds)
    assert found["threads.ping"] == 2
    assert found["processors"] == pytest.approx(3 * found["processors.ping"])  # type: ignore[operator]
    assert "memory.publisher" not in found


def test_companions_are_only_in_their_own_metrics() -> None:
    ready = {"ready_ns": 2_000_000}
    daemon = CompanionCost(**msgspec.structs.asdict(cost("roudi", rss_bytes=7)), **ready)
    found = _figures(cell(), _trips(cell(), costs=(cost("ping", rss_bytes=10),), companions=(daemon,)))
    assert (found["memory"], found["memory.companion"], found["start.companion"]) == (10, 7, 2_000_000)
    assert found["processors.companion"] == found["processors"]


def test_the_spread_of_seconds_is_a_share_of_their_median() -> None:
    series = tuple(
        Second(at_s=float(at), seconds=1.0, who="ping", received=received)
        for at, received in enumerate((90, 100, 120), 1)
    )
    assert _figures(cell(), _trips(cell(), series=series))["seconds_spread"] == pytest.approx(0.3)
    assert "seconds_spread" not in _figures(cell(), _trips(cell(), series=series[:2]))


def test_a_flood_has_a_throughput_and_no_latency() -> None:
    flood_cell = cell(pattern="stream", rate="max")
    flood: TrialOutcome = outcome(
        TRIAL, publishers=(sent(),), subscribers=(arrived(received=900, lost=100),), counts=None
    )
    found = _figures(flood_cell, TrialSummary(outcome=flood, rates=rates(flood)))
    assert found["loss"] == pytest.approx(0.1)
    assert found["bytes"] == pytest.approx((found["throughput"] or 0) * 1024)
    assert not {"p50", "max", "stdev"} & found.keys()


def test_every_metric_is_fully_declared() -> None:
    for name, each in METRICS.items():
        assert each.means, name
        assert each.where, name
        assert len({*each.words}) == 2, name
        assert " " not in each.worse, "gates are four words"
    assert times_of(["p50", "write", "take"]) == ("round_trip_ns", "write_ns", "take_ns")
