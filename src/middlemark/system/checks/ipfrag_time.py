"""Check how long an incomplete datagram keeps its memory."""

from middlemark.model.setting import Setting
from middlemark.model.units import KIB
from middlemark.system.check import Check, Seen
from middlemark.system.checks.ipfrag_high_thresh import Fragments, read
from middlemark.system.interfaces import used
from middlemark.system.needs import Needs

NAME = "net.ipv4.ipfrag_time"
USEFUL_S = 5


def _sees(found: Fragments, needs: Needs) -> Seen | None:
    rows = needs.over("udp", 16 * KIB)
    through = [each.name for each in used(found.interfaces, needs) if each.fragments]
    if not rows or not through or found.value <= USEFUL_S:
        return None
    return Seen("note", f"a datagram that lost a fragment keeps its memory for {found.value} s ({through[0]})", rows)


CHECK = Check(
    name="ipfrag_time",
    looks=f"`{NAME}`, and whether an interface's MTU requires fragments",
    why="after a few lost fragments, incomplete datagrams fill the memory for reassembly, and no large message arrives "
    "for this time",
    rows="udp over a network that loses packets (WiFi), from 16 KiB on",
    read=lambda root: read(root, "ipfrag_time"),
    sees=_sees,
    risk="fragments that arrive later are lost",
    change=lambda _, __: (Setting(NAME, "3"),),
)
