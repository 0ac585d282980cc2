"""Check whether a daemon moves interrupts between processors."""

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root


def _read(root: Root) -> tuple[str, ...]:
    return tuple(pid for pid, name in root.processes() if name == "irqbalance")


def _sees(pids: tuple[str, ...], needs: Needs) -> Seen | None:
    rows = needs.where(lambda row: row.priority or row.polls)
    return Seen("note", f"irqbalance runs (process {pids[0]})", rows) if pids and rows else None


CHECK = Check(
    name="irqbalance",
    looks="processes called irqbalance",
    why="every ten seconds it may move a device's interrupts to a role's processor",
    rows="priority fifo or rr, and polling",
    read=_read,
    sees=_sees,
    command="systemctl stop irqbalance",
    persist="systemctl disable irqbalance, or IRQBALANCE_BANNED_CPULIST= in /etc/default/irqbalance",
    risk="interrupts stay on the processors where they are now",
)
