"""Check how large a TCP connection's receive buffer may grow."""

from middlemark.model.setting import Setting
from middlemark.model.units import MIB
from middlemark.system.check import Check, Seen, too_low
from middlemark.system.needs import Needs, largest

USUAL = 4 * MIB


def least_maximum(needs: Needs) -> int:
    """Return the size in bytes that a connection's buffers must be able to reach for these needs."""
    return min(2 * largest(needs.over("tcp")), USUAL)


def grows_to(name: str) -> Check[tuple[int, int, int]]:
    """Return the check of the sysctl ``net.ipv4.<name>``: the smallest, initial and largest size of a buffer."""
    setting = f"net.ipv4.{name}"

    def sees(sizes: tuple[int, int, int], needs: Needs) -> Seen | None:
        rows = needs.over("tcp")
        return too_low(f"the third value of {setting}", sizes[2], least_maximum(needs), rows)

    def change(sizes: tuple[int, int, int], needs: Needs) -> tuple[Setting, ...]:
        return (Setting(setting, f"{sizes[0]} {sizes[1]} {max(USUAL, 2 * largest(needs.over('tcp')))}"),)

    return Check(
        name=name,
        looks=f"the third value of `{setting}`",
        why="a message larger than the buffer is sent in pieces, and each piece waits for the other end",
        rows="tcp: large messages, and all messages over a link with delay",
        read=lambda root: root.three(f"proc/sys/net/ipv4/{name}"),
        sees=sees,
        risk="each busy connection may use this much kernel memory",
        change=change,
    )


CHECK = grows_to("tcp_rmem")
