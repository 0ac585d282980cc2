"""The figures of a crowd: completeness, idle cost, counts, and power laws."""

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from descriptions import transport
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import theilslopes  # type: ignore[import-untyped]

from middlemark.model.cell import Cell
from middlemark.model.crowd import Crowd, IdleUse
from middlemark.model.outcome import Evidence, NetworkCost, TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.protocol import ParticipantResult, Resources, ThreadUse, TickEvent
from middlemark.stats.crowd import complete_max_ns, complete_p50_ns, never_matched
from middlemark.stats.metrics import METRICS
from middlemark.stats.power_law import power_law
from middlemark.stats.trials import TrialSummary
from middlemark.trial.idle import idle_use
from middlemark.trial.patterns import Heard, pattern_of

S = 1_000_000_000
IDLE = IdleUse(
    seconds=8.0, cpu=0.4, switches_hz=200.0, packets_hz=40.0, bytes_hz=8000.0, rss_bytes=40 << 20, threads=20
)


def crowd(*complete_ns: int | None, heard: int | None = None, **more: Any) -> Crowd:
    due = len(complete_ns)
    values: dict[str, Any] = {
        "participants": due,
        "topics": 1,
        "subscribe": "next",
        "processes": due,
        "opened_ns": (1,) * due,
        "complete_ns": complete_ns,
        "publishers_due": due,
        "publishers_heard": sum(each is not None for each in complete_ns) if heard is None else heard,
        "resolution_ns": 10_000_000,
        "probes": 100,
    }
    return Crowd(**values | more)


def test_half_of_the_participants_are_complete_at_the_median() -> None:
    assert complete_p50_ns(crowd(5, 1, 3)) == 3
    assert complete_p50_ns(crowd(1, 2, 4, 9)) == 3
    assert complete_p50_ns(crowd(1, None, 3)) == 3
    assert complete_p50_ns(crowd(1, None, None)) is None


def test_all_are_complete_only_if_none_is_missing() -> None:
    assert complete_max_ns(crowd(5, 1, 3)) == 5
    assert complete_max_ns(crowd(5, None, 3)) is None


def test_a_publisher_that_was_never_heard_is_a_share_of_all() -> None:
    assert never_matched(crowd(5, None, None, 3)) == 0.5
    assert never_matched(crowd(5, 3)) == 0


def test_one_participant_has_no_times() -> None:
    alone = crowd(None, publishers_due=0, heard=0)
    assert (complete_p50_ns(alone), complete_max_ns(alone), never_matched(alone)) == (None, None, None)


def metric(name: str, of: Crowd | None) -> float | None:
    outcome = TrialOutcome(cell=0, number=1, order=0, started="", seconds=1.0, crowd=of)
    return METRICS[name].figure(
        Cell(adapter="a", transport="t", pattern="crowd", size=64), TrialSummary(outcome=outcome)
    )


def test_idle_costs_are_for_each_participant() -> None:
    of = crowd(1, 2, 3, 4, idle=IDLE)
    assert metric("idle_cpu", of) == pytest.approx(0.1)
    assert metric("idle_memory", of) == 10 << 20
    assert metric("idle_bytes", of) == 2000
    assert metric("idle_cpu", crowd(1, 2)) is None
    assert metric("complete", None) is None


def tick(at_s: float, phase: str, *, cpu_s: float, switches: int, rss: int = 10 << 20) -> TickEvent:
    resources = Resources(
        rss_bytes=rss,
        peak_rss_bytes=rss,
        bench_bytes=1 << 20,
        user_ns=round(cpu_s * S),
        system_ns=0,
        voluntary=switches,
        involuntary=0,
        minor_faults=0,
        major_faults=0,
        threads=(ThreadUse(tid=1, name="a", cpu_ns=0), ThreadUse(tid=2, name="b", cpu_ns=0)),
    )
    return TickEvent(
        at_ns=round(at_s * S),
        roles=(),
        resources=resources,
        role="participant",
        phase=phase,  # type: ignore[arg-type]
        samples=0,
        elapsed_s=at_s,
    )


def network(packets: int) -> NetworkCost:
    names = [each for each in NetworkCost.__struct_fields__ if not each.startswith("loopback")]
    return NetworkCost(loopback_bytes=100 * packets, loopback_packets=packets, **dict.fromkeys(names, 0))


def worker(cpu_a_second: float) -> list[TickEvent]:
    idle = [tick(at, "idle", cpu_s=5 + cpu_a_second * at, switches=10 * at) for at in range(5)]
    return [*idle, tick(5, "measuring", cpu_s=99, switches=9999)]


def test_idle_use_is_added_over_the_processes_without_the_first_reading() -> None:
    counters = [network(each) for each in (0, 1000, 1010, 1020, 1030, 9999)]
    found, why = idle_use([worker(0.1), worker(0.3)], counters)
    assert why is None
    assert found is not None
    assert (found.seconds, found.cpu, found.switches_hz) == pytest.approx((3, 0.4, 20))
    assert (found.packets_hz, found.bytes_hz) == pytest.approx((10, 1000))
    assert (found.rss_bytes, found.threads) == (2 * 9 << 20, 4)


