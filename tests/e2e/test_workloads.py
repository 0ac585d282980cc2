"""A workload as a suite: measured over real transports, shown in the terminal and in JSON; and the packaged robots."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from product import Bench
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from middlemark.suite import load, raw_options
from middlemark.suite.request import suite_files

ROBOTS = [each for each in suite_files() if load([each], raw_options())[0].sweeps[0].workload is not None]
ROBOT = """
description = "A camera, a detector, a planner"
[[workload.topic]]
name = "image"
from = "camera"
to = ["detector", "recorder"]
size = "10k"
rate = 400
deadline = "100ms"
[[workload.topic]]
name = "found"
from = "detector"
to = "planner"
size = 64
after = "image"
work = "100us"
deadline = "500ms"
allow = 0.5
[[workload.service]]
name = "plan"
client = "planner"
server = "map"
request = 16
reply = "1k"
rate = 20
[workload.process]
perception = ["camera", "detector"]
"""


@pytest.fixture
def robot(tmp_path: Path) -> str:
    path = tmp_path / "robot.toml"
    path.write_text(ROBOT, encoding="utf-8")
    return str(path)


def test_every_edge_chain_and_node_has_a_result(bench: Bench, robot: str) -> None:
    asked = ("--adapter", "udp", "--duration", "2.6s", "--trials", "1", "--scale", "1,2")
    ended = bench.run("run", robot, *asked, "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    assert [each["scale"] for each in ended.document["cells"]] == [1, 2]
    for each in ended.document["cells"]:
        found = each["workload"]
        assert found["name"] == "robot"
        assert found["holds"] in (True, False), "a thousand messages are enough for a verdict"
        assert (found["first_failing"] is None) == found["holds"]
        names = [(edge["name"], edge["from"], edge["to"]) for edge in found["topics"]]
        assert names == [
            ("image", "camera", "detector"),
            ("image", "camera", "recorder"),
            ("found", "detector", "planner"),
            ("plan/request", "planner", "map"),
            ("plan/reply", "map", "planner"),
        ]
        assert [edge["expected_hz"] for edge in found["topics"]] == [
            each["scale"] * hz for hz in (400, 400, 400, 20, 20)
        ]
        for edge in found["topics"]:
            assert edge["sent"] >= edge["received"] > 0
            assert edge["lost"] == edge["sent"] - edge["received"]
            assert edge["one_way_ns"]["p50"] > 0
            assert (edge["missed"] is None) == (edge["deadline_s"] is None)
        assert [(chain["from"], chain["to"]) for chain in found["chains"]] == [
            ("camera", "planner"),
            ("planner", "planner"),
        ]
        assert found["chains"][0]["end_to_end_ns"]["min"] > 1e5, "the chain includes a tenth of a millisecond of work"
        assert {node["name"]: node["process"] for node in found["nodes"]} == {
            "camera": "perception",
            "detector": "perception",
            **{each: each for each in ("recorder", "planner", "map")},
        }
        assert found["cpu"] > 0
        assert found["rss_bytes"] > 0
        assert found["wire_bytes"] > 10_240 * 400
        assert found["discovery_ns"] > 0


def test_the_terminal_shows_the_verdict_on_the_workload(bench: Bench, robot: str) -> None:
    ended = bench.run("run", robot, "--adapter", "udp", "--duration", "0.3s", "--trials", "1", "--quiet")
    assert ended.code == 0, ended.err
    assert "robot: too few messages for a verdict, or no deadlines." in ended.out
    assert len(ended.out.splitlines()) <= 40
    assert all(len(line) <= 100 for line in ended.out.splitlines())
    page = str(ended.folder / "page.html")
    reported = bench.run("report", str(ended.folder), "--html", page)
    assert reported.code == 0, reported.err
    text = Path(page).read_text(encoding="utf-8")
    assert "robot: too few messages for a verdict, or no deadlines." in text
    assert "image → found → planner (end to end)" in text
    assert "detector (in perception): " in text


def test_workload_options_and_load_options_exclude_each_other(bench: Bench, robot: str) -> None:
    ended = bench.run("run", "--adapter", "udp", "--scale", "2", "--copies", "3")
    assert ended.code == 2
    assert "--scale: there is no workload to multiply" in ended.err
    assert "--copies: there is no workload to multiply" in ended.err
    ended = bench.run("run", robot, "--size", "1k", "--rate", "100")
    assert ended.code == 2
    assert "--size: the workload's topics determine size; leave it out" in ended.err
    assert "--rate: the workload's topics determine rate" in ended.err


SENT = [(0, 500), (15, 30_000), (20, 64), (90, 2_000)]
"""Instants in ms and sizes of a topic in a bag that lasts 90 ms and repeats after 120 ms."""


def rosbag_of_ros1(folder: Path) -> Path:
    """Record a bag with ROS 1's own rosbag. It needs the distribution's Python, which is not the tests' Python."""
    script = (
        "import rosbag, rospy, std_msgs.msg, sys\n"
        "bag = rosbag.Bag(sys.argv[1], 'w')\n"
        f"for ms, size in {SENT}:\n"
        "    text = std_msgs.msg.String('x' * (size - 4))\n"
        "    bag.write('/talk', text, rospy.Time(1700000000, ms * 1000000))\n"
        "bag.close()\n"
    )
    path = folder / "drive.bag"
    done = subprocess.run(
        ["/usr/bin/python3", "-c", script, str(path)], capture_output=True, text=True, timeout=300, check=False
    )
    if "No module named" in done.stderr:
        pytest.skip("ROS 1's rosbag is not installed (python3-rosbag)")
    assert done.returncode == 0, done.stderr
    return path


