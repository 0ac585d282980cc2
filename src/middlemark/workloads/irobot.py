"""Read topologies of iRobot's ros2-performance: nodes with publishers, subscribers, clients and servers, as JSON.

The messages of ros2-performance have a header of 20 bytes (PerformanceHeader: stamp, number, frequency, size), then
data. The size of the data is in the type's name: ``stamped9_float32``, ``stamped250kb`` (KiB), or ``stamped_vector``
with ``msg_size``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.model.cell import SMALLEST_MESSAGE
from middlemark.model.workload import Topic, Workload
from middlemark.problems import Problem, RequestError
from middlemark.workloads.written import durability

HEADER_BYTES = 20
_TYPE = re.compile(r"(?:.*/)?stamped_?(\d*)_?(kb|mb|b|int64|int32|float32|float64|vector)")
_BYTES = {"b": 1, "kb": 1 << 10, "mb": 1 << 20, "int64": 8, "int32": 4, "float32": 4, "float64": 8}
_ACTIONS = ("action_servers", "action_clients")
_KEEP_ALL = "keep_all"
_RELIABILITY = {"reliable": "reliable", "best_effort": "best-effort"}
_TRANSIENT = "transient_local"
_DEFAULTS = ("default", "system_default", "false", False)
"""Values of QoS that change nothing."""
_NODE_KEYS = ("node_name", "number", "publishers", "subscribers", "clients", "servers", *_ACTIONS)
_MOST_NODES = 1000
_CARRIED = {
    "qos_history": ("keep_last", _KEEP_ALL),
    "qos_reliability": tuple(_RELIABILITY),
    "qos_durability": ("volatile", _TRANSIENT),
}
"""Policy → its levels that a workload can have."""
TOO_LATE_S = 0.05
"""ros2-performance counts a message as too late after its topic's period, or after this time in s."""
CALL_BYTES = 64
"""The assumed size in bytes of a request or reply of an unknown type."""


class Topology(msgspec.Struct, frozen=True):
    """The workload of a topology. ``remarks``: all its differences from the topology."""

    workload: Workload
    remarks: tuple[str, ...]


def read(text: str | bytes, name: str, place: str) -> Topology:
    """Return the workload of a topology. Raises RequestError with every problem in it."""
    return read_together([(text, place)], name)


def read_together(texts: Sequence[tuple[str | bytes, str]], name: str) -> Topology:
    """Return the workload of several topologies that run at the same time. ``texts``: (text, place) of each.

    Raises RequestError.
    """
    reading = _Reading(", ".join(place for _, place in texts))
    nodes = [each for text, place in texts for each in _nodes(reading, text, place)]
    subscribers = _subscribers(reading, nodes)
    topics = [*_topics(reading, nodes, subscribers), *_services(reading, nodes)]
    actions = _actions(reading, nodes)
    if not topics and not reading.problems:
        reading.problems.append(Problem(reading.place, _reason(nodes, subscribers, actions)))
    if reading.problems:
        raise RequestError(reading.problems)
    reading.remarks += [f"left out, because no pattern has them: {actions}"] if actions else []
    return Topology(Workload(name=name, topics=tuple(topics)), tuple(dict.fromkeys(reading.remarks)))


def _nodes(reading: "_Reading", text: str | bytes, place: str) -> "_Named":
    """Return the name and the table of each node. A table with ``number`` stands for this number of nodes."""
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError([Problem(place, f"not JSON: {error}")]) from None
    nodes = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(nodes, list) or not nodes or not all(isinstance(each, dict) for each in nodes):
        raise RequestError([Problem(place, "not a topology: a list 'nodes' of objects is missing")])
    named = []
    left_out: dict[str, list[str]] = {}
    for at, node in enumerate(nodes, start=1):
        name = reading.word(node, "node_name", f"node {at}")
        for key in node:
            if key not in _NODE_KEYS:
                left_out.setdefault(key, []).append(name)
        number = node.get("number")
        if number is None:
            named.append((name, node))
        elif isinstance(number, int) and not isinstance(number, bool) and 0 < number <= _MOST_NODES:
            named += [(f"{name}_{each}", node) for each in range(1, number + 1)]
        else:
            reading.wrong(name, f"number is {number!r}; write a number from 1 to {_MOST_NODES}")
    reading.remarks += [
        f"{key} is left out, because no factor has it: {', '.join(names)}" for key, names in left_out.items()
    ]
    return named


