"""Recorded sizes and instants: how files are read, their faults with places, and the values for a trial."""

import sys
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from middlemark.model.levels import Wrong
from middlemark.model.plan import Limits
from middlemark.model.workload import FromFile, Lognormal, Topic, Workload, instants_path, sizes_path
from middlemark.plan.memory import kept_by_topic
from middlemark.sites import recorded
from middlemark.sites.channel import WorkerFailedError
from middlemark.suite.sequence import instants_of, read_instants, read_sequence, read_sizes, sizes_of
from middlemark.suite.workload import read_workload

MS = 1_000_000


def write(path: Path, topics: list[str], at_ns: list[int], sizes: list[int]) -> Path:
    pq.write_table(pa.table({"topic": topics, "at_ns": at_ns, "size_bytes": sizes}), path)
    return path


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    """A scan at 0, 10, 30 and 60 ms, with lines in another order, and a map at 50 ms."""
    return write(
        tmp_path / "robot.parquet",
        ["scan", "scan", "map", "scan", "scan"],
        [0, 30 * MS, 50 * MS, 10 * MS, 60 * MS],
        [100, 300, 5000, 2, 400],
    )


def read(text: str, folder: Path) -> Workload:
    import tomllib

    found, problems = read_workload(tomllib.loads(text)["workload"], "robot", "robot.toml", text, folder)
    assert not problems, [str(each) for each in problems]
    assert found is not None
    return found


def problems_of(text: str, folder: Path) -> list[str]:
    import tomllib

    _, problems = read_workload(tomllib.loads(text)["workload"], "robot", "robot.toml", text, folder)
    return [str(each) for each in problems]


TOPIC = '[[workload.topic]]\nname = "scan"\nfrom = "a"\nto = "b"\n'
SEQUENCE = '[workload]\nsequence = "robot.parquet"\n'


