"""A flood can be stopped at any time, from either end: the protocol's stop, spoken by hand in mid-flood."""

from pathlib import Path
from typing import Any

import pytest
from contender import KIB, Contender, scripted
from conversation import Conversation
from course import by_publisher
from floods import KEPT, both_ready, flood, together
from variants import why_left_out

from middlemark.model.cell import Cell
from middlemark.model.samples import ARRIVAL, SENDING
from middlemark.stats.samples import load, load_histogram


@pytest.fixture(params=["poll", "block", "listen"])
def flooded(request: pytest.FixtureRequest, contender: Contender) -> dict[str, Any]:
    """The factors of a flood that this contender can be put under."""
    if contender.transport.name == "mislabelled":
        pytest.skip("it is the other one with a lie about its transport")
    if request.param not in contender.transport.receive:
        pytest.skip(f"it does not {request.param}")
    if contender.transport.companions:
        pytest.skip("it needs a daemon; the trials start it")
    offered = contender.transport
    factors = {
        "pattern": "stream",
        "size": 64,
        "receive": request.param,
        "depth": None if offered.keep_all else min(100, offered.max_depth or 100),
        "processes": max(offered.processes),
        "pin": None,
    }
    if why := why_left_out(contender, reliability=offered.reliability[0], **factors):
        pytest.skip(why)
    return factors


def under_way(talk: Conversation, role: str, messages: int = 1) -> None:
    """Wait until it has counted so many measured messages."""
    counts: dict[str, Any] = {}
    while counts.get("sent" if role == "publisher" else "received", 0) < messages:
        [counts] = [each for each in talk.hear("tick", "measuring")["roles"] if each["role"] == role]


def stopped_in_mid_flood(talk: Conversation, cell: Cell, folder: Path, sent: int = 1) -> dict[str, dict[str, Any]]:
    """Let one worker send and receive, and stop it when so many were sent; return the results of its two roles."""
    talk.hear("hello")
    talk.say(command="configure", **together(*flood(cell, folder)))
    talk.hear("ready")
    talk.say(command="start")
    under_way(talk, "publisher", sent)
    talk.say(command="stop")
    return {event["role"]: event for event in (talk.hear("result"), talk.hear("result"))}


def test_a_stop_in_mid_flood_ends_either_role_at_once(
    contender: Contender, flooded: dict[str, Any], tmp_path: Path
) -> None:
    sending, receiving = flood(contender.cell(**flooded), tmp_path)
    if flooded["processes"] == 1:
        pytest.skip("one process stops its receivers itself, when its senders have ended")
    with both_ready(contender.worker.path, sending, receiving) as (publisher, subscriber):
        subscriber.say(command="start")
        subscriber.hear("tick")
        publisher.say(command="start")
        under_way(subscriber, "subscriber")
        # A role that does not see its stop is an error of the code "hung", 3 s later.
        # Both at once: a publisher whose messages nobody takes any more ends by itself, and rightly complains.
        subscriber.say(command="stop")
        publisher.say(command="stop")
        received = subscriber.hear("result")
        sent = publisher.hear("result")
        # What becomes of a middleware that is closed in mid-flood is its own business: the launcher ends it (Fast DDS
        # 2.9 joins a data-sharing listener that never comes back).
        assert (received["role"], received["ended"]) == ("subscriber", "stopped")
        assert 0 < received["received"] <= sent["sent"] + sent["timed_out"]
        assert (sent["role"], sent["ended"]) == ("publisher", "stopped")
    whole(sent, received, tmp_path)


def test_a_flood_within_one_process_ends_when_it_is_stopped_and_has_drained(
    contender: Contender, flooded: dict[str, Any], tmp_path: Path
) -> None:
    if 1 not in contender.transport.processes:
        pytest.skip("it works between processes only")
    if contender.transport.alone:
        pytest.skip("nobody receives what it sends")
    # Of 64 B the kernel holds more than a crowded machine receives in the time of a drain.
    cell = contender.cell(**{**flooded, "processes": 1, "size": min(4 * KIB, contender.transport.max_bytes)})
    with Conversation(contender.worker.path) as talk:
        results = stopped_in_mid_flood(talk, cell, tmp_path)
        talk.say(command="quit")
        assert results["publisher"]["ended"] == "stopped"
        if cell.reliability == "reliable" and cell.depth is None:
            assert results["subscriber"]["ended"] == "complete"
            assert results["subscriber"]["received"] == results["publisher"]["sent"]
        else:
            assert results["subscriber"]["received"] <= results["publisher"]["sent"]
        assert talk.status() == 0
    whole(results["publisher"], results["subscriber"], tmp_path)


def test_a_subscriber_that_is_slow_within_one_process_has_the_time_of_a_drain(tmp_path: Path) -> None:
    null = scripted()
    cell = null.cell(pattern="stream", size=64, depth=None, processes=1, native=(("stall", "100:6000"),))
    with Conversation(null.worker.path) as talk:
        results = stopped_in_mid_flood(talk, cell, tmp_path, sent=101)
        assert results["subscriber"]["received"] == results["publisher"]["sent"] > 100
        talk.say(command="quit")
        assert talk.status() == 0


def whole(sent: dict[str, Any], received: dict[str, Any], folder: Path) -> None:
    """Hold the files against the counts: the first messages raw, all others in the histograms.

    A publisher that is faster than its stamps are cheap stamps one message in so many, at both ends. Which of them
    arrived, only a stream that stamps all can tell.
    """
    assert (received["duplicated"], received["damaged"]) == (0, 0)
    every = sent["stamped_every"]
    stamped = -(-(sent["sent"] + sent["timed_out"] + sent["publish_failed"]) // every)
    arrived = received["received"]
    for result, dtype, most in ((sent, SENDING, stamped), (received, ARRIVAL, min(arrived, stamped))):
        records = load(folder / f"{result['role']}.npy", dtype)
        kept = result["samples"] + result["in_histogram"]
        assert kept == most or (dtype is ARRIVAL and every > 1 and kept <= most and (kept > 0 or arrived < every))
        assert len(records) == result["samples"] == min(kept, KEPT)
        histogram = folder / f"{result['role']}.histogram.npy"
        assert histogram.exists() == (result["in_histogram"] > 0)
        if histogram.exists():
            assert load_histogram(histogram)["count"].sum() == result["in_histogram"]
        if dtype is ARRIVAL:
            assert by_publisher(records).keys() == ({0} if arrived else set())
