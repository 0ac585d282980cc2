"""Check the largest receive buffer that a socket may request."""

from middlemark.model.setting import Setting
from middlemark.model.units import KIB, MIB, format_size
from middlemark.system.check import Check, Seen, sysctl
from middlemark.system.needs import Needs, largest

NAME = "net.core.rmem_max"
MOST = 64 * MIB


def _sees(most: int, needs: Needs) -> Seen | None:
    rows = [row for row in needs.over("udp", 64 * KIB) if most < 2 * row.size]
    if not rows and most >= 64 * KIB:
        return None
    rows = rows or list(needs.over("udp"))
    text = f"{NAME} is {most} bytes; messages of {format_size(largest(rows))} need {wanted(needs)}"
    return Seen("limits", text, tuple(rows)) if rows else None


def wanted(needs: Needs) -> int:
    """Return the needed buffer in bytes: eight of the largest messages, but at least 1 MiB and at most 64 MiB."""
    return min(max(8 * largest(needs.over("udp")), MIB), MOST)


CHECK = Check(
    name="rmem_max",
    looks=f"`{NAME}`",
    why="a buffer for fewer than two messages drops datagrams while the receiver is busy; one lost datagram loses the "
    "message, or causes a retransmission",
    rows="udp, from 64 KiB on, and bursts of any size",
    read=sysctl(NAME),
    sees=_sees,
    risk="more kernel memory for each socket that requests it",
    change=lambda _, needs: (Setting(NAME, str(wanted(needs))),),
)
