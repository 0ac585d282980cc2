"""Checks of every trial of a stream, over every transport and with every level of the factors."""

import numpy as np
from runner import Measured, by_publisher, carried_as

from middlemark.model.cell import carrier_due
from middlemark.model.description import ANY
from middlemark.model.protocol import SubscriberResult
from middlemark.model.samples import NOT_MEASURED
from middlemark.system.interfaces import DATAGRAM
from middlemark.trial.patterns import results_of

TOLERANCE_NS = 20_000
"""Tolerance between two processes. Their clocks, converted to CLOCK_MONOTONIC, differ by much less."""
MOST_LATE_NS = NOT_MEASURED - 1
"""The largest lateness in ns that a record can contain. A message that is later also has this value."""
ROUNDING_NS = 3
"""Tolerance of computed instants, because each recorded difference is rounded to ns."""
MAY_DIFFER_NS = 2_000
"""Tolerance between the clock counters of two processors."""


def test_the_stream_succeeds(any_stream: Measured) -> None:
    failed = any_stream.outcome.failed
    assert failed is None, f"{failed.code}: {failed.text} {failed.advice}"


def test_every_publisher_sends_the_requested_messages(stream: Measured) -> None:
    cell, publishers = stream.cell, stream.outcome.publishers
    assert [each.index for each in publishers] == list(range(cell.publishers))
    assert [each.topic for each in publishers] == [index % cell.topics for index in range(cell.publishers)]
    for each in publishers:
        assert (each.sent, each.timed_out, each.publish_failed) == (stream.limits.samples, 0, 0)
    assert stream.ended["publisher"] == {"samples"}


def test_every_subscriber_expects_the_messages_of_its_topics_publishers(stream: Measured) -> None:
    cell, subscribers = stream.cell, stream.outcome.subscribers
    assert [each.index for each in subscribers] == list(range(cell.subscribers))
    assert [each.topic for each in subscribers] == [index % cell.topics for index in range(cell.subscribers)]
    for each in subscribers:
        assert each.expected == sum(publisher.sent for publisher in stream.senders_to(each)) > 0


def warned_of(stream: Measured) -> set[str]:
    """Return the codes of the warnings, except missed instants, which only mean that the machine is busy."""
    return stream.warnings.keys() - {"missed-instants"}


def test_every_reliable_message_arrives_whole_and_once_at_every_subscriber(lossless: Measured) -> None:
    for each in lossless.outcome.subscribers:
        assert each.received == each.expected, f"subscriber {each.index}"
        assert (each.lost, each.duplicated, each.reordered, each.damaged) == (0, 0, 0, 0), f"subscriber {each.index}"


def test_reliable_messages_arrive_in_the_order_of_their_publisher(lossless: Measured) -> None:
    kept = lossless.kept("subscriber")
    for each in lossless.outcome.subscribers:
        found = by_publisher(kept[each.index])
        assert set(found) == {publisher.index for publisher in lossless.senders_to(each)}
        for publisher in lossless.senders_to(each):
            assert np.array_equal(found[publisher.index], np.arange(1, publisher.sent + 1, dtype=np.uint64))


def test_a_reliable_stream_ends_when_all_messages_have_arrived(lossless: Measured) -> None:
    assert lossless.ended["subscriber"] == {"complete"}
    assert warned_of(lossless) == set(), lossless.warnings


def test_the_loss_count_is_the_number_of_missing_messages(lossy: Measured) -> None:
    kept = lossy.kept("subscriber")
    for each in lossy.outcome.subscribers:
        found = by_publisher(kept[each.index])
        missing = 0
        for publisher in lossy.senders_to(each):
            arrived = found.get(publisher.index, np.empty(0, dtype=np.uint64))
            sent = np.arange(1, publisher.sent + 1, dtype=np.uint64)
            assert len(np.unique(arrived)) == len(arrived)
            assert np.isin(arrived, sent).all()
            missing += len(np.setdiff1d(sent, arrived))
        assert each.lost == missing
        assert each.received + each.lost == each.expected
        assert (each.duplicated, each.damaged) == (0, 0)
        # In a short flood, all messages may be overwritten or dropped before a subscriber wakes. Messages at a rate
        # have time to arrive. Fragmented messages may be lost nevertheless, because one lost fragment loses the
        # message.
        in_fragments = lossy.outcome.actual_transport == "udp" and lossy.cell.size > DATAGRAM
        assert each.received > 0 or lossy.cell.rate == "max" or in_fragments


