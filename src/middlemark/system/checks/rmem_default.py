"""Check the default receive buffer of a socket."""

from middlemark.model.setting import Setting
from middlemark.model.units import KIB
from middlemark.system.check import Check, Seen, sysctl, too_low
from middlemark.system.checks.rmem_max import wanted
from middlemark.system.needs import Needs, largest

NAME = "net.core.rmem_default"


def _sees(size: int, needs: Needs) -> Seen | None:
    rows = [row for row in needs.over("udp", 64 * KIB) if size < 2 * row.size]
    return too_low(NAME, size, 2 * largest(rows), rows) or too_low(NAME, size, 64 * KIB, needs.over("udp"))


CHECK = Check(
    name="rmem_default",
    looks=f"`{NAME}`",
    why="some middlewares (LCM, and Fast DDS unless configured) use this buffer, and lose messages that do not fit",
    rows="udp, from 64 KiB on",
    read=sysctl(NAME),
    sees=_sees,
    risk="every socket of the machine may use this much kernel memory",
    change=lambda _, needs: (Setting(NAME, str(wanted(needs))),),
)
