"""The memory that this control group may take."""

from middlemark.model.setting import Setting
from middlemark.model.units import MIB
from middlemark.system.cgroups import least
from middlemark.system.check import Check, Remedy, Seen
from middlemark.system.needs import Needs


def _sees(limit: tuple[int, str], needs: Needs) -> Seen | None:
    wanted = needs.memory_bytes + needs.shm_bytes
    if limit[0] >= wanted:
        return None
    return Seen("limits", f"this control group may take {limit[0] // MIB} MiB; wanted: {-(-wanted // MIB)} MiB")


def _change(limit: tuple[int, str], _: Needs) -> tuple[Setting, ...]:
    return (Setting(f"/{limit[1]}", "-1" if limit[1].endswith("_in_bytes") else "max"),)


CHECK = Check(
    name="cgroup_memory",
    family="memory",
    looks="`memory.max` of this control group and of those above it, `memory.limit_in_bytes` of version 1",
    why="what goes beyond it is paged out or killed; what is in /dev/shm counts",
    rows="deep histories, large messages, shared memory",
    read=lambda root: least(root, "memory", "memory.max", "memory.limit_in_bytes"),
    sees=_sees,
    remedy=Remedy(
        persist="where the group is made: MemoryMax= of the unit, --memory of the container",
        risk="the machine's other processes have less",
    ),
    change=_change,
)
