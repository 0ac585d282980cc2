"""Read the kernel's counters of the machine before and after a measurement: steal, interrupts, pressure, throttling."""

import os
import time
from collections.abc import Iterable, Sequence

import msgspec

from middlemark.model.noise import Moved, Processor
from middlemark.system.cgroups import groups
from middlemark.system.root import Root

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class Reading(msgspec.Struct, frozen=True):
    """The counters at one time. None: the kernel or the control group has no such counter."""

    at_ns: int
    stat: dict[int, tuple[int, int, int]]
    """Processor → steal, irq and softirq, in ns."""
    softirqs: dict[int, dict[str, int]]
    pressure: dict[str, int] | None
    """The totals of ``some`` and ``full``, in ns."""
    throttled: tuple[int, int] | None
    """The number of throttled periods, and the throttled time in ns."""
    group: str = ""
    """The folder of the control group that limits this process's processor time (the group with the controller cpu)."""
    real_time: tuple[int, int, str] | None = None
    """(runtime in µs, period in µs, name of the setting with these values); None: no limit."""


def read() -> Reading:
    """Return the current counters. Takes about 0.2 ms."""
    root = Root()
    own = groups(root, "cpu")
    return Reading(
        at_ns=time.monotonic_ns(),
        stat=parse_stat(root.text("proc/stat") or ""),
        softirqs=parse_softirqs(root.text("proc/softirqs") or ""),
        pressure=parse_pressure(root.text("proc/pressure/cpu")),
        throttled=parse_throttled(next(filter(None, (root.text(f"{group}/cpu.stat") for group in own)), None)),
        group=f"/{own[0]}" if own else "",
        real_time=real_time_limit(root, own),
    )


def moved(before: Reading, after: Reading, cpus: Iterable[int]) -> tuple[Moved, dict[str, str]]:
    """Return the increases on ``cpus``, and the reason for each counter that is None."""

    def processor(cpu: int) -> Processor:
        steal, irq, softirq = (
            max(0, late - early) for early, late in zip(before.stat[cpu], after.stat[cpu], strict=True)
        )
        early, late = before.softirqs.get(cpu, {}), after.softirqs.get(cpu, {})
        kinds = {kind: count - early.get(kind, 0) for kind, count in late.items() if count != early.get(kind, 0)}
        return Processor(cpu=cpu, steal_ns=steal, irq_ns=irq, softirq_ns=softirq, softirqs=kinds)

    absent = {}
    pressure: dict[str, int | None] = {"some": None, "full": None}
    if before.pressure is None or after.pressure is None:
        absent["pressure"] = (
            "there is no /proc/pressure/cpu: the kernel was built without PSI, or it is off (boot with psi=1)"
        )
    else:
        pressure |= {
            kind: after.pressure[kind] - was for kind, was in before.pressure.items() if kind in after.pressure
        }
    throttled: tuple[int | None, int | None] = (None, None)
    if before.throttled is None or after.throttled is None:
        absent["throttled"] = "the cpu.stat of this control group does not count throttling"
    else:
        throttled = (after.throttled[0] - before.throttled[0], after.throttled[1] - before.throttled[1])
    runtime_us, period_us, limit = after.real_time or (None, None, "")
    return Moved(
        group=after.group,
        rt_runtime_us=runtime_us,
        rt_period_us=period_us,
        rt_limit=limit,
        seconds=(after.at_ns - before.at_ns) / 1e9,
        processors=tuple(processor(cpu) for cpu in cpus if cpu in before.stat and cpu in after.stat),
        pressure_some_ns=pressure["some"],
        pressure_full_ns=pressure["full"],
        throttled=throttled[0],
        throttled_ns=throttled[1],
    ), absent


def parse_stat(text: str) -> dict[int, tuple[int, int, int]]:
    """Parse /proc/stat. Return processor → steal, irq and softirq, in ns."""
    found = {}
    for line in text.splitlines():
        name, *figures = line.split()
        if name[:3] == "cpu" and name[3:].isdigit() and len(figures) >= 8:
            _, _, _, _, _, irq, softirq, steal = (int(figure) * _TICK_NS for figure in figures[:8])
            found[int(name[3:])] = (steal, irq, softirq)
    return found


def parse_softirqs(text: str) -> dict[int, dict[str, int]]:
    """Parse /proc/softirqs. Return processor → kind → count."""
    head, *lines = text.splitlines() or [""]
    cpus = [int(name[3:]) for name in head.split()]
    found: dict[int, dict[str, int]] = {cpu: {} for cpu in cpus}
    for line in lines:
        kind, _, counts = line.partition(":")
        for cpu, count in zip(cpus, counts.split(), strict=False):
            found[cpu][kind.strip()] = int(count)
    return found


def parse_pressure(text: str | None) -> dict[str, int] | None:
    """Parse /proc/pressure/cpu. Return the totals of ``some`` and ``full`` in ns; None: no text."""
    if text is None:
        return None
    found = {}
    for line in text.splitlines():
        kind, *figures = line.split()
        for figure in figures:
            if figure.startswith("total="):
                found[kind] = int(figure.removeprefix("total=")) * 1000
    return found or None


def parse_throttled(text: str | None) -> tuple[int, int] | None:
    """Parse cpu.stat. Return throttled periods and ns; None: nothing is counted, as in the root group of cgroup 2."""
    figures = dict(line.split()[:2] for line in (text or "").splitlines() if len(line.split()) >= 2)
    if "nr_throttled" not in figures:
        return None
    ns = int(figures["throttled_usec"]) * 1000 if "throttled_usec" in figures else int(figures["throttled_time"])
    return int(figures["nr_throttled"]), ns


_RT = "kernel.sched_rt_runtime_us"


def real_time_limit(root: Root, own: Sequence[str]) -> tuple[int, int, str] | None:
    """Return the lowest limit of real-time threads: of the machine, or of one of the groups in ``own``.

    The result is (runtime in µs, period in µs, name of the sysctl or file with the limit); None: no limit.
    """
    below = [
        group for group in own if not root.names(f"{group}/release_agent")
    ]  # the root group's limit is that of the machine, added below
    limits = [
        (f"{group}/cpu.rt_runtime_us", f"{group}/cpu.rt_period_us", f"/{group}/cpu.rt_runtime_us") for group in below
    ]
    limits.append(("proc/sys/kernel/sched_rt_runtime_us", "proc/sys/kernel/sched_rt_period_us", _RT))
    read = [(root.number(runtime), root.number(period), name) for runtime, period, name in limits]
    found = [(runtime, period, name) for runtime, period, name in read if runtime is not None and period]
    return min((each for each in found if 0 <= each[0] < each[1]), key=lambda each: each[0] / each[1], default=None)
