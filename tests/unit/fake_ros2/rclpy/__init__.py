"""An invented ROS 2 graph with the names and signatures of rclpy that ``workload --ros2`` uses.

The graph has its own clock, which advances only during a spin.
"""

import inspect
from collections.abc import Callable
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

EPOCH_NS = 1_700_000_000_000_000_000
"""The wall clock at the instant 0 of the graph's clock."""


class TopicEndpointInfo:
    """A publisher or subscription of a topic."""

    def __init__(self, *, node_name: str, node_namespace: str, topic_type: str, qos_profile: QoSProfile) -> None:
        self.node_name = node_name
        self.node_namespace = node_namespace
        self.topic_type = topic_type
        self.qos_profile = qos_profile


class Graph:
    """The running graph.

    ``messages``: by topic the instants in ns and the octets, ascending; negative instants are in the past.
    """

    def __init__(self) -> None:
        self.now_ns = 0
        self.up = False
        self.kinds: dict[str, list[str]] = {}
        self.publishers: dict[str, list[TopicEndpointInfo]] = {}
        self.subscribers: dict[str, list[TopicEndpointInfo]] = {}
        self.messages: dict[str, list[tuple[int, bytes]]] = {}
        self.numbers: dict[str, list[int]] = {}
        """By topic the sequence number of each message; topics that are not here have no numbers."""
        self.gids: dict[str, list[str]] = {}
        """By topic the publisher of each message, if the RMW reports it."""
        self.services: list[tuple[str, list[str]]] = []
        self.nodes: list[Node] = []


graph = Graph()


class Node:
    """A node that inspects the graph."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.subscriptions: list[tuple[str, Callable[[bytes, dict[str, Any]], None], QoSProfile]] = []
        self.due: list[tuple[int, Callable[[bytes, dict[str, Any]], None], bytes, dict[str, Any]]] = []

    def get_fully_qualified_name(self) -> str:
        return f"/{self.name}"

    def get_topic_names_and_types(self, no_demangle: bool = False) -> list[tuple[str, list[str]]]:
        return [*graph.kinds.items()]

    def get_service_names_and_types(self) -> list[tuple[str, list[str]]]:
        return graph.services

    def get_publishers_info_by_topic(self, topic_name: str, no_mangle: bool = False) -> list[TopicEndpointInfo]:
        return graph.publishers.get(topic_name, [])

    def get_subscriptions_info_by_topic(self, topic_name: str, no_mangle: bool = False) -> list[TopicEndpointInfo]:
        mine = [
            TopicEndpointInfo(node_name=self.name, node_namespace="/", topic_type="", qos_profile=profile)
            for topic, _, profile in self.subscriptions
            if topic == topic_name
        ]
        return [*graph.subscribers.get(topic_name, []), *mine]

    def create_subscription(
        self,
        msg_type: type,
        topic: str,
        callback: Callable[[Any, dict[str, Any]], None],
        qos_profile: QoSProfile | int,
        *,
        raw: bool = False,
    ) -> object:
        """Match as DDS does: a subscription that requests a stronger QoS than is offered receives no messages."""
        inspect.signature(callback).bind(object(), object())
        assert isinstance(msg_type, type)
        assert isinstance(qos_profile, QoSProfile)
        assert raw, "deserializing takes longer and hides the size"
        self.subscriptions.append((topic, callback, qos_profile))
        offered = [each.qos_profile for each in graph.publishers.get(topic, [])]
        if qos_profile.reliability is ReliabilityPolicy.RELIABLE:
            offered = [each for each in offered if each.reliability is ReliabilityPolicy.RELIABLE]
        late = qos_profile.durability is DurabilityPolicy.TRANSIENT_LOCAL
        if late:
            offered = [each for each in offered if each.durability is DurabilityPolicy.TRANSIENT_LOCAL]
        if offered:
            for index, (at_ns, message) in enumerate(graph.messages.get(topic, [])):
                info = {
                    "source_timestamp": EPOCH_NS + at_ns,
                    "publication_sequence_number": graph.numbers[topic][index] if topic in graph.numbers else None,
                    "publisher_gid": {"data": graph.gids[topic][index]} if topic in graph.gids else None,
                }
                if late or at_ns >= graph.now_ns:
                    self.due.append((max(at_ns, graph.now_ns), callback, message, info))
            self.due.sort(key=lambda each: each[0])
        return object()

    def destroy_node(self) -> None:
        graph.nodes.remove(self)


def init(*, args: list[str] | None = None) -> None:
    assert not graph.up
    assert args == [], "rclpy must not read the command line"
    graph.up = True


def create_node(node_name: str, *, enable_rosout: bool = True, start_parameter_services: bool = True) -> Node:
    assert graph.up
    assert not enable_rosout
    assert not start_parameter_services, "parameter services would be visible in the graph"
    graph.nodes.append(Node(node_name))
    return graph.nodes[-1]


def spin_once(node: Node, *, timeout_sec: float | None = None) -> None:
    """Call one callback, or advance the clock by the timeout."""
    assert timeout_sec is not None
    end_ns = graph.now_ns + max(1, round(timeout_sec * 1e9))
    if node.due and node.due[0][0] <= end_ns:
        at_ns, callback, message, info = node.due.pop(0)
        graph.now_ns = max(graph.now_ns, at_ns)
        callback(message, info)
    else:
        graph.now_ns = end_ns


def try_shutdown() -> None:
    assert not graph.nodes, "a node was not destroyed"
    graph.up = False
