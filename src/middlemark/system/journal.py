"""The journal of changed settings.

The old values are on disk before the first change, so the settings can always be restored. The journal is one file,
replaced atomically. A process that changes settings has a lock until it has restored them.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from middlemark.state import changed
from middlemark.system.root import stat_of

_LOCK = "lock"


class JournalError(Exception):
    """The journal cannot be read, written or locked, so no setting may be changed."""

    def __init__(self, text: str, advice: str = "") -> None:
        """Create the error. ``advice``: the next step."""
        super().__init__(text)
        self.advice = advice


class RecordedProcess(msgspec.Struct, frozen=True):
    """A process, identified by pid and start time, because the kernel reuses pids."""

    pid: int
    started: str
    """The start time, in clock ticks since boot."""

    @property
    def is_running(self) -> bool:
        """True if the process still runs and is not a zombie."""
        return _started(self.pid) == self.started


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A setting that was changed or will be changed next."""

    target: str
    before: str
    after: str
    owner: RecordedProcess
    boot: str
    """The boot in which the setting was changed. A restart of the machine undoes the change."""
    kept: bool = False
    """True if the setting stays changed until ``--restore``. False: until the owner ends."""
    file: str = ""
    """The file under /etc that makes the change at every boot; empty: no file."""
    place: str = ""
    """The namespace in which the setting was changed; empty: the machine has only one value of the setting."""
    holder: RecordedProcess | None = None
    """The process that keeps the setting in force, if it lasts only while a process has a file open; else None."""

    @property
    def is_orphaned(self) -> bool:
        """True if the process that should restore the setting has ended."""
        return not self.kept and self.is_in_force and not self.owner.is_running

    @property
    def is_in_force(self) -> bool:
        """True if the change may still be in force."""
        return self.boot == boot() or bool(self.file)


_ENTRIES = msgspec.json.Decoder(tuple[Entry, ...])


class Journal:
    """The journal's file. Every method raises JournalError."""

    def __init__(self, path: Path | None = None) -> None:
        """Create the journal. ``path``: None for the default path."""
        self.path = path or Path(changed())

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, the oldest first."""
        try:
            return _ENTRIES.decode(self.path.read_bytes())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror or error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            text = f"{self.path}: the list of changed settings cannot be read: {error}"
            raise JournalError(text, "open it, restore its settings by hand, then remove it") from None

    def write(self, entries: Iterable[Entry]) -> None:
        """Replace the entries. They are on disk when this method returns. On an error the file is unchanged."""
        data = msgspec.json.format(msgspec.json.encode(tuple(entries)), indent=1)
        draft = self.path.with_suffix(".new")
        try:
            if data == b"[]":
                self.path.unlink(missing_ok=True)
            else:
                descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
                try:
                    if os.write(descriptor, data) < len(data):
                        raise OSError(28, "No space left on device")
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                os.replace(draft, self.path)
            _fsync(self.path.parent)
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
            text = f"{self.path}: the list of changed settings cannot be written: {error.strerror or error}"
            raise JournalError(text, "nothing was changed; make room in the folder, or set XDG_STATE_HOME") from None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock this machine's settings. The kernel releases the lock when the process ends."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path.parent / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            text = f"{self.path.parent}: the list of changed settings cannot be written: {error.strerror or error}"
            raise JournalError(text, "name another folder: XDG_STATE_HOME=…") from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                who = os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "unknown"
                text = f"process {who} has changed settings of this machine and restores them when it ends"
                raise JournalError(text, "wait for the process, or end it") from None
            with contextlib.suppress(OSError):  # if this fails, only the process's number is missing
                os.truncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            yield
        finally:
            os.close(descriptor)


def this_process() -> RecordedProcess:
    """Return the present process."""
    return RecordedProcess(os.getpid(), _started(os.getpid()))


def process(pid: int) -> RecordedProcess:
    """Return the process that has this pid now."""
    return RecordedProcess(pid, _started(pid))


def boot() -> str:
    """Return the id of the present boot; empty: the kernel does not provide it."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


def namespace(kind: str, prefix: tuple[str, ...] = ()) -> str:
    """Return a namespace of this process, or of a command after ``prefix``: ``net:[4026531840] 3``.

    The kernel gives the number of a namespace that has ended to the next one. So the cookie of a network namespace
    follows, which is unique until the machine restarts (socket(7), SO_NETNS_COOKIE). "": the namespace is not readable.
    """
    argv = [*prefix, sys.executable, "-IS", "-c", _IDENTITY, kind]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()


_IDENTITY = """
import os, socket, sys
print(os.readlink(f"/proc/self/ns/{sys.argv[1]}"))
if sys.argv[1] == "net":
    print(int.from_bytes(socket.socket().getsockopt(socket.SOL_SOCKET, 71, 8), sys.byteorder))
"""


def is_same(place: str, other: str) -> bool:
    """Say whether both are one namespace. If a cookie is missing, the numbers decide."""
    return all(one == two for one, two in zip(place.split(), other.split(), strict=False))


def is_inhabited(place: str) -> bool:
    """Say whether a process is in the namespace. Processes that this process may not inspect are not found."""
    kind, number = place.partition(":")[0], place.split(maxsplit=1)[0]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/ns/{kind}") == number:
                if kind != "net":
                    return True
                # Without root the namespace cannot be entered, so its cookie is unknown and the number decides.
                return is_same(place, namespace(kind, ("nsenter", f"--net=/proc/{pid}/ns/net", "--")) or number)
    return False


def _started(pid: int) -> str:
    fields = stat_of(pid)
    return fields[19] if fields and fields[0] not in "ZX" else ""


def _fsync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
