"""Check that a crowd fits into the limits of this machine before its first process starts."""

import math
import os
import resource
from collections.abc import Iterator
from pathlib import Path

from middlemark import limits
from middlemark.model.cell import Cell
from middlemark.model.crowd import sources
from middlemark.sites.channel import PIPES, WorkerFailedError

HELD = 4
"""Files that the launcher keeps open for each worker."""
CORE_THREADS = 1
"""Threads of a worker besides those of its participants and of the middleware."""


def refuse_too_large_a_crowd(cell: Cell) -> None:
    """Raise WorkerFailedError if the crowd needs more threads than this machine allows, OSError if more open files."""
    if cell.pattern != "crowd":
        return
    needed = threads_needed(cell)
    for name, most in _limits_of_threads():
        if needed > most:
            fewer = "measure fewer --participants or --topics"
            listening = ", or take --receive listen, which needs no thread for each topic" * (cell.receive == "block")
            raise WorkerFailedError(
                "memory",
                f"the crowd needs {needed:,} threads without those of the middleware, and {name} allows {most:,}",
                f"{fewer}{listening}",
            )
    limits.need_descriptors(HELD * processes_of(cell) + PIPES)


def processes_of(cell: Cell) -> int:
    """Return the number of worker processes of a crowd."""
    return math.ceil(cell.participants / cell.participants_per_process)


def threads_needed(cell: Cell) -> int:
    """Return the number of threads of all workers of a crowd, without the threads of the middleware."""
    receivers = cell.topics * len(sources(cell.participants, cell.subscribe, 0)) if cell.receive == "block" else 0
    return processes_of(cell) * CORE_THREADS + cell.participants * (1 + receivers)


def _limits_of_threads() -> Iterator[tuple[str, int]]:
    """Yield the name and the value of each limit on the number of threads."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if os.geteuid() != 0 and soft != resource.RLIM_INFINITY:  # root has no such limit
        yield "ulimit -u", soft
    for name in ("/proc/sys/kernel/threads-max", "/sys/fs/cgroup/pids.max"):
        try:
            text = Path(name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            yield name, int(text)
