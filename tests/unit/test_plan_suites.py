"""The suites that come along, planned: they are the experiments they say they are. And how long a plan will take."""

import pytest
from descriptions import CYCLONE, EVERYONE, FAST, FLOORS, SHM, UDP
from planning import pairs_of, plan_of

from middlemark.plan import estimate_seconds, make_plan
from middlemark.problems import RequestError
from middlemark.suite import RawOptions, load


def test_first_look_is_planned_for_under_three_minutes() -> None:
    plan = make_plan(load(["first-look"], RawOptions()), EVERYONE, cpus=(0, 1), seed=0)
    assert estimate_seconds(plan) < 180
    assert {cell.size for cell in plan.cells} == {16, 1024, 65536, 1 << 20}
    assert pairs_of(plan) == pairs_of(plan_of("[[sweep]]"))
    assert {(cell.adapter, cell.loan) for cell in plan.cells if cell.receive == "poll"} == {
        ("shm", False),
        ("shm", True),
    }


def test_first_look_runs_with_floors_only_and_on_one_processor() -> None:
    for adapters, cpus in ((FLOORS, (0, 1)), (EVERYONE, (0,)), ((UDP,), (0, 1))):
        plan = make_plan(
            load(["first-look"], RawOptions()), adapters, cpus=cpus, seed=0, absent={"fastdds": "apt", "shm": "?"}
        )
        assert plan.cells
        assert len(cpus) == 2 or {cell.receive for cell in plan.cells} == {"block"}


def test_fastdds_latency_is_the_experiment_of_latencytest() -> None:
    plan = make_plan(load(["fastdds-latency"], RawOptions()), EVERYONE, cpus=(0, 1), seed=0)
    assert {trial.limits.samples for trial in plan.trials} == {10_000}
    fast = [cell for cell in plan.cells if cell.adapter == "fastdds"]
    assert {(cell.transport, cell.loan, cell.processes) for cell in fast} == {
        ("intraprocess", False, 1), ("shm", False, 2), ("data-sharing", False, 2),
        ("data-sharing", True, 2), ("udp", False, 2),
    }  # fmt: skip
    assert {(cell.size, cell.reliability, cell.receive) for cell in fast} == {
        (size, reliability, "listen")
        for size in (16, 1024, 64512, 1048576)
        for reliability in ("reliable", "best-effort")
    }
    assert len(fast) == 5 * 4 * 2
    assert {cell.adapter for cell in plan.cells} == {"fastdds", "shm", "uds", "udp", "tcp"}


def test_cyclonedds_roundtrip_is_the_experiment_of_roundtripping() -> None:
    plan = make_plan(load(["cyclonedds-roundtrip"], RawOptions()), EVERYONE, cpus=(0, 1), seed=0)
    cyclone = [cell for cell in plan.cells if cell.adapter == "cyclonedds"]
    assert {cell.size for cell in cyclone} == {16, 64, 256, 1024, 4096, 16384, 65536}
    assert {(cell.transport, cell.pin, cell.priority) for cell in cyclone} == {
        (name, pin, priority) for name in ("udp", "shm") for pin, priority in (((0, 1), "fifo:80"), (None, "other"))
    }
    assert len(cyclone) == 7 * 2 * 2


def test_suites_for_a_middleware_that_is_absent_are_refused_with_how_to_get_it() -> None:
    with pytest.raises(RequestError) as refused:
        make_plan(
            load(["fastdds-latency"], RawOptions()),
            (SHM, *FLOORS[1:], CYCLONE),
            cpus=(0, 1),
            seed=0,
            absent={"fastdds": "apt-get install it"},
        )
    assert {problem.text for problem in refused.value.problems} == {"fastdds is not built here: apt-get install it"}


def test_the_estimate_grows_with_what_is_asked() -> None:
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
    assert slow == pytest.approx(1.2)
    assert FAST.transport("tcp") is not None
