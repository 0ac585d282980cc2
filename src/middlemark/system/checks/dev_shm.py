"""Check the free space in /dev/shm."""

import os
from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.model.units import MIB, format_size
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

SHM = "/dev/shm"


class ShmMount(NamedTuple):
    """The size in bytes, and the mount options."""

    total: int
    used: int
    options: tuple[str, ...]
    of_memory: bool


def _read(root: Root) -> ShmMount | None:
    mounts = [line.split() for line in (root.text("proc/self/mounts") or "").splitlines()]
    mount = next((each for each in reversed(mounts) if len(each) > 3 and each[1] == SHM), None)
    if mount is None:
        return ShmMount(0, 0, (), False) if mounts and not (root.folder / "dev/shm").is_dir() else None
    options = tuple(mount[3].split(","))
    used = sum(root.size(name) or 0 for name in root.names("dev/shm/**"))
    if mount[2] != "tmpfs":
        room = os.statvfs(root.folder / "dev/shm")
        return ShmMount(room.f_blocks * room.f_frsize, used, options, False)
    size = next((each.removeprefix("size=") for each in options if each.startswith("size=")), None)
    memory = int(root.fields("proc/meminfo")["MemTotal"].split()[0]) * 1024
    return ShmMount(memory // 2 if size is None else _bytes(size, memory), used, options, True)


def _bytes(size: str, memory: int) -> int:
    if size.endswith("%"):
        return memory * int(size[:-1]) // 100
    return int(size.rstrip("kmg")) << {"k": 10, "m": 20, "g": 30}.get(size[-1], 0)


def _sees(room: ShmMount, needs: Needs) -> Seen | None:
    rows = needs.over("shared-memory")
    if not rows:
        return None
    if "ro" in room.options or room.total == 0:
        return Seen("limits", f"{SHM} is {'read-only' if room.total else 'absent'}", rows)
    free = max(0, room.total - room.used)
    if free >= needs.shm_bytes:
        return None
    return Seen(
        "limits",
        f"{_in_mib(free)} of {_in_mib(room.total)} are free in {SHM}; needed: {_in_mib(needs.shm_bytes)}",
        rows,
    )


def _in_mib(size: int) -> str:
    return format_size(size // MIB * MIB or size)


def _change(room: ShmMount, needs: Needs) -> tuple[Setting, ...]:
    size = -(-(room.used + max(needs.shm_bytes, 512 * MIB)) // MIB) * MIB
    return (Setting(SHM, str(size)),) if room.of_memory and "ro" not in room.options else ()


CHECK = Check(
    name="dev_shm",
    looks="size, use and options of `/dev/shm`",
    why="a middleware that has no room for its segments does not start, uses another transport, or is killed by SIGBUS "
    "when it writes",
    rows="shared memory",
    read=_read,
    sees=_sees,
    persist="echo 'tmpfs /dev/shm tmpfs size=50% 0 0' >> /etc/fstab; for a container: --shm-size=1g",
    risk="files in /dev/shm occupy memory, so do not make /dev/shm larger than the memory that the machine can spare",
    change=_change,
)
