"""Tests of graphs over each transport: different topics, a chain, a service, a process with two nodes, late joiners."""

import msgspec
import pytest
from candidate import Candidate, selected
from declared import why_left_out
from runner import Runner

from middlemark.model.cell import carrying
from middlemark.model.description import DEFAULT_CONFIGURATION
from middlemark.model.plan import Limits
from middlemark.model.workload import Lognormal, Process, Topic, Workload
from middlemark.sites import recorded
from middlemark.stats.samples import load_kept
from middlemark.stats.trials import trial_summary

DEPTH = 4
"""Depth of the histories that a late joiner receives."""
ROBOT = Workload(
    name="robot",
    topics=(
        Topic(name="image", source="camera", to=("detector", "recorder"), size=20_000, rate_hz=60.0, depth=None),
        Topic(
            name="scan",
            source="lidar",
            to=("detector",),
            size=3_000,
            rate_hz=40.0,
            reliability="best-effort",
            depth=None,
        ),
        Topic(name="found", source="detector", to=("planner",), size=200, after="image", work_s=0.0005, depth=None),
        Topic(name="go", source="planner", to=("camera", "detector"), size=16, after="found", depth=None),
        Topic(name="map/request", source="planner", to=("recorder",), size=16, rate_hz=20.0, depth=None),
        Topic(
            name="map/reply",
            source="recorder",
            to=("planner",),
            size=5_000,
            after="map/request",
            service=True,
            depth=None,
        ),
    ),
    shared=(Process("perception", ("camera", "detector")),),
)
CLOUD = Topic(
    name="cloud", source="lidar", to=("planner",), size=100_000, sizes=Lognormal(8_000, 1.5), rate_hz=50.0, depth=None
)
STATIC = Workload(
    name="static",
    topics=(
        Topic(
            name="tf_static",
            source="robot",
            to=("planner", "viewer"),
            size=2_000,
            rate_hz=20.0,
            depth=DEPTH,
            durability="transient-local",
        ),
        Topic(name="pose", source="robot", to=("planner",), size=200, rate_hz=40.0, depth=DEPTH),
        Topic(
            name="plan",
            source="planner",
            to=("viewer",),
            size=3_000,
            after="pose",
            depth=DEPTH,
            durability="transient-local",
        ),
    ),
)
CAPABLE = [each for each in selected() if not each.scripted and not each.transport.alone]


@pytest.mark.parametrize("who", CAPABLE, ids=lambda each: each.name)
def test_a_robots_messages_arrive_and_every_role_ends(who: Candidate, runner: Runner) -> None:
    if who.transport.max_bytes < max(each.size for each in ROBOT.topics):
        pytest.skip("the robot's images are larger than the transport's largest message")
    if why := why_left_out(who, pattern="stream", size=ROBOT.topics[0].size, reliability=who.transport.reliability[0]):
        pytest.skip(why)
    varies = who.transport.varying_sizes and who.transport.max_bytes >= CLOUD.size
    robot = msgspec.structs.replace(ROBOT, topics=(*ROBOT.topics, CLOUD)) if varies else ROBOT
    cell = carrying(who.cell(), robot, who.transport)
    measured = runner.measure(who, cell, Limits(duration_s=0.5, warmup_s=0.2))
    outcome = measured.outcome
    assert outcome.failed is None, outcome.failed
    due = {each.topic: each.sent + (each.unsent or 0) + each.timed_out for each in outcome.publishers}
    assert [due[at] for at in (0, 1, 4)] == [30, 20, 10], "messages at the topic's rate, unsent ones included"
    received = {edge: each.received for edge, each in zip(robot.edges, outcome.subscribers, strict=True)}
    assert due[2] == received[0, "detector"], "one message for each image that arrived, sent or timed out"
    assert due[3] == received[2, "planner"]
    assert due[5] == received[4, "recorder"]
    for each in outcome.publishers:
        sizes = recorded.sizes(CLOUD, outcome.number) if robot.topics[each.topic].sizes else None
        assert each.sent_bytes == (None if sizes is None else int(sizes[: each.sent].sum()))
    assert outcome.native_request_reply is who.transport.services
    for arrived in outcome.subscribers:
        assert (arrived.damaged, arrived.duplicated) == (0, 0)
        # The default configuration's own queues may be shorter, so messages may be lost.
        if who.transport.reliability[0] == "reliable" and who.transport.name != DEFAULT_CONFIGURATION:
            assert arrived.lost == 0, arrived
    found = trial_summary(cell, outcome, lambda _: None, lambda file: load_kept(runner.folder, file))
    assert found.graph is not None
    image_to_camera, image_to_detector, request_to_planner = found.graph.chains
    assert image_to_camera.end_to_end_ns is not None
    assert image_to_detector.end_to_end_ns is not None
    assert request_to_planner.end_to_end_ns is not None
    assert (image_to_camera.end_to_end_ns.min or 0) >= ROBOT.topics[2].work_s * 1e9


@pytest.mark.parametrize("receive", ["block", "poll", "listen"])
@pytest.mark.parametrize(
    "who", [each for each in CAPABLE if each.transport.max_history != 0], ids=lambda each: each.name
)
def test_a_late_joiner_receives_the_history(who: Candidate, receive: str, runner: Runner) -> None:
    if receive not in who.transport.receive:
        pytest.skip("the transport does not offer this reception")
    cell = carrying(who.cell(receive=receive, pin=None), STATIC, who.transport)
    outcome = runner.measure(who, cell, Limits(duration_s=0.5, warmup_s=0.2)).outcome
    assert outcome.failed is None, outcome.failed
    due = DEPTH if who.transport.max_history is None else min(DEPTH, who.transport.max_history)
    late = dict(zip(STATIC.edges, outcome.subscribers, strict=True))
    assert {edge: (each.history_due, each.history_received) for edge, each in late.items()} == {
        (0, "planner"): (due, due),
        (0, "viewer"): (due, due),
        (1, "planner"): (0, 0),
        (2, "viewer"): (due, due),
    }
    for edge, each in late.items():
        assert (each.history_ns is not None) == (edge[0] != 1)
        assert (each.damaged, each.duplicated) == (0, 0)
        assert each.received + each.lost == each.expected > 0


@pytest.mark.parametrize("receive", ["poll", "listen"])
@pytest.mark.parametrize("who", [each for each in CAPABLE if each.transport.services], ids=lambda each: each.name)
def test_a_service_works_with_each_reception(who: Candidate, receive: str, runner: Runner) -> None:
    if receive not in who.transport.receive:
        pytest.skip("the transport does not offer this reception")
    graph = msgspec.structs.replace(ROBOT, topics=ROBOT.topics[4:], shared=())
    cell = carrying(who.cell(receive=receive, pin=None), graph, who.transport)
    outcome = runner.measure(who, cell, Limits(duration_s=0.5, warmup_s=0.2)).outcome
    assert outcome.failed is None, outcome.failed
    assert outcome.native_request_reply is True
    assert [(each.sent + (each.unsent or 0)) for each in outcome.publishers[:1]] == [10]
    for each in outcome.subscribers:
        assert each.received + each.lost == each.expected > 0
        assert (each.damaged, each.duplicated) == (0, 0)
        if who.transport.name != DEFAULT_CONFIGURATION:  # its own queues may be shorter, so messages may be lost
            assert each.lost == 0
