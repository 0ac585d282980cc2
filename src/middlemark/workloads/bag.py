"""Read recorded bags message by message: bags of ROS 1, and of rosbag2 with sqlite3 or MCAP, compressed or not.

A bag has topics, types, sizes and times. Only a bag of ROS 1 has the publishers. The sizes and times of all messages
are written to a Parquet file, the ``sequence`` of a workload, for an exact replay.

A bag has neither subscribers nor deadlines. So each topic gets one subscriber. The deadline is the mean interval of the
topic's messages, at most ``LONGEST_DEADLINE_S``. Users edit subscribers and deadlines in the suite.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from middlemark.model.cell import SMALLEST_MESSAGE
from middlemark.model.protocol import Reliability
from middlemark.model.workload import Topic, Workload
from middlemark.problems import Problem, RequestError, extra_module
from middlemark.workloads.written import durability

if TYPE_CHECKING:
    from rosbags.interfaces import Connection, Qos

LONGEST_DEADLINE_S = 1.0
LEAST_RATE_HZ = 0.01
SUBSCRIBER = "subscriber"
_REPAIR = "`rosbag reindex` or `ros2 bag reindex` may repair it"


class Recorded(msgspec.Struct, frozen=True):
    """The workload of a bag. ``remarks``: about the whole bag; ``comments``: about each topic."""

    workload: Workload
    remarks: tuple[str, ...]
    comments: dict[str, tuple[str, ...]]
    unsized: frozenset[str] = frozenset()
    """The topics with an unknown size."""


class _Seen:
    """Statistics of one connection of the bag."""

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


class _BagReader(Protocol):
    connections: Any

    def messages(self) -> Iterator[tuple["Connection", int, bytes]]: ...


class _Sequence:
    """Writes the Parquet file of the messages, a group of rows at a time."""

    ROWS = 1 << 16

    def __init__(self, path: Path, names: list[str]) -> None:
        pyarrow, parquet = (
            extra_module(each, "parquet", "a recorded sequence") for each in ("pyarrow", "pyarrow.parquet")
        )
        self._arrow = pyarrow
        self._names = pyarrow.array(names, pyarrow.string())
        self._schema = pyarrow.schema(
            [
                ("topic", pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
                ("at_ns", pyarrow.uint64()),
                ("size_bytes", pyarrow.uint32()),
            ]
        )
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._begin_ns: int | None = None
        self._topics, self._at_ns, self._sizes = array("i"), array("Q"), array("I")

    def see(self, topic: int, at_ns: int, size: int) -> None:
        if self._begin_ns is None:
            self._begin_ns = at_ns
        self._topics.append(topic)
        self._at_ns.append(max(at_ns - self._begin_ns, 0))
        self._sizes.append(size)
        if len(self._sizes) == self.ROWS:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        arrow = self._arrow
        topics = arrow.DictionaryArray.from_arrays(arrow.array(self._topics, arrow.int32()), self._names)
        at_ns, sizes = arrow.array(self._at_ns, arrow.uint64()), arrow.array(self._sizes, arrow.uint32())
        self._writer.write_table(arrow.table([topics, at_ns, sizes], schema=self._schema))
        self._topics, self._at_ns, self._sizes = array("i"), array("Q"), array("I")


def read(path: Path, name: str, sequence: Path | None = None) -> Recorded:
    """Return the workload of a bag. Raises RequestError if the bag cannot be read to its end.

    ``sequence``: the file for the messages' sizes and times; None: keep only means.
    """
    seen: dict[tuple[str, int], _Seen] = {}
    try:
        with _opened(path) as bag:
            for connection in sorted(bag.connections, key=lambda each: (each.topic, each.id)):
                seen[connection.topic, connection.id] = _Seen(connection)
            numbers = {key: number for number, key in enumerate(seen)}
            names = list(_names(seen.values()))
            with _written(sequence, names) as see:
                for connection, at_ns, data in bag.messages():
                    key = connection.topic, connection.id
                    seen[key].see(at_ns, len(data))
                    see(numbers[key], at_ns, len(data))
    except OSError as error:
        raise RequestError([Problem(str(path), f"cannot be read: {error.strerror or error}")]) from None
    except RequestError:
        raise
    except Exception as error:  # libraries raise various errors for a damaged file
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RequestError([Problem(str(path), f"not a complete, readable bag: {what}; {_REPAIR}")]) from None
    return _workload(name, path, list(zip(names, seen.values(), strict=True)), sequence)


def _names(seen: Iterable[_Seen]) -> Iterator[str]:
    """Yield a topic name for each connection.

    The second publisher of a topic, and each further one, gets its own topic.
    """
    taken: set[str] = set()
    for each in seen:
        topic = each.connection.topic
        yield f"{topic}/{each.connection.id}" if topic in taken else topic
        taken.add(topic)


@contextmanager
def _written(path: Path | None, names: list[str]) -> Iterator[Callable[[int, int, int], None]]:
    """Yield a function that writes a message's topic number, time and size to the file. Removes an incomplete file."""
    if path is None:
        yield lambda _topic, _at_ns, _size: None
        return
    try:
        sequence = _Sequence(path, names)
        yield sequence.see
        sequence.close()
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@contextmanager
def _opened(path: Path) -> Iterator[_BagReader]:
    from rosbags.rosbag1 import Reader as Reader1
    from rosbags.rosbag2 import Reader as Reader2

    kind = Reader1 if path.suffix == ".bag" else Reader2
    with kind(path) as bag:
        yield bag  # type: ignore[misc]


