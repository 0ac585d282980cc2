"""The memory that a trial will need: records are bounded, and the history is as deep as requested."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.model.cell import Cell
from middlemark.model.plan import Limits
from middlemark.plan.memory import (
    KEEP_ALL_BYTES,
    MOST_RECORDS_BYTES,
    PUBLISHER_RECORD_BYTES,
    SUBSCRIBER_RECORD_BYTES,
    kept,
    memory_needed,
)

MIB = 1 << 20


def stream(**changed: Any) -> Cell:
    return Cell(**{"adapter": "udp", "transport": "udp", "pattern": "stream", "size": 64, "depth": None, **changed})


def test_every_requested_sample_is_kept_at_both_ends() -> None:
    assert kept(stream(), Limits(samples=5000)) == (5000, 5000)


def test_a_subscriber_has_room_for_all_publishers_of_its_topic() -> None:
    assert kept(stream(publishers=4, subscribers=2, topics=2), Limits(samples=100)) == (100, 200)
    assert kept(stream(publishers=3, subscribers=2, topics=2), Limits(samples=100)) == (100, 200)


def test_room_for_a_rate_has_a_margin() -> None:
    publisher, subscriber = kept(stream(rate=1000.0), Limits(duration_s=2.0))
    assert 2000 < publisher == subscriber < 3000


def test_memory_for_messages_after_the_limit_is_not_counted() -> None:
    short = kept(stream(rate=1000.0), Limits(duration_s=2.0, limit_s=2.0))
    assert kept(stream(rate=1000.0), Limits(duration_s=2000.0, limit_s=2.0)) == short


def test_room_for_bursts_with_a_recovery_is_bounded_by_their_number() -> None:
    publisher, _ = kept(stream(burst=100, recovery_s=0.09), Limits(duration_s=0.9))
    assert publisher == 1100
    flood, _ = kept(stream(burst=100, recovery_s=0.0), Limits(duration_s=0.9))
    assert flood == kept(stream(), Limits(duration_s=0.9))[0] > publisher


def test_fewer_records_are_kept_for_large_filled_messages() -> None:
    filled, _ = kept(stream(size=MIB), Limits(duration_s=1.0))
    untouched, _ = kept(stream(size=MIB, payload="untouched"), Limits(duration_s=1.0))
    assert filled < untouched == kept(stream(), Limits(duration_s=1.0))[0]


@pytest.mark.parametrize("rate", ["max", "sustainable", "curve"])
def test_a_flood_for_a_day_keeps_only_the_records_that_fit(rate: str) -> None:
    cell = stream(rate=rate, publishers=8, subscribers=8)
    publisher, subscriber = kept(cell, Limits(duration_s=86400.0, limit_s=172800.0))
    total = 8 * publisher * PUBLISHER_RECORD_BYTES + 8 * subscriber * SUBSCRIBER_RECORD_BYTES
    assert 0.99 * MOST_RECORDS_BYTES < total <= MOST_RECORDS_BYTES
    assert subscriber == 8 * publisher, "each publisher's record has a record at the subscriber"


@given(
    st.integers(1, 64), st.integers(1, 64), st.integers(1, 64),
    st.one_of(st.sampled_from(["max", "curve"]), st.floats(1e-5, 1e9)), st.floats(1e-6, 1e6), st.integers(16, 1 << 30),
)  # fmt: skip
def test_records_are_bounded_for_every_request(
    publishers: int, subscribers: int, topics: int, rate: Any, seconds: float, size: int
) -> None:
    topics = min(topics, publishers, subscribers)
    cell = stream(publishers=publishers, subscribers=subscribers, topics=topics, rate=rate, size=size)
    publisher, subscriber = kept(cell, Limits(duration_s=seconds, limit_s=1e7))
    total = publishers * publisher * PUBLISHER_RECORD_BYTES + subscribers * subscriber * SUBSCRIBER_RECORD_BYTES
    assert 0 < total <= MOST_RECORDS_BYTES
    assert memory_needed(cell, Limits(duration_s=seconds, limit_s=1e7)) >= total


def test_a_deep_history_of_large_messages_is_counted_at_every_end() -> None:
    deep = memory_needed(stream(depth=10_000, size=16 * MIB, subscribers=8), Limits(duration_s=10.0))
    assert deep > 9 * 10_000 * 16 * MIB
    assert memory_needed(stream(depth=10_000, size=1024, subscribers=8), Limits(samples=1)) < MIB


def test_no_history_holds_more_than_the_sent_messages() -> None:
    few = memory_needed(stream(depth=10_000, size=MIB), Limits(samples=10))
    assert 20 * MIB <= few < 30 * MIB


def test_keep_all_is_bounded_by_bytes_and_holds_a_few_large_messages() -> None:
    needed = memory_needed(stream(size=MIB), Limits(duration_s=1.0))
    assert 2 * KEEP_ALL_BYTES <= needed < 3 * KEEP_ALL_BYTES
    assert memory_needed(stream(size=256 * MIB), Limits(duration_s=10.0)) >= 2 * 4 * 256 * MIB


@pytest.mark.parametrize("pattern", ["ping-pong", "request-reply"])
def test_round_trips_need_room_for_their_records_and_one_message(pattern: str) -> None:
    closed = Cell(adapter="udp", transport="udp", pattern=pattern, size=MIB, depth=None)
    assert 4 * MIB < memory_needed(closed, Limits(samples=10)) < 10 * MIB
    flood = memory_needed(closed, Limits(duration_s=86400.0, limit_s=86400.0))
    assert MOST_RECORDS_BYTES < flood < MOST_RECORDS_BYTES + 10 * MIB
