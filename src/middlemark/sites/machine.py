"""Describe this machine for run.json."""

import contextlib
import os
import platform

from middlemark.model.run import Machine
from middlemark.system.checks import clocksource
from middlemark.system.checks.governor import governors
from middlemark.system.checks.halt_polling import is_virtual
from middlemark.system.root import Root


def read_machine() -> Machine:
    """Read /proc and /sys. An unknown property is None or empty; there are no errors."""
    root = Root()
    cpuinfo = root.fields("proc/cpuinfo")
    return Machine(
        host=platform.node(),
        cpu=cpuinfo.get("model name") or platform.machine(),
        processors=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=platform.release(),
        system=_os_release(),
        virtual=is_virtual(root),
        clocksource=clocksource.current(root),
        governor=next(iter(governors(root).values()), None),
    )


def _os_release() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    return ""
