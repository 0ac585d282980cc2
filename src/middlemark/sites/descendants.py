"""Find and kill processes that outlive their trial, such as a daemon in its own session after its worker was killed.

Such processes inherit the trial's mark in their environment. A process that cleared its environment is found as an
orphan: while this process is a subreaper, its orphaned descendants become its children.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

MARK = "MIDDLEMARK_TRIAL"
PATIENCE_S = 2.0
_PR_SET_CHILD_SUBREAPER = 36


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """Make this process a subreaper if the kernel supports it. Its orphaned descendants then become its children."""
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def children() -> frozenset[int]:
    """Return the pids of this process's children, including zombies."""
    found: set[int] = set()
    for path in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(map(int, path.read_text(encoding="ascii").split()))
    return frozenset(found)


class SideBySide:
    """The sessions that run at the same time. Orphans are searched after the last of them, which cannot own others."""

    def __init__(self) -> None:
        """Create it without a session."""
        self._sessions = 0
        self._before: frozenset[int] = frozenset()

    def begin(self) -> None:
        """Add a session, before its first process starts."""
        if not self._sessions:
            self._before = children()
        self._sessions += 1

    def end(self) -> frozenset[int] | None:
        """Remove a session. Return the children from before the first session; None: other sessions are running."""
        self._sessions -= 1
        return None if self._sessions else self._before


def end_descendants(trial: str, before: frozenset[int] | None = None) -> tuple[str, ...]:
    """Kill every process with this trial's mark, and all children of this process that are not in ``before``.

    If ``before`` is None, no children are killed. The trial's own processes must have been reaped. Returns a
    description of each killed process.
    """
    ended: dict[int, str] = {}
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        orphans = set() if before is None else _still_living(children() - before)
        if not (found := _killed(f"{MARK}={trial}".encode(), orphans)):
            break
        ended |= {pid: name for pid, name in found.items() if pid not in ended}
        time.sleep(0.002)
    what = "outlived its worker and was killed"
    return tuple(f"{name} (pid {pid}) {what}" for pid, name in ended.items())


def _still_living(orphans: frozenset[int]) -> set[int]:
    """Reap the orphans that have ended, and return the others."""
    living = set()
    for pid in orphans:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                living.add(pid)
    return living


def _killed(mark: bytes, orphans: set[int]) -> dict[int, str]:
    """Kill the marked processes and the orphans. Return pid → name of the processes that were still alive."""
    found: dict[int, str] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError), open(os.pidfd_open(int(name)), "rb", buffering=0) as process:
            if int(name) in orphans or mark in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                comm = Path(f"/proc/{name}/comm").read_text(encoding="utf-8", errors="replace")
                signal.pidfd_send_signal(process.fileno(), signal.SIGKILL)
                found[int(name)] = comm.strip()
    return found
