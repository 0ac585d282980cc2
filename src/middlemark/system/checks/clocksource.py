"""Check which clock the kernel uses."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

FOLDER = "/sys/devices/system/clocksource/clocksource0"
FAST = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource", "timebase")
"""The clocks that can be read without a system call."""


class ClockSource(NamedTuple):
    """The current clock source, and the available clock sources."""

    current: str
    available: tuple[str, ...]


def current(root: Root) -> str | None:
    """Return the name of the current clock source."""
    return root.text(f"{FOLDER[1:]}/current_clocksource") or None


def _read(root: Root) -> ClockSource | None:
    name = current(root)
    return ClockSource(name, tuple((root.text(f"{FOLDER[1:]}/available_clocksource") or "").split())) if name else None


def _sees(clock: ClockSource, _: Needs) -> Seen | None:
    if clock.current in FAST:
        return None
    return Seen("falsifies", f"the clock is {clock.current}; available: {', '.join(clock.available)}")


def _change(clock: ClockSource, _: Needs) -> tuple[Setting, ...]:
    better = next((each for each in FAST if each in clock.available), None)
    return (Setting(f"{FOLDER}/current_clocksource", better),) if better else ()


CHECK = Check(
    name="clocksource",
    looks=f"`{FOLDER}/current_clocksource`",
    why="each of a message's four stamps, and each timer of a middleware, then needs a system call and a slow reading: "
    "1 µs",
    rows="all; round trips of a few µs most of all",
    read=_read,
    sees=_sees,
    persist="clocksource=tsc tsc=reliable on the kernel's command line",
    risk="if the kernel rejected the TSC, it had a reason; read the reason first: dmesg | grep -i tsc",
    change=_change,
)
