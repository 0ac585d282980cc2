"""How far a TCP connection's receive buffer may grow."""

from middlemark.model.setting import Setting
from middlemark.model.units import MIB
from middlemark.system.check import Check, Remedy, Seen, too_low
from middlemark.system.needs import Needs, largest

USUAL = 4 * MIB


def grows_to(name: str) -> Check[tuple[int, int, int]]:
    """Return the check of the buffer whose least, first and largest size ``net.ipv4.<name>`` has."""
    setting = f"net.ipv4.{name}"

    def sees(sizes: tuple[int, int, int], needs: Needs) -> Seen | None:
        rows = needs.over("tcp")
        return too_low(f"the largest of {setting}", sizes[2], min(2 * largest(rows), USUAL), rows)

    def change(sizes: tuple[int, int, int], needs: Needs) -> tuple[Setting, ...]:
        return (Setting(setting, f"{sizes[0]} {sizes[1]} {max(USUAL, 2 * largest(needs.over('tcp')))}"),)

    return Check(
        name=name,
        family="sockets",
        looks=f"the third of `{setting}`",
        why="a message larger than the buffer goes in pieces, each of which waits for the other end",
        rows="tcp, large messages, and any over a link with delay",
        read=lambda root: root.three(f"proc/sys/net/ipv4/{name}"),
        sees=sees,
        remedy=Remedy(risk="each busy connection may hold so much of the kernel's memory"),
        change=change,
    )


CHECK = grows_to("tcp_rmem")
