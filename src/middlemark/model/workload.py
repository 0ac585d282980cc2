"""The workload of a robot: its nodes, the topics that they publish and receive, the rates and the deadlines."""

import os
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from middlemark.model.description import Transport
from middlemark.model.protocol import Arrivals, MessageType, Reliability
from middlemark.model.types import misfit

ALLOWED = 0.001
"""Default share of an edge's messages that may be lost or late."""
OCTETS: MessageType = "octets"
Durability = Literal["volatile", "transient-local"]
"""The history that a late subscriber gets: ``volatile``: none. ``transient-local``: the publisher's last messages."""
DEEP = 1000
"""Depth in place of keep-all, if a transport has no keep-all and does not limit the depth."""


class Lognormal(msgspec.Struct, frozen=True, tag="lognormal"):
    """Sizes with a normally distributed logarithm, from 16 bytes to the topic's size."""

    median: Annotated[int, Meta(ge=16)]
    """The median size in bytes."""
    sigma: Annotated[float, Meta(ge=0)]
    """Standard deviation of the natural logarithm."""


class FromFile(msgspec.Struct, frozen=True, eq=False, tag="file"):
    """Sizes or instants from a file, one for each message in order. After the last they repeat from the first.

    Two files with the same content are equal, whatever their paths.
    """

    path: str
    """Absolute path of the file when the suite was read."""
    digest: str
    """SHA-256 of the file."""
    messages: Annotated[int, Meta(ge=1)]
    topic: str | None = None
    """Name of the topic in a recorded sequence; None: the file is a list."""

    def __eq__(self, other: object) -> bool:
        """Say whether the content is the same."""
        return isinstance(other, FromFile) and self._content == other._content

    def __hash__(self) -> int:
        """Return the hash of the content."""
        return hash(self._content)

    @property
    def _content(self) -> tuple[str, int, str | None]:
        return self.digest, self.messages, self.topic


class Topic(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"source": "from"}):
    """One topic, with either ``rate_hz`` or ``after``.

    With ``after``, a message is published for each arriving message of the topic ``after``.
    """

    name: str
    source: str
    """The node that publishes the topic."""
    to: tuple[str, ...]
    """The nodes that subscribe to the topic. The topic has an edge to each of these nodes."""
    size: Annotated[int, Meta(ge=16)]
    """Bytes of a message, including the core's header of 16 bytes. If sizes vary: of the largest message."""
    sizes: Lognormal | FromFile | None = None
    """Source of the sizes; None: all messages have ``size``."""
    type: str = OCTETS
    """One of ``MessageType``, or another system's type name; such messages are sent as octets."""
    rate_hz: Annotated[float, Meta(gt=0)] | None = None
    instants: FromFile | None = None
    """The instants of the messages, scaled to a mean rate of ``rate_hz``; None: ``arrivals`` is their distribution."""
    arrivals: Arrivals = "periodic"
    after: str | None = None
    work_s: Annotated[float, Meta(ge=0)] = 0.0
    """Processor time that the node uses before it publishes."""
    deadline_s: Annotated[float, Meta(gt=0)] | None = None
    """Longest time from the intended instant to the arrival; None: no deadline."""
    allow: Annotated[float, Meta(ge=0, lt=1)] = ALLOWED
    reliability: Reliability = "reliable"
    depth: Annotated[int, Meta(ge=1)] | None = 10
    """Depth of the keep-last history in messages; None is keep-all."""
    service: bool = False
    """True if the topic has the replies to ``after``. The only subscriber of ``after`` publishes them, and both topics
    are one service."""
    durability: Durability = "volatile"
    history: Annotated[int, Meta(ge=0)] = 0
    """Number of messages that a late subscriber must receive on the chosen transport; 0: the topic is volatile
    there."""

    @property
    def lap_s(self) -> float:
        """Time in s after which the instants of the file repeat; 0: the instants come from no file."""
        return self.instants.messages / self.rate_hz if self.instants and self.rate_hz else 0.0


def honoured(topic: Topic, transport: Transport) -> Topic:
    """Return the topic as the transport can carry it: with a supported reliability, depth, type and history."""
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
    """Return the message type on the transport: the topic's type if the transport supports it, else octets."""
    if topic.sizes is not None:
        return OCTETS
    for supported in transport.types:
        if supported == topic.type and misfit(topic.type, topic.size) is None:
            return supported
    return OCTETS


class Process(msgspec.Struct, frozen=True):
    """Nodes that share one process."""

    name: str
    nodes: tuple[str, ...]


class Site(msgspec.Struct, frozen=True):
    """Nodes on one site, in a trial across two sites."""

    name: str
    nodes: tuple[str, ...]


class Workload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A graph of nodes. Each topic has one publisher. A node that is in no ``shared`` process has its own process."""

    name: str
    topics: Annotated[tuple[Topic, ...], Meta(min_length=1)]
    shared: tuple[Process, ...] = ()
    sites: tuple[Site, ...] = ()
    """The sites of all nodes; empty: not specified."""

    def on(self, site: str) -> tuple[str, ...]:
        """Return the nodes on that site."""
        return tuple(node for each in self.sites if each.name == site for node in each.nodes)

    @property
    def varies(self) -> bool:
        """True if at least one topic has messages of several sizes."""
        return any(each.sizes is not None for each in self.topics)

    @property
    def nodes(self) -> tuple[str, ...]:
        """All nodes, in the order in which the topics name them."""
        return tuple(dict.fromkeys(node for each in self.topics for node in (each.source, *each.to)))

    @property
    def edges(self) -> tuple[tuple[int, str], ...]:
        """(number of the topic, subscribing node) of each edge, in the order of the subscriber roles."""
        return tuple((number, node) for number, each in enumerate(self.topics) for node in each.to)

    @property
    def processes(self) -> tuple[Process, ...]:
        """All processes.

        Processes with a node that publishes at its own rate come first, else the order is that of the nodes.
        """
        of_node = {node: each for each in self.shared for node in each.nodes}
        found = dict.fromkeys(of_node.get(node, Process(node, (node,))) for node in self.nodes)
        paced = {each.source for each in self.topics if each.rate_hz is not None}
        return tuple(sorted(found, key=lambda each: paced.isdisjoint(each.nodes)))

    @property
    def chains(self) -> tuple[tuple[int, ...], ...]:
        """Topic numbers of each chain.

        A chain begins at a topic with a rate; each further topic follows the one before.
        """
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
        """The rate of each topic. A topic that follows another has the rate of the first topic of its chain."""
        by_name = {each.name: each for each in self.topics}

        def rate(topic: Topic) -> float:
            return topic.rate_hz if topic.rate_hz is not None else rate(by_name[topic.after or ""])

        return tuple(map(rate, self.topics))

    def under(self, scale: float, copies: int) -> "Workload":
        """Return ``copies`` of the graph, with all rates times ``scale``.

        Names in the second and later copies have a prefix.
        """
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
    """Return the path of the topic's file of sizes in a trial's folder."""
    return os.path.join(scratch, f"sizes.{topic}")


def instants_path(scratch: str, topic: int) -> str:
    """Return the path of the topic's file of instants in a trial's folder."""
    return os.path.join(scratch, f"instants.{topic}")
