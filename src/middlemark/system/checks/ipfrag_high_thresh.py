"""Check how much memory incomplete datagrams may use."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.model.units import KIB, MIB
from middlemark.system.check import Check, Seen, too_low
from middlemark.system.interfaces import NetworkDevice, interfaces, used
from middlemark.system.needs import Needs, largest
from middlemark.system.root import Root

NAME = "net.ipv4.ipfrag_high_thresh"


class Fragments(NamedTuple):
    """A limit of the reassembly of datagrams, and the interfaces in use."""

    value: int
    interfaces: tuple[NetworkDevice, ...]


def read(root: Root, name: str) -> Fragments | None:
    """Read this sysctl of IPv4, and the interfaces. None: the kernel has no such sysctl."""
    value = root.number(f"proc/sys/net/ipv4/{name}")
    return None if value is None else Fragments(value, interfaces(root))


def _sees(found: Fragments, needs: Needs) -> Seen | None:
    rows = needs.over("udp", 16 * KIB)
    if not needs.general and not any(each.fragments for each in used(found.interfaces, needs)):
        return None
    return too_low(NAME, found.value, 4 * largest(rows), rows)


CHECK = Check(
    name="ipfrag_high_thresh",
    looks=f"`{NAME}`, and whether an interface's MTU requires fragments",
    why="a datagram larger than the MTU waits in this memory for its last fragment; if the memory is full, the kernel "
    "drops all waiting fragments, and a message of 1 MiB needs every fragment",
    rows="udp over a network, from 16 KiB on",
    read=lambda root: read(root, "ipfrag_high_thresh"),
    sees=_sees,
    risk="a host that sends only first fragments can occupy this amount of memory",
    change=lambda _, needs: (Setting(NAME, str(max(128 * MIB, 8 * largest(needs.over("udp"))))),),
)
