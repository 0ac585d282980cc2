"""Find the resources that a run needs and a container lacks, and the options of `docker run` that provide them."""

import os
import resource
from collections.abc import Sequence
from pathlib import Path

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.units import format_size

CAP_SYS_NICE = 23
LITTLE_SHM_BYTES = 64 << 20
"""Docker's default size of /dev/shm."""


class Container(msgspec.Struct, frozen=True):
    """The limits of this container."""

    shm_bytes: int
    sys_nice: bool
    most_priority: int
    """The value of RLIMIT_RTPRIO."""
    memlock_bytes: int | None
    """The limit of locked memory; None: unlimited."""


def this_container() -> Container | None:
    """Return the limits of this container; None: this process is probably in no container."""
    marked = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() or "container" in os.environ
    if not marked:
        return None
    shm = os.statvfs("/dev/shm") if os.path.isdir("/dev/shm") else None
    memlock = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    return Container(
        shm_bytes=shm.f_blocks * shm.f_frsize if shm else 0,
        sys_nice=bool(_effective_capabilities() >> CAP_SYS_NICE & 1),
        most_priority=resource.getrlimit(resource.RLIMIT_RTPRIO)[1],
        memlock_bytes=None if memlock == resource.RLIM_INFINITY else memlock,
    )


def _effective_capabilities() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def lacking(container: Container, cells: Sequence[Cell]) -> list[str]:
    """Return a sentence for each resource that these cells need and the container lacks.

    The sentence names the option of `docker run`.
    """
    found = []
    if container.shm_bytes <= LITTLE_SHM_BYTES:
        size = format_size(container.shm_bytes)
        found.append(f"/dev/shm has {size}, too little for the shared memory of some middlewares: --shm-size 1g")
    needed = max((int(each.priority.partition(":")[2] or 0) for each in cells), default=0)
    if needed > container.most_priority and not container.sys_nice:
        found.append(f"real-time priority {needed} is not allowed: --cap-add SYS_NICE --ulimit rtprio=99")
    if any(each.mlock for each in cells) and container.memlock_bytes is not None:
        size = format_size(container.memlock_bytes)
        found.append(f"at most {size} of memory may be locked: --ulimit memlock=-1")
    return found
