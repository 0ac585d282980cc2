"""Topologies and metadata of bags as they are pasted into bug reports. Their true rates and sizes are known."""

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from imports_cases import FIXTURES

from middlemark.commands.workload import command
from middlemark.model.workload import Workload
from middlemark.problems import RequestError
from middlemark.suite.workload import read_workload
from middlemark.workloads.irobot import Topology, read, read_together

PASTED = FIXTURES / "pasted"


def topology(name: str) -> Topology:
    return read((PASTED / name).read_bytes(), "robot", name)


def deliveries_hz(workload: Workload, name: str) -> float:
    """Return the messages per second that arrive at all subscribers of a topic, from all its publishers."""
    return sum(
        (each.rate_hz or 0) * len(each.to)
        for each in workload.topics
        if each.name == name or each.name.startswith(f"{name}/")
    )


def refusal(name: str) -> str:
    with pytest.raises(RequestError) as refused:
        topology(name)
    return str(refused.value.problems[0])


def test_a_node_with_a_number_is_that_many_nodes() -> None:
    found = topology("irobot-number-and-services.json")
    topics = {each.name: each for each in found.workload.topics}
    assert topics["pose"].to == ("planner", "follower_1", "follower_2", "follower_3", "follower_4")
    assert (topics["pose"].size, deliveries_hz(found.workload, "pose")) == (36, 250)
    assert {each.source for name, each in topics.items() if name.startswith("joint")} == {"arm_1", "arm_2"}
    assert (topics["joint"].size, deliveries_hz(found.workload, "joint")) == (68, 100)
    assert {topics[each].deadline_s for each in ("pose", "joint")} == {0.02}
    assert "map" not in topics
    assert any("map: left out: no other node subscribes" in each for each in found.remarks)


def test_the_size_of_a_service_is_that_of_its_type() -> None:
    found = topology("irobot-number-and-services.json")
    topics = {each.name: each for each in found.workload.topics}
    request, reply = topics["goal/operator/request"], topics["goal/operator/reply"]
    assert (request.size, request.rate_hz, reply.size) == (30, 25, 30)
    assert not any("assumed" in each for each in found.remarks)


def test_default_qos_has_no_remark() -> None:
    remarks = topology("irobot-number-and-services.json").remarks
    assert not any("default" in each or "conventions" in each for each in remarks)


def test_a_topology_of_actions_is_refused_with_their_rates() -> None:
    text = refusal("irobot-actions-only.json")
    assert "2 actions (approach, charge) with 42 goals/s (40 and 2)" in text
    assert "nobody" not in text


def test_a_topology_of_subscribers_is_refused_with_their_topics() -> None:
    text = refusal("irobot-subscribers-only.json")
    assert "4 topics (oder, elbe, saale, spree) have 5 subscriptions and no publisher" in text
    assert "beside another topology" in text


def test_topologies_that_run_beside_each_other_are_joined(tmp_path: Path) -> None:
    river = {"topic_name": "oder", "msg_type": "stamped9_float32", "freq_hz": 10}
    source = tmp_path / "source.json"
    source.write_text(json.dumps({"nodes": [{"node_name": "spring", "publishers": [river], "executor_id": 3}]}))
    other = PASTED / "irobot-subscribers-only.json"
    found = read_together([(each.read_bytes(), each.name) for each in (source, other)], "rivers")
    (topic,) = found.workload.topics
    assert (topic.source, topic.to, topic.rate_hz) == ("spring", ("watcher",), 10)
    assert any("executor_id is left out, because no factor has it: spring" in each for each in found.remarks)
    written = CliRunner().invoke(command, [str(source), str(other), "-o", "-"], standalone_mode=False)
    assert 'from = "spring"' in written.output


@pytest.mark.parametrize("number", [0, -1, "two", 1_000_000, True, 1.5])
def test_an_impossible_number_of_nodes_is_refused(number: object) -> None:
    node = {"node_name": "arm", "number": number}
    with pytest.raises(RequestError, match="number"):
        read(json.dumps({"nodes": [node]}), "robot", "robot.json")


def written_from(path: Path) -> str:
    result = CliRunner().invoke(command, [str(path), "-o", "-"], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.output


@pytest.mark.parametrize("as_folder", [False, True], ids=["file", "folder"])
def test_the_metadata_of_a_missing_bag_makes_a_suite_without_sizes(tmp_path: Path, as_folder: bool) -> None:
    path = PASTED / "rosbag2-metadata-only.yaml"
    if as_folder:
        (tmp_path / "yard").mkdir()
        (tmp_path / "yard" / "metadata.yaml").write_bytes(path.read_bytes())
        path = tmp_path / "yard"
    text = written_from(path)
    topics = {each["name"]: each for each in tomllib.loads(text)["workload"]["topic"]}
    points, imu = topics["/front/lidar/points"], topics["/front/imu/data"]
    assert (points["rate"], imu["rate"]) == (pytest.approx(9.763, abs=1e-3), pytest.approx(39.037, abs=1e-3))
    assert (points["reliability"], points["depth"], points["type"]) == ("best-effort", 5, "sensor_msgs/msg/PointCloud2")
    assert not {"size", "durability"} & (points.keys() | imu.keys())
    assert "reliability" not in imu, "reliable is the default"
    assert "depth" not in imu, "a depth of 0 with an unknown history is no depth"
    assert "history and depth are unknown" in text
    assert "yard_0.db3 is missing" in text
    assert "1,823 of the 4,812 messages" in text
    assert "reindex" not in text
    _, problems = read_workload(tomllib.loads(text)["workload"], "yard", "yard.toml", text)
    assert all("size" in str(each) for each in problems)
    assert len(problems) == 2
    out = tmp_path / "suite.toml"
    told = CliRunner().invoke(command, [str(path), "-o", str(out)], standalone_mode=False)
    assert f"written; fill in the sizes, then measure it: middlemark run {out}" in told.output


@pytest.mark.parametrize("part", [0.3, 0.5, 0.8, 0.97])
def test_metadata_that_is_cut_off_anywhere_gives_its_complete_topics(tmp_path: Path, part: float) -> None:
    whole = (PASTED / "rosbag2-metadata-only.yaml").read_bytes()
    path = tmp_path / "metadata.yaml"
    path.write_bytes(whole[: int(len(whole) * part)])
    result = CliRunner().invoke(command, [str(path), "-o", "-"], standalone_mode=False)
    assert result.exception is None or isinstance(result.exception, RequestError)
    assert ("/front/lidar/points" in result.output) == (result.exception is None)
