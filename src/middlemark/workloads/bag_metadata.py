"""Read rosbag2's ``metadata.yaml`` if the bag itself is missing: rates and QoS of its topics, without sizes."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from middlemark.model.cell import SMALLEST_MESSAGE
from middlemark.model.workload import Topic, Workload
from middlemark.problems import Problem, RequestError
from middlemark.workloads.bag import LEAST_RATE_HZ, LONGEST_DEADLINE_S, SUBSCRIBER, Recorded, qos_of
from middlemark.workloads.kinds import METADATA_BEGINS

FILE = "metadata.yaml"
_ROOT = METADATA_BEGINS.decode()
_MOST_BYTES = 16 << 20


def metadata_alone(path: Path) -> Path | None:
    """Return the metadata of a bag without its recorded messages; None: the path has the messages, or no metadata."""
    if not path.is_dir():
        with path.open("rb") as file:
            return path if METADATA_BEGINS in file.read(4096) else None
    metadata = path / FILE
    messages = any(next(path.glob(f"*{suffix}"), None) for suffix in (".db3", ".mcap", ".zstd"))
    return metadata if metadata.is_file() and not messages else None


def read(path: Path, name: str) -> Recorded:
    """Return the workload of a ``metadata.yaml``, whose sizes are unknown. Raises RequestError if it has no topic."""
    information = _information(path)
    duration = information.get("duration")
    seconds = _number(duration.get("nanoseconds") if isinstance(duration, dict) else None) / 1e9
    topics: list[Topic] = []
    comments: dict[str, tuple[str, ...]] = {}
    named = 0
    for table, count in _topics(information):
        topic, comment = _topic(table, count, seconds)
        named += count
        if topic.name not in comments:
            topics.append(topic)
        comments[topic.name] = comment
    if not topics:
        raise RequestError([Problem(str(path), "the file has no topic with messages, and the bag is missing")])
    return Recorded(
        Workload(name=name, topics=tuple(topics)),
        tuple(_remarks(path, information, seconds, named)),
        comments,
        frozenset(comments),
    )


def _information(path: Path) -> Mapping[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        lines = path.read_bytes()[:_MOST_BYTES].decode(errors="replace").splitlines()
    except OSError as error:
        raise RequestError([Problem(str(path), f"cannot be read: {error.strerror or error}")]) from None
    # The file may be cut off, for example within a quoted text. Without its last lines it is then valid.
    reason = "the file is empty"
    for dropped in range(min(len(lines), 40)):
        try:
            document = YAML(typ="safe").load("\n".join(lines[: len(lines) - dropped]))
        except (YAMLError, ValueError, RecursionError) as error:
            reason = reason if dropped else str(error).splitlines()[0]
            continue
        found = document.get(_ROOT) if isinstance(document, dict) else None
        if isinstance(found, dict):
            return found
    raise RequestError([Problem(str(path), f"is not rosbag2's {FILE}: {reason}")])


def _topics(information: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield each complete topic that has messages, and the number of its messages."""
    listed = information.get("topics_with_message_count")
    for each in listed if isinstance(listed, list) else []:
        table = each.get("topic_metadata") if isinstance(each, dict) else None
        count = int(_number(each.get("message_count"))) if isinstance(each, dict) else 0
        if isinstance(table, dict) and isinstance(table.get("name"), str) and count:
            yield table, count


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e18 else 0.0


def _topic(table: Mapping[str, Any], count: int, seconds: float) -> tuple[Topic, tuple[str, ...]]:
    from rosbags.rosbag2.metadata import parse_qos

    name = table["name"]
    rate = float(f"{max(count / max(seconds, 1e-3), LEAST_RATE_HZ):.6g}")
    remarks = [f"{count:,} messages in {seconds:.7g} s, {rate:.4g} Hz"]
    try:
        profiles = parse_qos(table.get("offered_qos_profiles") or [])
    except Exception:
        profiles = []
        remarks.append("its QoS cannot be read")
    qos, of_qos = qos_of(profiles[0]) if profiles else ({}, [])
    kind = table.get("type")
    topic = Topic(
        name=name,
        source=f"{name.strip('/')}/publisher",
        to=(SUBSCRIBER,),
        size=SMALLEST_MESSAGE,
        type=kind if isinstance(kind, str) else "octets",
        rate_hz=rate,
        deadline_s=float(f"{min(1 / rate, LONGEST_DEADLINE_S):.3g}"),
        **qos,
    )
    return topic, (*remarks, *of_qos)


def _remarks(path: Path, information: Mapping[str, Any], seconds: float, named: int) -> Iterator[str]:
    files = information.get("relative_file_paths")
    missing = ", ".join(map(str, files)) if isinstance(files, list) else "the bag"
    yield f"Read from {path.name} alone: {missing} is missing, so the sizes of the messages are unknown. Fill them in."
    total = int(_number(information.get("message_count")))
    if total > named:
        yield f"{total - named:,} of the {total:,} messages are of topics that are not in the file: it was cut off."
    yield f"The rates are the number of messages divided by the {seconds:.7g} s of the recording."
    yield "The file contains no subscribers and no deadlines: edit the keys to and deadline."
