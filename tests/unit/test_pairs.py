"""Pairs: senders and receivers of different adapters with the same wire format."""

import asyncio

import msgspec
import pytest
from descriptions import CYCLONE, EVERYONE, FAST, description, transport
from planning import plan_of, problems_of, suite_of, texts_of

from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.levels import Wrong
from middlemark.model.outcome import Failure, TrialCounts, TrialOutcome
from middlemark.model.pairs import PAIR, together, why_apart, worker_of
from middlemark.plan import make_plan
from middlemark.sites.channel import WorkerFailedError
from middlemark.suite import load, raw_options
from middlemark.trial.awaiting import all_with_reasons
from middlemark.trial.interop import decided
from middlemark.trial.worker_request import native_for, settings_of

RUST = description(
    "rustdds",
    transport("udp", wire="rtps", receive=("block", "poll"), keep_all=False, max_depth=100, max_bytes=1 << 20),
)
RTPS = (*EVERYONE, RUST)
PAIRED = Cell(adapter="cyclonedds", transport="udp", pair="cyclonedds:fastdds", size=64)
OUTCOME = TrialOutcome(cell=0, number=1, order=0, started="2026-01-01T00:00:00", seconds=1.0)


def paired(text: str) -> list[tuple[str, str, str]]:
    return [(each.adapter, each.pair, each.transport) for each in plan_of(text, RTPS).cells]


def test_a_pair_needs_no_adapter_and_is_measured_over_the_wires_that_both_have() -> None:
    assert paired("[[sweep]]\npair = 'cyclonedds:fastdds'") == [("cyclonedds", "cyclonedds:fastdds", "udp")]


def test_same_adds_the_adapters_by_themselves() -> None:
    text = "[[sweep]]\ntransport = 'udp'\npair = ['same', 'fastdds:cyclonedds']"
    assert paired(text) == [
        ("fastdds", "same", "udp"),
        ("cyclonedds", "same", "udp"),
        ("fastdds", "fastdds:cyclonedds", "udp"),
    ]


def test_all_means_every_ordered_pair_with_one_wire_and_the_adapters_that_take_part() -> None:
    found = paired("[[sweep]]\ntransport = 'udp'\npair = 'all'")
    names = ("cyclonedds", "fastdds", "rustdds")
    unlike = {(a, f"{a}:{b}", "udp") for a in names for b in names if a != b}
    assert set(found) == unlike | {(name, "same", "udp") for name in names}
    assert len(found) == 9


def test_different_wires_are_refused_with_the_reason() -> None:
    [problem] = problems_of("[[sweep]]\npair = 'cyclonedds:fastdds'\ntransport = 'shm'", RTPS)
    assert problem == (
        "sweep 1: pair: cyclonedds:fastdds: different wire protocols: cyclonedds shm speaks its own, "
        "fastdds shm speaks its own"
    )
    [problem] = problems_of("[[sweep]]\npair = 'udp:shm'", RTPS)
    assert problem == ("sweep 1: pair: udp:shm: different wire protocols: udp speaks its own, shm speaks its own")


def test_an_adapter_that_is_not_built_is_named() -> None:
    [problem] = problems_of("[[sweep]]\npair = 'cyclonedds:zenoh'", RTPS)
    assert "zenoh is not built here: cargo builds it" in problem


@pytest.mark.parametrize("typed", ["cyclonedds", "a:b:c", ":fastdds", "cyclonedds:cyclonedds", 3])
def test_what_is_not_a_pair_is_refused(typed: object) -> None:
    with pytest.raises(Wrong):
        PAIR.read(typed)


def test_a_pair_supports_what_both_sides_support() -> None:
    [shared] = together(CYCLONE, RUST).transports
    assert (shared.receive, shared.keep_all, shared.max_depth) == (("poll", "block"), False, 100)
    assert (shared.max_bytes, shared.processes, shared.loan, shared.types) == (1 << 20, (2,), (False,), ("octets",))
    assert why_apart(CYCLONE, FAST, "udp") is None
    [problem] = problems_of("[[sweep]]\npair = 'cyclonedds:rustdds'\ntransport = 'udp'\nreceive = 'listen'", RTPS)
    assert "cyclonedds:rustdds" in problem


RCL = description(
    "rcl", transport("rmw_fastrtps_cpp", carrier="shared-memory"), transport("rmw_zenoh_cpp", carrier="tcp")
)
WIRE = description(
    "ros2-wire", transport("udp", wire="rtps-ros2"), transport("default", carrier="any", wire="rtps-ros2")
)
ROS = (*EVERYONE, WIRE, RCL)


def test_a_middleware_without_a_default_transport_has_its_first_one_for_it() -> None:
    text = "[[sweep]]\nadapter = ['ros2-wire', 'rcl', 'udp']\ntransport = ['default', 'rmw_fastrtps_cpp']\n"
    plan = plan_of(text + "skip_unsupported = true", ROS)
    assert [(each.adapter, each.transport) for each in plan.cells] == [
        ("ros2-wire", "default"),
        ("rcl", "rmw_fastrtps_cpp"),
    ]


def test_security_that_one_side_lacks_is_refused() -> None:
    levels = ("none", "encrypted")
    udp = msgspec.structs.replace(CYCLONE.transport("udp"), security=levels)
    able = msgspec.structs.replace(CYCLONE, transports=(udp,))
    text = "[[sweep]]\npair = 'cyclonedds:rustdds'\ntransport = 'udp'\nsecurity = 'encrypted'"
    [problem] = problems_of(text, (able, RUST))
    assert problem.startswith("sweep 1: security: cyclonedds:rustdds udp: no security")


