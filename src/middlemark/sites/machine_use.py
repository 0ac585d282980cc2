"""Read what a machine's processes use together, once a second while a long trial measures."""

import os

import msgspec

from middlemark.sites.evidence import SHM

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class MachineUse(msgspec.Struct, frozen=True):
    """A machine at one time. None: not read."""

    steal_ns: int | None = None
    """Time so far in which the hypervisor ran other guests, over all processors."""
    shm_bytes: int | None = None
    """Used bytes of /dev/shm."""


def machine_use() -> MachineUse:
    """Return the use of this machine."""
    return MachineUse(_steal_ns(), _shm_bytes())


def _steal_ns() -> int | None:
    try:
        with open("/proc/stat", encoding="ascii") as file:
            return int(file.readline().split()[8]) * _TICK_NS
    except (OSError, ValueError, IndexError):
        return None


def _shm_bytes() -> int | None:
    try:
        found = os.statvfs(SHM)
    except OSError:
        return None
    return (found.f_blocks - found.f_bfree) * found.f_frsize
