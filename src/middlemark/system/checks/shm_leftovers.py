"""What ended middlewares have left in /dev/shm."""

from fnmatch import fnmatchcase
from typing import NamedTuple

from middlemark.model.units import MIB, format_size
from middlemark.system.check import Check, Remedy, Seen
from middlemark.system.in_use import in_use
from middlemark.system.needs import Needs
from middlemark.system.root import Root

SHM = "/dev/shm/"
KNOWN = (
    *(
        "fastrtps_*",
        "fastdds_*",
        "fast_datasharing_*",
        "sem.fastrtps_*",
        "sem.fastdds_*",
        "iceoryx_*",
        "iox*",
        "*.zenoh",
    ),
    *("sem.iox*", "psm_*", "ecal_*", "sem.ecal_*", "dds_*", "rti*", "middlemark*"),
)
"""How middlewares call their segments."""
MUCH = 64 * MIB
MOST_TOLD = 3


class StaleFile(NamedTuple):
    """One file, of so many bytes, that no process has open or mapped."""

    name: str
    size: int


def _read(root: Root) -> tuple[StaleFile, ...]:
    files = [f"/{name}" for name in root.names(f"{SHM[1:]}*")]
    known = [each for each in files if any(fnmatchcase(each.removeprefix(SHM), pattern) for pattern in KNOWN)]
    used = in_use(known, str(root.folder / "proc")) if known else frozenset()
    return tuple(StaleFile(each, root.size(each[1:]) or 0) for each in known if each not in used)


def _sees(left: tuple[StaleFile, ...], needs: Needs) -> Seen | None:
    rows = needs.over("shared-memory")
    if not left or not rows:
        return None
    size = sum(each.size for each in left)
    names = ", ".join(each.name for each in left[:MOST_TOLD])
    more = f" and {len(left) - MOST_TOLD} more" if len(left) > MOST_TOLD else ""
    text = f"{names}{more}: {format_size(size)} that no process uses"
    return Seen(
        "limits" if size >= MUCH else "note", text, rows, Remedy(f"rm -r {' '.join(each.name for each in left)}")
    )


CHECK = Check(
    name="shm_leftovers",
    family="surroundings",
    looks="files of middlewares in `/dev/shm` that no process has open or mapped",
    why="they take memory, and a middleware that finds a segment of its own name joins a dead one or refuses to start",
    rows="shared memory",
    read=_read,
    sees=_sees,
    remedy=Remedy(risk="a process in another container may use one: look there first"),
)
