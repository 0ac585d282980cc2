"""Tests of a chain of three nodes and two topics: every message is forwarded, and each role reports its end."""

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from candidate import Candidate
from conversation import Conversation, configure
from declared import why_left_out

from middlemark.model.protocol import ForwardRequest, Load, PublisherRequest, SubscriberRequest, TopicRequest
from middlemark.model.samples import ARRIVAL, SENDING
from middlemark.stats.samples import load
from middlemark.trial.worker_request import settings_of

SENT = 30
RATE_HZ, WARMUP_S = 200.0, 0.05
DEPTH = 50
"""More than the number of all messages with the warm-up, so that a node that starts late loses no message."""
LARGE, SMALL = 5000, 64
WORK_S = 0.001


@pytest.fixture(params=["block", "listen"])
def receive(request: pytest.FixtureRequest, candidate: Candidate) -> str:
    """The reception of the nodes."""
    if candidate.scripted or candidate.transport.alone:
        pytest.skip("the transport has no subscribers, or this is the null adapter")
    if request.param not in candidate.transport.receive:
        pytest.skip(f"the transport does not support {request.param}")
    if candidate.transport.companions:
        pytest.skip("the transport needs a daemon, which only the launcher starts")
    if why := why_left_out(candidate, pattern="stream", size=LARGE, reliability=candidate.transport.reliability[0]):
        pytest.skip(why)
    return str(request.param)


def nodes(candidate: Candidate, receive: str, folder: Path) -> list[dict[str, Any]]:
    """Return the configure commands of a camera, a detector that forwards messages, and a planner."""
    offered = candidate.transport
    deep = DEPTH if offered.max_depth is None else min(DEPTH, offered.max_depth)
    cell = candidate.cell(pattern="stream", size=LARGE, receive=receive, depth=deep, publishers=2, subscribers=2)
    other = offered.reliability[-1]
    if why_left_out(candidate, pattern="stream", size=SMALL, reliability=other):
        other = cell.reliability
    topics = (
        TopicRequest(message_bytes=LARGE, publishers=(0,), subscribers=(0,), reliability=cell.reliability, depth=deep),
        TopicRequest(message_bytes=SMALL, publishers=(1,), subscribers=(1,), reliability=other, depth=max(1, deep - 1)),
    )
    settings = msgspec.structs.replace(
        settings_of(cell, domain=79, scope=f"mm_direct_{os.urandom(3).hex()}", scratch=str(folder), interface="lo"),
        topics=topics,
        workers=1 if cell.processes == 1 else 3,
    )
    common: dict[str, Any] = {"payload": "filled", "kept": 1000}
    camera = PublisherRequest(
        index=0,
        topic=0,
        load=Load(kind="rate", rate_hz=RATE_HZ),
        samples=SENT,
        duration_s=None,
        warmup_s=WARMUP_S,
        limit_s=30.0,
        samples_path=str(folder / "camera.npy"),
        **common,
    )
    found = ForwardRequest(index=1, topic=1, work_s=WORK_S, samples_path=str(folder / "found.npy"), kept=1000)
    detector = SubscriberRequest(
        index=0, topic=0, samples_path=str(folder / "detector.npy"), forwards=(found,), **common
    )
    planner = SubscriberRequest(index=1, topic=1, samples_path=str(folder / "planner.npy"), **common)
    roles = [(camera, detector, planner)] if cell.processes == 1 else [(camera,), (detector,), (planner,)]
    return [configure(settings, *some) | {"tells_ends": True} for some in roles]


def test_a_chain_forwards_every_message_and_each_topic_ends_separately(
    candidate: Candidate, receive: str, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as stack:
        commands = nodes(candidate, receive, tmp_path)
        talks = [stack.enter_context(Conversation(candidate.worker.path)) for _ in commands]
        for talk, command in zip(talks, commands, strict=True):
            talk.expect("hello")
            talk.send(command="configure", **command)
        for talk in talks:
            talk.expect("ready")
        for talk in reversed(talks):  # receivers start before senders
            talk.send(command="start")
            talk.expect("tick")
        camera, detector, planner = talks if len(talks) == 3 else talks * 3
        sent = camera.expect("ended")
        assert (sent["role"], sent["sent"]) == ("publisher", SENT)
        detector.send(command="stop", subscribers=[0], expected=sent["sent"])
        passed = detector.expect("ended")
        assert (passed["role"], passed["index"], passed["forwarded"]) == ("subscriber", 0, [SENT])
        planner.send(command="stop", subscribers=[1], expected=SENT)
        assert planner.expect("ended")["index"] == 1
        found = {}
        for talk, command in zip(talks, commands, strict=True):
            results = sum(1 + len(role.get("forwards", ())) for role in command["roles"])
            for event in [talk.expect("result") for _ in range(results)]:
                found[event["role"], event["index"]] = event
        assert found.keys() == {("publisher", 0), ("publisher", 1), ("subscriber", 0), ("subscriber", 1)}
        for each in (found["subscriber", 0], found["subscriber", 1]):
            assert (each["received"], each["ended"]) == (SENT, "complete")
            assert (each["damaged"], each["duplicated"], each["reordered"]) == (0, 0, 0)
        for talk in talks:
            talk.send(command="quit")
        assert [talk.status() for talk in talks] == [0] * len(talks)
    arrived = load(tmp_path / "detector.npy", ARRIVAL)
    planned = load(tmp_path / "planner.npy", ARRIVAL)
    assert len(arrived) == len(planned) == len(load(tmp_path / "found.npy", SENDING)) == SENT
    assert list(planned["stamp"]) == [(1 << 48) + at for at in range(1, SENT + 1)]
    assert (planned["received_ns"] >= arrived["received_ns"] + WORK_S * 1e9).all()
