"""Measures a ping-pong that uses zenoh's Python binding directly, for comparison with the adapter: one TCP link.

It receives as the adapter does with ``block``: a callback puts samples in a queue.
"""

import os
import queue
import time
from typing import Any

import zenoh
from direct import measure, run
from zenoh.handlers import Callback

PORT = 20_000 + os.getpid() % 20_000


def ends(way: str, publishes: str, subscribes: str) -> tuple[Any, Any, "queue.SimpleQueue[zenoh.Sample]"]:
    """Return what must be kept, a publisher, and the subscriber's queue."""
    config = zenoh.Config()
    for path, value in {
        "scouting/multicast/enabled": "false",
        "scouting/gossip/enabled": "false",
        "transport/shared_memory/enabled": "false",
        "listen/endpoints": "[]",
        "connect/retry": "{ period_init_ms: 10, period_max_ms: 50 }",
        f"{way}/endpoints": f'["tcp/127.0.0.1:{PORT}"]',
    }.items():
        config.insert_json5(path, value)
    session = zenoh.open(config)
    samples: queue.SimpleQueue[zenoh.Sample] = queue.SimpleQueue()
    subscriber = session.declare_subscriber(subscribes, Callback(samples.put, indirect=False))
    block = zenoh.CongestionControl.BLOCK
    return (session, subscriber), session.declare_publisher(publishes, congestion_control=block, express=True), samples


def ping(size: int, round_trips: int) -> None:
    """Measure as soon as the pong has a subscriber."""
    _kept, publisher, samples = ends("listen", "bench/ping", "bench/pong")
    while not publisher.matching_status.matching:
        time.sleep(0.001)
    time.sleep(0.3)  # the pong's publisher may not know this subscriber yet
    message = bytes(size)

    def round_trip() -> None:
        publisher.put(message)
        samples.get(timeout=5.0).payload.to_bytes()

    measure(round_trips, round_trip)


def pong(_size: int) -> None:
    """Answer each message."""
    _kept, publisher, samples = ends("connect", "bench/pong", "bench/ping")
    while True:
        publisher.put(samples.get().payload.to_bytes())


run(ping, pong)
