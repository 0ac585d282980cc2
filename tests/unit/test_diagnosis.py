"""The diagnosis names the limit that a row reached only if there is evidence in the row's trials."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from noise_cases import moved
from report_runs import ADAPTERS, cell, run_of

from middlemark.model.asked import Lift
from middlemark.model.cell import Cell
from middlemark.model.noise import Moved, Witnessed
from middlemark.model.outcome import Evidence, Failure, NetworkCost, Placed, Room, TrialCounts, TrialOutcome, WorkerCost
from middlemark.model.setting import Setting, settings_of
from middlemark.runs.diagnose import Diagnosis, _percent, _sign_verdict, _signed, named, trial_plan
from middlemark.stats.diagnosis import Limit, by_check, limits_of

DESCRIPTIONS = {each.name: each for each in ADAPTERS}
UDP = cell(pattern="stream", size=1 << 20, rate=50.0, reliability="best-effort")
TRIPS = cell(size=64, rate=100.0)
LOST = {"counts": TrialCounts(sent=100, received=41, lost=59)}
TAIL = {"metrics": {"p50": (1000.0,), "p99": (50_000.0,)}}
STEADY = {"metrics": {"p50": (1000.0,), "p99": (2000.0,)}}


def network(**counts: int) -> NetworkCost:
    return NetworkCost(**{**dict.fromkeys(NetworkCost.__struct_fields__, 0), "udp_in_datagrams": 10_000, **counts})


def noise(change: Moved | None = None, **more: Any) -> Witnessed:
    return Witnessed(
        cpus=(0, 1), pinned=True, from_ns=0, to_ns=1_000_000_000, begins_ns=(0,), moved=change or moved(), **more
    )


def found(subject: Cell, result: Mapping[str, Any], **outcome: Any) -> list[Limit]:
    """Return the limits that are found in a cell with this result and two trials with this outcome."""
    failed = outcome.get("failed")
    run = run_of({subject: [failed] * 2 if failed else [1000.0] * 2})
    carried = [msgspec.structs.replace(each, **outcome) for each in run.outcomes]
    [row] = run.results
    return [*limits_of([msgspec.structs.replace(row, **result)], carried, DESCRIPTIONS)]


def checks(subject: Cell, result: Mapping[str, Any], **outcome: Any) -> list[str]:
    return [each.check for each in found(subject, result, **outcome)]


COST = WorkerCost(
    who="ping", pid=1, seconds=1.0, rss_bytes=1, peak_rss_bytes=1, user_ns=1, system_ns=1, voluntary_switches=1,
    involuntary_switches=1, minor_faults=1, major_faults=100, threads=(),
)  # fmt: skip
REAL_TIME = msgspec.structs.replace(
    moved(), rt_runtime_us=200_000, rt_period_us=1_000_000, rt_limit="/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us"
)
EVIDENCE = Evidence(udp_datagrams=1, tcp_segments=1000, loopback_bytes=1)
EACH: list[tuple[str, Cell, dict[str, Any]]] = [
    ("rmem_max", UDP, {"network": network(udp_rcvbuf_errors=500)}),
    ("wmem_max", UDP, {"network": network(udp_sndbuf_errors=500)}),
    ("ipfrag_high_thresh", UDP, {"network": network(ip_reasm_fails=500, ip_reasm_timeouts=3)}),
    ("netdev_max_backlog", UDP, {"network": network(softnet_dropped=500, loopback_packets=10_000)}),
    (
        "qdisc",
        UDP,
        {
            "network": network(loopback_packets=10_000),
            "evidence": msgspec.structs.replace(EVIDENCE, qdisc_dropped=500),
        },
    ),
    ("cgroup_cpu", TRIPS, {"noise": noise(msgspec.structs.replace(moved(), throttled_ns=500_000_000))}),
    (
        "cgroup_rt",
        cell(size=64, rate=100.0, priority="fifo:20"),
        {
            "noise": noise(REAL_TIME, delay_ns=700_000_000),
            "placed": (Placed(role="ping", pid=1, cpus=(0,), policy="fifo", priority=20, mlocked=False),),
        },
    ),
    ("steal", TRIPS, {"noise": noise(moved(steal_ms=300))}),
    ("run_queue", TRIPS, {"noise": noise(middleware_delay_ns=600_000_000)}),
    ("mlock", TRIPS, {"costs": (COST,)}),
]


@pytest.mark.parametrize(("check", "subject", "carried"), EACH, ids=[each[0] for each in EACH])
def test_each_limit_is_named_only_with_evidence_in_a_row_that_suffers(
    check: str, subject: Cell, carried: dict[str, Any]
) -> None:
    assert checks(subject, LOST, **carried) == [check]
    assert checks(subject, TAIL, **carried) == [check]
    assert checks(subject, STEADY, **carried) == [], "the row has no symptom"
    assert checks(subject, LOST) == [], "the trials have no evidence"


def test_a_few_dropped_datagrams_do_not_explain_a_loss() -> None:
    assert checks(UDP, LOST, network=network(udp_rcvbuf_errors=9)) == []
    assert checks(UDP, LOST, network=network(udp_rcvbuf_errors=11)) == ["rmem_max"]


def test_evidence_in_a_minority_of_trials_does_not_explain_a_row() -> None:
    run = run_of({UDP: [1000.0] * 3})
    first, *others = run.outcomes
    [row] = run.results
    dropping = msgspec.structs.replace(first, network=network(udp_rcvbuf_errors=5000))
    assert limits_of([msgspec.structs.replace(row, **LOST)], [dropping, *others], DESCRIPTIONS) == ()


def test_a_flood_of_small_messages_gets_no_advice_to_enlarge_a_buffer() -> None:
    flood = cell(pattern="stream", size=64, rate="max", reliability="best-effort")
    assert checks(flood, LOST, network=network(udp_rcvbuf_errors=5000)) == []
    assert checks(msgspec.structs.replace(flood, size=1 << 20), LOST, network=network(udp_rcvbuf_errors=5000))


def test_time_stopped_by_a_quota_does_not_also_count_as_waiting() -> None:
    stopped = msgspec.structs.replace(moved(), throttled_ns=500_000_000)
    assert checks(TRIPS, LOST, noise=noise(stopped, middleware_delay_ns=900_000_000)) == ["cgroup_cpu"]


def test_full_shared_memory_is_recognised_in_a_failure_or_in_the_actual_transport() -> None:
    shm = cell(transport="shm", size=1 << 20)
    room = Room(size_bytes=6 << 20, least_free_bytes=1 << 20)
    refused = Failure("refused", "13 chunks take 147850048 bytes of /dev/shm, which has 6291456 left")
    [limit] = found(shm, {}, failed=refused, shm=room)
    assert (limit.check, limit.symptom, limit.seen) == ("dev_shm", "could not be measured", refused.text)
    died = Failure("crashed", "the pong was killed by signal 7 (SIGBUS)")
    assert checks(shm, {}, failed=died, shm=room) == ["dev_shm"]
    assert checks(shm, {}, failed=died, shm=Room(size_bytes=1 << 34, least_free_bytes=1 << 33)) == []
    assert checks(shm, {}, failed=Failure("hung", "the pong said nothing"), shm=room) == []
    [fell_back] = found(shm, LOST, actual_transport="udp", shm=room)
    assert fell_back.seen == "1 MiB of 6 MiB were free in /dev/shm, and the actual transport was udp"


def test_the_worst_row_comes_first_and_rows_with_one_limit_are_joined() -> None:
    other = msgspec.structs.replace(UDP, size=1 << 19)
    run = run_of({UDP: [1000.0] * 2, other: [1000.0] * 2})
    outcomes: list[TrialOutcome] = [
        msgspec.structs.replace(each, network=network(udp_rcvbuf_errors=500)) for each in run.outcomes
    ]
    little, much = (
        msgspec.structs.replace(row, counts=TrialCounts(sent=100, received=100 - lost, lost=lost))
        for row, lost in zip(run.results, (1, 60), strict=True)
    )
    [(check, limits)] = by_check(limits_of([little, much], outcomes, DESCRIPTIONS))
    assert (check, [each.symptom for each in limits]) == (
        "rmem_max", ["lost 60 % of its messages", "lost 1 % of its messages"],
    )  # fmt: skip


def lift(**fields: Any) -> Lift:
    setting = {"name": "net.core.rmem_max", "before": "212992", "after": "8388608", "command": "", "keep": ""}
    return Lift(**(setting | {"change": Setting("net.core.rmem_max", "8388608")} | fields))


def test_a_try_interleaves_each_row_before_and_after_the_change() -> None:
    run = run_of({UDP: [1000.0] * 2, TRIPS: [1000.0] * 2})
    limit = Limit(cell=0, check="rmem_max", symptom="", seen="", weight=1.0)
    diagnosis = Diagnosis(check="rmem_max", limits=(limit,), lift=lift(), sentence="")
    plan = trial_plan(run, diagnosis, 6, seed=3)
    before, after = plan.cells
    assert [settings_of(each.system)[0].value for each in plan.cells] == ["212992", "8388608"]
    assert msgspec.structs.replace(before, system=None) == msgspec.structs.replace(after, system=None) == UDP
    rounds = [{each.cell for each in plan.trials if each.number == number} for number in range(1, 7)]
    assert rounds == [{0, 1}] * 6
    assert len({tuple(each.cell for each in plan.trials[at : at + 2]) for at in range(0, 12, 2)}) == 2, (
        "the order of the two sides varies"
    )


def test_a_remedy_of_the_middlewares_changes_its_native_setting() -> None:
    own = msgspec.structs.replace(UDP, native=(("buffer", "64KiB"), ("other", "1")))
    before, after = lift(name="buffer", before="64KiB", after="4194304", change=None).sides(own)
    assert before == own
    assert dict(after.native) == {"buffer": "4194304", "other": "1"}


def test_a_setting_that_exists_only_while_a_file_is_open_has_no_earlier_value() -> None:
    held = lift(name="/dev/cpu_dma_latency", before="", after="0", change=Setting("/dev/cpu_dma_latency", "0"))
    before, after = held.sides(TRIPS)
    assert (before.system, after.system) == (None, "/dev/cpu_dma_latency=0")


def test_shares_that_may_be_zero_are_judged_by_the_sign_of_each_round() -> None:
    assert _sign_verdict([0.5] * 6) == "better in 6 of 6 rounds"
    assert _sign_verdict([-0.5] * 6) == "worse in 6 of 6 rounds"
    assert _sign_verdict([0.5] * 5) == "undecided: better in 5 of 5 rounds"
    assert _sign_verdict([0.5, -0.5] * 3) == "undecided: better in 3 of 6 rounds"
    assert _sign_verdict([]) == "undecided: better in 0 of 0 rounds"


def test_figures_of_a_verdict_are_short_and_never_round_a_loss_to_zero() -> None:
    assert (_percent(0.41), _percent(1.0), _percent(0.99999)) == ("41 %", "100 %", "99.9 %")
    assert (_signed(-0.12), _signed(0.001), _signed(2.5), _signed(-0.9988)) == ("-12", "0", "+250", "-99.88")
    assert named(UDP) == "lyra udp at 1 MiB"
