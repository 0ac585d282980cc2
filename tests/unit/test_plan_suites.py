"""Middlemark's own suites plan the experiments that they describe. The duration of a plan is estimated."""

import msgspec
import pytest
from descriptions import CYCLONE, EVERYONE, FAST, MEMCPY, RAW_TRANSPORTS, SHM, UDP, description, transport
from planning import pairs_of, plan_of, suite_of

from middlemark.model.description import NativeSetting
from middlemark.plan import estimate_seconds, make_plan
from middlemark.plan.estimate import (
    CURVE_STEPS,
    FURTHER_PROCESS_S,
    HANDSHAKE_S,
    PROOF_S,
    SEARCH_STEPS,
    SLOW_START_S,
)
from middlemark.plan.memory import memory_needed
from middlemark.problems import RequestError
from middlemark.suite import load, raw_options
from middlemark.suite.overrides import race_budget_s


def test_first_look_races_for_six_minutes_and_two_rounds_of_few_adapters_take_half_of_them() -> None:
    suites = load(["first-look"], raw_options())
    plan = make_plan(suites, (*EVERYONE, MEMCPY), cpus=(0, 1), seed=0)
    assert race_budget_s(suites) == 360
    assert estimate_seconds(plan) < 90
    assert {cell.size for cell in plan.cells} == {1024, 65536, 1 << 20}
    assert pairs_of(plan) == [*pairs_of(plan_of("[[sweep]]")), "memcpy memcpy"]


def test_the_time_of_a_race_is_that_of_the_sweep_with_the_largest_budget() -> None:
    def budget(*keys: str) -> float | None:
        return race_budget_s([suite_of("\n".join(f"[[sweep]]\n{each}" for each in keys))])

    assert budget("") is None
    assert budget('budget = "5m"') is None
    assert budget("race = true") == 600
    assert budget('race = true\nbudget = "5m"', 'race = true\nbudget = "7m"', 'budget = "9m"') == 420


def test_first_look_runs_with_baselines_only_and_on_one_processor() -> None:
    for adapters, cpus in ((RAW_TRANSPORTS, (0, 1)), (EVERYONE, (0,)), ((UDP,), (0, 1))):
        plan = make_plan(
            load(["first-look"], raw_options()), adapters, cpus=cpus, seed=0, absent={"fastdds": "apt", "shm": "?"}
        )
        assert plan.cells
        assert len(cpus) == 2 or {cell.receive for cell in plan.cells} == {"block"}


def test_fastdds_latency_repeats_the_experiment_of_latencytest() -> None:
    lends = msgspec.structs.replace(
        FAST, transports=tuple(msgspec.structs.replace(each, loan=(False, True)) for each in FAST.transports)
    )
    here = tuple(lends if each is FAST else each for each in EVERYONE)
    plan = make_plan(load(["fastdds-latency"], raw_options()), here, cpus=(0, 1), seed=0)
    samples = {(plan.cells[trial.cell].adapter == "fastdds", trial.limits.samples) for trial in plan.trials}
    assert samples == {(True, 10_000), (True, 2000), (False, 1000)}, "as many as LatencyTest takes"
    fewer = {plan.cells[trial.cell].transport for trial in plan.trials if trial.limits.samples == 2000}
    assert fewer == {"tcp"}, "one round trip of 1 MiB over TCP takes 10 ms"
    fast = [cell for cell in plan.cells if cell.adapter == "fastdds"]
    assert {(cell.transport, cell.loan, cell.processes) for cell in fast} == {
        (name, loan, 1 if name == "intraprocess" else 2)
        for name in ("intraprocess", "shm", "data-sharing", "udp", "tcp")
        for loan in (False, True)
    }
    assert {(cell.size, cell.receive) for cell in fast} == {(size, "listen") for size in (16, 1024, 64512, 1048576)}
    assert {(cell.transport, cell.loan) for cell in fast if cell.reliability == "best-effort"} == {("udp", False)}
    assert len(fast) == (5 * 2 + 1) * 4
    assert {cell.adapter for cell in plan.cells} == {"fastdds", "shm", "udp", "tcp"}


