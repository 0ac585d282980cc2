"""Watch a running ROS 2 graph for some seconds: publishers, subscribers, QoS, rates and sizes.

The caller provides a clock, and ``rclpy`` from a ROS 2 installation. Messages are received as octets, so only the
packages of their types must be installed. While this process handles a message, it may miss messages of best-effort
topics.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.model.cell import SMALLEST_MESSAGE
from middlemark.model.protocol import MessageType, Reliability
from middlemark.model.types import misfit
from middlemark.model.units import format_count
from middlemark.model.workload import Topic, Workload
from middlemark.workloads.bag import LEAST_RATE_HZ, LONGEST_DEADLINE_S
from middlemark.workloads.written import durability

DISCOVERY_S = 2.0
"""The time in s that a node needs to discover its neighbours."""
OWN_TOPICS = ("/parameter_events", "/rosout")
OWN_SERVICES = ("rcl_interfaces/", "type_description_interfaces/", "composition_interfaces/", "lifecycle_msgs/")
"""The packages of the services that every node has."""
TYPES: dict[str, MessageType] = {"sensor_msgs/msg/Image": "image", "sensor_msgs/msg/PointCloud2": "point-cloud"}
"""ROS's type → the same type of Middlemark. The main array of both is ``data``."""
_QUEUE = 1000
_SPIN_S = 0.1
_NS = 1_000_000_000


class Ros2(msgspec.Struct, frozen=True):
    """The Python API of a ROS 2 installation: ``rclpy``, ``rclpy.qos``, and functions for messages.

    ``get_message`` returns the class of a type. ``deserialize`` returns the message of this class in the octets.
    """

    rclpy: Any
    qos: Any
    get_message: Callable[[str], Any]
    deserialize: Callable[[bytes, Any], Any]


class Watched(msgspec.Struct, frozen=True):
    """The workload of the graph. ``remarks``: about the whole graph; ``comments``: about each topic."""

    workload: Workload
    remarks: tuple[str, ...]
    comments: dict[str, tuple[str, ...]]


class _Sent(msgspec.Struct):
    """The messages that one publisher sent, by the numbers and instants that ROS 2 delivers with its messages."""

    arrived: int = 0
    first: int | None = None
    """The sequence number of the first message that arrived; ``last``: of the last. None: the RMW has no numbers."""
    last: int | None = None
    first_ns: int = 0
    """The instant at which the publisher sent the first message that arrived; 0: unknown."""
    last_ns: int = 0

    def see(self, info: Mapping[str, Any], at_ns: int) -> None:
        self.arrived += 1
        self.last = info.get("publication_sequence_number")
        self.first = self.last if self.arrived == 1 else self.first
        self.last_ns = info.get("source_timestamp") or at_ns
        self.first_ns = self.first_ns or self.last_ns

    @property
    def sent(self) -> int | None:
        """The number of messages sent from the first to the last one that arrived; None: unknown."""
        if self.first is None or self.last is None or self.last < self.first:
            return None
        return max(self.last - self.first + 1, self.arrived)

    @property
    def rate_hz(self) -> float | None:
        """The mean rate; None: only one message arrived."""
        between_s = (self.last_ns - self.first_ns) / _NS
        return ((self.sent or self.arrived) - 1) / between_s if self.arrived > 1 and between_s > 0 else None


