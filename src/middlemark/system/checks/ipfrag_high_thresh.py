"""The memory for datagrams of which some fragments are still missing."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.model.units import KIB, MIB
from middlemark.system.check import Check, Remedy, Seen, too_low
from middlemark.system.interfaces import NetworkDevice, interfaces, used
from middlemark.system.needs import Needs, largest
from middlemark.system.root import Root

NAME = "net.ipv4.ipfrag_high_thresh"


class Fragments(NamedTuple):
    """A limit of reassembly, and what packets come by."""

    value: int
    interfaces: tuple[NetworkDevice, ...]


def read(root: Root, name: str) -> Fragments | None:
    """Read that sysctl, of IPv4's."""
    value = root.number(f"proc/sys/net/ipv4/{name}")
    return None if value is None else Fragments(value, interfaces(root))


def _sees(found: Fragments, needs: Needs) -> Seen | None:
    rows = needs.over("udp", 16 * KIB)
    if not needs.general and not any(each.fragments for each in used(found.interfaces, needs)):
        return None
    return too_low(NAME, found.value, 4 * largest(rows), rows)


CHECK = Check(
    name="ipfrag_high_thresh",
    family="sockets",
    looks=f"`{NAME}`, and whether an interface's MTU makes fragments",
    why="a datagram larger than the MTU waits here for its last fragment; when this is full the kernel drops all that "
    "wait, and a message of 1 MiB needs every one",
    rows="udp over a network, from 16 KiB on",
    read=lambda root: read(root, "ipfrag_high_thresh"),
    sees=_sees,
    remedy=Remedy(risk="so much memory may be held by whoever sends first fragments only"),
    change=lambda _, needs: (Setting(NAME, str(max(128 * MIB, 8 * largest(needs.over("udp"))))),),
)
