"""Recorded bags become workloads: ROS 1's, and rosbag2's with sqlite3 and MCAP, compressed and not."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

from middlemark.problems import RequestError
from middlemark.suite.sequence import read_sequence
from middlemark.suite.workload import read_workload
from middlemark.workloads.bag import _Sequence, read
from middlemark.workloads.written import durability, toml

MS = 1_000_000
BEGIN = 1_700_000_000_000 * MS
SENSOR = Qos(
    QosHistory.KEEP_LAST, 5, QosReliability.BEST_EFFORT, QosDurability.VOLATILE, QosTime(0, 0), QosTime(0, 0),
    QosLiveliness.AUTOMATIC, QosTime(0, 0), avoid_ros_namespace_conventions=False,
)  # fmt: skip
MAP = SENSOR._replace(reliability=QosReliability.RELIABLE, durability=QosDurability.TRANSIENT_LOCAL, depth=1)


def of_ros2(folder: Path, plugin: StoragePlugin = StoragePlugin.SQLITE3, mode: CompressionMode | None = None) -> Path:
    """Record 31 scans of 100 to 130 bytes at 10 Hz, a map once, and a topic without a message."""
    types = get_typestore(Stores.ROS2_HUMBLE)
    path = folder / "drive"
    writer = Writer2(path, version=9, storage_plugin=plugin)
    if mode is not None:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        scan = writer.add_connection(
            "/scan", "sensor_msgs/msg/LaserScan", typestore=types, offered_qos_profiles=[SENSOR]
        )
        grid = writer.add_connection("/map", "nav_msgs/msg/OccupancyGrid", typestore=types, offered_qos_profiles=[MAP])
        writer.add_connection("/quiet", "std_msgs/msg/String", typestore=types)
        writer.write(grid, BEGIN, bytes(5000))
        for at in range(31):
            writer.write(scan, BEGIN + at * 100 * MS, bytes(100 + at))
    return path


def of_ros1(folder: Path) -> Path:
    types = get_typestore(Stores.ROS1_NOETIC)
    path = folder / "drive.bag"
    with Writer1(path) as writer:
        scan = writer.add_connection("/scan", "sensor_msgs/msg/LaserScan", typestore=types, callerid="/laser")
        grid = writer.add_connection(
            "/map", "nav_msgs/msg/OccupancyGrid", typestore=types, callerid="/map_server", latching=1
        )
        writer.write(grid, BEGIN, bytes(5000))
        for at in range(31):
            writer.write(scan, BEGIN + at * 100 * MS, bytes(100 + at))
    return path


RECORDED: dict[str, Callable[[Path], Path]] = {
    "ros1": of_ros1,
    "sqlite3": of_ros2,
    "mcap": lambda folder: of_ros2(folder, StoragePlugin.MCAP),
    "mcap-file": lambda folder: next(of_ros2(folder, StoragePlugin.MCAP).glob("*.mcap")),
    "zstd-messages": lambda folder: of_ros2(folder, mode=CompressionMode.MESSAGE),
    "zstd-file": lambda folder: of_ros2(folder, mode=CompressionMode.FILE),
}


@pytest.mark.parametrize("kind", RECORDED)
def test_rates_sizes_and_qos_are_read_from_the_bag(tmp_path: Path, kind: str) -> None:
    found = read(RECORDED[kind](tmp_path), "drive")
    topics = {each.name: each for each in found.workload.topics}
    assert topics.keys() == {"/scan", "/map"}
    scan, grid = topics["/scan"], topics["/map"]
    assert (scan.rate_hz, scan.size, scan.type, scan.deadline_s) == (10.0, 115, "sensor_msgs/msg/LaserScan", 0.1)
    assert grid.size == 5000
    assert grid.rate_hz == pytest.approx(1 / 3, rel=1e-4), "the map was sent once in three seconds"
    assert grid.deadline_s == 1.0
    assert scan.source == ("/laser" if kind == "ros1" else "scan/publisher")
    assert "31 messages of 100 to 130 bytes, 10 Hz" in found.comments["/scan"]
    assert (scan.durability, grid.durability, grid.depth) == ("volatile", "transient-local", 1)
    if kind != "ros1":
        assert (scan.reliability, scan.depth, grid.reliability) == ("best-effort", 5, "reliable")
    text = toml(found.workload, "drive", found.remarks, found.comments)
    again, problems = read_workload(tomllib.loads(text)["workload"], "drive", "drive.toml", text)
    assert not problems
    assert again == found.workload


@pytest.mark.parametrize("kind", RECORDED)
def test_the_recorded_sequence_of_sizes_and_instants_is_written(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "drive.parquet"
    bag = read(RECORDED[kind](tmp_path), "drive", path)
    found = read_sequence(path)
    assert found.courses["/scan"].sizes.tolist() == list(range(100, 131))
    assert found.courses["/scan"].at_ns.tolist() == [at * 100 * MS for at in range(31)]
    assert found.courses["/map"].sizes.tolist() == [5000]
    text = toml(bag.workload, "drive", bag.remarks, bag.comments, path.name)
    replay, problems = read_workload(tomllib.loads(text)["workload"], "drive", "drive.toml", text, tmp_path)
    assert not problems
    assert replay is not None
    assert [each.sizes for each in replay.topics] == [found.reference("/map"), found.reference("/scan")]
    assert replay.topics[1].rate_hz == pytest.approx(10.0)
    assert [each.deadline_s for each in replay.topics] == [1.0, 0.1]


def test_a_long_bag_is_written_in_groups_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Sequence, "ROWS", 10)
    read(of_ros1(tmp_path), "drive", tmp_path / "drive.parquet")
    assert pq.ParquetFile(tmp_path / "drive.parquet").num_row_groups == 4
    assert len(read_sequence(tmp_path / "drive.parquet").courses["/scan"].sizes) == 31


def test_a_truncated_bag_leaves_no_sequence_behind(tmp_path: Path) -> None:
    path = of_ros1(tmp_path)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(RequestError):
        read(path, "drive", tmp_path / "drive.parquet")
    assert not (tmp_path / "drive.parquet").exists()


def test_a_topic_with_two_publishers_becomes_two_topics(tmp_path: Path) -> None:
    types = get_typestore(Stores.ROS1_NOETIC)
    path = tmp_path / "two.bag"
    with Writer1(path) as writer:
        for node in ("/a", "/b"):
            connection = writer.add_connection("/tf", "std_msgs/msg/String", typestore=types, callerid=node)
            for at in range(3):
                writer.write(connection, BEGIN + at * MS, bytes(40))
    assert [each.source for each in read(path, "two").workload.topics] == ["/a", "/b"]
    assert len({each.name for each in read(path, "two").workload.topics}) == 2


@pytest.mark.parametrize("kind", ["ros1", "mcap-file"])
@pytest.mark.parametrize("part", [0.05, 0.5, 0.95])
def test_a_truncated_bag_is_refused_with_its_name(tmp_path: Path, kind: str, part: float) -> None:
    path = RECORDED[kind](tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    try:
        found = read(path, "drive")
    except RequestError as refused:
        assert [str(path) in str(each) for each in refused.problems] == [True]
    else:
        assert len(found.workload.topics) == 2, "only the bag's index was lost"


def test_a_file_that_is_no_bag_is_refused(tmp_path: Path) -> None:
    for name, data in (("x.bag", b"no"), ("x.mcap", b""), ("x.db3", b"SQLite"), ("x.txt", b"x")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RequestError):
            read(tmp_path / name, "x")
    with pytest.raises(RequestError):
        read(tmp_path, "x")


def test_transient_local_without_reliability_or_depth_becomes_volatile_with_a_note() -> None:
    assert durability("reliable", 3) == ({"durability": "transient-local"}, [])
    for reliability, depth in (("best-effort", 3), ("reliable", None)):
        found, notes = durability(reliability, depth)  # type: ignore[arg-type]
        assert not found
        assert "volatile here" in notes[0]
