"""Tests of the reported costs of a trial. Its workers use known amounts of processor time and memory."""

from collections.abc import Callable

import pytest
from candidate import Candidate, scripted
from runner import Measured, Runner

from middlemark.model.outcome import WorkerCost
from middlemark.model.plan import Limits

MIB = 1 << 20

BURNT_US = 1_000
MESSAGES = 300
BURNT_NS = MESSAGES * BURNT_US * 1_000
HOG_MIB = 64
HOG_SUBSCRIBER_MIB = 32
ACCOUNT_NS = 20_000_000
"""Tolerance of a process's processor time: about one accounting tick (1 to 10 ms) at either end."""
PAGE_BYTES = 4096
NEAR = 0.9
"""Tolerance factor for memory, because two processes also differ in their other memory."""


@pytest.fixture(scope="module")
def costly(runner: Runner) -> Measured:
    """A stream at a rate whose publisher and second subscriber use known processor time and memory."""
    null: Candidate = scripted()
    script = {
        "burn_us": BURNT_US,
        "hog_mib": HOG_MIB,
        "hog_subscriber_mib": HOG_SUBSCRIBER_MIB,
        "only_subscriber": 1,
    }
    cell = null.cell(
        pattern="stream",
        size=64,
        depth=None,
        subscribers=2,
        rate=400.0,
        native=tuple(sorted((key, str(value)) for key, value in script.items())),
    )
    measured = runner.measure(null, cell, Limits(samples=MESSAGES, warmup_s=0.05, match_timeout_s=20.0, limit_s=60.0))
    assert measured.outcome.failed is None
    return measured


@pytest.fixture(scope="module")
def cost(costly: Measured) -> Callable[[str], WorkerCost]:
    """Return a function from the name of a worker to its cost."""
    costs = {each.who: each for each in costly.outcome.costs}
    return costs.__getitem__


Costs = Callable[[str], WorkerCost]


def unseen_ns(costly: Measured, cost: WorkerCost) -> float:
    """Return the time in ns from a worker's first measured message to the first reading of its costs, which miss it."""
    [publisher] = costly.outcome.publishers
    whole_s = (publisher.last_sent_ns - publisher.first_sent_ns) / 1e9
    return max(0.0, whole_s - cost.seconds) * 1e9 + ACCOUNT_NS


def test_burnt_time_is_in_the_processor_time_of_its_process(costly: Measured, cost: Costs) -> None:
    burning = cost("publisher 0")
    assert burning.user_ns + burning.system_ns >= BURNT_NS - unseen_ns(costly, burning)
    # Compare only the two subscribers: polling every 20 µs itself takes about as much time as was burnt.
    one, other = (cost(f"subscriber {index}") for index in (0, 1))
    assert abs(one.user_ns + one.system_ns - other.user_ns - other.system_ns) < BURNT_NS - ACCOUNT_NS


def test_the_thread_that_burnt_time_is_named(costly: Measured, cost: Costs) -> None:
    burning = cost("publisher 0")
    threads = {thread.name: thread for thread in burning.threads}
    assert {"publisher 0", "control"} <= threads.keys()
    assert threads["publisher 0"].threads == 1
    assert threads["publisher 0"].cpu_ns >= BURNT_NS - unseen_ns(costly, burning)
    assert threads["publisher 0"].cpu_ns > threads["control"].cpu_ns
    for index in (0, 1):
        assert f"subscriber {index}" in {thread.name for thread in cost(f"subscriber {index}").threads}


def test_the_threads_times_add_up_to_the_time_of_their_process(costly: Measured) -> None:
    for each in costly.outcome.costs:
        threads = sum(thread.cpu_ns for thread in each.threads)
        assert abs(threads - (each.user_ns + each.system_ns)) <= ACCOUNT_NS


def test_no_thread_used_more_than_the_elapsed_time(costly: Measured) -> None:
    for each in costly.outcome.costs:
        for thread in each.threads:
            assert thread.threads is not None
            assert thread.cpu_ns <= each.seconds * 1e9 * thread.threads + ACCOUNT_NS


def test_hogged_memory_is_in_the_resident_memory_of_its_process(cost: Costs) -> None:
    plain = cost("subscriber 0")
    for who, hogged in (("publisher 0", HOG_MIB), ("subscriber 1", HOG_SUBSCRIBER_MIB)):
        hog = cost(who)
        assert hog.peak_rss_bytes >= hog.rss_bytes >= hogged * MIB
        assert hog.rss_bytes - plain.rss_bytes >= NEAR * hogged * MIB
    assert plain.rss_bytes < HOG_SUBSCRIBER_MIB * MIB


def test_middlemarks_own_samples_are_reported_separately_from_the_middlewares_memory(
    costly: Measured, cost: Costs
) -> None:
    publisher, subscriber = costly.kept("publisher")[0], costly.kept("subscriber")[0]
    assert cost("publisher 0").bench_bytes >= publisher.nbytes
    assert cost("subscriber 0").bench_bytes >= subscriber.nbytes


def test_the_steps_of_the_series_add_up_to_the_total(costly: Measured) -> None:
    for each in costly.outcome.costs:
        steps = [step for step in costly.outcome.series if step.who == each.who]
        assert sum(step.seconds for step in steps) == pytest.approx(each.seconds)
        for field in ("user_ns", "system_ns", "voluntary_switches", "involuntary_switches", "minor_faults"):
            assert sum(getattr(step, field) for step in steps) == getattr(each, field)
        assert [step.at_s for step in steps] == sorted(step.at_s for step in steps)
        assert steps[-1].rss_bytes == each.rss_bytes
    sent = [step.sent for step in costly.outcome.series if step.who == "publisher 0"]
    assert None not in sent
    assert 0 < sum(each or 0 for each in sent) <= MESSAGES
    assert {step.sent for step in costly.outcome.series if step.who != "publisher 0"} == {None}


def test_switches_and_faults_are_counted(cost: Costs) -> None:
    # All roles sleep while no message is due. The hogged memory was touched before the start, so it causes no faults.
    for who in ("publisher 0", "subscriber 0", "subscriber 1"):
        assert cost(who).voluntary_switches > 0
        faults = cost(who).minor_faults
        assert faults is not None
        assert 0 <= faults < HOG_SUBSCRIBER_MIB * MIB / PAGE_BYTES


def test_network_bytes_are_reported_once_per_step(costly: Measured) -> None:
    assert costly.outcome.network is not None
    [first, *others] = costly.outcome.costs
    reporting = {step.who for step in costly.outcome.series if step.network is not None}
    assert reporting == {first.who}
    assert others
