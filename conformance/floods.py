"""Configure commands for a stream at full rate between two workers that a test controls directly."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conversation import Conversation, configure

from middlemark.model.cell import Cell
from middlemark.model.protocol import PublisherRequest, SubscriberRequest
from middlemark.trial.worker_request import settings_of

KEPT = 1_000
"""Largest number of raw records of each role. Later messages are added to the histogram."""


def flood(cell: Cell, scratch: Path, *, duration_s: float = 60.0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the configure commands of the publisher and the subscriber."""
    scope = f"mm_direct_{os.urandom(3).hex()}"
    settings = settings_of(cell, domain=78, scope=scope, scratch=str(scratch), interface="lo")
    common: dict[str, Any] = {"index": 0, "topic": 0, "payload": "filled", "kept": KEPT}
    publisher = PublisherRequest(
        samples=None,
        duration_s=duration_s,
        warmup_s=0.01,
        limit_s=duration_s,
        samples_path=str(scratch / "publisher.npy"),
        **common,
    )
    subscriber = SubscriberRequest(samples_path=str(scratch / "subscriber.npy"), **common)
    return configure(settings, publisher), configure(settings, subscriber)


def together(publisher: dict[str, Any], subscriber: dict[str, Any]) -> dict[str, Any]:
    """Return the configure command of one worker with both roles."""
    return {**publisher, "roles": [*publisher["roles"], *subscriber["roles"]]}


@contextmanager
def both_ready(worker: str, sending: dict[str, Any], receiving: dict[str, Any]) -> Iterator[tuple[Conversation, ...]]:
    """Yield two workers, the publisher and the subscriber, which have found each other and are not started yet."""
    with Conversation(worker) as publisher, Conversation(worker) as subscriber:
        for talk, command in ((publisher, sending), (subscriber, receiving)):
            talk.expect("hello")
            talk.send(command="configure", **command)
        for talk in (publisher, subscriber):
            talk.expect("ready")
        yield publisher, subscriber
