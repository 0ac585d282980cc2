"""Check how much memory a process may lock."""

from middlemark.model.units import MIB, format_size
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

CAP_IPC_LOCK = 14
USUAL = 8 * MIB
"""The kernel's default since version 5.16. Older kernels have 64 KiB."""


def _read(root: Root) -> int | None:
    return -1 if root.may(CAP_IPC_LOCK) else root.limit("Max locked memory")


def _sees(limit: int, needs: Needs) -> Seen | None:
    rows = needs.where(lambda row: row.mlock)
    wanted = needs.memory_bytes if rows else USUAL
    rows = rows or (needs.over("shared-memory") if needs.general else ())
    if limit < 0 or not rows or limit >= wanted:
        return None
    return Seen("limits", f"{format_size(limit)} of memory may be locked; needed: {format_size(wanted)}", rows)


CHECK = Check(
    name="memlock",
    looks="the limit of locked memory (`/proc/self/limits`), and CAP_IPC_LOCK",
    why="memory that cannot be locked may be paged out; a middleware that locks its segments (zenoh) cannot start",
    rows="--mlock, and shared memory of middlewares that lock their segments",
    read=_read,
    sees=_sees,
    command="ulimit -l unlimited",
    persist="echo '* - memlock unlimited' > /etc/security/limits.d/60-middlemark.conf; "
    "for a container: --ulimit memlock=-1",
    risk="a process of a user may lock all memory, so that none is left for other processes",
)
