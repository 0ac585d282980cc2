"""Warnings about a stream, with their advice."""

from typing import Any

import pytest
from stream_results import SENT, publisher, subscriber

from middlemark.model.cell import Cell
from middlemark.model.outcome import RunWarning
from middlemark.model.plan import Limits
from middlemark.model.protocol import PublisherResult, SubscriberResult
from middlemark.trial.patterns.stream import arrived, counted, sent
from middlemark.trial.warnings import stream_warnings

LIMITS = Limits(duration_s=1.0)


def cell(**factors: Any) -> Cell:
    return Cell(**{"adapter": "null", "transport": "memory", "pattern": "stream", "size": 64, "depth": None, **factors})


def found(
    *results: PublisherResult | SubscriberResult, asked: Cell | None = None, limits: Limits = LIMITS
) -> dict[str, RunWarning]:
    """Return the warnings by code, and check that no code occurs twice."""
    senders = [each for each in results if isinstance(each, PublisherResult)] or [publisher()]
    receivers = [each for each in results if isinstance(each, SubscriberResult)] or [subscriber()]
    published = [sent(each) for each in senders]
    taken = [arrived(each, published) for each in receivers]
    warnings = stream_warnings(asked or cell(), limits, published, taken, senders=senders, receivers=receivers)
    codes = [each.code for each in warnings]
    assert len(set(codes)) == len(codes)
    return dict(zip(codes, warnings, strict=True))


def test_a_complete_stream_has_no_warnings() -> None:
    assert found(publisher(), subscriber(), subscriber(1)) == {}


def test_loss_names_every_affected_subscriber_from_the_worst() -> None:
    warnings = found(subscriber(0, received=990), subscriber(1), subscriber(2, received=100))
    assert list(warnings) == ["loss"]
    assert warnings["loss"].text == (
        f"subscriber 2 lost 900 of {SENT:,} messages (90 %); subscriber 0 lost 10 of {SENT:,} messages (1 %)"
    )


def test_the_worst_of_many_subscribers_is_named_and_the_others_are_counted() -> None:
    warnings = found(*(subscriber(index, received=SENT - index) for index in range(9)))
    assert warnings["loss"].text == f"subscriber 8 lost 8 of {SENT:,} messages (0.8 %); and 7 more"


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ({"reliability": "best-effort"}, "--reliability reliable"),
        ({"reliability": "reliable", "depth": 10}, "a history of 10 overwrites"),
        ({"reliability": "reliable", "depth": 10}, "--depth all"),
        ({"reliability": "reliable", "depth": None}, "resource limits"),
        ({"rate": 1000.0}, "--rate sustainable"),
        ({"burst": 100, "recovery_s": 0.1}, "a longer --recovery"),
    ],
)
def test_the_advice_against_loss_depends_on_the_cells_factors(factors: dict[str, Any], words: str) -> None:
    assert words in found(subscriber(received=1), asked=cell(**factors))["loss"].advice


def test_a_subscriber_that_received_nothing_is_named() -> None:
    warnings = found(subscriber(0), subscriber(1, received=0))
    assert warnings["received-nothing"].text == f"subscriber 1 received none of {SENT:,} messages"


def test_a_subscriber_that_joined_late_and_got_less_than_its_history_is_named() -> None:
    warnings = found(subscriber(0, history_due=5, history_received=5), subscriber(1, history_due=5, history_received=2))
    text = "subscriber 1 joined late and got 2 of the 5 messages that were published before it joined"
    assert {code: each.text for code, each in warnings.items()} == {"history-missed": text}


@pytest.mark.parametrize("code", ["damaged", "duplicated", "reordered"])
def test_damaged_duplicated_or_reordered_messages_are_reported_with_their_subscriber(code: str) -> None:
    warnings = found(subscriber(0), subscriber(1, **{code: 3}))
    assert list(warnings) == [code]
    assert warnings[code].text.startswith(f"3 of {SENT:,} messages ")
    assert warnings[code].text.endswith("at subscriber 1")


def test_more_than_was_sent_is_never_a_negative_loss() -> None:
    warnings = found(publisher(timed_out=5), subscriber(received=SENT + 5))
    assert set(warnings) == {"more-than-sent", "back-pressure"}
    assert "timed out or failed still arrived" in warnings["more-than-sent"].advice
    assert "another run" in found(subscriber(received=SENT + 5))["more-than-sent"].advice


def paced(**given: Any) -> PublisherResult:
    return publisher(**{"scheduled": SENT, "late_sends": 0, "unsent": 0, **given})


@pytest.mark.parametrize(
    ("missed", "words"),
    [
        ({"late_sends": 300}, "publisher 0 sent 300 over a period late (30 %), of 1,000 due"),
        ({"unsent": 40}, "publisher 0 sent 40 not at all (4 %), of 1,000 due"),
        ({"late_sends": 300, "unsent": 40}, "300 over a period late (30 %) and 40 not at all (4 %), of 1,000 due"),
    ],
)
def test_missed_instants_are_reported_and_never_stretched(missed: dict[str, int], words: str) -> None:
    warnings = found(paced(**missed), asked=cell(rate=1000.0))
    assert list(warnings) == ["missed-instants"]
    assert warnings["missed-instants"].text.startswith("the rate of 1,000 Hz was not reached: ")
    assert words in warnings["missed-instants"].text


def test_a_few_late_sends_raise_no_warning_about_missed_instants() -> None:
    assert found(paced(late_sends=10, unsent=1)) == {}


def test_without_a_schedule_no_instant_is_missed() -> None:
    assert found(publisher(late_sends=None, unsent=None)) == {}


def test_publishes_blocked_beyond_the_write_timeout_are_neither_sent_nor_lost() -> None:
    warnings = found(publisher(sent=990, timed_out=10), subscriber(received=990))
    assert list(warnings) == ["back-pressure"]
    assert "publisher 0 gave up 10 of 1,000 publishes" in warnings["back-pressure"].text
    published = [sent(publisher(sent=990, timed_out=10, publish_failed=2))]
    counts = counted(published, [arrived(subscriber(received=990), published)])
    assert (counts.sent, counts.lost, counts.publish_failed) == (990, 0, 12)


def test_failed_publishes_are_reported_with_the_middlewares_error() -> None:
    warnings = found(publisher(publish_failed=2, last_error="out of resources"))
    assert warnings["publish-failed"].text == "2 publishes of publisher 0 failed: out of resources"


def test_samples_in_the_histogram_are_reported() -> None:
    warnings = found(publisher(), subscriber(samples=400, in_histogram=600))
    assert "600 of 1,000 of subscriber 0 are known to within 0.8 %" in warnings["histogram"].text


def test_a_trial_that_reached_its_limit_is_reported() -> None:
    warnings = found(publisher(ended="limit"), limits=Limits(samples=10**6, limit_s=3.0))
    assert warnings["ended-early"].text == "the limit of 3 s was reached: publisher 0 after 1,000 messages"


def test_a_subscriber_that_was_still_receiving_is_reported() -> None:
    assert "subscriber 0" in found(subscriber(ended="limit"))["still-receiving"].text


def test_a_flood_in_which_only_some_messages_are_timed_is_reported() -> None:
    warnings = found(publisher(stamped_every=61, writing_ns=None))
    assert "one message in 61 of publisher 0 is timed; all are counted" in warnings["stamped-in-part"].text
    assert "stamped-in-part" not in found(publisher())
