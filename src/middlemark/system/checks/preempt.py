"""Check where the kernel can be preempted."""

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root


def _read(root: Root) -> str | None:
    """Return the kind of preemption: rt, full, lazy, voluntary or none. "dynamic": the kernel hides the kind.

    None: unknown.
    """
    version = root.text("proc/version")
    if version is None:
        return None
    if root.number("sys/kernel/realtime") == 1 or "PREEMPT_RT" in version:
        return "rt"
    if "PREEMPT_DYNAMIC" in version:
        chosen = (root.text("sys/kernel/debug/sched/preempt") or "").partition("(")[2].partition(")")[0]
        return chosen or "dynamic"
    return "full" if "PREEMPT" in version else "none"


def _sees(flavour: str, needs: Needs) -> Seen | None:
    if not needs.real_time or flavour not in ("none", "voluntary"):
        return None
    return Seen("limits", f"the kernel's preemption is {flavour}", needs.real_time)


CHECK = Check(
    name="preempt",
    looks="`/proc/version`, `/sys/kernel/realtime`, `/sys/kernel/debug/sched/preempt`",
    why="a role that wakes up waits until the kernel ends its current work, even at a high priority; this may take ms",
    rows="priority fifo or rr: p99.9 and above",
    read=_read,
    sees=_sees,
    command="echo full > /sys/kernel/debug/sched/preempt",
    persist="preempt=full on the kernel's command line, or a kernel with PREEMPT_RT",
    risk="a few percent of throughput",
)
