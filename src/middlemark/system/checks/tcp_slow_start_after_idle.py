"""Check whether a TCP connection starts slowly again after a pause."""

from middlemark.model.setting import Setting
from middlemark.model.units import KIB
from middlemark.system.check import Check, Seen, sysctl
from middlemark.system.needs import Needs

NAME = "net.ipv4.tcp_slow_start_after_idle"
FIRST_WINDOW = 14 * KIB
PAUSE_HZ = 5
"""At a lower rate (1 / 200 ms), the kernel treats a connection as idle between two messages."""


def _sees(on: int, needs: Needs) -> Seen | None:
    rows = [row for row in needs.over("tcp", FIRST_WINDOW) if row.across and (row.rate_hz or PAUSE_HZ) < PAUSE_HZ]
    return (
        Seen("limits", f"{NAME} is 1, and messages are sent less often than {PAUSE_HZ} Hz", tuple(rows))
        if on and rows
        else None
    )


CHECK = Check(
    name="tcp_slow_start_after_idle",
    looks=f"`{NAME}`",
    why="after each pause only 14 KiB are sent until the other end has answered",
    rows="tcp between hosts, from 14 KiB on, below 5 Hz",
    read=sysctl(NAME),
    sees=_sees,
    risk="a burst after a pause may be too fast for the network",
    change=lambda _, __: (Setting(NAME, "0"),),
)
