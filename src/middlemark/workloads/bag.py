"""Recorded bags: ROS 1's, and rosbag2's with sqlite3 or MCAP, compressed or not. Read once, message by message.

A bag knows topics, types, sizes and instants, ROS 1's also who published. It does not know who received, nor by when a
message had to arrive: each topic has one subscriber, and a deadline of the mean time between its messages, but at most
``LONGEST_DEADLINE_S``. Both stand in the suite to be edited.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from middlemark.model.cell import SMALLEST_MESSAGE
from middlemark.model.protocol import Reliability
from middlemark.model.workload import Topic, Workload
from middlemark.problems import Problem, RequestError

if TYPE_CHECKING:
    from rosbags.interfaces import Connection

LONGEST_DEADLINE_S = 1.0
LEAST_RATE_HZ = 0.01
SUBSCRIBER = "subscriber"
_AGAIN = "`rosbag reindex` or `ros2 bag reindex` may mend it"


class Recorded(msgspec.Struct, frozen=True):
    """What was read. ``remarks``: of the whole; ``comments``: of each topic."""

    workload: Workload
    remarks: tuple[str, ...]
    comments: dict[str, tuple[str, ...]]


class _Seen:
    """What is known of one connection of the bag."""

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection
        self.messages = self.bytes = self.most = 0
        self.least = 1 << 62
        self.first = self.last = 0

    def see(self, at_ns: int, size: int) -> None:
        self.first = at_ns if not self.messages else self.first
        self.last = max(self.last, at_ns)
        self.messages += 1
        self.bytes += size
        self.least, self.most = min(self.least, size), max(self.most, size)


class _Reader(Protocol):
    connections: Any

    def messages(self) -> Iterator[tuple["Connection", int, bytes]]: ...


def read(path: Path, name: str) -> Recorded:
    """Return the workload of a bag. Raises RequestError where it cannot be read to its end."""
    seen: dict[tuple[str, int], _Seen] = {}
    try:
        with _opened(path) as bag:
            for connection in bag.connections:
                seen[connection.topic, connection.id] = _Seen(connection)
            for connection, at_ns, data in bag.messages():
                seen[connection.topic, connection.id].see(at_ns, len(data))
    except OSError as error:
        raise RequestError([Problem(str(path), f"cannot be read: {error.strerror or error}")]) from None
    except RequestError:
        raise
    except Exception as error:  # what a library makes of a damaged file may be anything
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RequestError([Problem(str(path), f"no bag that can be read to its end: {what}; {_AGAIN}")]) from None
    return _workload(name, path, [each for _, each in sorted(seen.items(), key=lambda item: item[0])])


@contextmanager
def _opened(path: Path) -> Iterator[_Reader]:
    from rosbags.rosbag1 import Reader as Reader1
    from rosbags.rosbag2 import Reader as Reader2

    kind = Reader1 if path.suffix == ".bag" else Reader2
    with kind(path) as bag:
        yield bag  # type: ignore[misc]


def _workload(name: str, path: Path, seen: list[_Seen]) -> Recorded:
    recorded = [each for each in seen if each.messages]
    if not recorded:
        raise RequestError([Problem(str(path), "there is no message in it")])
    begin, end = min(each.first for each in recorded), max(each.last for each in recorded)
    long_s = max((end - begin) / 1e9, 1e-3)
    topics: list[Topic] = []
    comments: dict[str, tuple[str, ...]] = {}
    for each in recorded:
        called = each.connection.topic
        if called in comments:
            called = f"{called}/{each.connection.id}"
        topic, told = _topic(called, each, long_s)
        topics.append(topic)
        comments[called] = told
    remarks = [
        f"Recorded in {path.name}: {sum(each.messages for each in recorded):,} messages in {long_s:.1f} s.",
        "A bag does not know who received a topic (to), nor by when it had to arrive (deadline): edit both.",
        "Sizes are the means of the recorded ones, rates the mean rates; type says what was recorded, octets are sent.",
    ]
    empty = [each.connection.topic for each in seen if not each.messages]
    if empty:
        remarks.append(f"Left out, as nothing was recorded of them: {', '.join(dict.fromkeys(empty))}.")
    return Recorded(Workload(name=name, topics=tuple(topics)), tuple(remarks), comments)


def _topic(called: str, seen: _Seen, long_s: float) -> tuple[Topic, tuple[str, ...]]:
    between_s = (seen.last - seen.first) / 1e9
    rate = (seen.messages - 1) / between_s if seen.messages > 1 and between_s > 0 else seen.messages / long_s
    rate = float(f"{max(rate, LEAST_RATE_HZ):.6g}")
    size = round(seen.bytes / seen.messages)
    source, remarks = _publisher(called, seen.connection)
    qos, more = _qos(seen.connection)
    remarks += [f"{seen.messages:,} messages of {seen.least:,} to {seen.most:,} bytes", *more]
    topic = Topic(
        name=called,
        source=source,
        to=(SUBSCRIBER,),
        size=max(size, SMALLEST_MESSAGE),
        type=seen.connection.msgtype,
        rate_hz=rate,
        deadline_s=float(f"{min(1 / rate, LONGEST_DEADLINE_S):.3g}"),
        **qos,
    )
    return topic, tuple(remarks)


def _publisher(called: str, connection: "Connection") -> tuple[str, list[str]]:
    """Return the node that published: ROS 1 tells it, of others each topic has a node of its own."""
    known = getattr(connection.ext, "callerid", None)
    if known and known != f"/{SUBSCRIBER}":
        return known, []
    return f"{called.strip('/')}/publisher", []


def _qos(connection: "Connection") -> tuple[dict[str, Any], list[str]]:
    """Return what there is a factor for, and what there is none for in words."""
    profiles = getattr(connection.ext, "offered_qos_profiles", None)
    if not profiles:
        latched = getattr(connection.ext, "latching", 0)
        return {}, ["latched: late joiners would get the last message, which is not carried"] if latched else []
    offered = profiles[0]
    reliability: Reliability = "best-effort" if offered.reliability.name == "BEST_EFFORT" else "reliable"
    depth = None if offered.history.name == "KEEP_ALL" else max(1, offered.depth or 10)
    found: dict[str, Any] = {"reliability": reliability, "depth": depth}
    more = []
    if offered.durability.name == "TRANSIENT_LOCAL":
        more.append("durability transient-local: late joiners would get the last messages, which is not carried")
    return found, more
