"""Check for running daemons of middlewares."""

from typing import NamedTuple

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root


class Daemon(NamedTuple):
    """A daemon: its description, and the adapters that use it or start one of their own."""

    what: str
    adapters: tuple[str, ...]


ROS2_LIBRARIES = ("rclcpp", "rcl", "rclpy")
"""The adapters of ROS 2's own libraries."""
KNOWN = {
    "iox-roudi": Daemon("RouDi of iceoryx", ("iceoryx", "cyclonedds", "ros2-wire", *ROS2_LIBRARIES)),
    "rosmaster": Daemon("the master of ROS 1", ("ros1",)),
    "roscore": Daemon("the master of ROS 1", ("ros1",)),
    "ros2-daemon": Daemon("the daemon of ros2cli, a participant of its domain", (*ROS2_LIBRARIES, "ros2-wire")),
    "mosquitto": Daemon("a broker of MQTT", ("mqtt",)),
    "zenohd": Daemon("a router of zenoh", ("zenoh", "ros2-zenoh", *ROS2_LIBRARIES)),
    "rmw_zenohd": Daemon("a router of zenoh", ("zenoh", "ros2-zenoh", *ROS2_LIBRARIES)),
    "fast-discovery-": Daemon("a discovery server of Fast DDS", ("fastdds", *ROS2_LIBRARIES)),
    "MicroXRCEAgent": Daemon("the agent of micro-ROS, a participant of its domain", ("fastdds", *ROS2_LIBRARIES)),
    "yarpserver": Daemon("the name server of YARP", ("yarp",)),
    "yarprun": Daemon("the starter of YARP", ("yarp",)),
    "ecal_mon_gui": Daemon("a monitor of eCAL", ("ecal",)),
    "ecal_rec": Daemon("a recorder of eCAL", ("ecal",)),
}
"""Process name, cut off as the kernel does → daemon."""


def _read(root: Root) -> tuple[tuple[str, str], ...]:
    return tuple((pid, name) for pid, name in root.processes() if name in KNOWN)


def _sees(running: tuple[tuple[str, str], ...], needs: Needs) -> Seen | None:
    found = [
        (pid, KNOWN[name])
        for pid, name in running
        if not needs.adapters or set(KNOWN[name].adapters) & set(needs.adapters)
    ]
    if not found:
        return None
    roudi = any(each.what.startswith("RouDi") for _, each in found)
    text = ", ".join(f"{each.what} (process {pid})" for pid, each in found)
    command = f"kill {' '.join(pid for pid, _ in found)}"
    return Seen("limits" if roudi else "note", text, command=command)


CHECK = Check(
    name="daemons",
    looks="processes: " + ", ".join(f"`{name}`" for name in KNOWN),
    why="a second RouDi is refused; other daemons take part in discovery, or answer instead of the trial's own daemon",
    rows="the middleware that the daemon belongs to",
    read=_read,
    sees=_sees,
    persist="disable the unit that starts the daemon: systemctl disable …",
    risk="programs that use the daemon stop working",
)
