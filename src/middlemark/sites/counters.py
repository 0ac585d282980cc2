"""The kernel's counters of the machine: steal, interrupts, pressure and throttling, read around the measuring."""

import contextlib
import os
import time
from collections.abc import Iterable

import msgspec

from middlemark.model.noise import Moved, Processor

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class Reading(msgspec.Struct, frozen=True):
    """The counters at one instant; None: this kernel, or this place, has none."""

    at_ns: int
    stat: dict[int, tuple[int, int, int]]
    """By processor: steal, irq and softirq in ns."""
    softirqs: dict[int, dict[str, int]]
    pressure: dict[str, int] | None
    """``some`` and ``full``, ns."""
    throttled: tuple[int, int] | None
    """Periods and ns."""


def read() -> Reading:
    """Return the counters as they stand: about 0.2 ms of work."""
    return Reading(
        at_ns=time.monotonic_ns(),
        stat=parse_stat(_text("/proc/stat") or ""),
        softirqs=parse_softirqs(_text("/proc/softirqs") or ""),
        pressure=parse_pressure(_text("/proc/pressure/cpu")),
        throttled=parse_throttled(_text(path) if (path := _cpu_stat(_text("/proc/self/cgroup") or "")) else None),
    )


def moved(before: Reading, after: Reading, cpus: Iterable[int]) -> tuple[Moved, dict[str, str]]:
    """Return what moved on ``cpus``, and why what is None is None."""

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
        absent["pressure"] = "there is no /proc/pressure/cpu: the kernel is without PSI, or it is switched off (psi=1)"
    else:
        pressure |= {
            kind: after.pressure[kind] - was for kind, was in before.pressure.items() if kind in after.pressure
        }
    throttled: tuple[int | None, int | None] = (None, None)
    if before.throttled is None or after.throttled is None:
        absent["throttled"] = "this control group has no cpu.stat that counts throttling"
    else:
        throttled = (after.throttled[0] - before.throttled[0], after.throttled[1] - before.throttled[1])
    return Moved(
        seconds=(after.at_ns - before.at_ns) / 1e9,
        processors=tuple(processor(cpu) for cpu in cpus if cpu in before.stat and cpu in after.stat),
        pressure_some_ns=pressure["some"],
        pressure_full_ns=pressure["full"],
        throttled=throttled[0],
        throttled_ns=throttled[1],
    ), absent


def parse_stat(text: str) -> dict[int, tuple[int, int, int]]:
    """Return steal, irq and softirq in ns by processor, out of /proc/stat."""
    found = {}
    for line in text.splitlines():
        name, *figures = line.split()
        if name[:3] == "cpu" and name[3:].isdigit() and len(figures) >= 8:
            _, _, _, _, _, irq, softirq, steal = (int(figure) * _TICK_NS for figure in figures[:8])
            found[int(name[3:])] = (steal, irq, softirq)
    return found


def parse_softirqs(text: str) -> dict[int, dict[str, int]]:
    """Return the counts by processor and kind, out of /proc/softirqs."""
    head, *lines = text.splitlines() or [""]
    cpus = [int(name[3:]) for name in head.split()]
    found: dict[int, dict[str, int]] = {cpu: {} for cpu in cpus}
    for line in lines:
        kind, _, counts = line.partition(":")
        for cpu, count in zip(cpus, counts.split(), strict=False):
            found[cpu][kind.strip()] = int(count)
    return found


def parse_pressure(text: str | None) -> dict[str, int] | None:
    """Return the totals of /proc/pressure/cpu in ns, by ``some`` and ``full``; None without it."""
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
    """Return periods and ns out of cpu.stat; None where it counts no throttling (a root group of cgroup 2)."""
    figures = dict(line.split()[:2] for line in (text or "").splitlines() if len(line.split()) >= 2)
    if "nr_throttled" not in figures:
        return None
    ns = int(figures["throttled_usec"]) * 1000 if "throttled_usec" in figures else int(figures["throttled_time"])
    return int(figures["nr_throttled"]), ns


def _cpu_stat(own: str) -> str | None:
    """Return the path of this process's cpu.stat, given its /proc/self/cgroup: of version 2, else of version 1."""
    for line in own.splitlines():
        number, controllers, path = line.split(":", 2)
        roots = ["/sys/fs/cgroup"] if number == "0" else ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"]
        if number != "0" and "cpu" not in controllers.split(","):
            continue
        for root in roots:
            if os.path.exists(found := f"{root}{path.rstrip('/')}/cpu.stat"):
                return found
    return None


def _text(path: str) -> str | None:
    with contextlib.suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
        return file.read()
    return None