def test_the_missing_extra_for_sequences_is_named(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(Wrong, match=r"^robot.parquet needs .* pyarrow.*pip install 'middlemark\[parquet\]'"):
        read_sequence(robot)


def test_a_sequence_has_each_topics_sizes_and_instants_in_their_order(robot: Path) -> None:
    found = read_sequence(robot)
    assert found.courses["scan"].at_ns.tolist() == [0, 10 * MS, 30 * MS, 60 * MS]
    assert found.courses["scan"].sizes.tolist() == [100, 16, 300, 400], "no size is below the header's"
    assert found.courses["map"].sizes.tolist() == [5000]
    assert found.lap_ns == 80 * MS, "60 ms to the last scan, and the mean interval of 20 ms to the next one"
    assert found.rate_hz("scan") == 50.0
    assert found.rate_hz("map") == 12.5


def test_a_topic_takes_missing_values_from_its_sequence(robot: Path) -> None:
    first, second, third = read(
        SEQUENCE
        + TOPIC
        + TOPIC.replace("scan", "map")
        + "rate = 5\n"
        + '[[workload.topic]]\nname = "x"\nfrom = "b"\nto = "c"\nsize = "1k"\nafter = "scan"\n',
        robot.parent,
    ).topics
    assert (first.size, first.rate_hz) == (400, 50.0)
    assert isinstance(first.sizes, FromFile)
    assert first.instants == first.sizes
    assert first.lap_s == pytest.approx(0.08)
    assert (second.size, second.rate_hz, second.instants) == (5000, 5.0, None), "the topic keeps its own rate"
    assert second.sizes is not None
    assert (third.size, third.sizes, third.instants, third.after) == (1024, None, None, "scan")


def test_equal_content_in_another_folder_is_the_same_workload(robot: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / robot.name).write_bytes(robot.read_bytes())
    assert read(SEQUENCE + TOPIC, robot.parent) == read(SEQUENCE + TOPIC, other)
    assert hash(read(SEQUENCE + TOPIC, robot.parent)) == hash(read(SEQUENCE + TOPIC, other))
    write(other / robot.name, ["scan"], [0], [100])
    assert read(SEQUENCE + TOPIC, robot.parent) != read(SEQUENCE + TOPIC, other)


def test_a_stored_workload_with_files_reads_back_as_the_same(robot: Path) -> None:
    graph = read(
        SEQUENCE + TOPIC + TOPIC.replace("scan", "y") + 'rate = 1\nsize = "lognormal(1k, 0.5)"\n', robot.parent
    )
    assert msgspec.json.decode(msgspec.json.encode(graph), type=Workload) == graph


def test_lists_may_have_several_numbers_per_line_and_comments(tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("1k; 8\n\n64512  # the largest\n1k\n", encoding="utf-8")
    found, sizes = read_sizes(tmp_path / "sizes.csv")
    assert sizes.tolist() == [1024, 16, 64512, 1024], "a size may occur twice"
    assert sizes_of(found).tolist() == sizes.tolist()
    (tmp_path / "instants.txt").write_text("1700000000.000000001\n1700000000.010000001;1700000000.030000001", "utf-8")
    _, at_ns, rate_hz = read_instants(tmp_path / "instants.txt")
    assert at_ns.tolist() == [0, 10 * MS, 30 * MS], "instants count from the first one, exact to the ns"
    assert rate_hz == pytest.approx(3 / 0.045)
    topic = read(TOPIC + 'size = "@sizes.csv"\narrivals = "@instants.txt"\n', tmp_path).topics[0]
    assert (topic.size, topic.rate_hz) == (64512, pytest.approx(3 / 0.045))
    assert topic.instants is not None
    assert topic.instants != topic.sizes


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            'size = "lognormal(64k)"\nrate = 1\n',
            "line 5: workload.topic 1: size: 'lognormal(64k)' is not a distribution",
        ),
        ('size = "lognormal(64k, x)"\nrate = 1\n', "'x' is not a sigma"),
        ('size = "lognormal(64k, 9)"\nrate = 1\n', "a number above 0, at most 3"),
        ('size = "lognormal(64k, 0.5, 1k)"\nrate = 1\n', "the largest size, 1024, is below the median of 65536"),
        ('size = "lognormal(many, 0.5)"\nrate = 1\n', "'many' is not a size"),
        ('size = "@none.csv"\nrate = 1\n', "size: none.csv cannot be read: No such file"),
        ('size = "@bad.csv"\nrate = 1\n', "size: bad.csv: line 2: 'x' is not a size"),
        ('size = "@bad.csv"\nrate = 1\n', "; line 4: 'y' is not a size"),
        ('size = "@empty.csv"\nrate = 1\n', "empty.csv is empty"),
        ('size = 16\narrivals = "@back.txt"\n', "line 6: workload.topic 1: arrivals: back.txt: instant 3 is before"),
        ('size = 16\narrivals = "@bad.csv"\n', "line 2: 'x' is not an instant; write it in seconds"),
        ('size = 16\nrate = 1\narrivals = "@back.txt"\n', "arrivals: back.txt"),
        (
            'size = 16\nrate = 1\narrivals = "@good.txt"\n',
            "the file determines when messages are published; remove rate",
        ),
        ("rate = 1\n", "size is missing"),
    ],
)
def test_a_problem_names_its_line(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "bad.csv").write_text("1\nx\n2\ny\n", encoding="utf-8")
    (tmp_path / "empty.csv").write_text("\n# nothing\n", encoding="utf-8")
    (tmp_path / "back.txt").write_text("0\n2\n1\n", encoding="utf-8")
    (tmp_path / "good.txt").write_text("0\n1\n2\n", encoding="utf-8")
    found = problems_of(TOPIC + text, tmp_path)
    assert len(found) == 1, found
    assert problem in found[0]


