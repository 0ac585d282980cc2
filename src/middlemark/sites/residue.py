"""What killed workers leave behind: found by the adapter's patterns, removed only when nobody uses it."""

import contextlib
import ctypes
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from middlemark.sites.descendants import end_descendants
from middlemark.system.in_use import in_use

SCRATCH = "middlemark-"
"""Every trial's scratch folder begins so."""
UNCLAIMED_S = 60.0
"""Whoever has made a scratch folder has claimed it long before."""
_CLAIM = ".launcher.json"
_SEMAPHORES = "/dev/shm/sem."
_HALF_MADE = _SEMAPHORES + 6 * "[0-9A-Za-z]"
"""How glibc calls a semaphore until it has its name: whoever is killed just then leaves it so."""
SYSTEM_V = "sysv:*"
"""The pattern of segments of System V shared memory. They have no path: here they are called ``sysv:`` and their id."""


class _Claim(msgspec.Struct, frozen=True):
    """Whose a scratch folder is and what its trial may leave elsewhere; kept in it for whoever comes after a kill."""

    pid: int
    started: str
    """When that process started, in ticks since the boot: a pid alone may be somebody else's by now."""
    world: str
    """The boot and the pid namespace: elsewhere a pid says nothing."""
    patterns: tuple[str, ...]
    scope: str
    before: tuple[str, ...]
    mark: str = ""
    """Of its processes; empty: the scope."""


def patterns_of(declared: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of what an adapter may leave behind; ``declared`` are those of its description."""
    named = any(each.startswith(_SEMAPHORES) for each in declared)
    return (*declared, _HALF_MADE) if named else tuple(declared)


def snapshot(patterns: Sequence[str], scope: str) -> frozenset[str]:
    """Return the paths that match now."""
    paths = frozenset(path for pattern in patterns for path in glob.glob(pattern.replace("{scope}", scope)))
    return paths | _abandoned_segments() if SYSTEM_V in patterns else paths


def left_before(patterns: Sequence[str], scope: str) -> frozenset[str]:
    """Return the paths that match now and that nobody uses: they were left by others, and stay.

    What somebody uses may belong to another run of the same domain, which leaves it to us if it ends before us.
    """
    found = snapshot(patterns, scope)
    return found - in_use(found) if found else found


def _abandoned_segments() -> frozenset[str]:
    """Return this user's segments of System V to which nobody is attached and whose maker is gone."""
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
    """Make a folder, a trial's, with what :func:`clear_abandoned` needs should this process be killed."""
    folder = tempfile.mkdtemp(prefix=SCRATCH)
    pid = os.getpid()
    claim = _Claim(pid, _started(pid), _world(), tuple(patterns), scope, tuple(sorted(before)), mark)
    with contextlib.suppress(OSError, UnicodeEncodeError):  # without it a kill leaves a little more behind
        (Path(folder) / _CLAIM).write_bytes(msgspec.json.encode(claim))
    return folder


def clear_abandoned() -> tuple[str, ...]:
    """Remove what trials of launchers that are dead left behind. Returns what was removed."""
    removed: list[str] = []
    for folder in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), f"{SCRATCH}*")):
        claim = _abandoned(folder)
        if claim is not None:
            if mark := claim.mark or claim.scope:
                end_descendants(mark)
            removed += clear(claim.patterns, claim.scope, frozenset(claim.before))
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
        elif _was_never_claimed(folder):
            removed.append(folder)
    return tuple(removed)


def _was_never_claimed(folder: str) -> bool:
    """Remove a folder of ours whose launcher was killed before it could claim it: an empty one, and not a new one."""
    with contextlib.suppress(OSError):
        about = os.lstat(folder)
        if about.st_uid == os.geteuid() and time.time() - about.st_mtime > UNCLAIMED_S:
            os.rmdir(folder)
            return True
    return False


def _abandoned(folder: str) -> _Claim | None:
    """Return the claim of a folder of ours whose launcher is dead; None: it lives, or it is not ours to judge."""
    try:
        about = os.lstat(folder)
        if os.path.islink(folder) or about.st_uid != os.geteuid():
            return None
        claim = msgspec.json.decode((Path(folder) / _CLAIM).read_bytes(), type=_Claim)
    except (OSError, msgspec.DecodeError):
        return None
    if claim.world != _world() or _started(claim.pid) == claim.started:
        return None
    return claim


def _started(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _world() -> str:
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    return ""


def clear(patterns: Sequence[str], scope: str, before: frozenset[str]) -> tuple[str, ...]:
    """Remove what matches, was not there before and is in no living process's use. Returns what was removed."""
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