def bag_of(folder: Path, plugin: StoragePlugin) -> Path:
    path = folder / "drive"
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        talk = writer.add_connection("/talk", "std_msgs/msg/String", typestore=get_typestore(Stores.ROS2_HUMBLE))
        for ms, size in SENT:
            writer.write(talk, 1_700_000_000_000_000_000 + ms * 1_000_000, bytes(size))
    return path


BAGS: dict[str, Callable[[Path], Path]] = {
    "rosbag": rosbag_of_ros1,
    "mcap": lambda folder: bag_of(folder, StoragePlugin.MCAP),
}


@pytest.mark.parametrize("recorded", BAGS)
def test_two_commands_turn_a_bag_into_a_report(bench: Bench, tmp_path: Path, recorded: str) -> None:
    bag = BAGS[recorded](tmp_path)
    suite = str(tmp_path / "robot.toml")
    made = bench.run("workload", str(bag), "-o", suite)
    assert made.code == 0, made.err
    ended = bench.run("run", suite, "--adapter", "udp", "--trials", "1", "--duration", "0.35s", "--scale", "1,2")
    assert ended.code == 0, ended.err
    assert (ended.folder / "report.html").exists()
    trials = [json.loads(line) for line in (ended.folder / "trials.jsonl").read_text(encoding="utf-8").splitlines()]
    plan = json.loads((ended.folder / "run.json").read_text(encoding="utf-8"))["plan"]
    measured = [each for each in trials if plan["cells"][each["cell"]]["transport"] == "udp"]
    assert measured
    for each in measured:
        scale = plan["cells"][each["cell"]].get("scale", 1.0)
        (sent,) = each["publishers"]
        due = [lap * 120 + ms for lap in range(8) for ms, _ in SENT if lap * 120 + ms < 350 * scale]
        assert sent["scheduled"] == len(due), "the bag is repeated, and twice as often at twice the rates"
        sizes = [size for _, size in SENT] * 8
        assert sent["sent_bytes"] == sum(sizes[: sent["sent"]])
        file = next(each for each in each["files"] if each["role"] == "publisher")
        records = np.load(ended.folder / file["path"])
        instants_ms = (records["begin_ns"].astype(float) - records["late_ns"]) / 1e6
        assert instants_ms == pytest.approx([at / scale for at in due[: len(records)]], abs=1e-3)
        assert each["counts"]["damaged"] == 0


def test_two_commands_turn_a_topology_into_figures(bench: Bench, tmp_path: Path) -> None:
    nodes = [
        {"node_name": "a", "publishers": [{"topic_name": "t", "msg_type": "stamped10kb", "period_ms": 10}]},
        {"node_name": "b", "subscribers": [{"topic_name": "t", "msg_type": "stamped10kb"}]},
    ]
    (tmp_path / "small.json").write_text(json.dumps({"nodes": nodes}), encoding="utf-8")
    suite = str(tmp_path / "small.toml")
    written = bench.run("workload", str(tmp_path / "small.json"), "-o", suite)
    assert written.code == 0, written.err
    assert f"middlemark run {suite}" in written.out
    short = ("--adapter", "udp", "--duration", "0.3s", "--trials", "1", "--format", "json", "--quiet")
    ended = bench.run("run", suite, *short)
    assert ended.code == 0, ended.err
    [edge] = ended.document["cells"][0]["workload"]["topics"]
    assert (edge["expected_hz"], edge["sent"], edge["lost"]) == (100, 30, 0)


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.slow if each == "amr" else pytest.mark.full) for each in ROBOTS]
)
def test_each_included_robot_can_be_measured(bench: Bench, name: str) -> None:
    short = ["--duration", "0.5s", "--trials", "1", "--adapter", "shm", "--transport", "shm", "--copies", "1"]
    ended = bench.run("run", name, *short, "--format", "json", "--quiet")
    assert ended.code == 0, ended.err
    [cell] = ended.document["cells"]
    assert cell["failed"] is None
    assert all(edge["received"] for edge in cell["workload"]["topics"])


def test_compare_judges_one_edge_of_a_robot(bench: Bench, robot: str) -> None:
    ended = bench.run("run", robot, "--adapter", "udp,uds", "--duration", "0.2s", "--trials", "2", "--scale", "1")
    assert ended.code == 0, ended.err
    run = str(ended.folder)

    def judged(*options: str) -> list[float]:
        compared = bench.run("compare", run, "--by", "adapter", "--metric", "p50", "--format", "json", *options)
        assert compared.code == 0, compared.err
        return [each[side] for each in compared.document["comparisons"] for side in ("a_median", "b_median")]

    assert judged("--edge", "image → recorder") != judged("--edge", "found")
    compared = bench.run("compare", run, "--by", "adapter", "--edge", "found")
    assert compared.out.splitlines()[0] == "Edge found → planner"
    assert not bench.run("compare", run, "--by", "adapter").out.startswith("Edge")
    compared = bench.run("compare", run, "--by", "adapter", "--edge", "image")
    assert compared.code == 2
    assert "image matches several edges; there are image → detector, image → recorder" in compared.err
    compared = bench.run("compare", run, "--by", "adapter", "--edge", "imago")
    assert compared.code == 2
    edges = "image → detector, image → recorder, found → planner, plan/request"
    assert f"there is no edge imago; there are {edges}" in compared.err


def test_an_edge_of_a_slow_topic_has_its_rate(bench: Bench, robot: str) -> None:
    ended = bench.run("run", robot, "--adapter", "udp", "--duration", "0.3s", "--trials", "1", "--format", "json")
    assert ended.code == 0, ended.err
    (cell,) = ended.document["cells"]
    slow = next(each for each in cell["workload"]["topics"] if each["name"] == "plan/request")
    assert slow["received"] <= 6
    assert slow["received_hz"] <= 1.1 * slow["expected_hz"]