def test_fastdds_latency_leaves_out_transports_without_the_security_level() -> None:
    levels = {"shm": ("none", "encrypted"), "udp": ("none", "encrypted"), "tcp": ("none", "encrypted")}
    protects = msgspec.structs.replace(
        FAST,
        transports=tuple(
            msgspec.structs.replace(each, loan=(False, True), security=levels.get(each.name, ("none",)))
            for each in FAST.transports
        ),
    )
    here = tuple(protects if each is FAST else each for each in EVERYONE)
    plan = make_plan(load(["fastdds-latency"], raw_options(security="encrypted")), here, cpus=(0, 1), seed=0)
    fast = [cell for cell in plan.cells if cell.adapter == "fastdds"]
    assert {(cell.transport, cell.security) for cell in fast} == {(name, "encrypted") for name in levels}
    notes = " ".join(note.text for note in plan.notes)
    assert "fastdds intraprocess: security encrypted left out" in notes
    assert "fastdds data-sharing: security encrypted left out" in notes


def test_cyclonedds_roundtrip_repeats_the_experiment_of_roundtripping() -> None:
    plan = make_plan(load(["cyclonedds-roundtrip"], raw_options()), EVERYONE, cpus=(0, 1), seed=0)
    cyclone = [cell for cell in plan.cells if cell.adapter == "cyclonedds"]
    assert {cell.size for cell in cyclone} == {16, 64, 256, 1024, 4096, 16384, 65536}
    assert {(cell.transport, cell.pin, cell.priority) for cell in cyclone} == {
        (name, pin, priority) for name in ("udp", "shm") for pin in ((0, 1), None) for priority in ("fifo:80", "other")
    }
    assert len(cyclone) == 7 * 2 * 4
    assert plan.together == (("pin", "priority"),)


def test_cyclonedds_performance_repeats_the_experiment_of_its_performance_page() -> None:
    own = ("SynchronousDeliveryPriorityThreshold", "Watermarks/WhcHigh", "WriteBatch")
    keys = (*(f"Internal/{each}" for each in own), "General/MaxMessageSize", "General/FragmentSize")
    batches = msgspec.structs.replace(
        CYCLONE,
        native={key: NativeSetting(help="it") for key in keys},
        transports=(*CYCLONE.transports, transport("default", carrier="any")),
    )
    here = tuple(batches if each is CYCLONE else each for each in EVERYONE)
    plan = make_plan(load(["cyclonedds-performance"], raw_options()), here, cpus=(0, 1), seed=0)
    cyclone = [cell for cell in plan.cells if cell.adapter == "cyclonedds"]
    assert {(cell.pattern, cell.transport, cell.depth) for cell in cyclone} == {
        ("stream", "udp", None), ("stream", "shm", 16), ("stream", "default", None),
        ("ping-pong", "udp", 1), ("ping-pong", "shm", 1), ("ping-pong", "default", 1),
    }  # fmt: skip
    assert {(cell.receive, cell.reliability, cell.rate, cell.payload) for cell in cyclone} == {
        ("listen", "reliable", "max", "untouched")
    }
    natives = {cell.native for cell in cyclone if cell.pattern == "stream" and cell.transport == "udp"}
    [page] = natives - {(), (("Internal/WriteBatch", "true"),)}
    assert {*dict(page)} == {*keys}, (
        "the page's own settings: asynchronous, large datagrams, a high-water mark, batches"
    )
    assert {cell.native for cell in cyclone if cell.transport == "default"} == {()}, (
        "the default configuration has no settings"
    )
    baselines = {(cell.pattern, cell.adapter, cell.size) for cell in plan.cells if cell.adapter != "cyclonedds"}
    assert baselines == {
        (pattern, name, size)
        for pattern in ("stream", "ping-pong")
        for name in ("shm", "uds", "udp", "tcp")
        for size in {cell.size for cell in cyclone}
    }
    assert {16, 100, 1 << 20} <= {cell.size for cell in cyclone}


