"""The lock on a run that is being measured. It ends with the process that has it, in whatever way that ends."""

import contextlib
import errno
import fcntl
import os
import time
import weakref
from pathlib import Path

from middlemark.files import open_regular

_PROBES = 20
"""So often is a lock tried: whoever looks whether a run is under way has one, too, for some microseconds."""


class Held(Exception):
    """Another process measures the run: ``pid``, or None where the kernel does not tell."""

    def __init__(self, pid: int | None) -> None:
        """``pid`` as this process's /proc counts."""
        super().__init__(f"by process {pid}" if pid else "by another process")
        self.pid = pid


class Lock:
    """The lock on a file, from when it is made until it is released."""

    def __init__(self, path: Path) -> None:
        """Raise Held where another process has it, and OSError."""
        self.release = weakref.finalize(self, os.close, _hold(path))


def is_held(path: Path) -> bool | None:
    """Say whether somebody has the lock on a file; None where that cannot be told."""
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


def _hold(path: Path) -> int:
    for flags in (os.O_RDONLY, os.O_RDWR):  # the latter keeps the disk from being made read-only
        with os.fdopen(open_regular(path, flags), "rb", buffering=0) as file:
            if _locked(file.fileno()) or flags == os.O_RDWR:
                return os.dup(file.fileno())  # the lock is that of both
    raise AssertionError("unreachable")


def _locked(descriptor: int) -> bool:
    """Lock an open file. False: not in the way it was opened (NFS wants it open for writing). Raises Held."""
    for _ in range(_PROBES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        except OSError as error:  # a file system without locks: two that measure into one run are not kept apart there
            return error.errno != errno.EBADF
        else:
            return True
    raise Held(_holder(descriptor))


def _holder(descriptor: int) -> int | None:
    """Return who has the lock on an open file, as the kernel tells it.

    By the inode alone: the device in that table is not the one that a program sees on btrfs and overlays.
    """
    inode = str(os.fstat(descriptor).st_ino)
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            match line.split():
                case [_, "FLOCK", _, "WRITE", pid, place, *_] if place.rpartition(":")[2] == inode and int(pid) > 0:
                    return int(pid)
    return None
