"""``run.json`` (what was asked, of whom, on what machine), ``trials.jsonl`` (a line a trial) and ``samples/*.npy``."""

import contextlib
import datetime
import errno
import fcntl
import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan, Reached
from middlemark.model.run import SCHEMA, Run, RunFile


class StoreError(Exception):
    """A run's folder cannot be written or read; the text names the path."""


class _Written(msgspec.Struct):
    """The part of ``run.json`` that every schema has, so that a newer one can be told from a damaged one."""

    schema: int
    middlemark: str = "version unknown"


class RunWriter:
    """Writes a run's folder. Every method raises StoreError with the path when the disk does not take it."""

    def __init__(self, folder: Path, file: RunFile) -> None:
        """Use :func:`open_run`."""
        self.folder = folder
        self.file = file
        self._add(b"")
        self._release = weakref.finalize(self, os.close, self._lock())
        self._save()

    def run(self, outcomes: Iterable[TrialOutcome]) -> Run:
        """Return what was written; ``outcomes`` are the trials that were appended, here or before."""
        return Run(folder=self.folder, file=self.file, outcomes=tuple(outcomes))

    def _lock(self) -> int:
        """Hold a lock on trials.jsonl, which ends with this process in whatever way: so a run is known to be under way.

        Taken before there is a run.json, so nobody can be looking yet.
        """
        path = self.folder / "trials.jsonl"
        try:
            descriptor = os.open(path, os.O_RDONLY)  # for writing, it would keep the disk from being made read-only
            if not _lock(descriptor):
                os.close(descriptor)
                descriptor = os.open(path, os.O_RDWR)
                _lock(descriptor)
        except OSError as error:
            raise _store_error(path, error) from None
        return descriptor

    def extend(self, plan: Plan) -> None:
        """Note further trials of the same cells, on disk before this returns."""
        self.file = msgspec.structs.replace(self.file, plan=plan)
        self._save()

    def append(self, outcome: TrialOutcome) -> None:
        """Add a line to trials.jsonl, on disk before this returns."""
        self._add(msgspec.json.encode(outcome) + b"\n")

    def _add(self, line: bytes) -> None:
        path = self.folder / "trials.jsonl"
        try:
            with path.open("ab") as trials:
                trials.write(line)
                trials.flush()
                os.fsync(trials.fileno())
        except OSError as error:
            raise _store_error(path, error) from None

    def close(self, *, interrupted: bool = False, error: str | None = None, reached: Reached | None = None) -> None:
        """Note how it ended. Whether that succeeds or not, the run is no longer under way."""
        self.file = msgspec.structs.replace(
            self.file, ended=utc_now(), interrupted=interrupted, error=error, reached=reached
        )
        try:
            self._save()
        finally:
            self._release()

    def _save(self) -> None:
        path = self.folder / "run.json"
        draft = path.with_suffix(".json.new")
        try:
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(self.file), indent=1))
            draft.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
            raise _store_error(path, error) from None


def open_run(root: Path, file: RunFile) -> RunWriter:
    """Make ``<root>/<time>-<suite>/`` with its samples folder. Raises StoreError naming the path."""
    stamp = datetime.datetime.fromisoformat(file.started).astimezone().strftime("%Y-%m-%d_%H-%M-%S")
    base = f"{stamp}-{'+'.join(_safe(name) for name in file.suites) or 'run'}"
    try:
        str(root.absolute()).encode()
    except UnicodeEncodeError:
        shown = str(root).encode(errors="replace").decode()
        raise StoreError(f"{shown}: the name is not UTF-8; the workers are told it as JSON") from None
    for attempt in range(1, 1000):
        folder = root / (base if attempt == 1 else f"{base}-{attempt}")
        try:
            (folder / "samples").mkdir(parents=True)
        except FileExistsError:
            if folder.exists():
                continue
            raise StoreError(f"{root}: is not a folder") from None
        except OSError as error:
            raise _store_error(folder, error) from None
        return RunWriter(folder.absolute(), file)
    raise StoreError(f"{root / base}: a thousand runs of this second exist already")


def reopen_run(run: Run) -> RunWriter:
    """Go on with a run that nobody is measuring. Raises StoreError naming the path.

    A line that was cut off stays where it is, one that cannot be read; what follows begins on a line of its own.
    """
    path = run.folder / "trials.jsonl"
    if run.running:
        raise StoreError(f"{run.folder}: is being measured by another process")
    try:
        with path.open("ab+") as trials:
            if trials.tell():
                trials.seek(-1, os.SEEK_END)
                if trials.read(1) != b"\n":
                    trials.write(b"\n")
    except OSError as error:
        raise _store_error(path, error) from None
    return RunWriter(
        run.folder.absolute(),
        msgspec.structs.replace(run.file, ended=None, interrupted=False, error=None, reached=None),
    )


def read_run(folder: Path) -> Run:
    """Read a run back: complete, killed or under way. Raises StoreError naming the path and what is wrong with it."""
    path = folder / "run.json"
    held = _is_held(folder / "trials.jsonl")  # asked first: a run that ends meanwhile has then said so in run.json
    try:
        text = path.read_bytes()
        written = msgspec.json.decode(text, type=_Written)
        if written.schema > SCHEMA:
            newer = f"was written by a newer Middlemark ({written.middlemark})"
            raise StoreError(f"{path}: schema {written.schema} {newer}")
        file = msgspec.json.decode(text, type=RunFile)
    except OSError as error:
        raise _store_error(path, error) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"{path}: not the description of a run: {error}") from None
    outcomes = []
    damaged = 0
    for line in _lines(folder / "trials.jsonl"):
        try:
            outcomes.append(msgspec.json.decode(line, type=TrialOutcome))
        except msgspec.DecodeError:
            damaged += 1
    return Run(
        folder=folder,
        file=file,
        outcomes=tuple(outcomes),
        damaged_lines=damaged,
        running=held if file.ended is None else False,
    )


def list_runs(root: Path) -> list[Path]:
    """Return the folders under ``root`` that hold a run, oldest first."""
    return sorted((path.parent for path in root.glob("*/run.json")), key=lambda folder: folder.stat().st_mtime)


def _lock(descriptor: int) -> bool:
    """Lock a file of this process's own. False: not in the way it was opened (NFS wants it open for writing)."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # a file system without locks costs no more than what `list runs` says of this run
        return error.errno != errno.EBADF
    return True


def _is_held(path: Path) -> bool | None:
    """Say whether a writer holds the lock on ``path``; None where that cannot be told."""
    try:
        with path.open("rb") as trials:
            fcntl.flock(trials, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError) as error:
        return isinstance(error, BlockingIOError)
    except OSError:
        return None
    return False


def _lines(path: Path) -> Iterator[bytes]:
    try:
        yield from path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise _store_error(path, error) from None


def _safe(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "-" for char in name)[:60]


def _store_error(path: Path | Sequence[str], error: OSError) -> StoreError:
    return StoreError(f"{path}: {error.strerror or error}")


def utc_now() -> str:
    """Return the present as ISO 8601 in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
