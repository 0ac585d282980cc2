"""Remove the leftovers of killed workers: paths that match the adapter's patterns, and that no process uses."""

import contextlib
import ctypes
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from middlemark.sites.descendants import end_descendants
from middlemark.system.in_use import in_use
from middlemark.system.root import stat_of

SCRATCH = "middlemark-"
"""The prefix of every trial's scratch folder."""
UNCLAIMED_S = 60.0
"""A scratch folder without a claim counts as abandoned at this age in s."""
_CLAIM = ".launcher.json"
_SEMAPHORES = "/dev/shm/sem."
_HALF_MADE = _SEMAPHORES + 6 * "[0-9A-Za-z]"
"""The pattern of glibc's temporary names for new semaphores. If a process is killed while it makes one, the
file remains."""
SYSTEM_V = "sysv:*"
"""The pattern for System V segments. They have no path, so here their name is ``sysv:`` and the id."""


class _Claim(msgspec.Struct, frozen=True):
    """The owner of a scratch folder, and the leftovers that its trial may have elsewhere.

    The claim is stored, so that a later run can clean up if this process is killed.
    """

    pid: int
    started: str
    """The time at which the owner started, in ticks since boot, because the kernel reuses pids."""
    world: str
    """The boot and the pid namespace for which the pid is valid."""
    patterns: tuple[str, ...]
    scope: str
    before: tuple[str, ...]
    mark: str = ""
    """The mark in the environment of the trial's processes; empty: the scope is the mark."""


def patterns_of(declared: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns for an adapter's leftovers. ``declared``: the patterns in its description."""
    named = any(each.startswith(_SEMAPHORES) for each in declared)
    return (*declared, _HALF_MADE) if named else tuple(declared)


def snapshot(patterns: Sequence[str], scope: str) -> frozenset[str]:
    """Return the paths that match the patterns now. ``scope`` replaces ``{scope}`` in the patterns."""
    paths = frozenset(path for pattern in patterns for path in glob.glob(pattern.replace("{scope}", scope)))
    return paths | _abandoned_segments() if SYSTEM_V in patterns else paths


def left_before(patterns: Sequence[str], scope: str) -> frozenset[str]:
    """Return the matching paths that no process uses now.

    These paths are leftovers of other programs, and are not removed.

    A path that is in use may belong to another run in the same domain. If that run ends before ours, we remove the
    path.
    """
    found = snapshot(patterns, scope)
    return found - in_use(found) if found else found


def _abandoned_segments() -> frozenset[str]:
    """Return this user's System V segments that no process has attached and whose creator has ended."""
    try:
        rows = Path("/proc/sysvipc/shm").read_text(encoding="ascii").splitlines()
    except OSError:
        return frozenset()
    names = rows[0].split() if rows else []
    found = (dict(zip(names, row.split(), strict=False)) for row in rows[1:])
    return frozenset(
        f"sysv:{each['shmid']}"
        for each in found
        if each["nattch"] == "0" and int(each["uid"]) == os.geteuid() and not os.path.exists(f"/proc/{each['cpid']}")
    )


def _remove_segment(name: str) -> None:
    remove = 0  # IPC_RMID
    if ctypes.CDLL(None, use_errno=True).shmctl(int(name.removeprefix("sysv:")), remove, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)


def make_scratch(
    patterns: Sequence[str] = (), scope: str = "", before: frozenset[str] = frozenset(), mark: str = ""
) -> str:
    """Create a trial's folder with a claim. If this process is killed, :func:`clear_abandoned` needs the claim."""
    folder = tempfile.mkdtemp(prefix=SCRATCH)
    pid = os.getpid()
    claim = _Claim(pid, _started(pid), _boot_and_pid_namespace(), tuple(patterns), scope, tuple(sorted(before)), mark)
    # without a claim, a killed trial only leaves a little more behind
    with contextlib.suppress(OSError, UnicodeEncodeError):
        (Path(folder) / _CLAIM).write_bytes(msgspec.json.encode(claim))
    return folder


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """Create a folder as for a trial, and remove it at the end. If this process is killed, the next run removes it."""
    folder = make_scratch()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def clear_abandoned() -> tuple[str, ...]:
    """Remove the leftovers of the trials of dead launchers. Return the removed paths."""
    removed: list[str] = []
    for folder in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), f"{SCRATCH}*")):
        claim = _abandoned(folder)
        if claim is not None:
            if mark := claim.mark or claim.scope:
                end_descendants(mark)
            removed += clear(claim.patterns, claim.scope, frozenset(claim.before))
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
        elif _removed_unclaimed(folder):
            removed.append(folder)
    return tuple(removed)


def _removed_unclaimed(folder: str) -> bool:
    """If a folder of ours is old and empty, because its launcher was killed before it wrote a claim, remove it.

    Return whether the folder was removed.
    """
    with contextlib.suppress(OSError):
        about = os.lstat(folder)
        if about.st_uid == os.geteuid() and time.time() - about.st_mtime > UNCLAIMED_S:
            os.rmdir(folder)
            return True
    return False


def _abandoned(folder: str) -> _Claim | None:
    """Return the claim of a folder whose launcher is dead. None: the launcher runs, or the folder is not ours."""
    try:
        about = os.lstat(folder)
        if os.path.islink(folder) or about.st_uid != os.geteuid():
            return None
        claim = msgspec.json.decode((Path(folder) / _CLAIM).read_bytes(), type=_Claim)
    except (OSError, msgspec.DecodeError):
        return None
    if claim.world != _boot_and_pid_namespace() or _started(claim.pid) == claim.started:
        return None
    return claim


def _started(pid: int) -> str:
    fields = stat_of(pid)
    return fields[19] if fields else ""


def _boot_and_pid_namespace() -> str:
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    return ""


def clear(patterns: Sequence[str], scope: str, before: frozenset[str]) -> tuple[str, ...]:
    """Remove the matching paths that are not in ``before`` and that no process uses. Return the removed paths."""
    found = snapshot(patterns, scope) - before
    if not found:
        return ()
    used = in_use(found)
    removed = []
    for path in sorted(found - used):
        with contextlib.suppress(OSError):
            if path.startswith("sysv:"):
                _remove_segment(path)
            elif os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
            removed.append(path)
    return tuple(removed)