def _reason(nodes: "_Named", subscribers: Mapping[str, list[str]], actions: str) -> str:
    """Return the reason why no topic of a topology can be measured."""
    if actions:
        return f"it has {actions}, which no pattern has, and no topic with a publisher and a subscriber"
    if subscribers and not any(node.get("publishers") for _, node in nodes):
        number = sum(map(len, subscribers.values()))
        return (
            f"{len(subscribers)} topics ({', '.join(subscribers)}) have {number} subscriptions and no publisher: it is "
            "meant to run beside another topology; name both: middlemark workload FILE OTHER"
        )
    return "no topic has a publisher and a subscriber"


class _Reading:
    def __init__(self, place: str) -> None:
        self.place = place
        self.problems: list[Problem] = []
        self.remarks: list[str] = []

    def wrong(self, where: str, text: str) -> None:
        self.problems.append(Problem(f"{self.place}: {where}", text))

    def word(self, table: Mapping[str, Any], key: str, where: str) -> str:
        found = table.get(key)
        if isinstance(found, str) and found:
            return found
        self.wrong(where, f"{key} is missing, or is not a text")
        return "?"

    def tables(self, node: Mapping[str, Any], key: str, where: str) -> Sequence[Mapping[str, Any]]:
        found = node.get(key, [])
        if isinstance(found, list) and all(isinstance(each, dict) for each in found):
            return found
        self.wrong(where, f"{key} is not a list of objects")
        return []

    def rate(self, table: Mapping[str, Any], where: str) -> float:
        period, hertz = table.get("period_ms"), table.get("freq_hz")
        if isinstance(hertz, int | float) and hertz > 0:
            return float(hertz)
        if isinstance(period, int | float) and period > 0:
            return 1000 / period
        self.wrong(where, "has neither a period_ms nor a freq_hz above 0")
        return 1.0

    def qos(self, table: Mapping[str, Any], where: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        asked = {key: table[key] for key in table if key.startswith("qos_") and table[key] not in _DEFAULTS}
        if reliability := _RELIABILITY.get(str(asked.get("qos_reliability"))):
            found["reliability"] = reliability
        if _is_depth(asked.get("qos_depth")):
            found["depth"] = asked["qos_depth"]
        if asked.get("qos_history") == _KEEP_ALL:
            found["depth"] = None
        if asked.get("qos_durability") == _TRANSIENT:
            durable, remarks = durability(found.get("reliability", "reliable"), found.get("depth", 1))
            found |= durable
            self.remarks += [f"{where}: {each}" for each in remarks]
        others = [f"{key} {level}" for key, level in asked.items() if not _is_carried(key, level)]
        if others:
            self.remarks.append(f"{where}: left out, because no factor has them: {', '.join(others)}")
        return found

    def size(self, table: Mapping[str, Any], where: str) -> int:
        kind = str(table.get("msg_type", ""))
        size = _size(kind, table)
        if size is None:
            self.wrong(where, f"the size of msg_type '{kind}' is unknown; use stamped… types")
        return size or SMALLEST_MESSAGE


def _is_depth(level: object) -> bool:
    return isinstance(level, int) and level > 0


def _is_carried(key: str, level: object) -> bool:
    """Say whether the workload has this level of a QoS policy."""
    return str(level) in _CARRIED.get(key, ()) or (key == "qos_depth" and _is_depth(level))


_Named = Sequence[tuple[str, Mapping[str, Any]]]


def _size(kind: str, table: Mapping[str, Any]) -> int | None:
    """Return the bytes of a message of a type, with its header; None: the type's name has no size."""
    match = _TYPE.fullmatch(kind.lower())
    if match is None:
        return None
    if match[2] == "vector":
        given = table.get("msg_size", 0)
        return HEADER_BYTES + (given if isinstance(given, int) and given > 0 else 0)
    return HEADER_BYTES + int(match[1] or 1) * _BYTES[match[2]]


def _subscribers(reading: _Reading, nodes: _Named) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, node in nodes:
        for each in reading.tables(node, "subscribers", name):
            found.setdefault(reading.word(each, "topic_name", f"{name}: subscribers"), []).append(name)
    return found


def _topics(reading: _Reading, nodes: _Named, subscribers: Mapping[str, list[str]]) -> Iterator[Topic]:
    """Yield the topics that have subscribers.

    The second publisher of a topic, and each further one, gets its own topic.
    """
    taken: set[str] = set()
    for name, node in nodes:
        for each in reading.tables(node, "publishers", name):
            topic = reading.word(each, "topic_name", f"{name}: publishers")
            where = f"{name}: {topic}"
            to = tuple(dict.fromkeys(node for node in subscribers.get(topic, ()) if node != name))
            size, qos, rate = reading.size(each, where), reading.qos(each, where), reading.rate(each, where)
            if not to:
                reading.remarks.append(f"{where}: left out: no other node subscribes to it")
                continue
            called = topic if topic not in taken else f"{topic}/{name}"
            if called != topic:
                reading.remarks.append(f"{where}: renamed to '{called}', because another node also publishes it")
            taken.add(called)
            yield Topic(
                name=called,
                source=name,
                to=to,
                size=max(size, SMALLEST_MESSAGE),
                rate_hz=rate,
                deadline_s=min(1 / rate, TOO_LATE_S),
                **qos,
            )
    unpublished = [topic for topic in subscribers if topic not in taken]
    if unpublished:
        reading.remarks.append(f"left out, because no node publishes them: {', '.join(unpublished)}")


def _services(reading: _Reading, nodes: _Named) -> Iterator[Topic]:
    """Yield two topics for each client: the requests, and the replies that follow them."""
    servers: dict[str, str] = {}
    for name, node in nodes:
        for each in reading.tables(node, "servers", name):
            servers[reading.word(each, "service_name", f"{name}: servers")] = name
    for name, node in nodes:
        for each in reading.tables(node, "clients", name):
            service = reading.word(each, "service_name", f"{name}: clients")
            where = f"{name}: {service}"
            if service not in servers:
                reading.remarks.append(f"{where}: left out: it has no server")
                continue
            request, rate = f"{service}/{name}/request", reading.rate(each, where)
            size = max(_size(str(each.get("srv_type", "")), each) or CALL_BYTES, SMALLEST_MESSAGE)
            yield Topic(name=request, source=name, to=(servers[service],), size=size, rate_hz=rate)
            yield Topic(
                name=f"{service}/{name}/reply",
                source=servers[service],
                to=(name,),
                size=size,
                after=request,
                service=True,
            )
            if _size(str(each.get("srv_type", "")), each) is None:
                reading.remarks.append(
                    f"{where}: requests and replies are assumed to have {CALL_BYTES} bytes; its srv_type has no size"
                )


def _actions(reading: _Reading, nodes: _Named) -> str:
    """Return the number of actions and the rates of their goals as text; empty: there are no actions."""
    names: dict[str, float] = {}
    for name, node in nodes:
        for each in reading.tables(node, "action_servers", name):
            names.setdefault(reading.word(each, "action_name", f"{name}: action_servers"), 0.0)
        for each in reading.tables(node, "action_clients", name):
            action = reading.word(each, "action_name", f"{name}: action_clients")
            names[action] = names.get(action, 0.0) + reading.rate(each, f"{name}: {action}")
    if not names:
        return ""
    rates = " and ".join(f"{each:g}" for each in names.values())
    several = f" ({rates})" if len(names) > 1 else ""
    plural = "" if len(names) == 1 else "s"
    return f"{len(names)} action{plural} ({', '.join(names)}) with {sum(names.values()):g} goals/s{several}"
