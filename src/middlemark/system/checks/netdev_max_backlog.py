"""Check how many packets may wait until a processor's network softirq handles them."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen, too_low
from middlemark.system.interfaces import NetworkDevice, interfaces, used
from middlemark.system.needs import Needs, largest
from middlemark.system.root import Root

NAME = "net.core.netdev_max_backlog"
BUDGET = 300
"""The number of packets that one softirq handles by default."""


class Backlog(NamedTuple):
    """The limit, and the interfaces in use."""

    packets: int
    interfaces: tuple[NetworkDevice, ...]


def _read(root: Root) -> Backlog | None:
    packets = root.number("proc/sys/net/core/netdev_max_backlog")
    return None if packets is None else Backlog(packets, interfaces(root))


def _sees(backlog: Backlog, needs: Needs) -> Seen | None:
    rows = needs.over("udp") + needs.over("tcp")
    most = max((each.packets(largest(rows)) for each in used(backlog.interfaces, needs)), default=0)
    return too_low(NAME, backlog.packets, max(most, BUDGET), rows)


CHECK = Check(
    name="netdev_max_backlog",
    looks=f"`{NAME}`, and the interfaces' MTU",
    why="packets of lo and of virtual interfaces wait here; a message with more packets than fit loses some",
    rows="udp and tcp on this machine or between containers, large messages",
    read=_read,
    sees=_sees,
    risk="almost none: on an overloaded machine, packets may wait longer",
    change=lambda _, __: (Setting(NAME, "5000"),),
)
