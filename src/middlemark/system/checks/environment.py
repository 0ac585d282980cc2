"""Check for environment variables that change the behaviour of a middleware."""

from collections.abc import Mapping
from typing import NamedTuple

from middlemark.system.check import Check, Seen, Severity
from middlemark.system.checks.daemons import ROS2_LIBRARIES
from middlemark.system.needs import Needs
from middlemark.system.root import Root

MOST_SHOWN = 60


class Variable(NamedTuple):
    """The effect of the variables with a prefix, and the adapters that read them (empty: any adapter)."""

    severity: Severity
    adapters: tuple[str, ...] = ()


_ROS = ROS2_LIBRARIES
BEGINNINGS: Mapping[str, Variable] = {
    "LD_PRELOAD": Variable("falsifies"),
    "RMW_IMPLEMENTATION": Variable("falsifies", _ROS),
    "ROS_DISABLE_LOANED_MESSAGES": Variable("falsifies", _ROS),
    "CYCLONEDDS_": Variable("falsifies", _ROS),
    "FASTRTPS_": Variable("falsifies", _ROS),
    "FASTDDS_": Variable("falsifies", _ROS),
    "RMW_": Variable("falsifies", _ROS),
    "ROS_LOCALHOST_ONLY": Variable("note", _ROS),
    "ROS_AUTOMATIC_DISCOVERY_RANGE": Variable("note", _ROS),
    "ROS_STATIC_PEERS": Variable("note", _ROS),
    "ROS_DISCOVERY_SERVER": Variable("falsifies", _ROS),
    "ROS_DOMAIN_ID": Variable("note", _ROS),
    "ZENOH_": Variable("falsifies", ("zenoh", "ros2-zenoh", *_ROS)),
    "IOX": Variable("falsifies", ("iceoryx", "iceoryx2")),
    "LCM_": Variable("note", ("lcm",)),
    "YARP_": Variable("note", ("yarp",)),
    "ECAL_": Variable("falsifies", ("ecal",)),
}
"""Prefix → variable. The first matching prefix is used, so a longer prefix comes before a shorter one."""
ROS_SETUP = ("ROS_DISTRO", "ROS_VERSION", "ROS_PYTHON_VERSION", "ROS_ROOT", "ROS_PACKAGE_PATH", "ROS_ETC_DIR")
CHANGES_A_MIDDLEWARE = (
    *("MIDDLEMARK_", "ROS_", *BEGINNINGS),
    *("GRPC_", "LD_LIBRARY_PATH", "AMENT_PREFIX_PATH", "PYTHONPATH"),
)
"""The prefixes of the variables that a bug report should contain."""


def _read(root: Root) -> dict[str, str] | None:
    raw = root.bytes("proc/self/environ")
    if raw is None:
        return None
    parts = (each.decode(errors="replace").partition("=") for each in raw.split(b"\0"))
    return {name: value for name, _, value in parts if name.startswith(CHANGES_A_MIDDLEWARE) and value}


def _matters(name: str, needs: Needs) -> Severity | None:
    if name in ROS_SETUP:
        return None
    variable = next((each for beginning, each in BEGINNINGS.items() if name.startswith(beginning)), None)
    if variable is None or (needs.adapters and variable.adapters and not set(variable.adapters) & set(needs.adapters)):
        return None
    return variable.severity


def _sees(variables: dict[str, str], needs: Needs) -> Seen | None:
    found = {name: severity for name in sorted(variables) if (severity := _matters(name, needs))}
    if not found:
        return None
    shown = [f"{name}={variables[name][:MOST_SHOWN]}" for name in found]
    command = f"unset {' '.join(found)}"
    return Seen("falsifies" if "falsifies" in found.values() else "note", ", ".join(shown), command=command)


CHECK = Check(
    name="environment",
    looks=f"variables that begin with {', '.join(f'`{each}`' for each in BEGINNINGS)}",
    why="such variables choose the middleware, transports or domain; readers of the figures do not see the variables",
    rows="middlewares that read these variables: ROS 2's, and your own programs; other adapters ignore most of them",
    read=_read,
    sees=_sees,
    persist="remove the variables from ~/.bashrc, or from the unit or image that sets them",
    risk="other programs started from this shell also lose the variables",
)
