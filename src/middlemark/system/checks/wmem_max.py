"""Check the largest send buffer that a socket may request."""

from middlemark.model.setting import Setting
from middlemark.model.units import KIB
from middlemark.system.check import Check, Seen, sysctl, too_low
from middlemark.system.checks.rmem_max import wanted
from middlemark.system.needs import Needs

NAME = "net.core.wmem_max"
DATAGRAM = 64 * KIB


def _sees(most: int, needs: Needs) -> Seen | None:
    return too_low(NAME, most, 2 * DATAGRAM, needs.over("udp", DATAGRAM))


CHECK = Check(
    name="wmem_max",
    looks=f"`{NAME}`",
    why="with a send buffer that is too small for two datagrams, every publication waits for the previous one",
    rows="udp, from 64 KiB on",
    read=sysctl(NAME),
    sees=_sees,
    risk="more kernel memory for each socket that requests it",
    change=lambda _, needs: (Setting(NAME, str(wanted(needs))),),
)