def test_a_lossy_stream_has_a_warning_for_its_loss_and_no_other(lossy: Measured) -> None:
    subscribers = lossy.outcome.subscribers
    lost, missed_all = any(each.lost for each in subscribers), any(not each.received for each in subscribers)
    expected = {"loss": lost, "received-nothing": missed_all}
    assert warned_of(lossy) == {code for code, true in expected.items() if true}, lossy.warnings
    assert lossy.ended["subscriber"] <= ({"quiet", "complete"} if lost else {"complete"})


def test_the_records_agree_with_the_counts(stream: Measured) -> None:
    publishers, subscribers = stream.kept("publisher"), stream.kept("subscriber")
    for sent in stream.outcome.publishers:
        records = publishers[sent.index]
        assert len(records) == sent.sent + sent.timed_out + sent.publish_failed
        assert (records["write_ns"] != NOT_MEASURED).sum() == sent.sent
    for arrived in stream.outcome.subscribers:
        assert len(subscribers[arrived.index]) == arrived.received - arrived.damaged
    assert stream.outcome.samples == sum(len(records) for records in subscribers.values())


def test_every_source_is_counted_separately(stream: Measured) -> None:
    assert stream.heard is not None
    kept = stream.kept("subscriber")
    for result in results_of(SubscriberResult, stream.heard.receivers):
        found = by_publisher(kept[result.index])
        counted = {source: count for source, count in enumerate(result.by_publisher) if count}
        assert counted == {source: len(sequences) for source, sequences in found.items()}


def test_warm_up_messages_are_sent_and_never_reported(stream: Measured) -> None:
    assert stream.outcome.warmup_samples >= stream.cell.publishers
    for records in stream.kept("publisher").values():
        assert records["begin_ns"][0] < (stream.outcome.measured_s or 0) * 1e9


def test_a_publishers_time_stamps_are_in_order(stream: Measured) -> None:
    for records in stream.kept("publisher").values():
        begin, write = records["begin_ns"].astype(np.int64), records["write_ns"].astype(np.int64)
        assert (np.diff(begin) > 0).all()
        assert (begin[:-1] + write[:-1] <= begin[1:] + ROUNDING_NS).all(), (
            "a publish begins after the previous one has returned"
        )
    for each in stream.outcome.publishers:
        records = stream.kept("publisher")[each.index]
        assert each.writing_ns is not None
        assert abs(each.writing_ns - int(records["write_ns"].sum())) <= ROUNDING_NS * len(records)
        span = int(records["begin_ns"][-1]) - int(records["begin_ns"][0])
        assert abs(each.last_sent_ns - each.first_sent_ns - span) <= TOLERANCE_NS


def test_a_subscribers_time_stamps_are_in_order(stream: Measured) -> None:
    kept = stream.kept("subscriber")
    for each in stream.outcome.subscribers:
        received = kept[each.index]["received_ns"].astype(np.int64)
        if not len(received):
            assert (each.first_received_ns, each.last_received_ns) == (0, 0)
            continue
        assert (np.diff(received) >= 0).all()
        assert abs(received[0] - each.first_received_ns) <= TOLERANCE_NS
        assert abs(received[-1] - each.last_received_ns) <= TOLERANCE_NS
        first_sent = min(publisher.first_sent_ns for publisher in stream.senders_to(each))
        assert each.first_received_ns >= first_sent - TOLERANCE_NS


def test_one_way_times_count_from_the_intended_instant(stream: Measured) -> None:
    published, kept = stream.kept("publisher"), stream.kept("subscriber")
    for each in stream.outcome.subscribers:
        arrivals = kept[each.index]
        sources = by_publisher(arrivals)
        for publisher in stream.senders_to(each):
            if publisher.index not in sources:
                continue  # all messages of this publisher were lost
            places = sources[publisher.index].astype(np.int64) - 1
            mine = arrivals[(arrivals["stamp"] >> np.uint64(48)) == publisher.index]
            records = published[publisher.index]
            begin, late = records["begin_ns"].astype(np.int64), records["late_ns"].astype(np.int64)
            intended = publisher.first_sent_ns + (begin - late - begin[0])[places]
            counted_from = mine["received_ns"].astype(np.int64) - mine["one_way_ns"].astype(np.int64)
            assert np.abs(counted_from - intended).max() <= TOLERANCE_NS, (
                "publisher and subscriber use the same intended instant"
            )


