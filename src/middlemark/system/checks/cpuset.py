"""Check how many processors this process may use."""

from typing import NamedTuple

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root, processors


class Usable(NamedTuple):
    """The processors that this process may use, and all processors that are online."""

    allowed: tuple[int, ...]
    online: tuple[int, ...]


def _read(root: Root) -> Usable | None:
    allowed = root.allowed()
    return Usable(allowed, processors(root.text("sys/devices/system/cpu/online") or "")) if allowed else None


def _sees(found: Usable, needs: Needs) -> Seen | None:
    if len(found.allowed) >= needs.roles or len(found.allowed) >= len(found.online):
        return None  # the plan refuses roles that poll if the machine has too few
    text = f"only {len(found.allowed)} of {len(found.online)} processors may be used, for {needs.roles} roles"
    return Seen(
        "falsifies" if needs.polling else "limits", text, needs.where(lambda row: row.roles > len(found.allowed))
    )


CHECK = Check(
    name="cpuset",
    looks="`Cpus_allowed_list` of this process",
    why="roles that share a processor wait for each other; two roles that poll take turns of several ms",
    rows="all with more roles than allowed processors, if the machine has more; polling most of all",
    read=_read,
    sees=_sees,
    command="taskset -c 0- middlemark run …",
    persist="remove the restriction: AllowedCPUs= of the unit, --cpuset-cpus of the container, isolcpus=",
    risk="the machine's other processes may use the roles' processors",
)
