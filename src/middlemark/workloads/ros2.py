"""A running ROS 2 graph: who publishes what to whom, with which QoS, and over some seconds how often and how large.

The caller brings ``rclpy``, which comes with a ROS 2 installation, and a clock. Messages are received as their octets,
so only their types' packages must be installed here. What was published while this process was busy with another
message may be missing from a best-effort topic.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.model.cell import SMALLEST_MESSAGE
from middlemark.model.protocol import Reliability
from middlemark.model.workload import Topic, Workload
from middlemark.workloads.bag import LEAST_RATE_HZ, LONGEST_DEADLINE_S
from middlemark.workloads.written import durability

DISCOVERY_S = 2.0
"""Until a node knows its neighbours."""
OWN_TOPICS = ("/parameter_events", "/rosout")
OWN_SERVICES = ("rcl_interfaces/", "type_description_interfaces/", "composition_interfaces/", "lifecycle_msgs/")
"""What each node has, by the packages of their types."""
_QUEUE = 1000
_SPIN_S = 0.1
_NS = 1_000_000_000


class Ros2(msgspec.Struct, frozen=True):
    """What a ROS 2 installation has for Python: ``rclpy``, ``rclpy.qos``, and a type's class by its name."""

    rclpy: Any
    qos: Any
    get_message: Callable[[str], Any]


class Watched(msgspec.Struct, frozen=True):
    """What was seen. ``remarks``: of the whole; ``comments``: of each topic."""

    workload: Workload
    remarks: tuple[str, ...]
    comments: dict[str, tuple[str, ...]]


class _Heard:
    """One topic of the graph. ``publishers`` and ``subscribers``: the profiles of their QoS by node."""

    def __init__(self, name: str, kind: str, node: Any, me: str, now_ns: Callable[[], int]) -> None:
        self.name, self.kind = name, kind
        self.publishers = _by_node(node.get_publishers_info_by_topic(name), me)
        self.subscribers = _by_node(node.get_subscriptions_info_by_topic(name), me)
        self.unknown_type = False
        self.messages = self.bytes = self.most = self.first_ns = self.last_ns = 0
        self.least = 1 << 62
        self._now_ns = now_ns

    def see(self, message: bytes) -> None:
        self.last_ns = self._now_ns()
        self.first_ns = self.first_ns or self.last_ns
        self.messages += 1
        self.bytes += len(message)
        self.least, self.most = min(self.least, len(message)), max(self.most, len(message))

    @property
    def latched(self) -> bool:
        """Whether a late subscriber gets what was published before: then the first messages tell no rate."""
        return all(_is(each.durability, "TRANSIENT_LOCAL") for each in self.publishers.values())

    def rate_hz(self, seconds: float) -> float:
        """Return what each of its publishers sends, on average."""
        between_s = (self.last_ns - self.first_ns) / _NS
        known = self.messages > 1 and between_s > 0 and not self.latched
        every = (self.messages - 1) / between_s if known else self.messages / seconds
        return float(f"{max(every / len(self.publishers), LEAST_RATE_HZ):.6g}")


def watch(ros2: Ros2, name: str, node_name: str, seconds: float, now_ns: Callable[[], int]) -> Watched | None:
    """Take part in the graph for so long as a node of that name; None: there is nothing that could be carried.

    ``name``: of the workload.
    """
    ros2.rclpy.init(args=[])
    try:
        node = ros2.rclpy.create_node(node_name, enable_rosout=False, start_parameter_services=False)
        try:
            _spin(ros2, node, DISCOVERY_S, now_ns)
            me = node.get_fully_qualified_name()
            found = [_Heard(topic, kinds[0], node, me, now_ns) for topic, kinds in node.get_topic_names_and_types()]
            heard = [each for each in sorted(found, key=lambda each: each.name) if each.name not in OWN_TOPICS]
            for each in heard:
                _subscribe(ros2, node, each)
            services = [(service, kinds[0]) for service, kinds in node.get_service_names_and_types()]
            _spin(ros2, node, seconds, now_ns)
        finally:
            node.destroy_node()
    finally:
        ros2.rclpy.try_shutdown()
    return _workload(name, heard, services, seconds)


def _spin(ros2: Ros2, node: Any, seconds: float, now_ns: Callable[[], int]) -> None:
    end = now_ns() + round(seconds * _NS)
    while (left := end - now_ns()) > 0:
        ros2.rclpy.spin_once(node, timeout_sec=min(_SPIN_S, left / _NS))


