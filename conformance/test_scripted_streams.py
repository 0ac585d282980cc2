"""Tests of streams with faults from the null adapter's script: the roles must count the faults exactly."""

import asyncio
import os
import signal
from collections.abc import Callable

import numpy as np
import pytest
from candidate import Candidate, scripted
from runner import Measured, Runner, by_publisher

from middlemark.model.cell import Cell
from middlemark.model.outcome import Arrived, TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.protocol import ClientResult
from middlemark.model.samples import NOT_MEASURED
from middlemark.sites.channel import WorkerProcess
from middlemark.stats.one_way import one_way
from middlemark.stats.samples import load_kept
from middlemark.trial.patterns import results_of


@pytest.fixture(scope="module")
def null() -> Candidate:
    return scripted()


Scripted = Callable[..., Measured]


@pytest.fixture(scope="module")
def measure(null: Candidate, runner: Runner) -> Scripted:
    """Return a function that measures a stream of the null adapter with a script."""

    def measured(samples: int = 100, *, factors: dict[str, object] | None = None, **script: object) -> Measured:
        return runner.measure(null, stream_of(null, factors, **script), limits(samples))

    return measured


def stream_of(null: Candidate, factors: dict[str, object] | None = None, **script: object) -> Cell:
    native = tuple(sorted((key, str(value)) for key, value in script.items()))
    return null.cell(**{"pattern": "stream", "size": 64, "depth": None, "native": native, **(factors or {})})


def limits(samples: int) -> Limits:
    return Limits(samples=samples, warmup_s=0.02, match_timeout_s=60.0, limit_s=60.0)


def wrong(arrived: Arrived) -> dict[str, int]:
    """Return the counts of lost, duplicated, reordered and damaged messages that are not 0."""
    counts = {name: getattr(arrived, name) for name in ("lost", "duplicated", "reordered", "damaged")}
    return {name: count for name, count in counts.items() if count}


FAULTS = {
    "lose": ("3,7,100", {"lost": 3}, {3, 7, 100}),
    "duplicate": ("5,6", {"duplicated": 2}, set()),
    "reorder": ("10,20,30", {"reordered": 3}, set()),
    "damage": ("4,8", {"damaged": 2}, {4, 8}),
    # A message that is too short counts as damaged. Its sequence number is not read, so it also counts as lost.
    "shorten": ("6", {"damaged": 1, "lost": 1}, {6}),
}
"""By fault: the sequence numbers that it affects, the expected counts, and the numbers that must have no record."""


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_at_one_subscriber_are_counted_only_there(measure: Scripted, fault: str) -> None:
    sequences, counted, absent = FAULTS[fault]
    measured = measure(factors={"subscribers": 3}, only_subscriber=1, **{fault: sequences})
    assert measured.outcome.failed is None
    assert [wrong(each) for each in measured.outcome.subscribers] == [{}, counted, {}]
    assert measured.warnings.keys() == {{"lost": "loss"}.get(name, name) for name in counted}
    for index, records in measured.kept("subscriber").items():
        found = set(by_publisher(records)[0].tolist())
        assert found == set(range(1, 101)) - (absent if index == 1 else set())


def test_faults_of_one_of_two_publishers_are_counted_at_every_subscriber(measure: Scripted) -> None:
    script = {"lose": "3", "duplicate": "5", "reorder": "10", "damage": "20"}
    measured = measure(factors={"publishers": 2, "subscribers": 2}, only_publisher=1, **script)
    each = {"lost": 1, "duplicated": 1, "reordered": 1, "damaged": 1}
    assert [wrong(arrived) for arrived in measured.outcome.subscribers] == [each, each]
    for records in measured.kept("subscriber").values():
        found = by_publisher(records)
        assert np.array_equal(found[0], np.arange(1, 101, dtype=np.uint64)), "the other publisher's messages all arrive"
        assert set(found[1].tolist()) == set(range(1, 101)) - {3, 20}


def test_loss_on_one_topic_does_not_count_on_the_other(measure: Scripted) -> None:
    measured = measure(factors={"publishers": 2, "subscribers": 2, "topics": 2}, only_publisher=1, lose="1,2")
    assert [wrong(each) for each in measured.outcome.subscribers] == [{}, {"lost": 2}]


