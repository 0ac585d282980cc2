"""``middlemark workload``: a workload from what there is already, as a suite to be edited and run."""

from pathlib import Path

import click

from middlemark import exits
from middlemark.problems import Problem, RequestError


@click.group(name="workload")
def command() -> None:
    """Make a workload (a suite with a graph of nodes) from what there is."""


@command.command(name="from-irobot")
@click.argument("topology", metavar="TOPOLOGY")
@click.option("-o", "--out", metavar="FILE", help="The suite that is written (default: TOPOLOGY.toml here; -: stdout).")
def from_irobot(topology: str, out: str | None) -> int:
    """Read a topology of iRobot's ros2-performance (JSON)."""
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
    """Read a recorded bag: ROS 1's, or rosbag2's (sqlite3 or MCAP, also compressed)."""
    from middlemark.suite.read import suite_name
    from middlemark.workloads.bag import read
    from middlemark.workloads.written import toml

    path = Path(bag)
    if not path.exists():
        raise RequestError([Problem(bag, "there is no such file or folder")])
    stem = path.resolve().stem
    found = read(path, suite_name(stem))
    text = toml(found.workload, f"The topics of {path.resolve().name}", found.remarks, found.comments)
    return _write(text, out or f"{stem}.toml")


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
