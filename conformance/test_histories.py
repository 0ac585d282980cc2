"""Tests of messages that wait for a subscriber: each test starts the publisher first, and the subscriber later."""

import time
from pathlib import Path

import pytest
from candidate import Candidate
from floods import both_ready, flood

DEPTH = 5
PUBLISHERS = 2
LARGE, MANY = 64 << 10, 4_000
"""4,000 messages of 64 KiB (250 MiB) do not fit into most queues, so the publisher must wait or keep them."""
LATE_S = 0.3


def between_processes(candidate: Candidate) -> None:
    """Skip the test if the candidate does not support two processes that the test controls directly."""
    offered = candidate.transport
    if offered.alone or 2 not in offered.processes:
        pytest.skip("the transport does not work between processes")
    if offered.companions:
        pytest.skip("the transport needs a daemon, which only the launcher starts")


def test_a_late_subscriber_loses_no_reliable_message(candidate: Candidate, tmp_path: Path) -> None:
    between_processes(candidate)
    if "reliable" not in candidate.transport.reliability or not candidate.transport.keep_all:
        pytest.skip("the transport is not reliable or has no keep-all history")
    cell = candidate.cell(pattern="stream", size=LARGE, depth=None, reliability="reliable", processes=2, pin=None)
    sending, receiving = flood(cell, tmp_path)
    sending["roles"][0] |= {"samples": MANY, "duration_s": None, "warmup_s": 0}
    with both_ready(candidate.worker.path, sending, receiving) as (publisher, subscriber):
        publisher.send(command="start")
        time.sleep(LATE_S)
        subscriber.send(command="start")
        sent = publisher.expect("result")
        subscriber.send(command="stop", expected=sent["sent"])
        received = subscriber.expect("result")
        # A message whose publish timed out counts neither as sent nor as lost, and may still arrive.
        assert sent["sent"] + sent["timed_out"] == MANY
        assert sent["sent"] <= received["received"] <= MANY


@pytest.mark.parametrize("loan", [False, True], ids=["copied", "loan"])
def test_a_history_keeps_depth_messages_of_each_publisher(candidate: Candidate, loan: bool, tmp_path: Path) -> None:
    between_processes(candidate)
    if loan not in candidate.transport.loan:
        pytest.skip("the transport does not support this level of loan")
    if (deepest := candidate.transport.max_depth) is not None and deepest < DEPTH:
        pytest.skip("the transport's history is less deep")
    factors = {"pattern": "stream", "size": 64, "depth": DEPTH, "publishers": PUBLISHERS, "loan": loan}
    sending, receiving = flood(candidate.cell(**factors, processes=2, pin=None), tmp_path)
    first = {**sending["roles"][0], "samples": DEPTH, "duration_s": None, "warmup_s": 0}
    sending["roles"] = [
        {**first, "index": index, "samples_path": str(tmp_path / f"publisher-{index}.npy")}
        for index in range(PUBLISHERS)
    ]
    with both_ready(candidate.worker.path, sending, receiving) as (publishers, subscriber):
        publishers.send(command="start")
        assert [publishers.expect("result")["sent"] for _ in range(PUBLISHERS)] == [DEPTH] * PUBLISHERS
        subscriber.send(command="start")
        subscriber.send(command="stop", expected=DEPTH * PUBLISHERS)
        received = subscriber.expect("result")
        assert received["by_publisher"] == [DEPTH] * PUBLISHERS
        assert received["ended"] == "complete"
