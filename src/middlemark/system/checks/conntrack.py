"""Check how full the connection table of netfilter is."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

NAME = "net.netfilter.nf_conntrack_max"
FULL = 0.8


class ConnectionTable(NamedTuple):
    """The number of tracked connections, and the largest number that can be tracked."""

    tracked: int
    most: int


def _read(root: Root) -> ConnectionTable | None:
    count = root.number("proc/sys/net/netfilter/nf_conntrack_count")
    most = root.number("proc/sys/net/netfilter/nf_conntrack_max")
    return None if count is None or not most else ConnectionTable(count, most)


def _sees(table: ConnectionTable, needs: Needs) -> Seen | None:
    rows = needs.over("udp") + needs.over("tcp")
    if not rows or table.tracked < FULL * table.most:
        return None
    return Seen("limits", f"netfilter tracks {table.tracked} connections of at most {table.most}", rows)


CHECK = Check(
    name="conntrack",
    looks=f"`net.netfilter.nf_conntrack_count`, compared with `{NAME}`",
    why="when the table is full, the kernel drops packets of connections that are not in the table",
    rows="udp and tcp",
    read=_read,
    sees=_sees,
    risk="300 bytes of kernel memory per connection",
    change=lambda table, _: (Setting(NAME, str(4 * max(table.most, table.tracked))),),
)
