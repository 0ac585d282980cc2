"""Check how many bytes fit into one packet."""

from middlemark.model.units import KIB
from middlemark.system.check import Check, Seen, Severity
from middlemark.system.interfaces import NetworkDevice, interfaces, used
from middlemark.system.needs import Needs, largest

USUAL_LOOPBACK, USUAL = 65_536, 1500


def _sees(interfaces_up: tuple[NetworkDevice, ...], needs: Needs) -> Seen | None:
    rows = needs.over("udp", KIB) + needs.over("tcp", KIB)
    for each in used(interfaces_up, needs):
        usual = USUAL_LOOPBACK if each.loopback else USUAL
        if rows and each.mtu < usual:
            packets = f"a message of {largest(rows)} bytes is {each.packets(largest(rows))} packets"
            command = f"ip link set dev {each.name} mtu {usual}"
            severity: Severity = "note" if needs.general and not each.loopback else "limits"
            return Seen(severity, f"the MTU of {each.name} is {each.mtu}: {packets}", rows, command)
    return None


CHECK = Check(
    name="mtu",
    looks="the MTU of the interfaces in use",
    why="each packet costs the kernel some µs at each end, and one lost packet loses the whole message",
    rows="udp and tcp, from 1 KiB on",
    read=lambda root: interfaces(root) or None,
    sees=_sees,
    persist="set the MTU where the interface is configured (netplan, NetworkManager, systemd-networkd)",
    risk="above 1500, every device on the path must support this MTU",
)
