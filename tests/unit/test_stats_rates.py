"""Rates: intact messages that arrived at one subscriber, divided by their time. Sent messages never count."""

import pytest
from stats_cases import cell, outcome, plan
from stream_cases import START_NS, arrived, sent

from middlemark.model.outcome import TrialCounts, TrialOutcome, received_hz
from middlemark.stats.rates import counts, offered_hz, rates, replies_hz, sent_hz

TRIAL = plan(cell(pattern="stream"), trials=1).trials[0]


def _outcome(publishers: tuple, subscribers: tuple, **given: object) -> TrialOutcome:
    return outcome(TRIAL, publishers=publishers, subscribers=subscribers, **given)


def test_the_rate_covers_the_first_send_to_the_last_arrival() -> None:
    late = arrived(last_received_ns=START_NS + 4_000_000_000)
    assert received_hz(late, [sent()]) == 250.0


def test_time_with_warm_up_messages_still_arriving_is_excluded() -> None:
    assert received_hz(arrived(last_warm_up_ns=START_NS + 750_000_000), [sent()]) == 4_000.0
    assert received_hz(arrived(last_warm_up_ns=START_NS - 1), [sent()]) == 1_000.0


def test_the_interval_begins_with_the_first_of_several_publishers() -> None:
    later = sent(1, first_sent_ns=START_NS + 500_000_000)
    assert received_hz(arrived(), [later, sent()]) == 1_000.0


def test_a_damaged_message_is_not_throughput() -> None:
    assert received_hz(arrived(damaged=100), [sent()]) == 900.0


def test_a_subscriber_counts_only_the_publishers_of_its_topic() -> None:
    publishers = [sent(0, first_sent_ns=START_NS), sent(1, topic=1, first_sent_ns=START_NS + 500_000_000)]
    assert received_hz(arrived(topic=1), publishers) == 2_000.0
    assert received_hz(arrived(topic=2), publishers) is None, "no publisher has the topic of this subscriber"


def test_a_subscriber_without_arrivals_has_a_rate_of_zero_in_the_mean() -> None:
    silent = arrived(1, received=0, lost=1_000, first_received_ns=0, last_received_ns=0)
    found = rates(_outcome((sent(),), (arrived(), silent)))
    assert found.by_subscriber == (1_000.0, 0.0)
    assert (found.rate_hz, found.total_hz) == (500.0, 1_000.0)


def test_the_sent_rate_covers_the_first_to_the_last_send_of_each_publisher() -> None:
    assert sent_hz(sent()) == pytest.approx(1_000.0)
    assert sent_hz(sent(sent=1)) is None
    assert rates(_outcome((sent(0), sent(1)), (arrived(),))).sent_hz == pytest.approx(2_000.0)


def test_the_blocked_share_is_relative_to_the_publishers_own_time() -> None:
    found = rates(_outcome((sent(blocked_ns=500_000_000), sent(1, blocked_ns=0)), (arrived(),)))
    assert (found.blocked_ns, found.blocked_share) == (500_000_000.0, 0.25)


def test_blocked_time_that_one_publisher_lacks_is_absent_for_all() -> None:
    found = rates(_outcome((sent(blocked_ns=500_000_000), sent(1, blocked_ns=None)), (arrived(),)))
    assert (found.blocked_ns, found.blocked_share) == (None, None)


def test_a_publisher_blocked_at_the_end_was_blocked_for_at_most_all_its_time() -> None:
    found = rates(_outcome((sent(blocked_ns=1_500_000_000),), (arrived(),)))
    assert found.blocked_share == 1.0


def test_the_offered_rate_is_the_sum_over_senders() -> None:
    assert offered_hz(cell(pattern="stream", publishers=3, rate=100.0)) == 300.0
    assert offered_hz(cell(pattern="stream", rate="max")) is None


def test_the_rate_of_calls_is_replies_over_the_measured_time() -> None:
    assert replies_hz(_outcome((), (), counts=TrialCounts(sent=900, received=800), measured_s=2.0)) == 400.0
    assert replies_hz(_outcome((), (), measured_s=None)) is None


def test_missing_counts_of_the_launcher_are_summed_from_both_ends() -> None:
    found = counts(_outcome((sent(), sent(1)), (arrived(received=990, lost=10, damaged=2),), counts=None))
    assert found == TrialCounts(sent=2_002, received=990, lost=10, damaged=2)
    own_counts = TrialCounts(sent=5)
    assert counts(_outcome((sent(),), (arrived(),), counts=own_counts)) == own_counts