def test_fastdds_throughput_repeats_the_experiment_of_throughputtest_within_18_minutes() -> None:
    own = ("heartbeat_period_ms", "nack_response_delay_ms", "allocated_samples", "max_samples")
    natives = {key: NativeSetting(help="a number") for key in own}
    here = tuple(msgspec.structs.replace(each, native=natives) if each is FAST else each for each in EVERYONE)
    plan = make_plan(load(["fastdds-throughput"], raw_options()), here, cpus=(0, 1), seed=0)
    assert estimate_seconds(plan) < 18 * 60
    cells = [cell for cell in plan.cells if cell.adapter == "fastdds"]
    fast = {(cell.size, cell.burst, cell.recovery_s) for cell in cells}
    assert {(1024, 10_000, 0.005), (16, 1000, 0.0), (1024, 1000, 0.0), (1 << 20, 100, 0.09)} <= fast
    assert {cell.transport for cell in cells} == {"intraprocess", "shm", "data-sharing", "udp", "tcp"}
    assert {(cell.pattern, cell.receive, cell.payload) for cell in cells} == {("stream", "listen", "untouched")}
    assert {dict(cell.native)["heartbeat_period_ms"] for cell in cells} == {"100"}
    assert {dict(cell.native)["nack_response_delay_ms"] for cell in cells} == {"0"}
    assert all(dict(cell.native)["allocated_samples"] == str(cell.burst) for cell in cells)
    kept_last = [cell for cell in cells if cell.depth is not None]
    assert all(cell.depth == cell.burst for cell in kept_last), "without --xml the history is as deep as the burst"
    kept_all = [cell for cell in cells if cell.depth is None]
    assert all(dict(cell.native)["max_samples"] == str(cell.burst) for cell in kept_all), "as in Fast DDS's --xml files"
    assert {cell.transport for cell in kept_all} == {cell.transport for cell in kept_last}
    baselines = {(cell.size, cell.burst, cell.recovery_s) for cell in plan.cells if cell.adapter == "shm"}
    assert fast == baselines, "every load has a baseline"


def test_fan_out_needs_no_more_memory_than_an_ordinary_machine_has() -> None:
    plan = make_plan(load(["fan-out"], raw_options()), EVERYONE, cpus=(0, 1), seed=0)
    needed = [memory_needed(plan.cells[trial.cell], trial.limits) for trial in plan.trials]
    assert max(needed) < 4 << 30
    middleware = [cell for cell in plan.cells if cell.adapter in ("cyclonedds", "fastdds")]
    assert {cell.subscribers for cell in middleware} == {1, 2, 4, 8}
    assert {cell.depth for cell in middleware} == {1, 10, 100, 1000, 10_000}
    assert {cell.size for cell in middleware} == {1 << 10, 64 << 10, 1 << 20, 16 << 20}
    assert {cell.reliability for cell in middleware} == {"reliable"}
    assert {cell.adapter for cell in plan.cells} == {"cyclonedds", "fastdds", "shm", "uds", "udp", "tcp"}


def test_idle_to_flood_spans_from_one_message_a_second_to_saturation() -> None:
    plan = make_plan(load(["idle-to-flood"], raw_options()), EVERYONE, cpus=(0, 1), seed=0)
    by_pattern = {
        pattern: {cell.rate for cell in plan.cells if cell.pattern == pattern} for pattern in ("ping-pong", "stream")
    }
    assert by_pattern == {"ping-pong": {1.0, 10.0, 100.0, 1000.0, 10_000.0, "max"}, "stream": {"curve"}}


def test_suites_for_several_middlewares_measure_the_built_ones() -> None:
    absent = {"fastdds": "?", "cyclonedds": "?"}
    plan = make_plan(load(["idle-to-flood"], raw_options()), RAW_TRANSPORTS, cpus=(0, 1), seed=0, absent=absent)
    assert {cell.adapter for cell in plan.cells} == {"shm", "udp"}
    with pytest.raises(RequestError, match="nothing is left to measure: cyclonedds is not built here"):
        make_plan(load(["fan-out"], raw_options()), RAW_TRANSPORTS, cpus=(0, 1), seed=0, absent=absent)
    plan = make_plan(load(["fan-out"], raw_options()), (*RAW_TRANSPORTS, FAST), cpus=(0, 1), seed=0, absent=absent)
    assert {cell.adapter for cell in plan.cells} == {"fastdds", "shm", "uds", "udp", "tcp"}


