"""Checks of every trial of round trips, over every transport and with every level of the factors."""

from pathlib import Path

import numpy as np
from own_settings import problems
from runner import Measured, carried_as
from variants import DURATION_S, REPLY_TIMEOUT_S

from middlemark.model.cell import carrier_due
from middlemark.model.protocol import PongResult
from middlemark.model.samples import NOT_MEASURED
from middlemark.trial.patterns import results_of

TOLERANCE_NS = 1_000
"""Tolerance of time stamps, because a polling ping reads the stamp before a take early."""
MOST_LATE_NS = NOT_MEASURED - 1
"""The largest lateness in ns that a record can contain. A message that is later also has this value."""
ROUNDING_NS = 3
"""Tolerance of computed instants, because each recorded difference is rounded to ns."""


def echoing(measured: Measured) -> int:
    """Return the number of replies to each message; 1 for a ping without pongs, which receives its own messages."""
    return max(measured.cell.subscribers, 1) if measured.cell.echo == "all" else 1


def test_the_trial_succeeds(trial: Measured) -> None:
    failed = trial.outcome.failed
    assert failed is None, f"{failed.code}: {failed.text} {failed.advice}"


def test_settings_that_the_trial_reports_can_be_copied(measured: Measured, scratch: Path) -> None:
    assert problems(measured.outcome.settings, scratch) == []


def test_the_requested_number_is_sent_received_and_kept(measured: Measured) -> None:
    counts, requested = measured.outcome.counts, measured.limits.samples
    assert counts is not None
    if requested is not None:
        assert counts.sent == requested
    assert counts.sent > 0
    assert counts.received == counts.sent * echoing(measured)
    assert measured.outcome.samples == len(measured.samples) == counts.sent


def test_nothing_is_lost_duplicated_reordered_or_damaged(measured: Measured) -> None:
    counts = measured.outcome.counts
    assert counts is not None
    wrong = ("lost", "late", "duplicated", "reordered", "damaged", "publish_failed")
    assert {name: getattr(counts, name) for name in wrong} == dict.fromkeys(wrong, 0)


def test_records_are_in_order_of_sending_from_one_without_a_gap(measured: Measured) -> None:
    sequence = measured.samples["sequence"]
    assert np.array_equal(sequence, np.arange(1, len(sequence) + 1, dtype=np.uint64))


def test_warm_up_samples_are_never_reported(measured: Measured) -> None:
    assert measured.outcome.warmup_samples >= 1, "the warm-up had no samples"
    begin = measured.samples["begin_ns"]
    measured_ns = (measured.outcome.measured_s or 0) * 1e9
    assert 0 <= begin[0] <= begin[-1] < measured_ns


def test_time_stamps_are_in_order(measured: Measured) -> None:
    samples = measured.samples
    begin = samples["begin_ns"].astype(np.int64)
    ends = begin + samples["round_trip_ns"].astype(np.int64)
    assert (np.diff(begin) > 0).all()
    assert (begin[1:] >= ends[:-1]).all(), "a message is sent after the previous reply has arrived"
    assert ends[-1] <= (measured.outcome.measured_s or 0) * 1e9 + TOLERANCE_NS


def test_messages_at_a_rate_are_due_at_instants_of_one_schedule(measured: Measured) -> None:
    rate, samples = measured.cell.rate, measured.samples
    if isinstance(rate, str):
        assert (samples["late_ns"] == 0).all(), "nothing is due at rate max"
        return
    intended = samples["begin_ns"].astype(np.int64) - samples["late_ns"].astype(np.int64)
    due = np.arange(len(samples)) * 1e9 / rate
    exact = samples["late_ns"] < MOST_LATE_NS
    assert (np.abs(intended - due) <= ROUNDING_NS)[exact].all()


