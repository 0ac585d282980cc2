"""What waits for a subscriber that has not looked yet: the protocol spoken by hand, and the subscriber started last."""

import time
from pathlib import Path

import pytest
from contender import Contender
from floods import both_ready, flood

DEPTH = 5
PUBLISHERS = 2
LARGE, MANY = 64 << 10, 4_000
"""Together 250 MiB, more than most queues hold: a publisher must wait, or remember."""
LATE_S = 0.3


def between_processes(contender: Contender) -> None:
    """Skip the test where there are no two workers that can be spoken to directly."""
    offered = contender.transport
    if offered.alone or 2 not in offered.processes:
        pytest.skip("nobody receives what it sends from another process")
    if offered.companions:
        pytest.skip("it needs a daemon; the trials start it")


def test_nothing_reliable_is_lost_on_a_subscriber_that_comes_late(contender: Contender, tmp_path: Path) -> None:
    between_processes(contender)
    if "reliable" not in contender.transport.reliability or not contender.transport.keep_all:
        pytest.skip("it does not keep all")
    cell = contender.cell(pattern="stream", size=LARGE, depth=None, reliability="reliable", processes=2, pin=None)
    sending, receiving = flood(cell, tmp_path)
    sending["roles"][0] |= {"samples": MANY, "duration_s": None, "warmup_s": 0}
    with both_ready(contender.worker.path, sending, receiving) as (publisher, subscriber):
        publisher.say(command="start")
        time.sleep(LATE_S)
        subscriber.say(command="start")
        sent = publisher.hear("result")
        subscriber.say(command="stop", expected=sent["sent"])
        received = subscriber.hear("result")
        # A publish that was held up beyond its timeout counts as neither sent nor lost, and may arrive all the same.
        assert sent["sent"] + sent["timed_out"] == MANY
        assert sent["sent"] <= received["received"] <= MANY


@pytest.mark.parametrize("loan", [False, True], ids=["copied", "loan"])
def test_a_history_holds_its_depth_of_each_publisher(contender: Contender, loan: bool, tmp_path: Path) -> None:
    between_processes(contender)
    if loan not in contender.transport.loan:
        pytest.skip("it does not offer it")
    if (deepest := contender.transport.max_depth) is not None and deepest < DEPTH:
        pytest.skip("its history is less deep")
    factors = {"pattern": "stream", "size": 64, "depth": DEPTH, "publishers": PUBLISHERS, "loan": loan}
    sending, receiving = flood(contender.cell(**factors, processes=2, pin=None), tmp_path)
    first = {**sending["roles"][0], "samples": DEPTH, "duration_s": None, "warmup_s": 0}
    sending["roles"] = [
        {**first, "index": index, "samples_path": str(tmp_path / f"publisher-{index}.npy")}
        for index in range(PUBLISHERS)
    ]
    with both_ready(contender.worker.path, sending, receiving) as (publishers, subscriber):
        publishers.say(command="start")
        assert [publishers.hear("result")["sent"] for _ in range(PUBLISHERS)] == [DEPTH] * PUBLISHERS
        subscriber.say(command="start")
        subscriber.say(command="stop", expected=DEPTH * PUBLISHERS)
        received = subscriber.hear("result")
        assert received["by_publisher"] == [DEPTH] * PUBLISHERS
        assert received["ended"] == "complete"
