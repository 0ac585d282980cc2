"""A running ROS 2 graph becomes a suite: names, types, QoS, publishers, subscribers, rates and sizes."""

import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result

from middlemark.commands import workload as verb
from middlemark.model.workload import Topic
from middlemark.problems import MeasureError
from middlemark.suite.workload import read_workload

NS = 1_000_000_000
PACKAGES = ("geometry_msgs", "nav_msgs", "sensor_msgs", "std_msgs", "tf2_msgs")
FAKE = Path(__file__).parent / "fake_ros2"


@pytest.fixture
def ros2(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Put the fake ROS 2 on Python's path, as ``source setup.bash`` does."""
    monkeypatch.syspath_prepend(str(FAKE))
    rclpy: Any = importlib.import_module("rclpy")
    monkeypatch.setattr(verb, "monotonic_ns", lambda: rclpy.graph.now_ns)
    for package in PACKAGES:
        messages: Any = ModuleType(f"{package}.msg")
        messages.__getattr__ = lambda name: type(name, (), {})
        monkeypatch.setitem(sys.modules, package, ModuleType(package))
        monkeypatch.setitem(sys.modules, f"{package}.msg", messages)
    yield rclpy
    for name in [each for each in sys.modules if each.split(".")[0] == "rclpy"]:
        del sys.modules[name]


def end(ros2: Any, node: str, kind: str, **qos: Any) -> Any:
    namespace, _, name = node.rpartition("/")
    levels = {"depth": 10, **qos}
    return ros2.TopicEndpointInfo(
        node_name=name, node_namespace=namespace or "/", topic_type=kind, qos_profile=ros2.qos.QoSProfile(**levels)
    )


def topic(
    ros2: Any,
    name: str,
    kind: str,
    publishers: list[str],
    subscribers: list[str],
    sent: tuple[float, list[int]] = (10.0, [100]),
    **qos: Any,
) -> None:
    """Add a topic with a minute of messages at this rate. Their sizes repeat in the given order."""
    rate_hz, sizes = sent
    ros2.graph.kinds[name] = [kind]
    ros2.graph.publishers[name] = [end(ros2, each, kind, **qos) for each in publishers]
    ros2.graph.subscribers[name] = [end(ros2, each, kind) for each in subscribers]
    ros2.graph.messages[name] = [
        (round(at * NS / rate_hz), bytes(sizes[at % len(sizes)])) for at in range(round(60 * rate_hz))
    ]


def asked(*words: str) -> Result:
    return CliRunner().invoke(verb.command, ["--ros2", *words], standalone_mode=False)


def seen(*words: str) -> tuple[str, dict[str, Topic]]:
    """Return the suite's text, and its topics as read from it."""
    result = asked("-o", "-", *words)
    assert result.exception is None, result.exception
    found, problems = read_workload(tomllib.loads(result.output)["workload"], "robot", "robot.toml", result.output)
    assert found is not None, problems
    return result.output, {each.name: each for each in found.topics}


def test_topics_have_their_nodes_types_qos_rates_and_mean_sizes(ros2: Any) -> None:
    best = ros2.qos.ReliabilityPolicy.BEST_EFFORT
    image = ("/camera/image", "sensor_msgs/msg/Image", ["/front/camera"], ["/detector", "/recorder"])
    topic(ros2, *image, sent=(30.0, [90_000, 110_000]), reliability=best, depth=5)
    topic(ros2, "/cmd", "geometry_msgs/msg/Twist", ["/planner"], ["/base"], history=ros2.qos.HistoryPolicy.KEEP_ALL)
    text, topics = seen("--seconds", "10")
    found = topics["/camera/image"]
    assert (found.source, found.to) == ("/front/camera", ("/detector", "/recorder"))
    assert (found.type, found.reliability, found.depth) == ("image", "best-effort", 5)
    assert found.size == pytest.approx(100_000 - 60, rel=1e-2)
    assert found.rate_hz == pytest.approx(30.0, rel=1e-3)
    assert found.deadline_s == pytest.approx(1 / 30, rel=1e-2)
    assert (topics["/cmd"].reliability, topics["/cmd"].depth) == ("reliable", None)
    assert re.search(r"# (299|300|301) messages of 90,000 to 110,000 bytes", text)
    assert re.search(r"Seen in 10 s of a running ROS 2: (399|400|401) messages of 2 topics\.", text)
    assert not ros2.graph.up
    assert ros2.graph.nodes == []


def test_a_topic_with_several_publishers_becomes_one_topic_each(ros2: Any) -> None:
    topic(ros2, "/tf", "tf2_msgs/msg/TFMessage", ["/odom", "/slam"], ["/slam", "/view"], sent=(100.0, [80]))
    text, topics = seen()
    assert {name: (each.source, each.to) for name, each in topics.items()} == {
        "/tf/odom": ("/odom", ("/slam", "/view")),
        "/tf/slam": ("/slam", ("/view",)),
    }
    assert topics["/tf/odom"].rate_hz == pytest.approx(50.0, rel=1e-3)
    assert "2 nodes publish /tf; all are assumed to have the same rate" in text


def test_the_rate_of_a_latched_topic_is_that_of_its_publisher_and_not_of_this_watch(ros2: Any) -> None:
    kept = {"durability": ros2.qos.DurabilityPolicy.TRANSIENT_LOCAL, "depth": 1}
    topic(ros2, "/tf_static", "tf2_msgs/msg/TFMessage", ["/robot"], ["/view"], **kept)
    ros2.graph.messages["/tf_static"] = [(-9 * NS, bytes(200)), (-5 * NS, bytes(400))]
    text, topics = seen("--seconds", "4")
    assert (topics["/tf_static"].size, topics["/tf_static"].rate_hz) == (300, 0.25)
    assert (topics["/tf_static"].durability, topics["/tf_static"].depth) == ("transient-local", 1)
    assert "transient-local needs" not in text


def test_a_latched_topic_that_was_published_once_gets_no_rate(ros2: Any) -> None:
    kept = {"durability": ros2.qos.DurabilityPolicy.TRANSIENT_LOCAL, "depth": 1}
    topic(ros2, "/cmd", "geometry_msgs/msg/Twist", ["/planner"], ["/base"])
    topic(ros2, "/map", "nav_msgs/msg/OccupancyGrid", ["/slam"], ["/planner"], **kept)
    ros2.graph.messages["/map"] = [(-5 * NS, bytes(4000))]
    text, topics = seen()
    assert [*topics] == ["/cmd"]
    assert "Left out, because they are latched and only one message arrived, so their rate is unknown: /map." in text


def test_a_topic_that_lost_messages_on_the_way_gets_the_rate_at_which_they_were_sent(ros2: Any) -> None:
    best = ros2.qos.ReliabilityPolicy.BEST_EFFORT
    image = ("/image", "sensor_msgs/msg/Image", ["/camera"], ["/detector"])
    topic(ros2, *image, sent=(15.0, [900_000]), reliability=best)
    graph = ros2.graph
    graph.messages["/image"] = graph.messages["/image"][::2]  # every second message is lost
    text, topics = seen("--seconds", "10")
    assert topics["/image"].rate_hz == pytest.approx(7.5, rel=1e-3)
    assert "These rates count only messages that arrived, because" in text
    graph.now_ns = 0
    graph.numbers["/image"] = [*range(1, 2 * len(graph.messages["/image"]), 2)]
    text, topics = seen("--seconds", "10")
    assert topics["/image"].rate_hz == pytest.approx(15.0, rel=1e-3)
    assert topics["/image"].deadline_s == pytest.approx(1 / 15, rel=1e-2)
    assert re.search(r"# 7[3-6] more were sent and did not arrive here; the rate includes them", text)
    assert "These rates count only messages that arrived" not in text


def test_the_numbers_of_several_publishers_are_counted_apart(ros2: Any) -> None:
    topic(ros2, "/tf", "tf2_msgs/msg/TFMessage", ["/odom", "/slam"], ["/view"], sent=(100.0, [80]))
    messages = ros2.graph.messages["/tf"]
    ros2.graph.numbers["/tf"] = [1 + index // 2 for index in range(len(messages))]
    text, topics = seen()
    assert "These rates count only messages that arrived" in text
    ros2.graph.now_ns = 0
    ros2.graph.gids["/tf"] = ["ab"[index % 2] for index in range(len(messages))]
    text, topics = seen()
    assert topics["/tf/odom"].rate_hz == pytest.approx(50.0, rel=1e-2)
    assert "These rates count only messages that arrived" not in text
    assert "more were sent" not in text


def test_an_image_becomes_octets_if_its_main_array_is_smaller_than_the_header(ros2: Any) -> None:
    topic(ros2, "/image", "sensor_msgs/msg/Image", ["/camera"], ["/detector"], sent=(10.0, [70]))
    topic(ros2, "/points", "sensor_msgs/msg/PointCloud2", ["/lidar"], ["/slam"], sent=(10.0, [60 + 1600]))
    topic(ros2, "/packed", "sensor_msgs/msg/PointCloud2", ["/lidar"], ["/slam"], sent=(10.0, [60 + 1602]))
    _, topics = seen()
    assert (topics["/image"].type, topics["/image"].size) == ("sensor_msgs/msg/Image", 70)
    assert (topics["/points"].type, topics["/points"].size) == ("point-cloud", 1600)
    assert (topics["/packed"].type, topics["/packed"].size) == ("sensor_msgs/msg/PointCloud2", 1662)


def test_an_unreliable_publisher_is_heard_together_with_a_reliable_one(ros2: Any) -> None:
    topic(ros2, "/scan", "sensor_msgs/msg/LaserScan", ["/a"], ["/slam"])
    best = ros2.qos.ReliabilityPolicy.BEST_EFFORT
    ros2.graph.publishers["/scan"].append(end(ros2, "/b", "sensor_msgs/msg/LaserScan", reliability=best))
    seen()
    kind = ros2.qos.HistoryPolicy.UNKNOWN
    topic(ros2, "/scan", "sensor_msgs/msg/LaserScan", ["/a"], ["/slam"], history=kind, depth=0)
    text, topics = seen()
    assert topics["/scan"].depth == 10
    assert "# this middleware does not report its history: edit depth" in text


def test_topics_that_cannot_be_carried_are_named_and_so_are_services(ros2: Any) -> None:
    topic(ros2, "/cmd", "geometry_msgs/msg/Twist", ["/planner"], ["/base"])
    topic(ros2, "/odd", "unheard_of/msg/Odd", ["/planner"], ["/base"])
    topic(ros2, "/alone", "std_msgs/msg/Bool", ["/planner"], [])
    topic(ros2, "/wanted", "std_msgs/msg/Bool", [], ["/base"])
    topic(ros2, "/quiet", "std_msgs/msg/Bool", ["/planner"], ["/base"], sent=(0.001, [1]))
    topic(ros2, "/self", "std_msgs/msg/Bool", ["/planner"], ["/planner"])
    topic(ros2, "/rosout", "rcl_interfaces/msg/Log", ["/planner"], ["/base"])
    ros2.graph.services = [
        ("/plan", ["nav_msgs/srv/GetPlan"]),
        ("/planner/get_parameters", ["rcl_interfaces/srv/GetParameters"]),
    ]
    text, topics = seen()
    assert [*topics] == ["/cmd"]
    for words in (
        "Left out, because their types are not installed here: /odd.",
        "Left out, because no other node subscribes to them: /alone, /self.",
        "Left out, because no node publishes them: /wanted.",
        "Left out, because no message arrived: /quiet.",
        "write a [[workload.service]] for each service that matters: /plan (nav_msgs/srv/GetPlan).",
    ):
        assert words in text
    assert "get_parameters" not in text
    assert "/rosout" not in text


def test_the_written_file_runs_without_edits(ros2: Any, tmp_path: Path) -> None:
    topic(ros2, "/cmd", "geometry_msgs/msg/Twist", ["/planner"], ["/base"])
    out = tmp_path / "robot.toml"
    assert asked("-o", str(out)).exception is None
    from middlemark.suite import load, raw_options

    [suite] = load([str(out)], raw_options())
    assert suite.sweeps[0].workload is not None
    assert suite.name == "robot"


def test_an_empty_graph_is_refused(ros2: Any) -> None:
    refused = asked("--seconds", "1").exception
    assert isinstance(refused, MeasureError)
    assert "in 1 s no message was seen" in str(refused)
    assert "ROS_DOMAIN_ID" in refused.advice
    assert not ros2.graph.up


def test_without_ros_2_the_error_names_the_script_to_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rclpy", None)
    refused = asked().exception
    assert isinstance(refused, MeasureError)
    assert str(refused).startswith("rclpy cannot be imported: ")
    assert refused.advice.startswith("source a ROS 2 installation first (/opt/ros/…/setup.bash), made for Python")
