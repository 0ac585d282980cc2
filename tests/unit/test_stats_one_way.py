"""One-way latencies, counted from the intended instant and from the sending. Publishers' records have both."""

import msgspec
import numpy as np
import pytest
from stream_cases import arrival, buckets, sending

from middlemark.model.samples import NOT_MEASURED, SAMPLE, SATURATED
from middlemark.stats.one_way import one_way, round_trips
from middlemark.stats.samples import Kept


def test_from_sent_is_from_intended_minus_the_lateness_of_the_send() -> None:
    late = np.arange(2_000) % 700
    took = one_way([sending(late), arrival(late + 10_000)])
    assert took.from_sent is not None
    assert took.all is not None
    assert (took.from_sent.min, took.from_sent.max) == (10_000.0, 10_000.0)
    assert took.all.max == 10_699.0
    assert took.absent is None


def test_records_of_every_third_message_are_joined_by_their_stride() -> None:
    late = np.arange(100)
    publisher = msgspec.structs.replace(sending(late), stamped_every=3)
    lost = np.arange(100) % 7 != 2
    sequence = (1 + 3 * np.arange(100))[lost]
    took = one_way([publisher, arrival(late[lost] + 10_000, sequence=sequence)])
    assert took.from_sent is not None
    assert (took.from_sent.min, took.from_sent.max) == (10_000.0, 10_000.0)


def test_each_message_is_joined_by_its_source_and_sequence() -> None:
    # Two publishers with interleaved messages, some lost: only (publisher id, sequence) identifies a message.
    rng = np.random.default_rng(3)
    late = [rng.integers(0, 1_000, 500), rng.integers(5_000, 9_000, 800)]
    places = rng.permutation(1_300)[:1_000]
    source = (places >= 500).astype(np.int64)
    sequence = np.where(source == 0, places, places - 500) + 1
    own = np.array([late[each][number - 1] for each, number in zip(source, sequence, strict=True)])
    sent_to_arrived = rng.integers(10_000, 20_000, 1_000)
    took = one_way(
        [
            sending(late[0], index=0),
            sending(late[1], index=1),
            arrival(sent_to_arrived + own, source=source, sequence=sequence),
        ]
    )
    assert took.from_sent is not None
    for field, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        assert getattr(took.from_sent, field) == np.quantile(sent_to_arrived, share, method="inverted_cdf")


def test_a_stall_of_the_sender_is_in_from_intended_and_not_in_from_sent() -> None:
    late = np.zeros(20_000, dtype=np.int64)
    late[5_000:5_100] = np.arange(100, 0, -1) * 1_000_000  # 100 ms late, then one ms less late each time
    took = one_way([sending(late), arrival(late + 30_000)])
    assert took.all is not None
    assert took.from_sent is not None
    assert took.all.p99_9 is not None
    assert took.all.p99_9 > 50_000_000
    assert took.from_sent.p99_9 == 30_000.0


def test_an_arrival_a_tick_before_its_send_counts_as_zero() -> None:
    took = one_way([sending([50]), arrival([40])])
    assert took.from_sent is not None
    assert took.from_sent.min == 0.0


def test_one_way_times_are_summarised_per_subscriber_and_together() -> None:
    near, far = np.full(1_000, 10_000), np.full(1_000, 50_000)
    took = one_way([sending(np.zeros(1_000)), arrival(near), arrival(far, index=1)])
    assert took.all is not None
    assert (took.all.min, took.all.max, took.samples) == (10_000.0, 50_000.0, 2_000)
    assert {index: each.p50 for index, each in took.by_subscriber.items()} == {0: 10_000.0, 1: 50_000.0}


def test_a_missing_median_has_the_number_of_messages_as_its_reason() -> None:
    took = one_way([sending([0] * 39), arrival([10_000] * 19), arrival([10_000] * 20, index=1)])
    assert took.by_subscriber[0].p50 is None
    assert took.absent_of == {0: "19 messages arrived, and a median needs 20"}
    assert took.by_subscriber[1].p50 == 10_000.0
    assert took.all_absent is None, "both subscribers together received enough"
    assert one_way([sending([0]), arrival([1])]).all_absent == "1 message arrived, and a median needs 20"


def test_a_histogram_is_part_of_the_latency_and_excludes_from_sent() -> None:
    values = np.full(500, 100), np.full(1_500, 200)
    took = one_way([sending(np.zeros(2_000)), arrival(values[0], histogram=buckets(values[1]))])
    assert took.all is not None
    assert (took.all.p50, took.samples, took.in_histogram) == (200.0, 2_000, 1_500)
    assert took.from_sent is None
    assert took.absent is not None
    assert "subscriber 0" in took.absent


@pytest.mark.parametrize(
    ("publishers", "reason"),
    [
        ([], "publisher 0 kept no record"),
        ([sending(np.zeros(99))], "publisher 0 kept only the first 99"),
        ([sending(np.full(100, SATURATED))], "more than the 4.29 s"),
    ],
)
def test_without_all_send_records_from_sent_is_absent_with_the_reason(publishers: list[Kept], reason: str) -> None:
    took = one_way([*publishers, arrival(np.full(100, 9_000))])
    assert took.all is not None
    assert took.from_sent is None
    assert took.absent is not None
    assert reason in took.absent


def test_writing_is_summarised_over_the_publishes_that_returned() -> None:
    publisher = sending(np.zeros(1_000), write_ns=700)
    publisher.raw["write_ns"][:100] = NOT_MEASURED
    took = one_way([publisher, sending(np.zeros(1_000), write_ns=900, index=1), arrival(np.full(1_900, 9_000))])
    assert took.write is not None
    assert (took.write.min, took.write.max) == (700.0, 900.0)


def test_without_arrivals_there_is_no_latency() -> None:
    took = one_way([sending(np.zeros(10)), arrival([])])
    assert (took.all, took.from_sent, took.samples) == (None, None, 0)


def test_the_round_trips_of_all_clients_are_joined() -> None:
    clients = [Kept("client", index, np.full(3, index, dtype=np.uint8).astype(SAMPLE)) for index in range(2)]
    trips = round_trips(clients)
    assert trips is not None
    assert len(trips) == 6
    assert round_trips([]) is None