def test_nothing_arrives_before_it_was_sent(stream: Measured) -> None:
    published, kept = stream.kept("publisher"), stream.kept("subscriber")
    for arrivals in kept.values():
        for source, sequences in by_publisher(arrivals).items():
            mine = arrivals[(arrivals["stamp"] >> np.uint64(48)) == source]
            late = published[source]["late_ns"][sequences.astype(np.int64) - 1]
            from_sent = mine["one_way_ns"].astype(np.int64) - late.astype(np.int64)
            assert (from_sent >= -MAY_DIFFER_NS).all()
            assert (mine["one_way_ns"] > 0).all()


def test_a_flood_has_no_schedule_to_miss(stream: Measured) -> None:
    if stream.cell.rate != "max":
        return
    for each in stream.outcome.publishers:
        assert (each.scheduled, each.late_sends, each.unsent) == (None, None, None)
        assert each.pacing_ns == 0
    assert all((records["late_ns"] == 0).all() for records in stream.kept("publisher").values())


def test_a_rate_has_an_even_schedule(paced: Measured) -> None:
    rate = paced.cell.rate
    assert isinstance(rate, float)
    records = paced.kept("publisher")
    for each in paced.outcome.publishers:
        assert (each.scheduled, each.unsent) == (paced.limits.samples, 0)
        mine = records[each.index]
        intended = mine["begin_ns"].astype(np.int64) - mine["late_ns"].astype(np.int64)
        due = np.arange(len(mine)) * 1e9 / rate
        exact = mine["late_ns"] < MOST_LATE_NS
        assert (np.abs(intended - due) <= ROUNDING_NS)[exact].all()
        assert each.late_sends == (mine["late_ns"] > 1e9 / rate).sum()
        # The publisher waits for instants, unless it is late for every one after the first.
        assert each.pacing_ns > 0 or (mine["late_ns"][1:] > 0).all()


def workers_of(stream: Measured) -> list[str]:
    cell = stream.cell
    publishers = [f"publisher {index}" for index in range(cell.publishers)]
    subscribers = [f"subscriber {index}" for index in range(cell.subscribers)]
    names = [*publishers, *subscribers]
    return [" and ".join(names)] if cell.processes == 1 else names


def test_every_process_reports_its_costs(paced: Measured) -> None:
    assert [each.who for each in paced.outcome.costs] == workers_of(paced)


def test_the_costs_of_a_process_are_not_zero(stream: Measured) -> None:
    # A short flood may end before its costs are first read, so some workers may have no costs.
    assert [who for who in workers_of(stream) if who in {each.who for each in stream.outcome.costs}] == [
        each.who for each in stream.outcome.costs
    ]
    for each in stream.outcome.costs:
        assert each.seconds > 0
        assert 0 < each.rss_bytes <= each.peak_rss_bytes
        assert each.user_ns + each.system_ns > 0


def test_middlemarks_own_threads_are_recognized_by_their_names(stream: Measured) -> None:
    for each in stream.outcome.costs:
        threads = {thread.name for thread in each.threads}
        assert {*each.who.split(" and "), "control"} <= threads


def test_the_series_never_adds_up_to_more_than_the_total(stream: Measured) -> None:
    outcome = stream.outcome
    assert {step.who for step in outcome.series} == {each.who for each in outcome.costs}
    assert sum(step.sent or 0 for step in outcome.series) <= sum(each.sent for each in outcome.publishers)
    assert sum(step.received or 0 for step in outcome.series) <= sum(each.received for each in outcome.subscribers)


def test_blocked_time_is_within_the_measured_time(stream: Measured) -> None:
    for each in stream.outcome.publishers:
        assert each.blocked_ns is None or 0 <= each.blocked_ns <= (stream.outcome.measured_s or 0) * 1e9 + 1e7


def test_streams_used_the_requested_transport(stream: Measured) -> None:
    expected = carrier_due(stream.cell, stream.candidate.worker.description)
    if stream.candidate.transport.name == "mislabelled":
        expected = "shared-memory"  # the actual transport of the null adapter's transport with a false name
    if stream.cell.reliability == "best-effort" and not any(each.received for each in stream.outcome.subscribers):
        expected = None  # a short flood may lose all messages; then no actual transport is reported
    either = expected == ANY or (stream.candidate.transport.best_effort_carrier and expected == "udp")
    if either and stream.outcome.actual_transport is None:
        return  # unknown: with small messages and mapped shared memory, either may have been used
    assert carried_as(expected, stream.outcome), stream.outcome.evidence


def test_every_process_of_a_stream_was_placed(stream: Measured) -> None:
    cell, placed = stream.cell, stream.outcome.placed
    assert len(placed) == (1 if cell.processes == 1 else cell.publishers + cell.subscribers)
    if cell.pin:
        assert [each.cpus for each in placed] == [(cpu,) for cpu in cell.pin]
