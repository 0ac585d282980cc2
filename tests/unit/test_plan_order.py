"""The order of trials. Combining factors neither loses nor repeats a cell (properties)."""

import itertools
from typing import Any

import pytest
from descriptions import EVERYONE
from hypothesis import given, settings
from hypothesis import strategies as st

from middlemark.model.plan import Plan
from middlemark.plan import make_plan
from middlemark.plan.estimate import estimate_seconds
from middlemark.problems import RequestError
from middlemark.suite import load, raw_options
from middlemark.suite.sweep import FACTORS

SIZES = st.lists(st.integers(16, 1 << 20), min_size=1, max_size=6, unique=True)
SOME = {
    "adapter": ["all", "udp", "fastdds,cyclonedds", "null", "uds,tcp", "nobody"],
    "transport": ["all", "udp", "udp,shm", "intraprocess", "nothing"],
    "size": ["16", "0,16,1k", "1m,64m", "65m"],
    "receive": ["block", "poll", "block,listen", "poll,block,listen"],
    "reliability": ["reliable", "best-effort", "reliable,best-effort"],
    "depth": ["1", "all", "1,16,17,all"],
    "processes": ["1", "2", "1,2"],
    "subscribers": ["1", "1,3"],
    "echo": ["first", "all,first"],
    "pin": ["auto", "off", "0,1", "1,1", "9"],
    "trials": ["1", "4"],
}
REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.sampled_from(values) for name, values in SOME.items()},
        "skip_unsupported": st.just(True),
        "baseline": st.booleans(),
        "loan": st.booleans(),
    },
)
ONLY = st.lists(
    st.sampled_from(["adapter=udp", "size=16", "receive=poll", "depth=all", "pin=off", "transport=shm"]), max_size=2
)


def plan_of(drawn: int = 0, cpus: tuple[int, ...] = (0, 1), only: tuple[str, ...] = (), **options: Any) -> Plan:
    return make_plan(load([], raw_options(**options)), EVERYONE, cpus=cpus, seed=drawn, only=only)


@given(sizes=SIZES, trials=st.integers(1, 6), seed=st.integers(0, 2**63 - 1))
def test_each_round_is_a_permutation_of_all_cells(sizes: list[int], trials: int, seed: int) -> None:
    plan = plan_of(seed, adapter="udp,tcp", size=",".join(map(str, sizes)), trials=str(trials))
    assert [trial.order for trial in plan.trials] == list(range(len(plan.trials)))
    rounds = [list(trials) for _, trials in itertools.groupby(plan.trials, key=lambda trial: trial.number)]
    assert [each[0].number for each in rounds] == list(range(1, trials + 1))
    for each in rounds:
        assert sorted(trial.cell for trial in each) == list(range(len(plan.cells)))


@given(
    sizes=SIZES,
    depth=st.lists(st.one_of(st.integers(1, 100), st.just("all")), min_size=1, max_size=3, unique=True),
    subscribers=st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True),
    payload=st.sampled_from(["filled", "untouched", "filled,untouched"]),
)
def test_crossing_neither_loses_nor_duplicates_a_cell(
    sizes: list[int], depth: list[Any], subscribers: list[int], payload: str
) -> None:
    plan = plan_of(
        adapter="fastdds,cyclonedds", transport="udp", payload=payload, baseline=False,
        size=",".join(map(str, sizes)), depth=",".join(map(str, depth)), subscribers=",".join(map(str, subscribers)),
    )  # fmt: skip
    crossed = itertools.product(
        ["fastdds", "cyclonedds"],
        sizes,
        [None if each == "all" else each for each in depth],
        subscribers,
        payload.split(","),
    )
    cells = [(cell.adapter, cell.size, cell.depth, cell.subscribers, cell.payload) for cell in plan.cells]
    assert sorted(cells, key=str) == sorted(crossed, key=str)


@given(REQUESTS, st.integers(0, 2**63 - 1), ONLY, st.sampled_from([(0,), (0, 1), (1, 4, 6, 7)]))
@settings(max_examples=120)
def test_any_request_is_a_valid_plan_or_is_refused(
    request: dict[str, Any], seed: int, only: list[str], cpus: tuple[int, ...]
) -> None:
    try:
        plan = plan_of(seed, cpus, tuple(only), **{"adapter": "all", **request})
    except RequestError as refused:
        assert all(problem.place and problem.text for problem in refused.problems)
        return
    assert plan == plan_of(seed, cpus, tuple(only), **{"adapter": "all", **request})
    assert len(set(plan.cells)) == len(plan.cells) == len(plan.names) > 0
    assert {trial.cell for trial in plan.trials} == set(range(len(plan.cells)))
    assert estimate_seconds(plan) > 0
    here = {each.name: each for each in EVERYONE}
    for cell in plan.cells:
        transport = here[cell.adapter].transport(cell.transport)
        assert transport is not None
        assert cell.receive in transport.receive
        assert cell.reliability in transport.reliability
        assert cell.loan in transport.loan
        assert cell.processes in transport.processes
        assert 16 <= cell.size <= transport.max_bytes
        assert transport.keep_all if cell.depth is None else cell.depth <= (transport.max_depth or cell.depth)
        assert cell.pin is None or set(cell.pin) <= set(cpus)
        assert cell.receive != "poll" or 1 + cell.subscribers <= len(cpus if cell.pin is None else set(cell.pin))
    for name, values in ((key, request.get(key)) for key in FACTORS):
        # A named level is never replaced, except the reliability of a baseline that has only one.
        if isinstance(values, str) and name in ("receive", "processes", "subscribers") and values != "all":
            asked = [cell for index, cell in enumerate(plan.cells) if index not in plan.baselines]
            assert {str(getattr(cell, name)) for cell in asked} <= set(values.split(","))


def test_a_seed_determines_the_plan_and_another_seed_changes_the_order() -> None:
    first, again, other = (plan_of(seed, size="16,32,64,128,256,512", adapter="udp,tcp") for seed in (5, 5, 6))
    assert first == again
    assert first.cells == other.cells
    assert [trial.cell for trial in first.trials] != [trial.cell for trial in other.trials]


def test_rounds_differ_in_their_order() -> None:
    plan = plan_of(0, size="16,32,64,128,256,512", adapter="udp", trials="4")
    orders = {tuple(trial.cell for trial in plan.trials if trial.number == number) for number in range(1, 5)}
    assert len(orders) > 1
    assert tuple(range(6)) not in orders


def test_the_suites_seed_has_priority_over_a_drawn_one() -> None:
    assert plan_of(3, adapter="udp").seed == 3
    assert plan_of(3, adapter="udp", seed="8").seed == 8


@pytest.mark.parametrize("domain", [None, "7"])
def test_each_trial_has_its_own_domain_unless_one_is_given(domain: str | None) -> None:
    plan = plan_of(adapter="udp", domain=domain)
    assert {trial.domain for trial in plan.trials} == {None if domain is None else 7}
