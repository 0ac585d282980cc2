"""The workload of a robot: which nodes publish what to whom, how often, and by when it must arrive."""

import os
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from middlemark.model.description import Transport
from middlemark.model.protocol import Arrivals, MessageType, Reliability
from middlemark.model.types import misfit

ALLOWED = 0.001
"""The share of an edge's messages that may be lost or late, where nothing is said."""
OCTETS: MessageType = "octets"
Durability = Literal["volatile", "transient-local"]
"""What a subscriber gets that joins late: nothing of what was published before, or its publisher's history."""
DEEP = 1000
"""Of a history that is to keep all on a transport that keeps some, however many."""


class Lognormal(msgspec.Struct, frozen=True, tag="lognormal"):
    """Sizes whose logarithm is normally distributed. None is below 16 bytes or above the topic's size."""

    median: Annotated[int, Meta(ge=16)]
    """Bytes."""
    sigma: Annotated[float, Meta(ge=0)]
    """Standard deviation of the natural logarithm."""


class FromFile(msgspec.Struct, frozen=True, eq=False, tag="file"):
    """Sizes or instants of a file, one for each message in turn, repeated. Where it lies makes no other of it."""

    path: str
    """Absolute, where the suite was read."""
    digest: str
    """SHA-256 of the file."""
    messages: Annotated[int, Meta(ge=1)]
    topic: str | None = None
    """Its name in a recorded sequence; None: the file is a list."""

    def __eq__(self, other: object) -> bool:
        """Say whether it is the same content."""
        return isinstance(other, FromFile) and self._said == other._said

    def __hash__(self) -> int:
        """Return that of the content."""
        return hash(self._said)

    @property
    def _said(self) -> tuple[str, int, str | None]:
        return self.digest, self.messages, self.topic


class Topic(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"source": "from"}):
    """One topic. It has ``rate_hz``, or ``after``: then it is published for each message of that one that arrives."""

    name: str
    source: str
    """The node that publishes it."""
    to: tuple[str, ...]
    """The nodes that subscribe to it: an edge each."""
    size: Annotated[int, Meta(ge=16)]
    """Bytes of a message, the core's header of 16 included; of the largest, where sizes vary."""
    sizes: Lognormal | FromFile | None = None
    """What they are drawn from, or where they stand; None: all are alike."""
    type: str = OCTETS
    """One of ``MessageType``, or what the messages are called where they come from, and then they are octets."""
    rate_hz: Annotated[float, Meta(gt=0)] | None = None
    instants: FromFile | None = None
    """When each is due, stretched to a mean of ``rate_hz``; None: ``arrivals`` says how they lie."""
    arrivals: Arrivals = "periodic"
    after: str | None = None
    work_s: Annotated[float, Meta(ge=0)] = 0.0
    """Processor time that the node takes before it publishes."""
    deadline_s: Annotated[float, Meta(gt=0)] | None = None
    """From the intended instant to the arrival; None: none is asked."""
    allow: Annotated[float, Meta(ge=0, lt=1)] = ALLOWED
    reliability: Reliability = "reliable"
    depth: Annotated[int, Meta(ge=1)] | None = 10
    """Keep-last history in messages; None is keep-all."""
    service: bool = False
    """It has the replies to ``after``, whose only subscriber publishes it: the two are one service."""
    durability: Durability = "volatile"
    history: Annotated[int, Meta(ge=0)] = 0
    """As a transport carries it: messages that its subscribers must get, who join late. 0: it is volatile there."""

    @property
    def lap_s(self) -> float:
        """How long it takes until its instants begin anew; 0: it has none of a file."""
        return self.instants.messages / self.rate_hz if self.instants and self.rate_hz else 0.0


def honoured(topic: Topic, transport: Transport) -> Topic:
    """Return the topic as that transport can have it: its own reliability, and as deep a history as there is."""
    reliability = topic.reliability if topic.reliability in transport.reliability else transport.reliability[0]
    depth = topic.depth
    if depth is None and not transport.keep_all:
        depth = transport.max_depth or DEEP
    if depth is not None and transport.max_depth is not None:
        depth = min(depth, transport.max_depth)
    history = depth if topic.durability == "transient-local" and depth and reliability == "reliable" else 0
    if transport.max_history is not None:
        history = min(history, transport.max_history)
    return msgspec.structs.replace(
        topic,
        reliability=reliability,
        depth=depth,
        type=carried(topic, transport),
        history=history,
        service=topic.service and transport.services,
    )


