"""Check the real-time budget of this control group."""

from middlemark.model.setting import Setting
from middlemark.system.cgroups import groups
from middlemark.system.check import Check, Seen
from middlemark.system.checks.sched_rt_runtime_us import LEAST, Budget
from middlemark.system.needs import Needs
from middlemark.system.root import Root

USUAL_US = 950_000


def _read(root: Root) -> tuple[Budget, str] | None:
    """Return the smallest budget of the control groups, and its file.

    The root group is skipped: ``sched_rt_runtime_us`` checks its budget.
    """
    found = []
    for group in groups(root, "cpu"):
        if root.names(f"{group}/release_agent"):
            continue
        runtime, period = (root.number(f"{group}/cpu.rt_{name}_us") for name in ("runtime", "period"))
        if runtime is not None and period:
            found.append((Budget(runtime, period), f"{group}/cpu.rt_runtime_us"))
    return min(found, default=None)


def _sees(found: tuple[Budget, str], needs: Needs) -> Seen | None:
    budget = found[0]
    if not needs.real_time or budget.runtime_us < 0 or budget.runtime_us >= LEAST * budget.period_us:
        return None
    text = f"real-time threads of this control group may run {budget.runtime_us} of every {budget.period_us} µs"
    refused = "" if budget.runtime_us else ": priorities are refused"
    return Seen("limits", f"{text}{refused}", needs.real_time)


CHECK = Check(
    name="cgroup_rt",
    looks="`cpu.rt_runtime_us` of this control group and of those above it (version 1)",
    why="a group without a budget may have no real-time thread, and with a small budget such threads are throttled",
    rows="priority fifo or rr",
    read=_read,
    sees=_sees,
    persist="where the group is created: --cpu-rt-runtime of the container",
    risk="a group cannot have more than its parent group or the machine; raise the parent groups first",
    change=lambda found, _: (Setting(f"/{found[1]}", str(min(USUAL_US, found[0].period_us * 19 // 20))),),
)
