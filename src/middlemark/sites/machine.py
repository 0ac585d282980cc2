"""What machine this is, for run.json."""

import contextlib
import os
import platform
from pathlib import Path

from middlemark.model.run import Machine


def read_machine() -> Machine:
    """Read /proc and /sys. What a system does not tell is None (or empty text), never an error."""
    cpuinfo = _text("/proc/cpuinfo")
    return Machine(
        host=platform.node(),
        cpu=_field(cpuinfo, "model name") or platform.machine(),
        processors=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=platform.release(),
        system=_os_release(),
        virtual="hypervisor" in _field(cpuinfo, "flags").split() if _field(cpuinfo, "flags") else None,
        clocksource=_text("/sys/devices/system/clocksource/clocksource0/current_clocksource").strip() or None,
        governor=_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip() or None,
    )


def _text(path: str) -> str:
    with contextlib.suppress(OSError):
        return Path(path).read_text(encoding="utf-8", errors="replace")
    return ""


def _field(text: str, name: str) -> str:
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _os_release() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    return ""