def _workload(name: str, path: Path, seen: list[tuple[str, _Seen]], sequence: Path | None) -> Recorded:
    recorded = [each for _, each in seen if each.messages]
    if not recorded:
        raise RequestError([Problem(str(path), "the bag contains no messages")])
    begin, end = min(each.first for each in recorded), max(each.last for each in recorded)
    long_s = max((end - begin) / 1e9, 1e-3)
    topics: list[Topic] = []
    comments: dict[str, tuple[str, ...]] = {}
    for called, each in seen:
        if not each.messages:
            continue
        topic, comment = _topic(called, each, long_s)
        topics.append(topic)
        comments[called] = comment
    remarks = [
        f"Recorded in {path.name}: {sum(each.messages for each in recorded):,} messages in {long_s:.1f} s.",
        "A bag contains no subscribers and no deadlines: edit the keys to and deadline.",
        "Sizes and rates are the means of the recorded messages. type is the recorded type; plain octets are sent."
        if sequence is None
        else f"Sizes and times of all messages are in {sequence.name}; a size, rate or after of a topic has priority."
        " type is the recorded type; plain octets are sent.",
    ]
    empty = [each.connection.topic for _, each in seen if not each.messages]
    if empty:
        remarks.append(f"Topics left out, because they have no messages: {', '.join(dict.fromkeys(empty))}.")
    return Recorded(Workload(name=name, topics=tuple(topics)), tuple(remarks), comments)


def _topic(called: str, seen: _Seen, long_s: float) -> tuple[Topic, tuple[str, ...]]:
    between_s = (seen.last - seen.first) / 1e9
    rate = (seen.messages - 1) / between_s if seen.messages > 1 and between_s > 0 else seen.messages / long_s
    rate = float(f"{max(rate, LEAST_RATE_HZ):.6g}")
    size = round(seen.bytes / seen.messages)
    source, remarks = _publisher(called, seen.connection)
    qos, qos_remarks = _qos(seen.connection)
    remarks += [f"{seen.messages:,} messages of {seen.least:,} to {seen.most:,} bytes, {rate:.4g} Hz", *qos_remarks]
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
    """Return the publishing node, and remarks.

    Only ROS 1 records the node. For ROS 2 each topic gets a node of its own.
    """
    caller = getattr(connection.ext, "callerid", None)
    if caller and caller != f"/{SUBSCRIBER}":
        return caller, []
    return f"{called.strip('/')}/publisher", []


def _qos(connection: "Connection") -> tuple[dict[str, Any], list[str]]:
    """Return the factors for this QoS, and remarks about settings for which there is no factor."""
    profiles = getattr(connection.ext, "offered_qos_profiles", None)
    if not profiles:
        latched = getattr(connection.ext, "latching", 0)
        return {"durability": "transient-local", "depth": 1} if latched else {}, []
    return qos_of(profiles[0])


DEPTH = 10
"""The depth of a topic with an unknown depth: the default of ROS 2."""


def qos_of(offered: "Qos") -> tuple[dict[str, Any], list[str]]:
    """Return the factors for an offered QoS, and remarks about unknown settings and settings without a factor."""
    reliability: Reliability = "best-effort" if offered.reliability.name == "BEST_EFFORT" else "reliable"
    remarks = [
        f"{name} is unknown: {assumed} is assumed"
        for name, setting, assumed in (
            ("reliability", offered.reliability, reliability),
            ("durability", offered.durability, "volatile"),
        )
        if setting.name == "UNKNOWN"
    ]
    depth: int | None = offered.depth
    if offered.history.name == "KEEP_ALL":
        depth = None
    elif offered.history.name == "UNKNOWN" or not offered.depth or offered.depth < 0:
        depth = DEPTH
        remarks.append(f"history and depth are unknown: a depth of {DEPTH} is assumed")
    found: dict[str, Any] = {"reliability": reliability, "depth": depth}
    if offered.durability.name == "TRANSIENT_LOCAL":
        durable, of_durability = durability(reliability, depth)
        found |= durable
        remarks += of_durability
    return found, remarks
