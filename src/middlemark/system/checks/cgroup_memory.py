"""Check how much memory this control group may use."""

from middlemark.model.setting import Setting
from middlemark.model.units import MIB
from middlemark.system.cgroups import least
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs


def _sees(limit: tuple[int, str], needs: Needs) -> Seen | None:
    needed = needs.memory_bytes + needs.shm_bytes
    if limit[0] >= needed:
        return None
    return Seen("limits", f"this control group may use {limit[0] // MIB} MiB; needed: {-(-needed // MIB)} MiB")


def _change(limit: tuple[int, str], _: Needs) -> tuple[Setting, ...]:
    return (Setting(f"/{limit[1]}", "-1" if limit[1].endswith("_in_bytes") else "max"),)


CHECK = Check(
    name="cgroup_memory",
    looks="`memory.max` of this control group and of those above it, `memory.limit_in_bytes` of version 1",
    why="processes of a group that exceeds its limit are paged out or killed; files in /dev/shm count towards it",
    rows="deep histories, large messages, shared memory",
    read=lambda root: least(root, "memory", "memory.max", "memory.limit_in_bytes"),
    sees=_sees,
    persist="where the group is created: MemoryMax= of the unit, --memory of the container",
    risk="the other processes of the machine get less",
    change=_change,
)
