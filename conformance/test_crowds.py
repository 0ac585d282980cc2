"""Tests of crowds: participants that find each other, are idle, and then send."""

import numpy as np
import pytest
from candidate import Candidate
from runner import Runner, by_publisher

from middlemark.model.crowd import Crowd, sources
from middlemark.model.plan import Limits
from middlemark.model.protocol import Subscribe

PARTICIPANTS, TOPICS = 4, 2
RATE_HZ = 5.0
LIMITS = Limits(duration_s=6.0, warmup_s=0.0, match_timeout_s=30.0, limit_s=60.0)
MESSAGES = 30
LONG_LEASES = ("dust-dds", "rustdds")
"""Adapters whose participants notice a killed one only after 60 s or more, and a trial waits 30 s."""


@pytest.mark.once
@pytest.mark.parametrize("subscribe", ["next", "all"])
def test_every_participant_finds_and_hears_the_others(
    candidate: Candidate, runner: Runner, subscribe: Subscribe
) -> None:
    if "crowd" not in candidate.transport.patterns:
        pytest.skip("the transport does not support crowds")
    # Also test a library with several sessions in a process, if it supports that.
    together = min(3, candidate.transport.participants_per_process) if subscribe == "next" else 1
    cell = candidate.cell(
        pattern="crowd",
        size=64,
        rate=RATE_HZ,
        participants=PARTICIPANTS,
        topics=TOPICS,
        subscribe=subscribe,
        participants_per_process=together,
        storm_s=3.0 if subscribe == "all" else None,
        processes=2,
        pin=None,
    )
    measured = runner.measure(candidate, cell, LIMITS)
    outcome = measured.outcome
    assert outcome.failed is None, f"{outcome.failed.code}: {outcome.failed.text} {outcome.failed.advice}"
    assert outcome.crowd is not None
    heard_by = len(sources(PARTICIPANTS, subscribe, 0))
    assert outcome.crowd.publishers_heard == outcome.crowd.publishers_due == PARTICIPANTS * TOPICS * heard_by
    for opened, complete in zip(outcome.crowd.opened_ns, outcome.crowd.complete_ns, strict=True):
        assert complete is not None
        assert opened > 0
        assert complete > 0
    assert outcome.crowd.idle is not None, outcome.crowd.idle_absent
    assert outcome.crowd.idle.threads >= PARTICIPANTS
    assert outcome.crowd.idle.rss_bytes > 0
    assert outcome.counts is not None
    expected = PARTICIPANTS * TOPICS * MESSAGES
    assert (outcome.counts.sent, outcome.counts.publish_failed) == (expected, 0)
    wrong = (outcome.counts.lost, outcome.counts.duplicated, outcome.counts.reordered, outcome.counts.damaged)
    assert wrong == (0, 0, 0, 0)
    check_join(outcome.crowd)
    discovers = not candidate.transport.discovery_by and candidate.worker.description.name not in LONG_LEASES
    check_leave(outcome.crowd, killed=1 if together != 2 else 2, discovers=discovers)
    if subscribe == "all":
        shared = any(each.code == "shared-network" for each in outcome.warnings)
        check_storm(outcome.crowd, pauses=not shared)
    kept = measured.kept("subscriber")
    assert set(kept) == set(range(PARTICIPANTS))
    for participant, records in kept.items():
        assert set(by_publisher(records)) == set(sources(PARTICIPANTS, subscribe, participant))
        assert len(records) == heard_by * TOPICS * MESSAGES
        assert (np.diff(records["received_ns"].astype(np.int64)) >= 0).all()


def check_join(crowd: Crowd) -> None:
    assert crowd.join is not None, crowd.absent["join"]
    assert 0 < crowd.join.complete_ns < LIMITS.match_timeout_s * 1e9
    assert crowd.join.seconds >= 2.0
    assert "join" not in crowd.absent


def check_leave(crowd: Crowd, *, killed: int, discovers: bool) -> None:
    """Check that the kill was noticed. ``discovers``: the middleware finds its peers itself, so it must notice."""
    assert crowd.leave is not None, crowd.absent["leave"]
    assert crowd.leave.killed == killed
    if discovers:
        assert crowd.leave.noticed_ns is not None, crowd.absent["leave"]
    if crowd.leave.noticed_ns is None:
        assert "did not notice within" in crowd.absent["leave"]
    else:
        assert crowd.leave.noticed_ns > 0


def check_storm(crowd: Crowd, *, pauses: bool) -> None:
    """Check that all found each other again. ``pauses``: the crowd had a network of its own, which can pause."""
    if not pauses:
        assert "no network of its own" in crowd.absent["storm"]
        return
    assert crowd.storm is not None, crowd.absent["storm"]
    assert crowd.storm.pause_s == 3.0
    assert 0 < crowd.storm.complete_ns < LIMITS.match_timeout_s * 1e9
