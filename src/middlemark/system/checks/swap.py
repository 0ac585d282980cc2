"""Check how much memory is paged out."""

from typing import NamedTuple

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

MUCH = 0.05
"""There is a finding if a larger share of the machine's memory is paged out."""


class Swap(NamedTuple):
    """Amounts of memory, in KiB."""

    used: int
    memory: int


def kib(root: Root, name: str) -> int:
    """Return a field of /proc/meminfo, in KiB."""
    return int(root.fields("proc/meminfo")[name].split()[0])


def _sees(swap: Swap, needs: Needs) -> Seen | None:
    unlocked = needs.where(lambda row: not row.mlock)
    if not unlocked or swap.used < MUCH * swap.memory:
        return None
    return Seen("limits", f"{swap.used // 1024} MiB of {swap.memory // 1024} MiB of memory are paged out", unlocked)


CHECK = Check(
    name="swap",
    looks="`SwapTotal`, `SwapFree` and `MemTotal`",
    why="a page that was paged out must be read from the disk while a message waits, which takes ms",
    rows="all that run without --mlock",
    read=lambda root: Swap(kib(root, "SwapTotal") - kib(root, "SwapFree"), kib(root, "MemTotal")),
    sees=_sees,
    command="swapoff -a",
    persist="remove swap from /etc/fstab, or run with --mlock",
    risk="if the paged-out memory does not fit into MemAvailable, processes are killed",
)
