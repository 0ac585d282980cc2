"""Costs of a cell: medians over trials of the resources that its workers used, in total and for each message."""

import msgspec
import pytest
from stats_cases import cell, outcome, plan
from stream_cases import arrived, cost, sent

from middlemark.model.outcome import CompanionCost, NetworkCost, ThreadCost, TrialCounts, TrialOutcome
from middlemark.stats.costs import resources
from middlemark.stats.result import CellResources, ThreadResources

STREAM = cell(pattern="stream")
TRIALS = plan(STREAM).trials
NETWORK = NetworkCost(
    loopback_bytes=100,
    loopback_packets=10,
    udp_in_datagrams=10,
    udp_rcvbuf_errors=1,
    udp_sndbuf_errors=0,
    udp_in_errors=1,
    ip_reasm_fails=0,
    ip_in_discards=0,
    tcp_retransmitted=0,
)


def _outcome(trial: int = 0, **given: object) -> TrialOutcome:
    figures = {
        "costs": (cost("publisher 0"), cost("subscriber 0")),
        "publishers": (sent(),),
        "subscribers": (arrived(),),
    }
    return outcome(TRIALS[trial], **(figures | given))


def _resources(*outcomes: TrialOutcome, **levels: object) -> CellResources:
    found = resources(cell(pattern="stream", **levels), outcomes)
    assert found is not None
    return found


def test_processor_use_is_processor_time_over_elapsed_time_of_all_workers() -> None:
    found = _resources(_outcome())
    assert (found.cpu, found.user, found.system) == (1.0, pytest.approx(0.6), pytest.approx(0.4))
    assert [each.cpu for each in found.workers] == [0.5, 0.5]


def test_the_cost_per_message_excludes_the_publishers_pacing() -> None:
    paced = sent(pacing_ns=500_000_000)
    assert _resources(_outcome(publishers=(paced,))).ns_per_message == 1_500_000_000 / 1_000


def test_a_message_counts_at_every_subscriber_that_received_it() -> None:
    assert _resources(_outcome(subscribers=(arrived(), arrived(1)))).ns_per_message == 1_000_000


def test_without_arrivals_there_is_no_cost_per_message() -> None:
    assert _resources(_outcome(subscribers=(arrived(received=0, lost=1_000),))).ns_per_message is None


def test_a_companion_is_listed_with_the_workers_and_not_in_their_sums() -> None:
    daemons = [CompanionCost(**msgspec.structs.asdict(cost("broker")), ready_ns=ready) for ready in (1, 3, 8)]
    found = _resources(*(_outcome(at, companions=(each,)) for at, each in enumerate(daemons)))
    [broker] = found.companions
    assert (broker.who, broker.ready_ns, broker.cpu) == ("broker", 3, 0.5)
    assert (found.cpu, len(found.workers)) == (1.0, 2)


def test_a_round_trip_counts_as_a_message_of_a_ping_pong() -> None:
    found = resources(cell(), [outcome(TRIALS[0], costs=(cost("ping"),), counts=TrialCounts(sent=510, received=500))])
    assert found is not None
    assert found.ns_per_message == 2_000_000.0


def test_figures_are_medians_over_trials() -> None:
    trials = [_outcome(at, costs=(cost(rss_bytes=rss),)) for at, rss in enumerate((9, 1, 5))]
    found = _resources(*trials)
    assert found.rss_bytes == 5
    assert found.workers[0].rss_bytes == 5


def test_memory_per_subscriber_is_reported_if_each_has_its_own_process() -> None:
    costs = (cost("publisher 0", rss_bytes=99), cost("subscriber 0", rss_bytes=10), cost("subscriber 1", rss_bytes=20))
    assert _resources(_outcome(costs=costs)).bytes_per_subscriber == 15
    together = (cost("publisher 0 and subscriber 0"),)
    assert _resources(_outcome(costs=together), processes=1).bytes_per_subscriber is None


def test_context_switches_are_reported_per_second_and_per_message() -> None:
    found = _resources(_outcome())
    assert (found.voluntary_hz, found.involuntary_hz) == (200.0, 4.0)
    assert (found.voluntary_per_message, found.involuntary_per_message) == (0.4, 0.008)


def test_threads_are_listed_by_their_share_from_the_busiest() -> None:
    threads = (ThreadCost(name="tev", threads=1, cpu_ns=2_000_000), ThreadCost(name="recv", threads=2, cpu_ns=10**9))
    found = _resources(_outcome(costs=(cost(threads=threads),)))
    assert found.workers[0].threads == (ThreadResources("recv", 0.5), ThreadResources("tev", 0.001))


def test_a_thread_that_most_trials_lack_has_a_median_of_zero() -> None:
    rare = cost(threads=(ThreadCost(name="gc", threads=1, cpu_ns=10**9),))
    found = _resources(*(_outcome(at, costs=(rare if at == 0 else cost(),)) for at in range(3)))
    assert ThreadResources("gc", 0.0) in found.workers[0].threads


def test_network_losses_of_all_trials_are_added() -> None:
    found = _resources(_outcome(0, network=NETWORK), _outcome(1, network=NETWORK))
    assert found.network is not None
    assert (found.network.loopback_bytes, found.network.udp_rcvbuf_errors) == (200, 2)


def test_costs_that_were_not_read_are_absent() -> None:
    assert resources(STREAM, [_outcome(costs=())]) is None
    only = resources(STREAM, [_outcome(costs=(), network=NETWORK)])
    assert only is not None
    assert (only.cpu, only.rss_bytes, only.workers) == (None, None, ())
