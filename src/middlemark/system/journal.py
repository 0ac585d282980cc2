"""What was there before: on disk before the first change, so that whatever ends a process, there is a way back.

One file holds it, written whole or not at all. Who changes something has the lock until it is put back.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from middlemark.state import changed

_LOCK = "lock"


class JournalError(Exception):
    """The journal cannot be read, written or had for oneself: nothing may be changed."""

    def __init__(self, text: str, advice: str = "") -> None:
        """``advice``: the next step."""
        super().__init__(text)
        self.advice = advice


class RecordedProcess(msgspec.Struct, frozen=True):
    """A process that a pid alone does not tell from a later one."""

    pid: int
    started: str
    """In ticks since the boot."""

    @property
    def lives(self) -> bool:
        """Whether it is still there, and not only waited for."""
        return _started(self.pid) == self.started


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One setting that is to be changed, or was."""

    target: str
    before: str
    after: str
    owner: RecordedProcess
    boot: str
    """A change does not outlast the boot that it was made in."""
    kept: bool = False
    """Until somebody asks for it to be put back; else until its owner ends."""
    file: str = ""
    """Under /etc, which sets it at every boot; empty: there is none."""
    place: str = ""
    """The namespace that it was set in, where there can be several of it; empty: there is one for all."""
    holder: RecordedProcess | None = None
    """What holds it, of what lasts only so long."""

    @property
    def owed(self) -> bool:
        """Whether nobody is left who would put it back."""
        return not self.kept and self.stands and not self.owner.lives

    @property
    def stands(self) -> bool:
        """Whether it may be in force still."""
        return self.boot == boot() or bool(self.file)


_ENTRIES = msgspec.json.Decoder(tuple[Entry, ...])


class Journal:
    """The file. Every method raises JournalError."""

    def __init__(self, path: Path | None = None) -> None:
        """``path``: None is the usual one."""
        self.path = path or Path(changed())

    def entries(self) -> tuple[Entry, ...]:
        """Return what it has, the oldest first."""
        try:
            return _ENTRIES.decode(self.path.read_bytes())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror or error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            text = f"{self.path}: what was changed on this machine cannot be read from it: {error}"
            raise JournalError(text, "see what it says of settings, put them back by hand, and remove it") from None

    def write(self, entries: Iterable[Entry]) -> None:
        """Have these in it, on disk before this returns; where that cannot be it is as it was."""
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
            text = f"{self.path}: what is to be changed cannot be noted there: {error.strerror or error}"
            raise JournalError(text, "nothing was changed; make room there, or set XDG_STATE_HOME") from None

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Within, nobody else changes a setting. The lock ends with the process."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path.parent / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            text = f"{self.path.parent}: what is to be changed cannot be noted there: {error.strerror or error}"
            raise JournalError(text, "name another folder: XDG_STATE_HOME=…") from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                who = os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "unknown"
                text = f"process {who} has changed settings of this machine, and puts them back when it ends"
                raise JournalError(text, "wait for it, or end it") from None
            with contextlib.suppress(OSError):  # only who it is would not be known
                os.truncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            yield
        finally:
            os.close(descriptor)


def this_process() -> RecordedProcess:
    """Return who this is."""
    return RecordedProcess(os.getpid(), _started(os.getpid()))


def process(pid: int) -> RecordedProcess:
    """Return that process as it is now."""
    return RecordedProcess(pid, _started(pid))


def boot() -> str:
    """Return what tells this boot from every other; empty where the kernel does not say."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


def namespace(kind: str, pid: int | None = None) -> str:
    """Return the namespace of a process (None: of this one): ``net:[4026531840]``."""
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid or 'self'}/ns/{kind}")
    return ""


def is_inhabited(place: str) -> bool:
    """Say whether any process that this one sees is in that namespace."""
    kind = place.partition(":")[0]
    return any(namespace(kind, int(each)) == place for each in os.listdir("/proc") if each.isdigit())


def _started(pid: int) -> str:
    with contextlib.suppress(OSError, IndexError):
        state, *fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        )
        return "" if state in "ZX" else fields[18]
    return ""


def _fsync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
