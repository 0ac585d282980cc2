"""Check whether the interfaces in use support multicast."""

from middlemark.system.check import Check, Seen
from middlemark.system.interfaces import MULTICAST, NetworkDevice, interfaces, used
from middlemark.system.needs import Needs


def _sees(interfaces_up: tuple[NetworkDevice, ...], needs: Needs) -> Seen | None:
    rows = needs.over("udp")
    unable = [each for each in used(interfaces_up, needs) if not each.loopback and not each.flags & MULTICAST]
    if not rows or not unable:
        return None
    name = unable[0].name
    command = f"ip link set dev {name} multicast on"
    return Seen("note" if needs.general else "limits", f"{name} does not have multicast enabled", rows, command)


CHECK = Check(
    name="multicast",
    looks="the MULTICAST flag of the interfaces in use (the loopback interface does not need it)",
    why="DDS and LCM discover each other by multicast; otherwise they find only participants that are named as peers",
    rows="udp between machines or containers",
    read=lambda root: interfaces(root) or None,
    sees=_sees,
    persist="enable multicast where the interface is configured, or name the peers in the middleware's configuration",
    risk="on WiFi, multicast is slow, and lost packets are not sent again",
)
