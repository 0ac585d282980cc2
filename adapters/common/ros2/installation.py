"""The ROS 2 of this process: the wheels whose Python runs it, or the one that is sourced in the shell.

Import before rclpy: rcl reads variables when it is loaded. The headers in this folder have the same rules in C++.
"""

import ctypes
import functools
import os
import re
import sys
from pathlib import Path
from typing import Any

from middlemark_kit import AdapterError, Settings, Transport

PREFIX = Path(sys.prefix)
WHEELS = (PREFIX / "share" / "ament_index").is_dir()
"""This Python is that of an environment with the wheels."""
DISTRIBUTION = PREFIX.name.removeprefix("ros2-") if WHEELS else os.environ.get("ROS_DISTRO", "")
INDEX = "share/ament_index/resource_index/rmw_typesupport"
SEGMENT_BYTES = 512 << 10
"""Fast DDS's default segment."""
RESIDUE = tuple(
    f"/dev/shm/{name}_*" for name in ("fastrtps", "sem.fastrtps", "fastdds", "sem.fastdds", "fast_datasharing")
)
"""The files that a killed process may leave, with any RMW."""
BENEATH = {"libfastdds": "Fast DDS", "libfastrtps": "Fast DDS", "libddsc": "Cyclone DDS", "libzenohc": "zenoh"}
"""The name of a library → the middleware."""

_sourced = os.environ.get("AMENT_PREFIX_PATH", "")
if WHEELS and _sourced not in ("", str(PREFIX)):
    sys.exit(
        f"rclpy: this worker was built from the wheels in {PREFIX}, but another ROS 2 is sourced in this shell "
        f"(AMENT_PREFIX_PATH={_sourced}); use a shell without it, or `./middlemark build rclpy` here, which measures "
        "the sourced ROS 2"
    )
if WHEELS:
    os.environ["AMENT_PREFIX_PATH"] = str(PREFIX)
CHOSEN = os.environ.pop("RMW_IMPLEMENTATION", "")
"""The user's default RMW. rcl ends the process when it is loaded if the variable names an RMW that is not there."""
os.environ.pop("RCL_ASSERT_RMW_ID_MATCHES", None)


def version(package: str) -> str:
    """Return the version in a package's package.xml; empty if there is none."""
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":"):
        path = Path(prefix, "share", package, "package.xml")
        if path.is_file() and (found := re.search("<version>(.*)</version>", path.read_text())):
            return found[1]
    return ""


@functools.cache
def rmws() -> tuple[str, ...]:
    """Return the names of the installed RMWs, the default first."""
    prefixes = [Path(each) for each in os.environ.get("AMENT_PREFIX_PATH", "").split(":")]
    found = {each.name for prefix in prefixes for each in (prefix / INDEX).glob("*")} - {"rmw_implementation"}
    if not found:
        raise AdapterError(
            "rclpy: AMENT_PREFIX_PATH names no RMW: `source /opt/ros/<distribution>/setup.bash` in this shell"
        )
    if CHOSEN and CHOSEN not in found:
        raise AdapterError(
            f"rclpy: RMW_IMPLEMENTATION={CHOSEN}: this ROS 2 does not have that RMW; it has "
            f"{', '.join(sorted(found))}. Unset RMW_IMPLEMENTATION, or install the RMW and source ROS 2 again"
        )
    first = CHOSEN or "rmw_fastrtps_cpp"
    return tuple(sorted(found, key=lambda name: (name != first, name)))


@functools.cache
def beneath(rmw: str) -> str:
    """Load an RMW and return the middleware under it, such as "Fast DDS 3.2.2"; empty: unknown."""
    try:
        ctypes.CDLL(f"lib{rmw}.so")
    except OSError:
        return ""
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if ".so" in line}
    for library in map(Path, sorted(mapped)):
        if title := BENEATH.get(library.name.partition(".so")[0]):
            # A wheel has no links: libx.so.3 is then a copy of libx.so.3.1.4.
            names = [each.name for each in library.parent.glob(f"{library.name}*")]
            return f"{title} {max(names, key=len).partition('.so.')[2]}".strip()
    return ""


def words(rmw: str, *, loaded: bool) -> str:
    """Return an RMW's name and version. ``loaded``: with the middleware under it, which this loads."""
    under = beneath(rmw) if loaded else ""
    return " ".join(filter(None, [rmw, version(rmw), under and f"({under})"]))


def best_effort_carrier(rmw: str, *, loaded: bool) -> str:
    """Return the carrier of best effort over Fast DDS: UDP in 2.9, shared memory since 2.14; others were not tried."""
    found = re.match(r"Fast DDS (\d+)\.(\d+)", beneath(rmw) if loaded else "")
    number = (int(found[1]), int(found[2])) if found else (0, 0)
    return "shared-memory" if number >= (2, 14) else "udp" if number == (2, 9) else "any"


def over_fastdds(settings: Settings) -> bool:
    """Return true if the RMW is one of Fast DDS, whose reliable publishers wait for room in their history."""
    return "fastrtps" in settings.transport and settings.reliability == "reliable"


def transport(rmw: str, *, loaded: bool, types: tuple[Any, ...]) -> Transport:
    """Describe an RMW between two processes of a host. ``loaded``: see ``words``."""
    fast = "fastrtps" in rmw
    return Transport(
        name=rmw,
        carrier="shared-memory" if fast else "tcp" if "zenoh" in rmw else "udp",
        best_effort_carrier=best_effort_carrier(rmw, loaded=loaded) if fast else "",
        segments=("fastrtps_*", "fastdds_*") if fast else (),
        processes=(2,),
        types=types,
        varying_sizes=True,
        max_history=None,
        security_why="this adapter makes no SROS2 keystore",
    )


def shared_segment(settings: Settings) -> tuple[int, str]:
    """Return Fast DDS's default segment and its setting, unless the user's profile may have another."""
    profiles = {"FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"} & os.environ.keys()
    if profiles or not over_fastdds(settings):
        return 0, ""
    return SEGMENT_BYTES, "segment_size in the XML profile that FASTRTPS_DEFAULT_PROFILES_FILE names"


def use(settings: Settings) -> None:
    """Select the trial's RMW, and keep its traffic on the host if the interface is the loopback."""
    os.environ["RMW_IMPLEMENTATION"] = settings.transport
    if settings.interface == "lo":
        os.environ.update(ROS_LOCALHOST_ONLY="1", ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")


def notes(settings: Settings, *, calls: bool) -> list[str]:
    """Return the notes of a result. ``calls``: ROS 2's own services exist here."""
    said = [f"the RMW is {words(settings.transport, loaded=True)}"]
    if settings.pattern == "request-reply" and calls:
        said.append("services keep ROS 2's own quality of service: reliable, depth 10")
    return said
