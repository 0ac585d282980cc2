"""Tests of typed messages over each transport that supports them: they arrive whole, and lost messages are counted."""

import msgspec
import pytest
from candidate import Candidate, selected
from runner import Runner

from middlemark.model.cell import Cell, carrying
from middlemark.model.outcome import Coding
from middlemark.model.plan import Limits
from middlemark.model.workload import OCTETS, Topic, Workload

SIZES = {"image": 20_001, "point-cloud": 20_000, "imu": 296, "tf": 1008}
TYPED = [(who, type_name) for who in selected() for type_name in who.transport.types if type_name != OCTETS]
IMAGES = [who for who, type_name in TYPED if type_name == "image"]
FIRST = {(who.worker.description.name, type_name): who for who, type_name in reversed(TYPED)}
"""The first transport of each adapter with each type."""
CONVERTED = [
    (who, type_name)
    for who, type_name in TYPED
    if type_name in ("image", "imu") or who is FIRST[who.worker.description.name, type_name]
]
"""The tested transports and types. Each transport is tested with ``image`` (variable size) and ``imu`` (fixed size).
Only the first is tested with all types, because an adapter uses the same code for all its transports."""
CASES = pytest.mark.parametrize(
    ("who", "type_name"), CONVERTED, ids=[f"{who.name}-{type_name}" for who, type_name in CONVERTED]
)


def sensors(who: Candidate) -> Workload:
    """Return a workload with one topic of each type that the transport supports."""
    topics = (
        Topic(name=type_name, source="robot", to=("reader",), size=size, type=type_name, rate_hz=40.0, depth=None)
        for type_name, size in SIZES.items()
        if type_name in who.transport.types
    )
    return Workload(name="sensors", topics=tuple(topics))


def typed(who: Candidate, type_name: str, **factors: object) -> Cell:
    return who.cell(type=type_name, size=SIZES[type_name], **factors)


def timed_completely(coding: Coding | None, *, ways: int) -> bool:
    """Return true if both serialising and deserialising were timed in every direction, or neither in any direction.

    They are not timed if the middleware itself serialises and deserialises.
    """
    if coding is None:
        return True
    return [(ns or 0) > 0 for ns in msgspec.structs.astuple(coding)] == [at < 2 * ways for at in range(4)]


@CASES
def test_replies_arrive_whole(who: Candidate, type_name: str, runner: Runner) -> None:
    outcome = runner.measure(
        who, typed(who, type_name), Limits(samples=100, warmup_s=0.1, reply_timeout_s=10.0)
    ).outcome
    assert outcome.failed is None, outcome.failed
    counts = outcome.counts
    assert counts is not None
    assert (counts.received, counts.lost, counts.damaged, counts.publish_failed) == (100, 0, 0, 0)
    assert timed_completely(outcome.coding, ways=2), outcome.coding


@pytest.mark.parametrize("who", IMAGES, ids=lambda who: who.name)
def test_a_stream_arrives_whole_and_its_loss_is_counted(who: Candidate, runner: Runner) -> None:
    depth = None if who.transport.keep_all else min(16, who.transport.max_depth or 16)
    cell = typed(who, "image", pattern="stream", depth=depth)
    outcome = runner.measure(who, cell, Limits(duration_s=0.25, warmup_s=0.1)).outcome
    assert outcome.failed is None, outcome.failed
    [sent], [arrived] = outcome.publishers, outcome.subscribers
    assert sent.sent > 0
    assert (arrived.damaged, arrived.duplicated) == (0, 0)
    assert arrived.received + arrived.lost == sent.sent
    # Timing begins after the first message, and nearly all messages may be lost if a socket's buffer is read late.
    assert timed_completely(outcome.coding, ways=1) or arrived.received <= 1, outcome.coding


@pytest.mark.parametrize("who", IMAGES, ids=lambda who: who.name)
def test_requests_and_replies_are_typed_or_refused_with_a_reason(who: Candidate, runner: Runner) -> None:
    cell = typed(who, "image", pattern="request-reply")
    outcome = runner.measure(who, cell, Limits(samples=50, warmup_s=0.1, reply_timeout_s=10.0)).outcome
    if outcome.failed is not None:
        assert outcome.failed.code == "refused"
        assert "octets" in outcome.failed.text or "has no calls" in outcome.failed.text
        return
    counts = outcome.counts
    assert counts is not None
    assert (counts.received, counts.lost, counts.damaged) == (50, 0, 0)
    assert timed_completely(outcome.coding, ways=2), outcome.coding


@pytest.mark.parametrize("who", IMAGES, ids=lambda who: who.name)
def test_topics_of_one_workload_can_have_different_types(who: Candidate, runner: Runner) -> None:
    cell = carrying(who.cell(), sensors(who), who.transport)
    outcome = runner.measure(who, cell, Limits(duration_s=0.5, warmup_s=0.2)).outcome
    assert outcome.failed is None, outcome.failed
    for each in outcome.subscribers:
        assert each.received > 0
        assert (each.damaged, each.duplicated) == (0, 0)
