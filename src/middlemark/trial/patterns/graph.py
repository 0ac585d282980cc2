"""A workload: a stream with different topics, whose nodes forward received messages."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.outcome import TrialOutcome, bytes_sent
from middlemark.model.protocol import (
    EndedEvent,
    ForwardRequest,
    Load,
    PublisherRequest,
    StopCommand,
    SubscriberRequest,
)
from middlemark.model.workload import Topic, Workload, instants_path
from middlemark.trial.carrier import stream_actual_transport
from middlemark.trial.patterns import stream
from middlemark.trial.patterns.pattern import Heard, Pattern, Roles
from middlemark.trial.worker_request import TrialRequest, bounds_of

TWO_TOPICS = "each service uses two topics, because the adapter's native services are not available in a graph"


def roles(asked: TrialRequest) -> Roles:
    """Return a publisher for each topic with a rate, with the topic's index, and a subscriber for each edge."""
    graph = asked.graph
    assert graph is not None

    def path(role: str, index: int) -> str:
        return stream.path_of(asked.samples_stem, role, index)

    publishers = [
        PublisherRequest(
            index=number,
            topic=number,
            **bounds_of(asked.limits),
            load=_load(asked, number, each),
            payload=asked.cell.payload,
            samples_path=path("publisher", number),
            kept=asked.kept_by_topic[number],
        )
        for number, each in enumerate(graph.topics)
        if each.rate_hz is not None
    ]
    subscribers = [
        SubscriberRequest(
            index=index,
            topic=number,
            payload=asked.cell.payload,
            samples_path=path("subscriber", index),
            kept=asked.kept_by_topic[number],
            forwards=tuple(
                ForwardRequest(
                    index=following,
                    topic=following,
                    work_s=graph.topics[following].work_s,
                    samples_path=path("publisher", following),
                    kept=asked.kept_by_topic[following],
                )
                for following in _following(graph, number, node)
            ),
        )
        for index, (number, node) in enumerate(graph.edges)
    ]
    return Roles(tuple(publishers), tuple(subscribers))


def _load(asked: TrialRequest, number: int, topic: Topic) -> Load:
    assert topic.rate_hz is not None
    return Load(
        kind="rate",
        rate_hz=topic.rate_hz,
        arrivals=topic.arrivals,
        seed=asked.seed + number,
        instants_path=instants_path(asked.scratch, number) if topic.instants else "",
        lap_ns=round(topic.lap_s * 1e9),
        sleeps=True,
    )


def _following(graph: Workload, number: int, node: str) -> Iterator[int]:
    """Yield the topics that the node publishes after each message of topic ``number``."""
    name = graph.topics[number].name
    yield from (at for at, each in enumerate(graph.topics) if (each.after, each.source) == (name, node))


class Ends:
    """Decides which subscribers must stop when a role has ended. The first topics of the chains end first."""

    def __init__(self, subscribers: Sequence[SubscriberRequest]) -> None:
        """Create it with no role ended. ``subscribers``: the subscribers of all workers."""
        self._forwards = {each.index: each.forwards for each in subscribers}
        self._of_topic: dict[int, list[int]] = {}
        for each in subscribers:
            self._of_topic.setdefault(each.topic, []).append(each.index)

    def after(self, publisher: Mapping[int, int], event: EndedEvent) -> Iterator[StopCommand]:
        """Yield the stop commands after an event. ``publisher``: index of a publisher → its topic."""
        if event.role == "publisher":
            yield self._stop(publisher[event.index], event.sent)
        for forward, sent in zip(self._forwards.get(event.index, ()), event.forwarded, strict=False):
            if event.role == "subscriber":
                yield self._stop(forward.topic, sent)

    def _stop(self, topic: int, sent: int) -> StopCommand:
        return StopCommand(expected=sent, subscribers=tuple(self._of_topic.get(topic, ())))


def conclude(heard: Heard, outcome: TrialOutcome) -> TrialOutcome:
    """Return the outcome with the messages sent on each topic and received on each edge."""
    assert heard.graph is not None
    found = stream.with_counts(heard, outcome)
    messages = sum(each.sent for each in found.publishers)
    native = _native(heard.cell, heard.graph)
    return msgspec.structs.replace(
        found,
        actual_transport=stream_actual_transport(
            heard.evidence,
            heard.transport,
            messages=messages,
            size=bytes_sent(found.publishers, heard.graph) // messages if messages else 0,
            processes=1 if heard.cell.processes == 1 else len(heard.graph.processes),
        ),
        native_request_reply=native,
        notes=outcome.notes if native is not False else tuple(dict.fromkeys((*outcome.notes, TWO_TOPICS))),
    )


def _native(cell: Cell, graph: Workload) -> bool | None:
    """Say whether services are the middleware's native services; None: the workload has no services."""
    called = cell.workload is not None and any(each.service for each in cell.workload.topics)
    return any(each.service for each in graph.topics) if called else None


GRAPH = Pattern(roles=roles, conclude=conclude, drains=lambda _cell, _role: True, one_clock=True)