class _WatchedTopic:
    """One topic of the graph. ``publishers`` and ``subscribers``: node → QoS profile."""

    def __init__(self, name: str, kind: str, node: Any, own_name: str, now_ns: Callable[[], int]) -> None:
        self.name, self.kind = name, kind
        self.publishers = _by_node(node.get_publishers_info_by_topic(name), own_name)
        self.subscribers = _by_node(node.get_subscriptions_info_by_topic(name), own_name)
        self.type: Any = None
        self.unknown_type = False
        self.messages = self.bytes = self.most = 0
        self.least = 1 << 62
        self.example = b""
        self.main_array: int | None = None
        """Bytes of the main array of ``example``; None: the type is not in ``TYPES``."""
        self.sent: dict[str, _Sent] = {}
        """By publisher; by "" if the RMW does not report which publisher sent a message."""
        self._now_ns = now_ns

    def see(self, message: bytes, info: Mapping[str, Any]) -> None:
        """Count a message. ``info``: what rclpy delivers with it."""
        self.sent.setdefault(str(info.get("publisher_gid") or ""), _Sent()).see(info, self._now_ns())
        self.example = self.example or message
        self.messages += 1
        self.bytes += len(message)
        self.least, self.most = min(self.least, len(message)), max(self.most, len(message))

    @property
    def latched(self) -> bool:
        """True if late subscribers get earlier messages."""
        return all(_is(each.durability, "TRANSIENT_LOCAL") for each in self.publishers.values())

    @property
    def is_numbered(self) -> bool:
        """True if sequence numbers show how many messages each publisher sent."""
        several_as_one = "" in self.sent and len(self.publishers) > 1
        return not several_as_one and all(each.sent is not None for each in self.sent.values())

    @property
    def lost(self) -> int:
        """The number of messages that were sent but did not arrive here; 0 without sequence numbers."""
        return sum((each.sent or 0) - each.arrived for each in self.sent.values()) if self.is_numbered else 0

    def rate_hz(self, seconds: float) -> float | None:
        """Return the topic's mean rate in Hz, divided by its number of publishers.

        None: only one message of a latched topic arrived, which may have been sent before the watch.
        """
        rates = [each.rate_hz for each in self.sent.values()]
        if self.is_numbered:
            total_hz = sum(each for each in rates if each is not None)
        else:
            begin = min(each.first_ns for each in self.sent.values())
            between_s = (max(each.last_ns for each in self.sent.values()) - begin) / _NS
            total_hz = (self.messages - 1) / between_s if between_s > 0 else 0.0
        if not total_hz and self.latched:
            return None
        return float(f"{max((total_hz or self.messages / seconds) / len(self.publishers), LEAST_RATE_HZ):.6g}")

    def typed(self) -> tuple[str, int]:
        """Return the message type and the size: a type of Middlemark with its main array, or ROS's type."""
        mean = self.bytes / self.messages
        if self.main_array is not None:
            size = round(mean - len(self.example) + self.main_array)
            if size >= SMALLEST_MESSAGE and misfit(TYPES[self.kind], size) is None:
                return TYPES[self.kind], size
        return self.kind, max(round(mean), SMALLEST_MESSAGE)


def watch(ros2: Ros2, name: str, node_name: str, seconds: float, now_ns: Callable[[], int]) -> Watched | None:
    """Join the graph as the node ``node_name``, and watch it. Return None if no topic can be part of a workload.

    ``name``: the name of the workload. ``seconds``: how long to watch.
    """
    ros2.rclpy.init(args=[])
    try:
        node = ros2.rclpy.create_node(node_name, enable_rosout=False, start_parameter_services=False)
        try:
            _spin(ros2, node, DISCOVERY_S, now_ns)
            own_name = node.get_fully_qualified_name()
            found = [
                _WatchedTopic(topic, kinds[0], node, own_name, now_ns)
                for topic, kinds in node.get_topic_names_and_types()
            ]
            topics = [each for each in sorted(found, key=lambda each: each.name) if each.name not in OWN_TOPICS]
            for each in topics:
                _subscribe(ros2, node, each)
            services = [(service, kinds[0]) for service, kinds in node.get_service_names_and_types()]
            _spin(ros2, node, seconds, now_ns)
            for each in topics:
                if each.kind in TYPES and each.messages:
                    each.main_array = len(ros2.deserialize(each.example, each.type).data)
        finally:
            node.destroy_node()
    finally:
        ros2.rclpy.try_shutdown()
    return _workload(name, topics, services, seconds)


def _spin(ros2: Ros2, node: Any, seconds: float, now_ns: Callable[[], int]) -> None:
    end = now_ns() + round(seconds * _NS)
    while (remaining_ns := end - now_ns()) > 0:
        ros2.rclpy.spin_once(node, timeout_sec=min(_SPIN_S, remaining_ns / _NS))


def _subscribe(ros2: Ros2, node: Any, watched: _WatchedTopic) -> None:
    """Subscribe with a QoS that all publishers of the topic offer. With a higher request, nothing would arrive."""
    if not watched.publishers:
        return
    try:
        watched.type = ros2.get_message(watched.kind)
    except (ImportError, AttributeError, LookupError, ValueError):
        watched.unknown_type = True
        return
    qos = ros2.qos
    reliable = all(_is(each.reliability, "RELIABLE") for each in watched.publishers.values())
    profile = qos.QoSProfile(
        history=qos.HistoryPolicy.KEEP_LAST,
        depth=_QUEUE,
        reliability=qos.ReliabilityPolicy.RELIABLE if reliable else qos.ReliabilityPolicy.BEST_EFFORT,
        durability=qos.DurabilityPolicy.TRANSIENT_LOCAL if watched.latched else qos.DurabilityPolicy.VOLATILE,
    )
    node.create_subscription(watched.type, watched.name, watched.see, profile, raw=True)