def carried(topic: Topic, transport: Transport) -> MessageType:
    """Return as which type of message that transport carries the topic's: octets where it cannot carry its own."""
    if topic.sizes is not None:
        return OCTETS
    for known in transport.types:
        if known == topic.type and misfit(topic.type, topic.size) is None:
            return known
    return OCTETS


class Process(msgspec.Struct, frozen=True):
    """Nodes that share a process."""

    name: str
    nodes: tuple[str, ...]


class Site(msgspec.Struct, frozen=True):
    """Nodes that are on one site where the trial is across two."""

    name: str
    nodes: tuple[str, ...]


class Workload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A graph of nodes. Each topic has one publisher; nodes that no process names have one of their own."""

    name: str
    topics: Annotated[tuple[Topic, ...], Meta(min_length=1)]
    shared: tuple[Process, ...] = ()
    sites: tuple[Site, ...] = ()
    """Every node is on one of them; none: nobody says where they are."""

    def on(self, site: str) -> tuple[str, ...]:
        """Return the nodes on that site."""
        return tuple(node for each in self.sites if each.name == site for node in each.nodes)

    @property
    def varies(self) -> bool:
        """Whether a topic has messages of several sizes."""
        return any(each.sizes is not None for each in self.topics)

    @property
    def nodes(self) -> tuple[str, ...]:
        """All nodes, in the order in which they are named."""
        return tuple(dict.fromkeys(node for each in self.topics for node in (each.source, *each.to)))

    @property
    def edges(self) -> tuple[tuple[int, str], ...]:
        """The number of the topic and the node of each subscriber, in the order of their roles."""
        return tuple((number, node) for number, each in enumerate(self.topics) for node in each.to)

    @property
    def processes(self) -> tuple[Process, ...]:
        """All processes: first those with a node that publishes at a rate of its own, and otherwise by their nodes."""
        of_node = {node: each for each in self.shared for node in each.nodes}
        found = dict.fromkeys(of_node.get(node, Process(node, (node,))) for node in self.nodes)
        paced = {each.source for each in self.topics if each.rate_hz is not None}
        return tuple(sorted(found, key=lambda each: paced.isdisjoint(each.nodes)))

    @property
    def chains(self) -> tuple[tuple[int, ...], ...]:
        """The topics of each chain, from one with a rate through those that follow to one that nothing follows."""
        after: dict[str, list[int]] = {}
        for number, each in enumerate(self.topics):
            if each.after is not None:
                after.setdefault(each.after, []).append(number)

        def paths(number: int) -> Iterator[tuple[int, ...]]:
            following = after.get(self.topics[number].name, [])
            if not following:
                yield (number,)
            for each in following:
                yield from ((number, *rest) for rest in paths(each))

        begin = [number for number, each in enumerate(self.topics) if each.after is None]
        return tuple(path for number in begin for path in paths(number) if len(path) > 1)

    @property
    def rates_hz(self) -> tuple[float, ...]:
        """The rate of each topic, of one that follows another that of the first of its chain."""
        by_name = {each.name: each for each in self.topics}

        def rate(topic: Topic) -> float:
            return topic.rate_hz if topic.rate_hz is not None else rate(by_name[topic.after or ""])

        return tuple(map(rate, self.topics))

    def under(self, scale: float, copies: int) -> "Workload":
        """Return the graph with its rates multiplied, so many times side by side; copies beyond the first are named."""
        scaled = [
            msgspec.structs.replace(each, rate_hz=each.rate_hz * scale) if each.rate_hz is not None else each
            for each in self.topics
        ]
        prefixes = [f"{number + 1}/" if number else "" for number in range(copies)]
        topics: list[Topic] = []
        shared: list[Process] = []
        for prefix in prefixes:
            topics += [
                msgspec.structs.replace(
                    each,
                    name=prefix + each.name,
                    source=prefix + each.source,
                    to=tuple(prefix + node for node in each.to),
                    after=None if each.after is None else prefix + each.after,
                )
                for each in scaled
            ]
            shared += [Process(prefix + each.name, tuple(prefix + node for node in each.nodes)) for each in self.shared]
        sites = tuple(
            Site(each.name, tuple(prefix + node for prefix in prefixes for node in each.nodes)) for each in self.sites
        )
        return msgspec.structs.replace(self, topics=tuple(topics), shared=tuple(shared), sites=sites)


def sizes_path(scratch: str, topic: int) -> str:
    """Return where the sizes of that topic stand in a trial's folder."""
    return os.path.join(scratch, f"sizes.{topic}")


def instants_path(scratch: str, topic: int) -> str:
    """Return where the instants of that topic stand."""
    return os.path.join(scratch, f"instants.{topic}")