def test_the_first_reply_arrives_within_the_round_trip(measured: Measured) -> None:
    samples = measured.samples
    assert (samples["first_reply_ns"] > 0).all()
    assert (samples["first_reply_ns"] <= samples["round_trip_ns"]).all()
    assert (samples["round_trip_ns"] < REPLY_TIMEOUT_S * 1e9).all()
    assert (samples["replies"] == echoing(measured)).all()
    if echoing(measured) == 1:
        assert np.array_equal(samples["first_reply_ns"], samples["round_trip_ns"])
    else:
        assert (samples["first_reply_ns"] < samples["round_trip_ns"]).any()


def test_writing_and_taking_lie_within_the_round_trip(measured: Measured) -> None:
    samples = measured.samples
    assert (samples["write_ns"] > 0).all()
    if measured.cell.receive == "listen":
        # A listener has no take. The reply may arrive before publish() has returned, so do not check a sum.
        assert (samples["take_ns"] == NOT_MEASURED).all()
        return
    assert (samples["take_ns"] != NOT_MEASURED).all()
    both = samples["write_ns"].astype(np.int64) + samples["take_ns"].astype(np.int64)
    assert (both <= samples["round_trip_ns"].astype(np.int64) + TOLERANCE_NS).all()


def test_steps_that_were_not_done_have_no_time(measured: Measured) -> None:
    samples, filled = measured.samples, measured.cell.payload == "filled"
    for field in ("fill_ns", "check_ns"):
        done = samples[field] != NOT_MEASURED
        assert done.all() if filled else not done.any(), field
    lent = samples["loan_ns"] != NOT_MEASURED
    assert lent.all() if measured.cell.loan else not lent.any()


def test_a_trial_ends_on_time(measured: Measured) -> None:
    took = measured.outcome.measured_s
    assert took is not None
    if measured.limits.duration_s is None:
        assert took <= measured.limits.limit_s
        return
    assert took >= DURATION_S
    # Do not check the last message, because the thread may be preempted between reading the clock and sending it.
    assert (measured.samples["begin_ns"][:-1] < DURATION_S * 1e9).all(), "a message was sent after the end"
    assert took <= DURATION_S + REPLY_TIMEOUT_S


def test_a_trial_has_no_warning(measured: Measured) -> None:
    # On a busy machine instants of the schedule may be missed.
    assert measured.warnings.keys() <= (set() if measured.cell.rate == "max" else {"missed-instants"}), (
        measured.warnings
    )


def test_every_pong_receives_every_message_even_a_silent_one(measured: Measured) -> None:
    assert measured.heard is not None
    counts = measured.outcome.counts
    assert counts is not None
    pongs = results_of(PongResult, measured.heard.receivers)
    assert [pong.received for pong in pongs] == [counts.sent] * measured.cell.subscribers
    assert sum(pong.echoed for pong in pongs) == (0 if measured.candidate.transport.alone else counts.received)


def test_discovery_and_the_clock_are_reported(measured: Measured) -> None:
    outcome = measured.outcome
    assert outcome.discovery_ns is not None
    assert outcome.discovery_ns > 0
    assert outcome.first_sample_ns is not None
    assert outcome.first_sample_ns > 0
    assert outcome.clock is not None
    assert outcome.clock.source in ("tsc", "cntvct", "clock_monotonic")
    assert 0 < outcome.clock.cost_ns < 100_000
    assert outcome.version == measured.candidate.worker.description.version


def test_every_process_ran_on_its_processors(measured: Measured) -> None:
    outcome, cell = measured.outcome, measured.cell
    assert len(outcome.placed) == (1 if cell.processes == 1 else 1 + cell.subscribers)
    for index, placed in enumerate(outcome.placed):
        assert placed.policy == "other"
        if cell.pin:
            assert placed.cpus == (cell.pin[index % len(cell.pin)],)


def test_round_trips_used_the_requested_transport(measured: Measured) -> None:
    if measured.candidate.transport.name == "mislabelled":
        assert measured.outcome.actual_transport == "shared-memory", (
            "the actual transport of the transport with a false name"
        )
        return
    expected = carrier_due(measured.cell, measured.candidate.worker.description)
    assert carried_as(expected, measured.outcome), measured.outcome.evidence