def test_a_refused_publish_is_neither_sent_nor_lost(measure: Scripted) -> None:
    measured = measure(refuse="2,50")
    [publisher], [subscriber] = measured.outcome.publishers, measured.outcome.subscribers
    assert (publisher.sent, publisher.publish_failed, publisher.timed_out) == (98, 2, 0)
    assert (subscriber.expected, subscriber.received, wrong(subscriber)) == (98, 98, {})
    assert measured.warnings.keys() == {"publish-failed"}
    records = measured.kept("publisher")[0]
    assert np.flatnonzero(records["write_ns"] == NOT_MEASURED).tolist() == [1, 49]


WRITE_TIMEOUT_NS = 1_000_000_000
STALL_MS = 1_500


def test_a_publish_that_waits_too_long_is_counted_as_timed_out(measure: Scripted) -> None:
    measured = measure(40, stall=f"10:{STALL_MS}", slots=4)
    [publisher], [subscriber] = measured.outcome.publishers, measured.outcome.subscribers
    assert publisher.timed_out >= 1
    assert publisher.sent == 40 - publisher.timed_out
    assert (subscriber.received, wrong(subscriber)) == (publisher.sent, {})
    assert measured.warnings.keys() == {"back-pressure"}
    records = measured.kept("publisher")[0]
    assert (records["write_ns"] == NOT_MEASURED).sum() == publisher.timed_out
    assert (publisher.writing_ns or 0) >= WRITE_TIMEOUT_NS
    # The sleep between two checks of the full queue counts as blocked. Waiting for a processor does not, so add it
    # here.
    waited_ns = measured.outcome.noise.delay_ns if measured.outcome.noise else None
    least_ns = WRITE_TIMEOUT_NS / (10 if waited_ns is None else 2)
    assert publisher.blocked_ns is None or publisher.blocked_ns + (waited_ns or 0) >= least_ns


# A stall of 100 ms in a stream of 1 kHz makes about 100 messages up to 100 ms late.
RATE_HZ = 1_000.0
PLANTED_NS = 100_000_000
PLANTED = 400


def from_both(measured: Measured) -> tuple[np.ndarray, np.ndarray]:
    """Return each message's one-way latency in ns, from its intended instant and from its sending."""
    arrivals, sent = measured.kept("subscriber")[0], measured.kept("publisher")[0]
    intended = arrivals["one_way_ns"].astype(np.int64)
    late = sent["late_ns"][by_publisher(arrivals)[0].astype(np.int64) - 1]
    return intended, intended - late.astype(np.int64)


def test_a_subscribers_stall_shows_in_the_tail_from_the_intended_instant(measure: Scripted) -> None:
    measured = measure(PLANTED, factors={"rate": RATE_HZ}, stall="100:100", slots=1000)
    intended, _ = from_both(measured)
    assert wrong(measured.outcome.subscribers[0]) == {}
    assert intended.max() >= PLANTED_NS
    assert np.quantile(intended, 0.999) >= 0.95 * PLANTED_NS
    # About half of the messages due during the stall waited for at least half of the stall.
    assert (intended >= PLANTED_NS / 2).sum() >= 49
    summary = one_way([load_kept(measured.folder, file) for file in measured.outcome.files]).all
    assert summary is not None
    assert summary.max is not None
    assert summary.max >= PLANTED_NS


def test_a_publishers_stall_shows_from_the_intended_instant_but_not_from_the_sending(
    measure: Scripted,
) -> None:
    measured = measure(PLANTED, factors={"rate": RATE_HZ}, delay="100:100000")
    intended, sent = from_both(measured)
    assert np.quantile(intended, 0.99) >= 0.9 * PLANTED_NS
    behind = (intended >= PLANTED_NS / 2).sum()
    assert behind >= 49
    # If latency counts from the sending, only the delayed message itself is late. Other stalls of the machine affect
    # both counts.
    assert (sent >= PLANTED_NS / 2).sum() <= behind - 40
    [publisher] = measured.outcome.publishers
    assert (publisher.scheduled, publisher.unsent) == (PLANTED, 0)
    assert publisher.late_sends is not None
    assert publisher.late_sends >= 90
    assert "missed-instants" in measured.warnings


