"""``middlemark workload``: makes a suite with a workload from a topology, a bag or a running ROS 2 graph."""

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic_ns
from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.commands.page import argument, option, page
from middlemark.problems import MeasureError, Problem, RequestError
from middlemark.workloads.kinds import kind_of

if TYPE_CHECKING:
    from middlemark.workloads.ros2 import Ros2


@page(
    "workload",
    ("workload drive.bag", "writes drive.toml, and drive.parquet with the sizes and times of the messages"),
    ("workload robot.json arm.json", "joins topologies of iRobot's ros2-performance; one alone works too"),
    ("workload --ros2 --seconds 60", "watches the running ROS 2 graph through rclpy"),
    notes=(
        "The kind of the file is detected from its content: a bag of ROS 1 or of rosbag2 (sqlite3 or MCAP, also "
        "compressed), or a "
        "topology in JSON. `middlemark import` reads the logs of other tools.",
    ),
)
@argument("sources", nargs=-1, metavar="[FILE|FOLDER…]", says="A bag, or topologies that run at the same time.")
@option("--ros2", is_flag=True, group="What is measured", help="Watch the running ROS 2 graph instead.")
@option(
    "--seconds",
    type=click.FloatRange(0.1, 86_400),
    default=5.0,
    metavar="N",
    group="How long",
    help="With --ros2: how long to watch the graph.",
)
@option(
    "-o",
    "--out",
    metavar="FILE",
    group="Output",
    default_text="the source's name with .toml, in this folder; with --ros2 robot.toml",
    help="The suite that is written; - is stdout.",
)
def command(sources: tuple[str, ...], ros2: bool, seconds: float, out: str | None) -> int:
    """Write the suite; return the exit code."""
    several = len(sources) > 1 and all(kind_of(Path(each)) == "topology" for each in sources)
    if ros2 == bool(sources) or (len(sources) > 1 and not several):
        former = " (leave from-bag, from-irobot and from-ros2 out)" if sources[:1] in _FORMER else ""
        raise RequestError([Problem("workload", f"name one bag, or topologies, or give --ros2{former}")])
    if ros2:
        return _from_ros2(seconds, out or "robot.toml")
    if several:
        return _from_topologies([Path(each) for each in sources], out)
    source = sources[0]
    path = Path(source)
    if not path.exists():
        raise RequestError([Problem(source, "there is no such file or folder")])
    kind = kind_of(path)
    if kind is None:
        raise RequestError([Problem(source, f"is neither a bag nor a topology{_other(path)}")])
    return _from_bag(path, out) if kind == "bag" else _from_topologies([path], out)


_FORMER = (("from-bag",), ("from-irobot",), ("from-ros2",))
"""Subcommands of earlier versions."""


def _other(path: Path) -> str:
    """Return the kind of the file and the verb that reads it; empty if the kind is unknown."""
    from middlemark.imports import HEAD_BYTES, find, is_stamps

    if path.is_dir():
        files = [each for each in path.iterdir() if each.is_file()]
        if any(is_stamps(_head(each, 32)) for each in files):
            return f": it is a folder of the probe; middlemark import {path}"
        return f": it is a stored run; middlemark show {path}" if (path / "run.json").exists() else ""
    head = _head(path, HEAD_BYTES)
    if found := find(head):
        return f": it has {found.name}; middlemark import {path}"
    return f": it may be a suite; middlemark run {path}" if path.suffix == ".toml" else ""


def _head(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def _from_topologies(paths: Sequence[Path], out: str | None) -> int:
    from middlemark.suite.read import suite_name
    from middlemark.workloads.irobot import read_together
    from middlemark.workloads.written import toml

    try:
        texts = [(path.read_bytes(), str(path)) for path in paths]
    except OSError as error:
        raise RequestError([Problem(str(error.filename), f"cannot be read: {error.strerror or error}")]) from None
    stem = paths[0].stem
    found = read_together(texts, suite_name(stem))
    names = " and ".join(path.name for path in paths)
    return _write(toml(found.workload, f"The graph of {names}", found.remarks), out or f"{stem}.toml")


def _from_bag(path: Path, out: str | None) -> int:
    from middlemark.suite.read import suite_name
    from middlemark.workloads import bag_metadata
    from middlemark.workloads.bag import read
    from middlemark.workloads.written import toml

    stem = path.resolve().stem
    try:
        metadata = bag_metadata.metadata_alone(path)
    except OSError as error:
        raise RequestError([Problem(str(path), f"cannot be read: {error.strerror or error}")]) from None
    if metadata is not None:
        alone = bag_metadata.read(metadata, suite_name(stem))
        description = f"The topics of {path.resolve().name}"
        text = toml(alone.workload, description, alone.remarks, alone.comments, unsized=alone.unsized)
        return _write(text, out or f"{stem}.toml", "fill in the sizes, then measure it: ")
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


def _from_ros2(seconds: float, out: str) -> int:
    from middlemark.suite.read import suite_name
    from middlemark.workloads.ros2 import watch
    from middlemark.workloads.written import toml

    name = suite_name(Path(out).stem) if out != "-" else "robot"
    found = watch(_ros2(), name, f"middlemark_{os.getpid()}", seconds, monotonic_ns)
    if found is None:
        raise MeasureError(
            f"in {seconds:g} s no message was seen on a topic that one node publishes and another node subscribes to",
            "is the robot running with this shell's ROS_DOMAIN_ID and RMW_IMPLEMENTATION? --seconds 60 watches longer",
        )
    return _write(toml(found.workload, "A running ROS 2 graph", found.remarks, found.comments), out)


def _ros2() -> "Ros2":
    from middlemark.workloads.ros2 import Ros2

    try:
        rclpy, qos = importlib.import_module("rclpy"), importlib.import_module("rclpy.qos")
        serialization = importlib.import_module("rclpy.serialization")
    except ImportError as error:
        version = ".".join(map(str, sys.version_info[:2]))
        raise MeasureError(
            f"rclpy cannot be imported: {error}",
            f"source a ROS 2 installation first (/opt/ros/…/setup.bash), made for Python {version}",
        ) from None
    return Ros2(rclpy, qos, _message_class, serialization.deserialize_message)


def _message_class(kind: str) -> object:
    """Return the class of a type such as ``sensor_msgs/msg/Image``."""
    package, folder, name = kind.split("/")
    return getattr(importlib.import_module(f"{package}.{folder}"), name)


def _write(text: str, out: str, first: str = "to measure it: ") -> int:
    """Write the suite and print the command to measure it.

    ``first``: the words before the command. Return the exit code.
    """
    from middlemark.show.output import say

    if out == "-":
        click.echo(text, nl=False)
        return exits.OK
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RequestError([Problem("--out", f"{out}: {error.strerror or error}")]) from None
    shown = out if out.endswith(".toml") or "/" in out else f"./{out}"
    say(f"{out}: written; {first}middlemark run {shown}")
    return exits.OK
