"""Check for files that ended middlewares left in /dev/shm."""

from fnmatch import fnmatchcase
from typing import NamedTuple

from middlemark.model.units import MIB, format_size
from middlemark.system.check import Check, Seen
from middlemark.system.in_use import in_use
from middlemark.system.needs import Needs
from middlemark.system.root import Root

SHM = "/dev/shm/"
KNOWN = (
    *("fastrtps_*", "fastdds_*", "fast_datasharing_*", "sem.fastrtps_*", "sem.fastdds_*", "iceoryx_*", "iox*"),
    *("*.zenoh", "sem.iox*", "psm_*", "ecal_*", "sem.ecal_*", "dds_*", "rti*", "middlemark*"),
)
"""Patterns of the names of middlewares' files."""
MUCH = 64 * MIB
MOST_LISTED = 3


class StaleFile(NamedTuple):
    """A file that no process has open or mapped, and its size in bytes."""

    name: str
    size: int


def _read(root: Root) -> tuple[StaleFile, ...]:
    files = [f"/{name}" for name in root.names(f"{SHM[1:]}*")]
    ours = [each for each in files if any(fnmatchcase(each.removeprefix(SHM), pattern) for pattern in KNOWN)]
    used = in_use(ours, str(root.folder / "proc")) if ours else frozenset()
    return tuple(StaleFile(each, root.size(each[1:]) or 0) for each in ours if each not in used)


def _sees(stale: tuple[StaleFile, ...], needs: Needs) -> Seen | None:
    rows = needs.over("shared-memory")
    if not stale or not rows:
        return None
    size = sum(each.size for each in stale)
    names = ", ".join(each.name for each in stale[:MOST_LISTED])
    more = f" and {len(stale) - MOST_LISTED} more" if len(stale) > MOST_LISTED else ""
    text = f"{names}{more}: no process uses them, and they occupy {format_size(size)}"
    return Seen("limits" if size >= MUCH else "note", text, rows, f"rm -r {' '.join(each.name for each in stale)}")


CHECK = Check(
    name="shm_leftovers",
    looks="files of middlewares in `/dev/shm` that no process has open or mapped",
    why="files occupy memory; if a middleware finds an old segment with the name of its own, it attaches to that "
    "segment or does not start",
    rows="shared memory",
    read=_read,
    sees=_sees,
    risk="a process in another container may still use a file: check the containers first",
)
