"""``middlemark workload``: makes a suite with a workload from a topology, a bag or a running ROS 2 graph."""

import importlib
import os
import sys
from pathlib import Path
from time import monotonic_ns
from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.problems import MeasureError, Problem, RequestError

if TYPE_CHECKING:
    from middlemark.workloads.ros2 import Ros2


@click.group(name="workload")
def command() -> None:
    """Make a workload (a suite with a graph of nodes) from a topology, a recorded bag or a running ROS 2 graph."""


@command.command(name="from-irobot")
@click.argument("topology", metavar="TOPOLOGY")
@click.option("-o", "--out", metavar="FILE", help="The suite that is written (default: TOPOLOGY.toml here; -: stdout).")
def from_irobot(topology: str, out: str | None) -> int:
    """Read a topology file of iRobot's ros2-performance (JSON)."""
    from middlemark.suite.read import suite_name
    from middlemark.workloads.irobot import read
    from middlemark.workloads.written import toml

    path = Path(topology)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise RequestError([Problem(topology, f"cannot be read: {error.strerror or error}")]) from None
    found = read(text, suite_name(path.stem), topology)
    return _write(toml(found.workload, f"The graph of {path.name}", found.remarks), out or f"{path.stem}.toml")


@command.command(name="from-bag")
@click.argument("bag", metavar="FILE|FOLDER")
@click.option("-o", "--out", metavar="FILE", help="The suite that is written (default: BAG.toml here; -: stdout).")
def from_bag(bag: str, out: str | None) -> int:
    """Read a recorded bag of ROS 1 or rosbag2 (sqlite3 or MCAP, also compressed).

    The sizes and times of its messages are written beside the suite, as Parquet.
    """
    from middlemark.suite.read import suite_name
    from middlemark.workloads.bag import read
    from middlemark.workloads.written import toml

    path = Path(bag)
    if not path.exists():
        raise RequestError([Problem(bag, "there is no such file or folder")])
    stem = path.resolve().stem
    out = out or f"{stem}.toml"
    sequence = None if out == "-" else Path(out).with_suffix(".parquet")
    found = read(path, suite_name(stem), sequence)
    text = toml(
        found.workload,
        f"The topics of {path.resolve().name}",
        found.remarks,
        found.comments,
        None if sequence is None else sequence.name,
    )
    return _write(text, out)


@command.command(name="from-ros2")
@click.option(
    "--seconds", type=click.FloatRange(0.1, 86_400), default=5.0, show_default=True, help="How long to watch the graph."
)
@click.option("-o", "--out", metavar="FILE", default="robot.toml", show_default=True, help="The suite; -: stdout.")
def from_ros2(seconds: float, out: str) -> int:
    """Watch the ROS 2 graph that runs here, through rclpy."""
    from middlemark.suite.read import suite_name
    from middlemark.workloads.ros2 import watch
    from middlemark.workloads.written import toml

    name = suite_name(Path(out).stem) if out != "-" else "robot"
    found = watch(_ros2(), name, f"middlemark_{os.getpid()}", seconds, monotonic_ns)
    if found is None:
        raise MeasureError(
            f"in {seconds:g} s no message was seen that one node of ROS 2 published and another subscribes to",
            "is the robot running with this shell's ROS_DOMAIN_ID and RMW_IMPLEMENTATION? --seconds 60 watches longer",
        )
    return _write(toml(found.workload, "A running ROS 2 graph", found.remarks, found.comments), out)


def _ros2() -> "Ros2":
    from middlemark.workloads.ros2 import Ros2

    try:
        rclpy, qos = importlib.import_module("rclpy"), importlib.import_module("rclpy.qos")
        types = importlib.import_module("rosidl_runtime_py.utilities")
    except ImportError as error:
        version = ".".join(map(str, sys.version_info[:2]))
        raise MeasureError(
            f"rclpy cannot be imported: {error}",
            f"source a ROS 2 installation first (/opt/ros/…/setup.bash), one for the same Python: {version} here",
        ) from None
    return Ros2(rclpy, qos, types.get_message)


def _write(text: str, out: str) -> int:
    if out == "-":
        click.echo(text, nl=False)
        return exits.OK
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RequestError([Problem("--out", f"{out}: {error.strerror or error}")]) from None
    shown = out if out.endswith(".toml") or "/" in out else f"./{out}"
    click.echo(f"{out}: written; middlemark run {shown}")
    return exits.OK
