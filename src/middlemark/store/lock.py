"""The lock on a run while it is measured. The kernel releases the lock when the process ends."""

import contextlib
import errno
import fcntl
import os
import time
import weakref
from pathlib import Path

from middlemark.files import open_regular

_PROBES = 20
"""The number of attempts to take a lock: a process that only checks a lock has it for some microseconds."""


class Held(Exception):
    """Another process measures the run. ``pid``: its id; None: the kernel does not show it."""

    def __init__(self, pid: int | None) -> None:
        """Create the error. ``pid``: the number of the other process in this process's /proc."""
        super().__init__(f"by process {pid}" if pid else "by another process")
        self.pid = pid


class Lock:
    """A lock on a file, from construction to ``release``."""

    def __init__(self, path: Path) -> None:
        """Take the lock. Raises OSError, and Held if another process has the lock."""
        self.release = weakref.finalize(self, os.close, _open_locked(path))


def is_held(path: Path) -> bool | None:
    """Say whether a process has locked the file; None: unknown."""
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return False


def _open_locked(path: Path) -> int:
    # open for writing only if necessary, because a file open for writing prevents a read-only remount
    for flags in (os.O_RDONLY, os.O_RDWR):
        with os.fdopen(open_regular(path, flags), "rb", buffering=0) as file:
            if _locked(file.fileno()) or flags == os.O_RDWR:
                return os.dup(file.fileno())  # the duplicate descriptor keeps the lock
    raise AssertionError("unreachable")


def _locked(descriptor: int) -> bool:
    """Lock an open file. Returns False if the file must be open for writing (NFS). Raises Held."""
    for _ in range(_PROBES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        except OSError as error:  # without locks, two processes could measure into one run
            return error.errno != errno.EBADF
        else:
            return True
    raise Held(_holder(descriptor))


def _holder(descriptor: int) -> int | None:
    """Return the process that has the lock on an open file, from /proc/locks.

    Compares only the inodes: on btrfs and overlayfs the device in /proc/locks differs from the one that stat() returns.
    """
    inode = str(os.fstat(descriptor).st_ino)
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            match line.split():
                case [_, "FLOCK", _, "WRITE", pid, place, *_] if place.rpartition(":")[2] == inode and int(pid) > 0:
                    return int(pid)
    return None
