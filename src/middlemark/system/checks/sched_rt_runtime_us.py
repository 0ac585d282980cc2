"""Check how much of each period real-time threads may run."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.model.units import format_percent
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

NAME = "kernel.sched_rt_runtime_us"
LEAST = 0.9
"""With this share of a period, any role that sleeps between messages has enough time."""


class Budget(NamedTuple):
    """The time in µs of each period for real-time threads (-1: no limit), and the period in µs."""

    runtime_us: int
    period_us: int


def _read(root: Root) -> Budget | None:
    runtime = root.number("proc/sys/kernel/sched_rt_runtime_us")
    period = root.number("proc/sys/kernel/sched_rt_period_us")
    return None if runtime is None or not period else Budget(runtime, period)


def _sees(budget: Budget, needs: Needs) -> Seen | None:
    if budget.runtime_us < 0 or not needs.real_time:
        return None
    spinning = needs.where(lambda row: row.priority and row.polls)
    share = budget.runtime_us / budget.period_us
    if budget.runtime_us == 0:
        return Seen("limits", "real-time threads may not run at all", needs.real_time)
    if spinning and share < 1:
        lost_ms = (budget.period_us - budget.runtime_us) / 1000
        text = f"a real-time thread that spins is stopped for {lost_ms:g} ms in every {budget.period_us / 1000:g} ms"
        return Seen("falsifies", text, spinning)
    text = f"real-time threads may run for {format_percent(share)} of every {budget.period_us / 1000:g} ms"
    return Seen("limits", text, needs.real_time) if share < LEAST else None


CHECK = Check(
    name="sched_rt_runtime_us",
    looks=f"`{NAME}` and its period",
    why="real-time threads that have used up the budget wait for the next period, and their messages also wait",
    rows="priority fifo or rr; always with polling",
    read=_read,
    sees=_sees,
    risk="with -1, a real-time thread that never sleeps blocks its processor forever",
    change=lambda budget, needs: (
        Setting(
            NAME,
            "-1" if needs.where(lambda row: row.priority and row.polls) else str(budget.period_us * 19 // 20),
        ),
    ),
)
