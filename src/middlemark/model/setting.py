"""Settings of the machine as suites, findings and the journal write them: a target and its new value."""

import re
import shlex
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from middlemark.model.levels import Kind, Level, Wrong
from middlemark.model.spelling import listing, quoted
from middlemark.model.units import UnitError, parse_size

SettingKind = Literal["sysctl", "file", "hold", "size", "group"]
AS_IS = "as-is"
SHM = "/dev/shm"
LATENCY = "/dev/cpu_dma_latency"
GROUP = "cgroup."
MAY_BE_SET = (
    *("net.*", "vm.*", "fs.mqueue.*", "kernel.sched_*", "kernel.numa_balancing", "kernel.timer_migration"),
    *("kernel.nmi_watchdog", "kernel.watchdog", "kernel.shm*", "kernel.sem", "kernel.msg*"),
    *("/sys/devices/system/cpu/*", "/sys/kernel/mm/*", "/sys/class/net/*/queues/*"),
    *("/sys/fs/cgroup/*cpu.*", "/sys/fs/cgroup/*cpuset.*", "/sys/fs/cgroup/*memory.*"),
    *("/sys/devices/system/clocksource/*/current_clocksource",),
    *("/sys/module/kvm/parameters/*", "/sys/module/haltpoll/parameters/*", "/proc/irq/*/smp_affinity*"),
    *(SHM, LATENCY, f"{GROUP}*"),
)
"""Targets that may be set. A suite may come from a stranger and run as root, so only limits that can be
restored are here."""
_NO_SETTING = (
    *("vm.drop_caches", "vm.compact_memory", "/sys/devices/system/cpu/*online", "/sys/devices/system/cpu/*probe"),
    *("/sys/devices/system/cpu/*release*", "/sys/fs/cgroup/*/release_agent", "/sys/fs/cgroup/*reclaim"),
)
"""Targets that may not be set, because no other value reverts the effect, or because the effect is more than a
limit."""


class Setting(msgspec.Struct, frozen=True, order=True):
    """A restorable setting of the running machine, and its value."""

    target: str
    """A sysctl name, a path under /sys or /proc, ``/dev/shm`` (its size in bytes), ``/dev/cpu_dma_latency`` (µs, in
    force while the file is open), or ``cgroup.CONTROLLER`` (of the workers' group)."""
    value: str

    @property
    def kind(self) -> SettingKind:
        """Return how the target is set."""
        return kind_of(self.target)

    @property
    def command(self) -> str:
        """Return the command with which a user changes the setting.

        Empty for a group, which a process enters itself.
        """
        match self.kind:
            case "sysctl":
                return f"sysctl -w {self.target}={shlex.quote(self.value)}"
            case "file":
                return f"echo {shlex.quote(self.value)} > {self.target}"
            case "size":
                return f"mount -o remount,size={self.value} {self.target}"
            case "hold":
                return f"sh -c 'exec 3>{self.target}; printf \"\\0\\0\\0\\0\" >&3; sleep infinity'"
            case "group":
                return ""


def kind_of(target: str) -> SettingKind:
    """Return how the target is set."""
    if target == SHM:
        return "size"
    if target.startswith("/dev/"):
        return "hold"
    if target.startswith("/"):
        return "file"
    return "group" if target.startswith(GROUP) else "sysctl"


def path_of(target: str) -> str:
    """Return the path of the target; for a sysctl, its file under /proc/sys."""
    return f"/proc/sys/{target.replace('.', '/')}" if kind_of(target) == "sysctl" else target


def plain(text: str) -> str:
    """Return a value for comparisons: the choice in brackets if there is one, and single spaces."""
    chosen = re.search(r"\[([\w-]+)\]", text)
    words = [chosen[1]] if chosen else text.split()
    return " ".join(words)


def setting_of(target: str, value: object) -> Setting:
    """Return the setting if it is allowed. Raises Wrong."""
    target = target.strip()
    well = re.fullmatch(r"[A-Za-z0-9_/.:@-]{3,200}", target) and ".." not in target and "//" not in target
    if not well or not any(fnmatchcase(target, each) for each in MAY_BE_SET):
        raise Wrong(f"{quoted(target)} is not a setting that may be changed; allowed are {listing(MAY_BE_SET)}")
    if any(fnmatchcase(target, each) for each in _NO_SETTING):
        raise Wrong(f"{quoted(target)} cannot be restored after a trial")
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise Wrong(f"{quoted(value)} is not a value of {target}; write a number, or text in quotes")
    text = plain(str(value))
    if not re.fullmatch(r"[A-Za-z0-9_/.,: @-]{1,200}", text):
        raise Wrong(f"{quoted(value)} is not a value of {target}")
    if kind_of(target) == "size":
        try:
            size = parse_size(text)
        except UnitError as error:
            raise Wrong(str(error)) from None
        text = str(-(-size // 4096) * 4096)  # a file system has whole pages of 4,096 bytes
    elif kind_of(target) == "hold" and not re.fullmatch(r"[0-9]{1,9}", text):
        raise Wrong(f"{quoted(value)} is not a value of {target}; write a whole number of µs")
    elif kind_of(target) == "group" and not text.startswith("/"):
        raise Wrong(f"{quoted(value)} is not a group; write the path of a group, as in '/' or '/measured'")
    return Setting(target, text)


def settings_of(level: Level) -> tuple[Setting, ...]:
    """Return the settings of a level. None, for an unchanged machine, has no settings."""
    if level is None:
        return ()
    parts = (part.partition("=") for part in str(level).split("&"))
    return tuple(setting_of(target, value) for target, _, value in parts)


def settings_level(settings: Mapping[str, object]) -> str:
    """Return the text of these settings, which is their level. Raises Wrong."""
    return "&".join(f"{each.target}={each.value}" for each in sorted(map(setting_of, settings, settings.values())))


def _read(value: object) -> str | None:
    if value == AS_IS:
        return None
    if not isinstance(value, str) or not all("=" in part for part in value.split("&")):
        raise Wrong(f"{quoted(value)} sets nothing; write NAME=VALUE, as in net.core.rmem_max=8388608, or '{AS_IS}'")
    parts = [part.partition("=") for part in value.split("&")]
    found: dict[str, object] = {target.strip(): text for target, _, text in parts}
    if len(found) < len(parts):
        raise Wrong(f"{quoted(value)} sets something twice")
    return settings_level(found)


SYSTEM = Kind(
    read=_read,
    show=lambda level: AS_IS if level is None else str(level).replace("&", " & "),
    compound=True,
)
"""The kind of the level ``system``: settings of the machine as text."""