def test_a_short_idle_phase_has_no_cost_and_says_why() -> None:
    found, why = idle_use([worker(0.1)[:2]], [network(0)] * 2)
    assert found is None
    assert why is not None
    assert "reported its use 1 times" in why


def result(index: int, **changed: Any) -> ParticipantResult:
    values: dict[str, Any] = {
        "index": index,
        "ended": "complete",
        "last_error": "",
        "opening_ns": 100 + index,
        "opened_ns": 200 + index,
        "complete_ns": 1000 + index,
        "publishers_due": 2,
        "publishers_heard": 2,
        "probes": 7,
        "sent": 10,
        "publish_failed": 0,
        "late_sends": 0,
        "expected": 10,
        "received": 10,
        "duplicated": 0,
        "reordered": 0,
        "damaged": 0,
        "first_sent_ns": 5000,
        "last_sent_ns": 6000,
        "first_received_ns": 5001,
        "last_received_ns": 6001,
        "samples": 10,
    }
    return ParticipantResult(**values | changed)


def concluded(*results: ParticipantResult, **levels: Any) -> TrialOutcome:
    cell = Cell(
        adapter="udp",
        transport="udp",
        pattern="crowd",
        size=64,
        rate=1.0,
        topics=2,
        participants=len(results),
        **levels,
    )
    heard = Heard(
        cell=cell,
        limits=Limits(duration_s=5.0),
        transport=transport("udp", discovery_by="files"),
        senders=results,
        receivers=(),
        evidence=Evidence(udp_datagrams=1000, tcp_segments=0, loopback_bytes=100_000, udp_sockets=6),
        samples_stem="samples/00000",
        idle=IDLE,
    )
    begun = TrialOutcome(cell=0, number=1, order=0, started="", seconds=0.0)
    return pattern_of(cell).conclude(heard, begun)


def test_times_count_from_the_opening_of_the_first_participant() -> None:
    outcome = concluded(result(0), result(1), result(2, complete_ns=0, publishers_heard=1))
    assert outcome.crowd is not None
    assert outcome.crowd.complete_ns == (900, 901, None)
    assert outcome.crowd.opened_ns == (100, 101, 102)
    assert (outcome.crowd.publishers_due, outcome.crowd.publishers_heard) == (6, 5)
    assert (outcome.crowd.discovery_by, outcome.crowd.probes) == ("files", 21)
    assert outcome.actual_transport == "udp"
    [warning] = outcome.warnings
    assert warning.text == "1 of 6 publishers were never heard (17 %)"


def test_a_discovery_server_is_named_as_what_introduced_the_participants() -> None:
    outcome = concluded(result(0), result(1), via="discovery-server")
    assert outcome.crowd is not None
    assert "discovery server" in outcome.crowd.discovery_by


def test_loss_is_counted_against_what_the_others_sent() -> None:
    outcome = concluded(result(0, received=7), result(1, sent=9, publish_failed=1), result(2))
    assert outcome.counts is not None
    assert (outcome.counts.sent, outcome.counts.received, outcome.counts.lost) == (29, 27, 2)
    assert [each.expected for each in outcome.subscribers] == [9, 10, 10]
    assert {each.code for each in outcome.warnings} == {"loss", "publish-failed"}


def test_a_participant_that_hears_all_expects_the_messages_of_all() -> None:
    outcome = concluded(result(0), result(1), result(2), subscribe="all")
    assert [each.expected for each in outcome.subscribers] == [20, 20, 20]


def test_an_outcome_of_a_crowd_can_be_stored() -> None:
    outcome = concluded(result(0), result(1))
    assert msgspec.json.decode(msgspec.json.encode(outcome), type=TrialOutcome) == outcome


def test_an_exact_power_law_is_found() -> None:
    found = power_law([(n, 7 * n**1.9) for n in (1, 4, 10, 30, 100)])
    assert found is not None
    assert (found.exponent, found.low, found.high) == pytest.approx((1.9, 1.9, 1.9))
    assert (found.factor, found.residual) == pytest.approx((7, 1))
    assert found.at(1000) == pytest.approx(7 * 1000**1.9)


def test_a_level_in_another_regime_moves_the_residual_and_not_the_exponent() -> None:
    points = [(n, float(n)) for n in (1, 2, 4, 8, 16, 32, 64)]
    points[-1] = (64, 6400.0)
    found = power_law(points)
    assert found is not None
    assert found.exponent == pytest.approx(1, abs=0.1)
    assert found.residual > 50


def test_two_levels_have_no_power_law() -> None:
    assert power_law([(1, 1), (10, 10), (10, 11)]) is None
    assert power_law([(1, 1), (4, 0), (10, 10)]) is None


@given(
    st.lists(
        st.tuples(st.sampled_from([1.0, 4.0, 10.0, 30.0, 100.0]), st.floats(0.001, 1e9)), min_size=6, max_size=30
    ).filter(lambda points: len({x for x, _ in points}) >= 3)
)
def test_the_exponent_and_its_interval_are_those_of_scipy(points: list[tuple[float, float]]) -> None:
    found = power_law(points)
    assert found is not None
    xs, ys = np.log([x for x, _ in points]), np.log([y for _, y in points])
    expected = theilslopes(ys, xs, 0.95)
    for ours, theirs in zip((found.exponent, found.low, found.high), (expected[0], *expected[2:]), strict=True):
        assert math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)
