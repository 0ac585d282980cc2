"""The least memory that a trial needs: the records of its roles, and the messages that wait in histories.

Records are allocated and touched before the start, so their number is limited; further samples are counted in a
histogram. The request determines the number of waiting messages (a depth of 10,000 at 16 MiB is 160 GB), so all of them
are counted.
"""

import math

from middlemark.model.cell import Cell
from middlemark.model.crowd import sources
from middlemark.model.load import most_in_bursts
from middlemark.model.plan import Limits
from middlemark.model.workload import Topic, Workload
from middlemark.plan.pinning import count_roles

PUBLISHER_RECORD_BYTES = 16
SUBSCRIBER_RECORD_BYTES = 24
ROUND_TRIP_RECORD_BYTES = 64
MOST_RECORDS_BYTES = 1 << 30
"""The most bytes of the records of all roles of a trial together."""
KEEP_ALL_BYTES = 256 << 20
"""Bytes of the messages that wait in a keep-all history. The adapters limit the history to these bytes, but never to
fewer than ``KEEP_ALL_LEAST`` messages."""
KEEP_ALL_LEAST = 4

FASTEST_HZ = 10e6
"""The most messages per second of a publisher that sends one by one. If a publisher batches, the histogram counts the
rest."""
FASTEST_BYTES_PER_S = 32e9
"""The most bytes of messages per second that a publisher fills and a subscriber checks, on two processors."""
SHORTEST_ROUND_TRIP_S = {"poll": 150e-9, "block": 500e-9, "listen": 500e-9}
SHORTEST_COPYING_S = 60e-9
"""The shortest round trip, in s, of a ping without pongs, which only copies."""
MARGIN = 1.1
"""The rate of arrivals is at most the requested rate times this factor."""
MOST_BUNCHED = 10
"""For a while, the rate of recorded send times may be up to this factor times their mean rate."""


def kept(cell: Cell, limits: Limits) -> tuple[int, int]:
    """Return how many raw records each publisher and each subscriber of a stream may keep.

    This is the number of expected messages, limited so that the records of all roles need at most
    ``MOST_RECORDS_BYTES``. Both ends keep the first messages of every publisher, so that each record has its
    counterpart.
    """
    publishers = math.ceil(cell.publishers / cell.topics)
    a_message = cell.publishers * PUBLISHER_RECORD_BYTES + cell.subscribers * publishers * SUBSCRIBER_RECORD_BYTES
    messages = min(expected(cell, limits), MOST_RECORDS_BYTES // a_message)
    return messages, messages * publishers


def kept_by_topic(graph: Workload, limits: Limits) -> tuple[int, ...]:
    """Return for each topic how many raw records each of its ends may keep: the expected messages, up to a limit."""
    wanted = [_messages(each, rate, limits) for each, rate in zip(graph.topics, graph.rates_hz, strict=True)]
    total = sum(
        messages * (PUBLISHER_RECORD_BYTES + SUBSCRIBER_RECORD_BYTES * len(each.to))
        for messages, each in zip(wanted, graph.topics, strict=True)
    )
    part = min(1.0, MOST_RECORDS_BYTES / total)
    return tuple(max(1, int(messages * part)) for messages in wanted)


def _messages(topic: Topic, rate_hz: float, limits: Limits) -> int:
    if limits.samples is not None:
        return limits.samples
    seconds = min(limits.duration_s or 0.0, limits.limit_s)
    if topic.instants is None:
        return math.ceil(seconds * rate_hz * MARGIN) + 1
    laps = math.floor(seconds / topic.lap_s) + 1
    return min(laps * topic.instants.messages, math.ceil(seconds * rate_hz * MOST_BUNCHED) + 1000)


def _needed_by_graph(graph: Workload, limits: Limits) -> int:
    needed = 0
    for messages, each in zip(kept_by_topic(graph, limits), graph.topics, strict=True):
        deepest = each.depth if each.depth is not None else max(KEEP_ALL_BYTES // each.size, KEEP_ALL_LEAST)
        needed += messages * (PUBLISHER_RECORD_BYTES + SUBSCRIBER_RECORD_BYTES * len(each.to))
        needed += (1 + len(each.to)) * (min(deepest, messages) + 1) * each.size
    return needed


def memory_needed(cell: Cell, limits: Limits) -> int:
    """Return the least bytes that all processes of a trial need, for records and waiting messages.

    Every end of a topic may have a full history: ``depth`` messages, or the messages that fit into ``KEEP_ALL_BYTES``,
    but at most the number sent. One more message per history is in use.
    """
    if cell.workload is not None:
        return _needed_by_graph(cell.workload.under(cell.scale, cell.copies), limits)
    return _records(cell, limits) + _ends(cell) * (_waiting(cell, limits) + 1) * cell.size


def expected(cell: Cell, limits: Limits) -> int:
    """Return an upper estimate of the messages that each publisher, ping or client will send, without the warm-up."""
    if limits.samples is not None:
        return limits.samples
    seconds = min(limits.duration_s or 0.0, limits.limit_s)
    if isinstance(cell.rate, float):
        return math.ceil(seconds * cell.rate * MARGIN) + 1
    if cell.pattern != "stream":
        shortest = SHORTEST_ROUND_TRIP_S[cell.receive] if cell.subscribers else SHORTEST_COPYING_S
        return math.ceil(seconds / shortest) + 1
    fastest = FASTEST_HZ
    if cell.payload == "filled":  # an untouched payload may be handed over without a copy
        fastest = min(fastest, FASTEST_BYTES_PER_S / cell.size)
    at_most = math.ceil(seconds * fastest) + 1
    in_bursts = most_in_bursts(cell, seconds)
    return at_most if in_bursts is None else min(at_most, in_bursts)


def _heard(cell: Cell) -> int:
    """Return the number of subscribers of all participants of a crowd."""
    return cell.topics * sum(len(sources(cell.participants, cell.subscribe, each)) for each in range(cell.participants))


def _records(cell: Cell, limits: Limits) -> int:
    if cell.pattern == "crowd":
        return _heard(cell) * expected(cell, limits) * SUBSCRIBER_RECORD_BYTES
    if cell.pattern == "stream":
        publisher, subscriber = kept(cell, limits)
        return (
            cell.publishers * publisher * PUBLISHER_RECORD_BYTES
            + cell.subscribers * subscriber * SUBSCRIBER_RECORD_BYTES
        )
    return min(cell.publishers * expected(cell, limits) * ROUND_TRIP_RECORD_BYTES, MOST_RECORDS_BYTES)


def _ends(cell: Cell) -> int:
    """Return the number of message histories in a trial of the cell.

    A role of a stream has one history; any other role has one for writing and one for reading.
    """
    if cell.pattern == "crowd":
        return cell.participants * cell.topics + _heard(cell)
    roles = count_roles(cell.pattern, cell.publishers, cell.subscribers)
    return roles if cell.pattern == "stream" else 2 * roles


def _waiting(cell: Cell, limits: Limits) -> int:
    """Return the most messages that one history may contain."""
    if cell.pattern != "stream" and cell.rate == "max":
        return 1  # the next message waits for the reply
    depth = cell.depth if cell.depth is not None else max(KEEP_ALL_BYTES // cell.size, KEEP_ALL_LEAST)
    return min(depth, expected(cell, limits))
