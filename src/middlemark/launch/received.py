"""How fast the messages of a stream arrived at one subscriber: one definition for search and report. Pure."""

from collections.abc import Sequence

from middlemark.launch.outcome import Arrived, Sent


def received_hz(subscriber: Arrived, publishers: Sequence[Sent]) -> float | None:
    """Return intact messages a second, from the first of its topic that was sent to the last that arrived.

    None when nothing was sent to it.
    """
    begins = [each.first_sent_ns for each in publishers if each.topic == subscriber.topic and each.first_sent_ns]
    if not begins:
        return None
    intact = subscriber.received - subscriber.damaged
    if intact <= 0:
        return 0.0
    return intact * 1e9 / max(subscriber.last_received_ns - min(begins), 1)