def test_a_malformed_sequence_or_one_without_the_topic_is_refused(robot: Path) -> None:
    folder = robot.parent
    assert (
        "workload.sequence: 3 is not a file"
        in problems_of("[workload]\nsequence = 3\n" + TOPIC + "size=16\nrate=1", folder)[0]
    )
    lacking = problems_of(SEQUENCE + TOPIC.replace("scan", "lidar"), folder)
    assert lacking == [
        "robot.toml: line 3: workload.topic 1: size is missing; the sequence robot.parquet has no topic 'lidar'"
    ]
    robot.write_bytes(b"PAR1 no more")
    assert "robot.parquet is not a recorded sequence" in problems_of(SEQUENCE + TOPIC + "size=16\nrate=1", folder)[0]
    pq.write_table(pa.table({"topic": ["scan"], "at_ns": [1]}), robot)
    assert "is not a recorded sequence (topic, at_ns, size_bytes)" in problems_of(SEQUENCE + TOPIC, folder)[0]
    write(robot, ["scan"], [-1], [100])
    assert "whole numbers from 0 are needed" in problems_of(SEQUENCE + TOPIC, folder)[0]
    robot.unlink()
    assert "robot.parquet cannot be read: No such file" in problems_of(SEQUENCE + TOPIC, folder)[0]


def graph(*topics: Topic) -> Workload:
    return Workload(name="robot", topics=topics)


def test_drawn_sizes_are_equal_within_a_round_and_differ_between_rounds() -> None:
    topic = Topic(name="x", source="a", to=("b",), size=300_000, sizes=Lognormal(64 << 10, 0.5), rate_hz=1.0)
    first, again, next_ = recorded.sizes(topic, 1), recorded.sizes(topic, 1), recorded.sizes(topic, 2)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, next_)
    other = msgspec.structs.replace(topic, name="y")
    assert not np.array_equal(first, recorded.sizes(other, 1)), "each topic has its own sizes"
    assert np.median(first) == pytest.approx(64 << 10, rel=0.02)
    assert np.log(first[first < 300_000]).std() == pytest.approx(0.5, rel=0.05)
    assert first.min() >= 16
    assert first.max() == 300_000


def test_workers_receive_sizes_and_instants_at_the_cells_scale(robot: Path, tmp_path: Path) -> None:
    at_scale = read(SEQUENCE + TOPIC, robot.parent).under(2.0, 2)
    recorded.hand_over(at_scale, str(tmp_path), 1)
    for number, topic in enumerate(at_scale.topics):
        assert topic.lap_s == pytest.approx(0.04)
        assert np.fromfile(sizes_path(str(tmp_path), number), np.uint32).tolist() == [100, 16, 300, 400]
        at_ns = np.fromfile(instants_path(str(tmp_path), number), np.uint64)
        assert at_ns.tolist() == [0, 5 * MS, 15 * MS, 30 * MS]


def test_instants_are_within_their_lap(robot: Path) -> None:
    file = read_sequence(robot).reference("map")
    assert instants_of(file, 1e-9 * 3).tolist() == [1]
    assert instants_of(file, 1e-9).tolist() == [0]


def test_a_file_that_changed_since_it_was_read_is_refused(robot: Path, tmp_path: Path) -> None:
    workload = read(SEQUENCE + TOPIC, robot.parent)
    write(robot, ["scan", "scan"], [0, 1], [100, 100])
    with pytest.raises(WorkerFailedError, match=r"scan: .*robot.parquet has changed since"):
        recorded.hand_over(workload, str(tmp_path), 1)
    (tmp_path / "sizes.csv").write_text("100", encoding="utf-8")
    listed, _ = read_sizes(tmp_path / "sizes.csv")
    (tmp_path / "sizes.csv").write_text("101", encoding="utf-8")
    with pytest.raises(Wrong, match="has changed since"):
        sizes_of(listed)


def test_there_is_room_for_the_records_of_a_run_that_repeats_its_bag(robot: Path) -> None:
    workload = read(SEQUENCE + TOPIC, robot.parent)
    assert kept_by_topic(workload, Limits(duration_s=0.04)) == (4,)
    assert kept_by_topic(workload, Limits(duration_s=0.8)) == (44,)