def test_native_settings_apply_to_their_side() -> None:
    text = (
        "[[sweep]]\npair = 'cyclonedds:fastdds'\ntransport = 'udp'\n"
        "[sweep.native.cyclonedds]\nmax-message-size = '9k'\n[sweep.native.fastdds]\nsegment-size = '1m'"
    )
    [cell] = plan_of(text, RTPS).cells
    assert dict(cell.native) == {"cyclonedds.max-message-size": "9k", "fastdds.segment-size": "1m"}
    assert native_for(cell, "cyclonedds", "") == {"max-message-size": "9k"}
    assert native_for(cell, "fastdds", "") == {"segment-size": "1m"}


def test_workers_know_that_the_other_side_is_different() -> None:
    where = {"domain": 1, "scope": "mm", "scratch": "/s", "interface": "lo"}
    assert settings_of(PAIRED, **where).paired
    assert not settings_of(Cell(adapter="fastdds", transport="udp", size=64), **where).paired


def test_the_receivers_worker_is_that_of_the_second_adapter() -> None:
    workers = {each.name: Worker(f"/w/{each.name}", each) for each in RTPS}
    worker = worker_of(PAIRED.sides, workers)
    assert (worker.path, worker.peer and worker.peer.path) == ("/w/cyclonedds", "/w/fastdds")
    assert worker_of(("udp", "udp"), workers).peer is None


def test_baselines_of_a_pair_are_the_raw_transports() -> None:
    suite = suite_of("[[sweep]]\npair = 'cyclonedds:fastdds'\ntransport = 'udp'", baseline=True)
    plan = make_plan([suite], RTPS, cpus=(0, 1), seed=1)
    raw = [plan.cells[at] for at in plan.baselines]
    assert {each.pair for each in raw} == {"same"}
    assert "udp" in {each.adapter for each in raw}


def test_a_workload_has_no_receivers_side() -> None:
    text = (
        "[[sweep]]\npair = 'cyclonedds:fastdds'\n[[workload.topic]]\nname='a'\nfrom='x'\nto=['y']\nsize=64\nrate=10\n"
    )
    assert any("send and receive" in each for each in problems_of(text, RTPS))


def test_pairs_are_not_measured_across_hosts() -> None:
    text = "[[sweep]]\npair = 'cyclonedds:fastdds'\ntransport = 'udp'"
    assert any("pairs are measured on one machine" in each for each in problems_of(text, RTPS, hosts=("a", "b")))


def test_a_note_counts_the_pairs_whose_wires_differ() -> None:
    text = "[[sweep]]\nadapter = ['cyclonedds', 'fastdds', 'null']\npair = 'all'"
    assert any("4 pairs left out, whose wires differ" in each for each in texts_of(plan_of(text, RTPS)))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("unmatched", "no match within the deadline: ping found 0 of 1 subscribers"),
        ("silent", "they match, but messages do not arrive: ping found 0 of 1 subscribers"),
    ],
)
def test_a_pair_without_messages_does_not_interoperate(code: str, why: str) -> None:
    failed = msgspec.structs.replace(OUTCOME, failed=Failure(code, "ping found 0 of 1 subscribers"))
    found = decided(PAIRED, failed).failed
    assert found == Failure("no-interop", why)
    same = msgspec.structs.replace(PAIRED, pair="same")
    assert decided(same, failed) is failed


def test_a_crash_of_one_side_keeps_its_name() -> None:
    crashed = msgspec.structs.replace(OUTCOME, failed=Failure("crashed", "pong 0 was ended by SIGSEGV"))
    assert decided(PAIRED, crashed) is crashed


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        (TrialCounts(sent=10, lost=10), "they match, but none of 10 messages arrived"),
        (TrialCounts(sent=10, received=10, damaged=6), "wrong bytes: 6 of 10 messages are not as they were sent"),
        (TrialCounts(sent=10, received=10, damaged=1), None),
    ],
)
def test_wrong_bytes_are_a_reason_and_a_damaged_message_is_not(counts: TrialCounts, why: str | None) -> None:
    found = decided(PAIRED, msgspec.structs.replace(OUTCOME, counts=counts, samples=10)).failed
    assert (found and found.text) == why


def test_the_suite_interop_measures_every_pair_that_is_built() -> None:
    plan = make_plan(
        load(["interop"], raw_options()), RTPS, cpus=(0, 1), seed=1, absent={"dust-dds": "cargo builds it"}
    )
    assert len({each.pair for each in plan.cells}) == 1 + 6
    assert {each.reliability for each in plan.cells if each.pair != "same"} == {"reliable", "best-effort"}


async def _ends(error: WorkerFailedError | None) -> int:
    if error is not None:
        raise error
    return 1


def test_both_sides_say_why_they_found_no_peer() -> None:
    ping = WorkerFailedError("unmatched", "ping: offered incompatible QoS: DEADLINE", "advice")
    pong = WorkerFailedError("unmatched", "pong 0: requested incompatible QoS: LIVELINESS")

    async def found(*errors: WorkerFailedError | None) -> list[int]:
        return await all_with_reasons(map(_ends, errors))

    assert asyncio.run(found(None, None)) == [1, 1]
    with pytest.raises(WorkerFailedError) as raised:
        asyncio.run(found(ping, pong))
    assert (raised.value.code, raised.value.advice) == ("unmatched", "advice")
    assert raised.value.text == f"{ping.text}; {pong.text}"
    with pytest.raises(WorkerFailedError, match="SIGSEGV"):
        asyncio.run(found(ping, WorkerFailedError("crashed", "pong 0 was ended by SIGSEGV")))
