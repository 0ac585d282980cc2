"""Check whether processors are isolated for real-time roles."""

from typing import NamedTuple

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root, processors


class Isolated(NamedTuple):
    """The isolated processors, the processors without a tick, and the processors that this process may use."""

    isolated: tuple[int, ...]
    tickless: tuple[int, ...]
    allowed: tuple[int, ...]


def _read(root: Root) -> Isolated | None:
    isolated, tickless = (root.text(f"sys/devices/system/cpu/{name}") for name in ("isolated", "nohz_full"))
    if isolated is None:
        return None
    return Isolated(processors(isolated), processors((tickless or "").replace("(null)", "")), root.allowed())


def _sees(found: Isolated, needs: Needs) -> Seen | None:
    rows = needs.where(lambda row: row.priority or row.polls)
    cpus = needs.cpus(found.allowed)
    if not rows or len(found.allowed) <= len(cpus) + 1:
        return None  # no processor would remain for other processes
    if found.isolated and not set(cpus) & set(found.isolated):
        listed = ",".join(map(str, found.isolated[: len(cpus)]))
        text = f"processors {', '.join(map(str, found.isolated))} are isolated, but no role is on one of them"
        return Seen("note", text, rows, f"middlemark run … --pin {listed}")
    if found.isolated:
        return None
    return Seen("note", "no processor is isolated, so any thread of the machine may run on a role's processor", rows)


CHECK = Check(
    name="isolcpus",
    looks="`/sys/devices/system/cpu/isolated` and `nohz_full`",
    why="the scheduler's tick and other threads add to the tail of every latency",
    rows="priority fifo or rr, and polling: p99.9 and above",
    read=_read,
    sees=_sees,
    persist="isolcpus=2,3 nohz_full=2,3 rcu_nocbs=2,3 on the kernel's command line",
    risk="these processors run only threads that are pinned to them",
)
