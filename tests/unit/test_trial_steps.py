"""One step of a search: the result of a rate, and why it was not sustained."""

from typing import Any

import pytest
from descriptions import transport
from stream_results import SENT, publisher, subscriber

from middlemark.model.cell import Cell
from middlemark.model.outcome import Evidence, Failure, TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.protocol import PublisherResult, SubscriberResult
from middlemark.trial.patterns import Heard
from middlemark.trial.patterns.stream import conclude
from middlemark.trial.steps import bound_hz, step_of, why_not

EVIDENCE = Evidence(udp_datagrams=0, tcp_segments=0, loopback_bytes=0)


BEGUN = TrialOutcome(cell=0, number=1, order=1, started="", seconds=1.0, evidence=EVIDENCE)


def cell(**factors: Any) -> Cell:
    return Cell(**{"adapter": "null", "transport": "memory", "pattern": "stream", "size": 64, "depth": None, **factors})


def reasons(*results: PublisherResult | SubscriberResult, **factors: Any) -> tuple[str, ...]:
    asked = cell(**factors)
    heard = Heard(
        cell=asked,
        limits=Limits(duration_s=1.0),
        transport=transport("memory"),
        senders=tuple(each for each in results if isinstance(each, PublisherResult)) or (publisher(),),
        receivers=tuple(each for each in results if isinstance(each, SubscriberResult)) or (subscriber(),),
        evidence=EVIDENCE,
        samples_stem="samples/00001",
    )
    outcome = conclude(heard, BEGUN)
    step = step_of(asked, 1000.0, outcome, heard)
    found = why_not(asked, step, outcome)
    assert step.held == (not found)
    return found


def test_a_step_with_all_arrivals_in_time_held() -> None:
    assert reasons(publisher(), subscriber()) == ()


@pytest.mark.parametrize(
    ("max_loss", "lost", "held"), [(0.0, 0, True), (0.0, 1, False), (0.01, 10, True), (0.01, 11, False)]
)
def test_loss_is_compared_with_the_allowed_loss(max_loss: float, lost: int, held: bool) -> None:
    assert (reasons(subscriber(received=SENT - lost), max_loss=max_loss) == ()) == held


def test_loss_covers_all_subscribers_and_p99_is_the_worst_subscribers() -> None:
    slow = subscriber(1, one_way_p99_ns=5000)
    assert reasons(subscriber(), slow, max_p99_s=4e-6) == ("p99 was 5.0 µs (allowed: 4 µs)",)
    assert reasons(subscriber(), slow, max_p99_s=5e-6) == ()
    assert reasons(subscriber(), subscriber(1, received=SENT - 10), max_loss=0.005) == ()


def test_an_unknown_p99_is_not_within_bounds() -> None:
    assert reasons(subscriber(one_way_p99_ns=None), max_p99_s=1.0) == ("p99 was unknown (allowed: 1e+06 µs)",)


def test_a_publisher_behind_schedule_at_the_end_did_not_offer_the_rate() -> None:
    behind = publisher(scheduled=2000, unsent=SENT, late_sends=SENT)
    assert reasons(behind) == ("publisher 0 did not send 1,000 of 2,000 due messages",)
    assert reasons(publisher(scheduled=SENT, unsent=1, late_sends=SENT)) == (), "what is late shows in the latency"


def test_failed_publishes_do_not_hold() -> None:
    assert reasons(publisher(timed_out=3, publish_failed=1)) == (
        "4 publishes failed or took longer than the write timeout",
    )


def test_a_step_without_sends_did_not_hold() -> None:
    assert reasons(publisher(sent=0, first_sent_ns=0), subscriber(received=0, last_received_ns=0)) == (
        "nothing was sent",
    )


def test_a_step_with_a_failed_trial_has_its_reason() -> None:
    failed = TrialOutcome(
        cell=0, number=1, order=1, started="", seconds=1.0, failed=Failure("crashed", "subscriber 0 was ended")
    )
    step = step_of(cell(), 5.0, failed, None)
    assert (step.held, step.failed) == (False, "subscriber 0 was ended")
    assert why_not(cell(), step, failed) == ("subscriber 0 was ended",)


def test_rates_cover_intact_messages_from_the_first_send_to_the_last_arrival() -> None:
    asked = cell(publishers=2, subscribers=2, topics=1)
    heard = Heard(
        cell=asked,
        limits=Limits(duration_s=1.0),
        transport=transport("memory"),
        senders=(publisher(0), publisher(1, first_sent_ns=1_500_000_000)),
        receivers=(
            subscriber(0, received=2000, last_received_ns=3_000_000_000),
            subscriber(1, received=1000, damaged=500, last_received_ns=2_000_000_000),
        ),
        evidence=EVIDENCE,
        samples_stem="samples/00001",
    )
    outcome = conclude(heard, BEGUN)
    step = step_of(asked, None, outcome, heard)
    assert step.received_hz == pytest.approx((2000 / 2.0 + 500 / 1.0) / 2)
    assert step.sent_hz == pytest.approx(1000)
    assert bound_hz(asked, step) == pytest.approx(step.received_hz / 2), "two publishers share the received rate"