def _subscribe(ros2: Ros2, node: Any, heard: _Heard) -> None:
    """Subscribe with what all of its publishers offer: a subscriber that asks for more gets nothing."""
    if not heard.publishers:
        return
    try:
        kind = ros2.get_message(heard.kind)
    except (ImportError, AttributeError, LookupError, ValueError):
        heard.unknown_type = True
        return
    qos = ros2.qos
    reliable = all(_is(each.reliability, "RELIABLE") for each in heard.publishers.values())
    profile = qos.QoSProfile(
        history=qos.HistoryPolicy.KEEP_LAST,
        depth=_QUEUE,
        reliability=qos.ReliabilityPolicy.RELIABLE if reliable else qos.ReliabilityPolicy.BEST_EFFORT,
        durability=qos.DurabilityPolicy.TRANSIENT_LOCAL if heard.latched else qos.DurabilityPolicy.VOLATILE,
    )
    node.create_subscription(kind, heard.name, heard.see, profile, raw=True)


def _by_node(endpoints: Sequence[Any], me: str) -> dict[str, Any]:
    found = {f"{each.node_namespace.rstrip('/')}/{each.node_name}": each.qos_profile for each in reversed(endpoints)}
    return {node: found[node] for node in sorted(found) if node != me}


def _is(policy: Any, name: str) -> bool:
    return str(policy.name).endswith(name)  # the first distributions said RMW_QOS_POLICY_… before it


def _workload(
    name: str, heard: Sequence[_Heard], services: Sequence[tuple[str, str]], seconds: float
) -> Watched | None:
    topics: list[Topic] = []
    comments: dict[str, tuple[str, ...]] = {}
    out: dict[str, list[str]] = {}
    for each in heard:
        made = [*_topics(each, seconds)]
        for topic, told in made:
            topics.append(topic)
            comments[topic.name] = told
        if not made:
            out.setdefault(_why_not(each), []).append(each.name)
    if not topics:
        return None
    messages = sum(each.messages for each in heard)
    remarks = [
        f"Seen in a running ROS 2 in {seconds:g} s: {messages:,} messages of {len(topics)} topics.",
        "By when a message has to arrive (deadline) ROS 2 does not know: edit it. What follows what (after) neither.",
        "Sizes are the means of what was seen, rates the mean rates; type says what it is, octets are sent.",
        *(f"Left out, {why}: {', '.join(names)}." for why, names in out.items()),
    ]
    asked = [f"{service} ({kind})" for service, kind in services if not kind.startswith(OWN_SERVICES)]
    if asked:
        remarks.append(
            f"Services, which are not seen; write a [[workload.service]] for what matters: {', '.join(asked)}."
        )
    return Watched(Workload(name=name, topics=tuple(topics)), tuple(remarks), comments)


def _topics(heard: _Heard, seconds: float) -> Iterator[tuple[Topic, tuple[str, ...]]]:
    """Yield a topic a publisher, each with what else is to be known of it."""
    if not heard.messages:
        return
    several = len(heard.publishers) > 1
    for node, offered in heard.publishers.items():
        to = tuple(each for each in heard.subscribers if each != node)
        if not to:
            continue
        rate_hz = heard.rate_hz(seconds)
        told = [f"{heard.messages:,} messages of {heard.least:,} to {heard.most:,} bytes"]
        if several:
            told.append(f"{len(heard.publishers)} nodes publish {heard.name}: each is thought to send as much")
        qos, more = _qos(offered)
        topic = Topic(
            name=f"{heard.name}/{node.strip('/')}" if several else heard.name,
            source=node,
            to=to,
            size=max(round(heard.bytes / heard.messages), SMALLEST_MESSAGE),
            type=heard.kind,
            rate_hz=rate_hz,
            deadline_s=float(f"{min(1 / rate_hz, LONGEST_DEADLINE_S):.3g}"),
            **qos,
        )
        yield topic, (*told, *more)


def _qos(offered: Any) -> tuple[Mapping[str, Any], list[str]]:
    """Return what there is a factor for, and in words what there is none for or what nobody tells."""
    reliability: Reliability = "best-effort" if _is(offered.reliability, "BEST_EFFORT") else "reliable"
    keeps_all, known = _is(offered.history, "KEEP_ALL"), _is(offered.history, "KEEP_LAST") and offered.depth > 0
    more = [] if known or keeps_all else ["its history is not told by this middleware: edit depth"]
    found: dict[str, Any] = {"reliability": reliability}
    if keeps_all or known:
        found["depth"] = None if keeps_all else offered.depth
    if _is(offered.durability, "TRANSIENT_LOCAL"):
        durable, told = durability(reliability, None if keeps_all else 1)
        found |= durable
        more += told
    return found, more


def _why_not(heard: _Heard) -> str:
    if not heard.publishers:
        return "as nobody publishes them"
    if not any(each != node for node in heard.publishers for each in heard.subscribers):
        return "as nobody else subscribes to them"
    if heard.unknown_type:
        return "as their types are not installed here"
    return "as no message came"
