"""Check how much memory is available without paging."""

from middlemark.model.units import MIB
from middlemark.system.check import Check, Seen
from middlemark.system.checks.swap import kib
from middlemark.system.needs import Needs
from middlemark.system.root import Root


def available_bytes(root: Root | None = None) -> int | None:
    """Return the memory that is available without paging, in bytes; None: the kernel does not report it."""
    return CHECK.look(root or Root())


def _sees(available: int, needs: Needs) -> Seen | None:
    wanted = needs.memory_bytes + needs.shm_bytes
    if available >= wanted:
        return None
    return Seen("limits", f"{available // MIB} MiB of memory are available; needed: {-(-wanted // MIB)} MiB")


CHECK = Check(
    name="memory_available",
    looks="`MemAvailable`",
    why="trials that do not fit are refused, and trials that only just fit cause paging or are killed",
    rows="deep histories, large messages, many samples",
    read=lambda root: kib(root, "MemAvailable") * 1024,
    sees=_sees,
    command="ps -eo rss,comm --sort=-rss | head",
    risk="end only your own programs",
)
