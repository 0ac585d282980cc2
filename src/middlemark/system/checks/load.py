"""Check whether other programs use the processors now."""

from typing import NamedTuple

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root, processors


class RunQueue(NamedTuple):
    """The number of threads that needed a processor: the mean of the last minute, and now (without this thread)."""

    minute: float
    now: int
    processors: int


def _read(root: Root) -> RunQueue:
    words = (root.text("proc/loadavg") or "").split()
    online = processors(root.text("sys/devices/system/cpu/online") or "0")
    return RunQueue(float(words[0]), int(words[3].partition("/")[0]) - 1, len(online))


def _sees(load: RunQueue, needs: Needs) -> Seen | None:
    spare = max(load.processors - needs.roles, 0)
    if min(load.minute, load.now) <= max(spare, 0.5):
        return None
    return Seen("falsifies", f"the load average of the last minute is {load.minute:g} on {load.processors} processors")


CHECK = Check(
    name="load",
    looks="`/proc/loadavg`",
    why="other programs use the roles' processors while messages are on their way, in some trials more than in others",
    rows="all",
    read=_read,
    sees=_sees,
    command="top",
    persist="a machine that does nothing else",
    risk="end only your own programs",
)