# Workers that crash or hang.


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The process ids of the started workers, by role."""
    pids: dict[str, int] = {}
    start = WorkerProcess.start

    async def noting(who: str, argv: list[str], environment: dict[str, str]) -> WorkerProcess:
        worker = await start(who, argv, environment)
        pids[who] = worker.pid
        return worker

    monkeypatch.setattr(WorkerProcess, "start", noting)
    return pids


def outcome_after_signal(
    null: Candidate, runner: Runner, started: dict[str, int], who: str, number: int
) -> TrialOutcome:
    """Run a stream from one publisher to four subscribers, and send a signal to the worker ``who`` during it."""

    async def striking() -> TrialOutcome:
        loop = asyncio.get_running_loop()
        ticks = iter([loop.call_later])

        def tick(_: object) -> None:
            for later in ticks:  # only at the first tick
                later(0.1, os.kill, started[who], number)

        cell = stream_of(null, {"subscribers": 4, "rate": 500.0})
        requested = Limits(duration_s=60.0, warmup_s=0.02, match_timeout_s=60.0)
        return (await runner.observe(null, cell, requested, tick)).outcome

    return asyncio.run(striking())


def test_a_subscriber_that_crashes_in_a_fan_out_fails_the_trial_and_is_named(
    null: Candidate, runner: Runner, started: dict[str, int]
) -> None:
    outcome = outcome_after_signal(null, runner, started, "subscriber 2", signal.SIGABRT)
    assert outcome.failed is not None
    assert outcome.failed.code == "crashed"
    who = f"subscriber 2 (pid {started['subscriber 2']})"
    assert outcome.failed.text.startswith(f"{who} was ended by SIGABRT (signal 6)")
    assert (outcome.counts, outcome.subscribers, outcome.costs) == (None, (), ()), "a failed trial has no results"


def test_a_subscriber_that_hangs_in_a_fan_out_fails_the_trial_and_is_named(
    null: Candidate, runner: Runner, started: dict[str, int]
) -> None:
    outcome = outcome_after_signal(null, runner, started, "subscriber 2", signal.SIGSTOP)
    assert outcome.failed is not None
    assert outcome.failed.code == "hung"
    assert outcome.failed.text.startswith(f"subscriber 2 (pid {started['subscriber 2']}) ")
    assert "it is stopped (SIGSTOP" in outcome.failed.text


def test_a_subscriber_that_hangs_in_the_middleware_is_named(measure: Scripted) -> None:
    measured = measure(10, factors={"subscribers": 2}, only_subscriber=1, stall="5:600000")
    failed = measured.outcome.failed
    assert failed is not None
    assert failed.code == "hung"
    assert failed.text.startswith("subscriber 1")


@pytest.mark.parametrize("index", [0, 1])
def test_a_publisher_that_crashes_is_named(measure: Scripted, index: int) -> None:
    measured = measure(factors={"publishers": 2}, only_publisher=index, crash="5")
    failed = measured.outcome.failed
    assert failed is not None
    assert failed.code == "crashed"
    assert failed.text.startswith(f"publisher {index} ")
    assert "SIGABRT" in failed.text


# Request/reply.


def test_a_lost_reply_counts_at_its_own_client(null: Candidate, runner: Runner) -> None:
    cell = null.cell(pattern="request-reply", publishers=2, native=(("lose", "3,7"), ("only_subscriber", "1")))
    requested = Limits(samples=50, warmup_s=0.02, reply_timeout_s=0.1, limit_s=60.0)
    measured = runner.measure(null, cell, requested)
    assert measured.heard is not None
    clients = results_of(ClientResult, measured.heard.senders)
    assert [client.lost for client in clients] == [0, 2]
    every = set(range(1, 51))
    for client, answered in zip(clients, (every, every - {3, 7}), strict=True):
        kept = set(measured.kept("client")[client.index]["sequence"].tolist())
        assert kept <= answered
        assert len(answered - kept) == client.late  # on a busy machine a reply may arrive after the timeout