def _by_node(endpoints: Sequence[Any], own_name: str) -> dict[str, Any]:
    found = {f"{each.node_namespace.rstrip('/')}/{each.node_name}": each.qos_profile for each in reversed(endpoints)}
    return {node: found[node] for node in sorted(found) if node != own_name}


def _is(policy: Any, name: str) -> bool:
    return str(policy.name).endswith(name)  # early distributions add the prefix RMW_QOS_POLICY_…


def _workload(
    name: str, watched: Sequence[_WatchedTopic], services: Sequence[tuple[str, str]], seconds: float
) -> Watched | None:
    topics: list[Topic] = []
    comments: dict[str, tuple[str, ...]] = {}
    left_out: dict[str, list[str]] = {}
    for each in watched:
        made = [*_topics(each, seconds)]
        for topic, comment in made:
            topics.append(topic)
            comments[topic.name] = comment
        if not made:
            left_out.setdefault(_why_not(each), []).append(each.name)
    if not topics:
        return None
    messages = sum(each.messages for each in watched)
    counted = f"{format_count(messages, 'message')} of {format_count(len(topics), 'topic')}"
    remarks = [
        f"Seen in {seconds:g} s of a running ROS 2: {counted}.",
        "ROS 2 does not record deadlines, or which topic follows another: edit the keys deadline and after.",
        "Sizes are the means of the received messages. Types that Middlemark does not know are sent as plain octets.",
        *(f"Left out, {why}: {', '.join(names)}." for why, names in left_out.items()),
    ]
    unnumbered = [each.name for each in watched if each.messages and not each.is_numbered]
    if unnumbered:
        remarks.append(
            "These rates count only messages that arrived, because the RMW does not number the messages of each "
            f"publisher: {', '.join(unnumbered)}."
        )
    asked = [f"{service} ({kind})" for service, kind in services if not kind.startswith(OWN_SERVICES)]
    if asked:
        remarks.append(
            f"Services are left out; write a [[workload.service]] for each service that matters: {', '.join(asked)}."
        )
    return Watched(Workload(name=name, topics=tuple(topics)), tuple(remarks), comments)


def _topics(watched: _WatchedTopic, seconds: float) -> Iterator[tuple[Topic, tuple[str, ...]]]:
    """Yield one topic for each publisher, with remarks."""
    rate_hz = watched.rate_hz(seconds) if watched.messages else None
    if rate_hz is None:
        return
    several = len(watched.publishers) > 1
    kind, size = watched.typed()
    for node, offered in watched.publishers.items():
        to = tuple(each for each in watched.subscribers if each != node)
        if not to:
            continue
        remarks = [f"{watched.messages:,} messages of {watched.least:,} to {watched.most:,} bytes"]
        if kind != watched.kind:
            remarks.append(f"{watched.kind}, whose main array has {size:,} bytes")
        if watched.lost:
            remarks.append(f"{watched.lost:,} more were sent and did not arrive here; the rate includes them")
        if several:
            remarks.append(
                f"{len(watched.publishers)} nodes publish {watched.name}; all are assumed to have the same rate"
            )
        qos, more = _qos(offered)
        topic = Topic(
            name=f"{watched.name}/{node.strip('/')}" if several else watched.name,
            source=node,
            to=to,
            size=size,
            type=kind,
            rate_hz=rate_hz,
            deadline_s=float(f"{min(1 / rate_hz, LONGEST_DEADLINE_S):.3g}"),
            **qos,
        )
        yield topic, (*remarks, *more)


def _qos(offered: Any) -> tuple[Mapping[str, Any], list[str]]:
    """Return the factors for this QoS, and remarks about settings for which there is no factor."""
    reliability: Reliability = "best-effort" if _is(offered.reliability, "BEST_EFFORT") else "reliable"
    keeps_all = _is(offered.history, "KEEP_ALL")
    keeps_last = _is(offered.history, "KEEP_LAST") and offered.depth > 0
    more = [] if keeps_last or keeps_all else ["this middleware does not report its history: edit depth"]
    found: dict[str, Any] = {"reliability": reliability}
    if keeps_all or keeps_last:
        found["depth"] = None if keeps_all else offered.depth
    if _is(offered.durability, "TRANSIENT_LOCAL"):
        durable, remarks = durability(reliability, None if keeps_all else 1)
        found |= durable
        more += remarks
    return found, more


def _why_not(watched: _WatchedTopic) -> str:
    if not watched.publishers:
        return "because no node publishes them"
    if not any(each != node for node in watched.publishers for each in watched.subscribers):
        return "because no other node subscribes to them"
    if watched.unknown_type:
        return "because their types are not installed here"
    if watched.messages:
        return "because they are latched and only one message arrived, so their rate is unknown"
    return "because no message arrived"
