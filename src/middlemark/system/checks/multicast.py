"""Whether discovery gets through the interfaces in use."""

from middlemark.system.check import Check, Remedy, Seen
from middlemark.system.interfaces import MULTICAST, NetworkDevice, interfaces, used
from middlemark.system.needs import Needs


def _sees(known: tuple[NetworkDevice, ...], needs: Needs) -> Seen | None:
    rows = needs.over("udp")
    without = [each for each in used(known, needs) if not each.loopback and not each.flags & MULTICAST]
    if not rows or not without:
        return None
    name = without[0].name
    remedy = Remedy(f"ip link set dev {name} multicast on")
    return Seen("note" if needs.general else "limits", f"{name} does not take part in multicast", rows, remedy)


CHECK = Check(
    name="multicast",
    family="sockets",
    looks="the MULTICAST flag of the interfaces in use (the loopback interface does without)",
    why="DDS and LCM find each other by multicast; without it they do not meet, or only those named as peers",
    rows="udp between machines or containers",
    read=lambda root: interfaces(root) or None,
    sees=_sees,
    remedy=Remedy(
        persist="set it where the interface is configured; or name the peers in the middleware's configuration",
        risk="on WiFi multicast is slow and not repeated when it is lost",
    ),
)
