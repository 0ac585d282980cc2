"""Check whether more than 64 KiB of a TCP connection may be in flight."""

from middlemark.model.setting import Setting
from middlemark.model.units import KIB
from middlemark.system.check import Check, Seen, sysctl
from middlemark.system.needs import Needs

NAME = "net.ipv4.tcp_window_scaling"


def _sees(on: int, needs: Needs) -> Seen | None:
    rows = needs.over("tcp", 64 * KIB)
    return Seen("limits", f"{NAME} is 0: at most 64 KiB are in flight", rows) if rows and not on else None


CHECK = Check(
    name="tcp_window_scaling",
    looks=f"`{NAME}`",
    why="the sender waits for an acknowledgement after every 64 KiB",
    rows="tcp, from 64 KiB on",
    read=sysctl(NAME),
    sees=_sees,
    risk="none known",
    change=lambda _, __: (Setting(NAME, "1"),),
)
