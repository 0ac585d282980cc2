"""Tests of the command ``stop`` in the middle of a flood: each role ends, and its counts and files agree."""

from pathlib import Path
from typing import Any

import pytest
from candidate import KIB, Candidate, scripted
from conversation import Conversation
from declared import why_left_out
from floods import KEPT, both_ready, flood, together
from runner import by_publisher

from middlemark.model.cell import Cell
from middlemark.model.samples import ARRIVAL, SENDING
from middlemark.stats.samples import load, load_histogram


@pytest.fixture(params=["poll", "block", "listen"])
def flooded(request: pytest.FixtureRequest, candidate: Candidate) -> dict[str, Any]:
    """The factors of a flood that this candidate supports."""
    if candidate.transport.name == "mislabelled":
        pytest.skip("this transport of the null adapter has a false name")
    if request.param not in candidate.transport.receive:
        pytest.skip(f"the transport does not support {request.param}")
    if candidate.transport.companions:
        pytest.skip("the transport needs a daemon, which only the launcher starts")
    offered = candidate.transport
    factors = {
        "pattern": "stream",
        "size": 64,
        "receive": request.param,
        "depth": None if offered.keep_all else min(100, offered.max_depth or 100),
        "processes": max(offered.processes),
        "pin": None,
    }
    if why := why_left_out(candidate, reliability=offered.reliability[0], **factors):
        pytest.skip(why)
    return factors


def wait_for_messages(talk: Conversation, role: str, messages: int = 1) -> None:
    """Wait until the role has counted this number of measured messages."""
    counts: dict[str, Any] = {}
    while counts.get("sent" if role == "publisher" else "received", 0) < messages:
        [counts] = [each for each in talk.expect("tick", "measuring")["roles"] if each["role"] == role]


def stopped_in_mid_flood(talk: Conversation, cell: Cell, folder: Path, sent: int = 1) -> dict[str, dict[str, Any]]:
    """Make one worker send and receive, stop it after ``sent`` messages, and return the results of its two roles."""
    talk.expect("hello")
    talk.send(command="configure", **together(*flood(cell, folder)))
    talk.expect("ready")
    talk.send(command="start")
    wait_for_messages(talk, "publisher", sent)
    talk.send(command="stop")
    return {event["role"]: event for event in (talk.expect("result"), talk.expect("result"))}


def test_a_stop_in_mid_flood_ends_either_role_at_once(
    candidate: Candidate, flooded: dict[str, Any], tmp_path: Path
) -> None:
    sending, receiving = flood(candidate.cell(**flooded), tmp_path)
    if flooded["processes"] == 1:
        pytest.skip("a worker with both roles stops the receiver itself, when the sender has ended")
    with both_ready(candidate.worker.path, sending, receiving) as (publisher, subscriber):
        subscriber.send(command="start")
        subscriber.expect("tick")
        publisher.send(command="start")
        wait_for_messages(subscriber, "subscriber")
        # If a role does not notice the stop, its worker sends an error with the code "hung" after 3 s. Stop both roles
        # at the same time, because a publisher without a receiver ends with an error.
        subscriber.send(command="stop")
        publisher.send(command="stop")
        received = subscriber.expect("result")
        sent = publisher.expect("result")
        # The test does not send quit: some middlewares hang if they are closed in the middle of a flood (Fast DDS 2.9
        # joins a data-sharing listener that never ends). In a run, the launcher kills such a worker.
        assert (received["role"], received["ended"]) == ("subscriber", "stopped")
        assert 0 < received["received"] <= sent["sent"] + sent["timed_out"]
        assert (sent["role"], sent["ended"]) == ("publisher", "stopped")
    check_files(sent, received, tmp_path)


def test_a_flood_within_one_process_ends_when_it_is_stopped_and_has_drained(
    candidate: Candidate, flooded: dict[str, Any], tmp_path: Path
) -> None:
    if 1 not in candidate.transport.processes:
        pytest.skip("the transport works between processes only")
    if candidate.transport.alone:
        pytest.skip("the transport has no subscribers")
    # Do not use 64 B: the kernel buffers more messages of this size than a busy machine can receive during the drain.
    cell = candidate.cell(**{**flooded, "processes": 1, "size": min(4 * KIB, candidate.transport.max_bytes)})
    with Conversation(candidate.worker.path) as talk:
        results = stopped_in_mid_flood(talk, cell, tmp_path)
        talk.send(command="quit")
        assert results["publisher"]["ended"] == "stopped"
        if cell.reliability == "reliable" and cell.depth is None:
            assert results["subscriber"]["ended"] == "complete"
            assert results["subscriber"]["received"] == results["publisher"]["sent"]
        else:
            assert results["subscriber"]["received"] <= results["publisher"]["sent"]
        assert talk.status() == 0
    check_files(results["publisher"], results["subscriber"], tmp_path)


def test_a_slow_subscriber_within_one_process_gets_time_to_drain(tmp_path: Path) -> None:
    null = scripted()
    cell = null.cell(pattern="stream", size=64, depth=None, processes=1, native=(("stall", "100:6000"),))
    with Conversation(null.worker.path) as talk:
        results = stopped_in_mid_flood(talk, cell, tmp_path, sent=101)
        assert results["subscriber"]["received"] == results["publisher"]["sent"] > 100
        talk.send(command="quit")
        assert talk.status() == 0


def check_files(sent: dict[str, Any], received: dict[str, Any], folder: Path) -> None:
    """Compare the files with the counts: the first messages have raw records, and all others are in the histograms.

    A publisher stamps only every ``stamped_every``-th message if a clock reading for each would take too long. Then it
    is known how many stamped messages arrived only if no message was lost.
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
