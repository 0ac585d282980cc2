"""What waits for a subscriber that has not looked yet: the protocol spoken by hand, and the subscriber started last."""

from pathlib import Path

import pytest
from contender import Contender
from conversation import Conversation
from floods import flood

DEPTH = 5
PUBLISHERS = 2


@pytest.mark.parametrize("loan", [False, True], ids=["copied", "loan"])
def test_a_history_holds_its_depth_of_each_publisher(contender: Contender, loan: bool, tmp_path: Path) -> None:
    offered = contender.transport
    if offered.alone or 2 not in offered.processes:
        pytest.skip("nobody receives what it sends from another process")
    if offered.companions:
        pytest.skip("it needs a daemon; the trials start it")
    if loan not in offered.loan:
        pytest.skip("it does not offer it")
    factors = {"pattern": "stream", "size": 64, "depth": DEPTH, "publishers": PUBLISHERS, "loan": loan}
    sending, receiving = flood(contender.cell(**factors, processes=2, pin=None), tmp_path)
    first = {**sending["roles"][0], "samples": DEPTH, "duration_s": None, "warmup_s": 0}
    sending["roles"] = [
        {**first, "index": index, "samples_path": str(tmp_path / f"publisher-{index}.npy")}
        for index in range(PUBLISHERS)
    ]
    with Conversation(contender.worker.path) as publishers, Conversation(contender.worker.path) as subscriber:
        for talk, command in ((publishers, sending), (subscriber, receiving)):
            talk.hear("hello")
            talk.say(command="configure", **command)
        for talk in (publishers, subscriber):
            talk.hear("ready")
        publishers.say(command="start")
        assert [publishers.hear("result")["sent"] for _ in range(PUBLISHERS)] == [DEPTH] * PUBLISHERS
        subscriber.say(command="start")
        subscriber.say(command="stop", expected=DEPTH * PUBLISHERS)
        received = subscriber.hear("result")
        assert received["by_publisher"] == [DEPTH] * PUBLISHERS
        assert received["ended"] == "complete"
