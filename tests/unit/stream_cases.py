"""Hand-made streams for the tests of the statistics: records, counts and costs of their roles."""

from collections.abc import Callable

import numpy as np

from middlemark.model.outcome import Arrived, SamplesFile, Sent, Step, ThreadCost, WorkerCost
from middlemark.model.samples import ARRIVAL, HISTOGRAM, SENDING
from middlemark.stats.samples import Kept, Samples

START_NS = 5_000_000_000_000
"""CLOCK_MONOTONIC in ns when the first publisher began to measure."""


def sent(index: int = 0, **given: object) -> Sent:
    """Return a publisher that sent 1,001 messages, one per ms, with ``given`` in place of its fields."""
    figures: dict[str, object] = {
        "index": index,
        "topic": 0,
        "scheduled": None,
        "sent": 1_001,
        "timed_out": 0,
        "publish_failed": 0,
        "late_sends": None,
        "unsent": None,
        "blocked_ns": 0,
        "pacing_ns": 0,
        "writing_ns": 0,
        "first_sent_ns": START_NS,
        "last_sent_ns": START_NS + 1_000_000_000,
    }
    return Sent(**(figures | given))  # type: ignore[arg-type]


def arrived(index: int = 0, **given: object) -> Arrived:
    """Return a subscriber that received 1,000 messages in a second, with ``given`` in place of its fields."""
    figures: dict[str, object] = {
        "index": index,
        "topic": 0,
        "expected": 1_000,
        "received": 1_000,
        "lost": 0,
        "duplicated": 0,
        "reordered": 0,
        "damaged": 0,
        "first_received_ns": START_NS + 20_000,
        "last_received_ns": START_NS + 1_000_000_000,
    }
    return Arrived(**(figures | given))  # type: ignore[arg-type]


def sending(late_ns: np.ndarray | list[int], write_ns: int = 900, *, index: int = 0) -> Kept:
    """Return a publisher's records."""
    raw = np.zeros(len(late_ns), dtype=SENDING)
    raw["begin_ns"] = np.arange(len(late_ns)) * 1_000_000
    raw["late_ns"] = late_ns
    raw["write_ns"] = write_ns
    return Kept("publisher", index, raw)


def arrival(
    one_way_ns: np.ndarray | list[int],
    *,
    index: int = 0,
    source: np.ndarray | int = 0,
    sequence: np.ndarray | None = None,
    histogram: Samples | None = None,
) -> Kept:
    """Return a subscriber's records, by default with sequence numbers from 1."""
    raw = np.zeros(len(one_way_ns), dtype=ARRIVAL)
    numbers = np.arange(1, len(one_way_ns) + 1) if sequence is None else sequence
    raw["stamp"] = (np.full(len(one_way_ns), source).astype(np.uint64) << np.uint64(48)) | numbers.astype(np.uint64)
    raw["one_way_ns"] = one_way_ns
    raw["received_ns"] = START_NS + np.arange(len(one_way_ns)) * 1_000_000 + raw["one_way_ns"]
    return Kept("subscriber", index, raw, histogram)


def buckets(values: np.ndarray) -> Samples:
    """Return the histogram that a role would write for these values: 128 buckets per octave, exact below 256."""
    shift = np.maximum(np.floor(np.log2(np.maximum(values, 1))).astype(np.int64) - 7, 0)
    lower = (values.astype(np.int64) >> shift) << shift
    found, first, counts = np.unique(lower, return_index=True, return_counts=True)
    histogram = np.zeros(len(found), dtype=HISTOGRAM)
    histogram["lower_ns"] = found
    histogram["upper_ns"] = found + (1 << shift[first])
    histogram["count"] = counts
    return histogram


def kept_of(*kept: Kept) -> Callable[[SamplesFile], Kept]:
    """Return a function that returns these records for every trial."""
    return lambda file: next(each for each in kept if (each.role, each.index) == (file.role, file.index))


def files(*kept: Kept) -> tuple[SamplesFile, ...]:
    return tuple(
        SamplesFile(role=each.role, index=each.index, path="", samples=len(each.raw), in_histogram=0) for each in kept
    )


def cost(who: str = "publisher 0", **given: object) -> WorkerCost:
    """Return the cost of a worker that used half a processor for 2 s, with ``given`` in place of its fields."""
    figures: dict[str, object] = {
        "who": who,
        "pid": 1,
        "seconds": 2.0,
        "rss_bytes": 10_000_000,
        "peak_rss_bytes": 12_000_000,
        "user_ns": 600_000_000,
        "system_ns": 400_000_000,
        "voluntary_switches": 200,
        "involuntary_switches": 4,
        "minor_faults": 10,
        "major_faults": 0,
        "threads": (ThreadCost(name="recv", threads=1, cpu_ns=800_000_000),),
    }
    return WorkerCost(**(figures | given))  # type: ignore[arg-type]


def step(rate_hz: float | None, **given: object) -> Step:
    """Return a step in which all messages of the offered rate arrived, with p50 20 µs and p99 40 µs."""
    hz = rate_hz or 120_000.0
    figures: dict[str, object] = {
        "rate_hz": rate_hz,
        "sent_hz": hz,
        "received_hz": hz,
        "expected": 1_000,
        "lost": 0,
        "late_sends": 0,
        "unsent": 0,
        "p50_ns": 20_000.0,
        "p99_ns": 40_000.0,
        "held": True,
    }
    return Step(**(figures | given))  # type: ignore[arg-type]