def test_suites_for_a_missing_middleware_are_refused_with_how_to_get_it() -> None:
    with pytest.raises(RequestError) as refused:
        make_plan(
            load(["fastdds-latency"], raw_options()),
            (SHM, *RAW_TRANSPORTS[1:], CYCLONE),
            cpus=(0, 1),
            seed=0,
            absent={"fastdds": "apt-get install it"},
        )
    assert {problem.text for problem in refused.value.problems} == {"fastdds is not built here: apt-get install it"}


def test_a_search_is_estimated_by_its_steps_and_many_processes_by_their_number() -> None:
    def seconds(more: str) -> float:
        return estimate_seconds(plan_of(f"[[sweep]]\nadapter='udp'\npattern='stream'\ntrials=1\n{more}"))

    one, ten = seconds("rate=100"), seconds("rate=100\nduration='10s'")
    assert seconds("rate='curve'") == seconds("rate='curve'\nduration='10s'") == pytest.approx(CURVE_STEPS * one)
    waiting = seconds("burst=10") - one
    assert seconds("rate='sustainable'") == pytest.approx((SEARCH_STEPS + 1) * one + waiting)
    assert seconds("rate='sustainable'\nduration='10s'") == pytest.approx(SEARCH_STEPS * one + ten + waiting)
    assert seconds("subscribers=8") > seconds("subscribers=1")
    assert seconds("burst=10") > one, "a flood may lose messages, and the trial waits for them"
    assert seconds("subscribers=8\nprocesses=1") == seconds("subscribers=1\nprocesses=1")
    assert seconds("samples=100\nrate=10") > 9.9
    assert seconds("samples=1000\nburst=10\nrecovery='90ms'") > 9


def test_the_estimate_grows_with_the_request() -> None:
    short, long = (
        estimate_seconds(plan_of(f"[[sweep]]\nadapter='udp'\nduration='{seconds}s'\nwarmup='0s'\ntrials=2"))
        for seconds in (1, 5)
    )
    assert long - short == pytest.approx(8)
    few, many = (estimate_seconds(plan_of(f"[[sweep]]\nadapter='udp'\nsamples={samples}")) for samples in (10, 100_000))
    assert few < many
    slow = estimate_seconds(plan_of("[[sweep]]\nadapter='fastdds'\ntransport='tcp'")) - estimate_seconds(
        plan_of("[[sweep]]\nadapter='fastdds'\ntransport='udp'")
    )
    assert slow == pytest.approx(3 * SLOW_START_S["fastdds", "tcp"])
    assert FAST.transport("tcp") is not None


def test_a_trial_of_a_graph_is_estimated_by_its_processes_and_not_by_its_topics() -> None:
    def seconds(topics: int, nodes: int, more: str = "") -> float:
        listed = "".join(
            f"[[workload.topic]]\nname='t{each}'\nfrom='a'\nto=['b{each % nodes}']\nsize=64\nrate=10\n"
            for each in range(topics)
        )
        return estimate_seconds(plan_of(f"[defaults]\nadapter='udp'\nprocesses=2\ntrials=1\n{more}\n{listed}"))

    assert seconds(8, 1) == seconds(1, 1)
    assert seconds(8, 8) == pytest.approx(seconds(8, 1) + 7 * FURTHER_PROCESS_S)
    fleet = seconds(8, 8, "copies=10") - seconds(8, 8)
    assert fleet == pytest.approx(9 * 9 * FURTHER_PROCESS_S)


def test_peers_that_authenticate_each_other_take_longer_and_are_proven_once() -> None:
    protects = description("cyclonedds", transport("udp", security=("none", "signed")))
    plain, signed = (
        estimate_seconds(plan_of(f"[[sweep]]\nadapter='cyclonedds'\ntrials=2\nsecurity='{level}'", [protects, UDP]))
        for level in ("none", "signed")
    )
    assert signed - plain == pytest.approx(2 * 2 * HANDSHAKE_S + PROOF_S)
