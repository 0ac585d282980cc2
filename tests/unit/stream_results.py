"""Hand-made result events of a stream's roles."""

from typing import Any

from middlemark.model.protocol import PublisherResult, SubscriberResult

SENT = 1000


def publisher(index: int = 0, **given: Any) -> PublisherResult:
    fields = {
        "index": index,
        "topic": 0,
        "scheduled": None,
        "sent": SENT,
        "timed_out": 0,
        "publish_failed": 0,
        "late_sends": None,
        "unsent": None,
        "blocked_ns": None,
        "pacing_ns": 5,
        "writing_ns": 7,
        "stamped_every": 1,
        "first_sent_ns": 1_000_000_000,
        "last_sent_ns": 2_000_000_000,
        "measured_s": 1.0,
        "samples": SENT,
        "in_histogram": 0,
        "warmup_samples": 10,
        "ended": "duration",
        "last_error": "",
        **given,
    }
    return PublisherResult(**fields)


def subscriber(index: int = 0, **given: Any) -> SubscriberResult:
    fields = {
        "index": index,
        "topic": 0,
        "received": SENT,
        "duplicated": 0,
        "reordered": 0,
        "damaged": 0,
        "by_publisher": (SENT,),
        "first_received_ns": 1_000_001_000,
        "last_received_ns": 2_000_000_000,
        "samples": SENT,
        "in_histogram": 0,
        "one_way_p50_ns": 1000,
        "one_way_p99_ns": 2000,
        "one_way_max_ns": 3000,
        "ended": "complete",
        "last_error": "",
        **given,
    }
    return SubscriberResult(**fields)
