"""Write ``run.json`` (request, adapters, machine), ``trials.jsonl`` (one line per trial) and ``records.jsonl``."""

import contextlib
import datetime
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from middlemark.files import open_regular
from middlemark.model.outcome import Failure, TrialOutcome
from middlemark.model.plan import Plan, Reached
from middlemark.model.record import Record
from middlemark.model.run import Run, RunFile
from middlemark.model.user_file import UserFile, user_files
from middlemark.store.lock import Held, Lock
from middlemark.store.reading import (
    NOT_READ,
    RECORDS,
    StoreError,
    read_held_run,
    read_outcome,
    read_records,
    store_error,
)


class RunWriter:
    """Writes a run's folder. Every method raises StoreError with the path if writing fails."""

    def __init__(self, folder: Path, file: RunFile, lock: Lock, damaged: tuple[str, ...] = ()) -> None:
        """Called by :func:`open_run` and :func:`reopen_run`."""
        self.folder = folder
        self.file = file
        self._lock = lock
        self._damaged = damaged
        self._save()

    def run(self, outcomes: Iterable[TrialOutcome]) -> Run:
        """Return the run as written. ``outcomes``: the trials that this or an earlier process appended."""
        records, damaged = read_records(self.folder, self.file.plan)
        return Run(
            folder=self.folder,
            file=self.file,
            outcomes=tuple(outcomes),
            damaged=(*self._damaged, *damaged),
            records=records,
        )

    def extend(self, plan: Plan) -> None:
        """Store a plan with more trials of the same cells. It is on disk when this method returns."""
        self.file = msgspec.structs.replace(self.file, plan=plan)
        self._save()

    def append(self, outcome: TrialOutcome) -> TrialOutcome:
        """Add a line to trials.jsonl. It is on disk when this method returns. Returns the stored outcome.

        If an outcome could not be read back, a failure with the reason is stored instead.
        """
        line = msgspec.json.encode(outcome)
        try:
            read_outcome(line, {each.order: each for each in self.file.plan.trials})
        except NOT_READ as error:
            failure = Failure("internal", f"its outcome is inconsistent: {error}", "report this as a bug")
            outcome = TrialOutcome(
                cell=outcome.cell, number=outcome.number, order=outcome.order, started=outcome.started,
                seconds=max(outcome.seconds, 0.0), failed=failure,
            )  # fmt: skip
            line = msgspec.json.encode(outcome)
        _append(
            self.folder / "trials.jsonl", line + b"\n"
        )  # opening fails if the file was removed: a new file would lack the earlier trials
        return outcome

    def record(self, record: Record) -> None:
        """Add a line to records.jsonl. It is on disk when this method returns."""
        _append(self.folder / RECORDS, msgspec.json.encode(record) + b"\n", os.O_CREAT)

    def close(self, *, interrupted: bool = False, error: str | None = None, reached: Reached | None = None) -> None:
        """Store how the run ended. Releases the lock even if this fails."""
        self.file = msgspec.structs.replace(
            self.file, ended=utc_now(), interrupted=interrupted, error=error, reached=reached
        )
        path = self.folder / "trials.jsonl"
        try:
            self._save()
            if not path.exists():
                raise StoreError(f"{path}: was removed while the run was measured")
        finally:
            self._lock.release()

    def _save(self) -> None:
        path = self.folder / "run.json"
        draft = path.with_suffix(".json.new")
        try:
            draft.unlink(missing_ok=True)  # opening a pipe at this path would block
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(self.file), indent=1))
            draft.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
            raise store_error(path, error) from None


def open_run(root: Path, file: RunFile) -> RunWriter:
    """Create ``<root>/<time>-<suite>/`` with its samples folder. Raises StoreError with the path."""
    stamp = datetime.datetime.fromisoformat(file.started).astimezone().strftime("%Y-%m-%d_%H-%M-%S")
    base = f"{stamp}-{'+'.join(_safe(name) for name in file.suites) or 'run'}"
    try:
        str(root.absolute()).encode()
    except FileNotFoundError:
        raise StoreError(f"{root}: the working folder has been removed") from None
    except UnicodeEncodeError:
        shown = str(root).encode(errors="replace").decode()
        raise StoreError(f"{shown}: the name is not UTF-8, which the workers need") from None
    for attempt in range(1, 1000):
        folder = root / (base if attempt == 1 else f"{base}-{attempt}")
        try:
            (folder / "samples").mkdir(parents=True)
        except FileExistsError:
            if folder.exists():
                continue
            raise StoreError(f"{root}: is not a folder") from None
        except OSError as error:
            raise store_error(folder, error) from None
        try:
            keep(user_files(cell.native for cell in file.plan.cells), folder)
        except (OSError, ValueError) as error:
            raise StoreError(f"{folder}: a configuration file cannot be copied into it: {error}") from None
        return RunWriter(folder.absolute(), file, _locked(folder))
    raise StoreError(f"{root / base}: a thousand runs began in this second")


class ReopenedRun:
    """A locked run that can be continued. Nothing is written until ``writer`` is called."""

    def __init__(self, folder: Path) -> None:
        """Called by :func:`reopen_run`."""
        self._lock = _locked(folder)
        self.run = read_held_run(folder)

    def writer(self) -> RunWriter:
        """Return a writer that continues the run. Raises StoreError with the path.

        If the last line was cut off, it stays in the file as a damaged line. New lines begin after it.
        """
        _end_line(self.run.folder / "trials.jsonl")
        if self.run.records:
            _end_line(self.run.folder / RECORDS)
        return RunWriter(
            self.run.folder.absolute(),
            msgspec.structs.replace(self.run.file, ended=None, interrupted=False, error=None, reached=None),
            self._lock,
            tuple(each for each in self.run.damaged if not each.startswith(RECORDS)),
        )


def reopen_run(folder: Path) -> ReopenedRun:
    """Lock the run in a folder and read it. Raises StoreError, also if another process measures the run."""
    return ReopenedRun(folder)


def _locked(folder: Path) -> Lock:
    """Lock a run's ``trials.jsonl``; create the file if it is missing."""
    path = folder / "trials.jsonl"
    try:
        _append(path, b"", os.O_CREAT)
        return Lock(path)
    except Held as held:
        raise StoreError(f"{folder}: is being measured {held}") from None
    except OSError as error:
        raise store_error(path, error) from None


def _end_line(path: Path) -> None:
    """End the last line of a file if it was cut off."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            ends_with_newline = not file.seek(0, os.SEEK_END) or file.seek(-1, os.SEEK_END) < 0 or file.read(1) == b"\n"
    except OSError as error:
        raise store_error(path, error) from None
    if not ends_with_newline:
        _append(path, b"\n")


def _append(path: Path, line: bytes, flags: int = 0) -> None:
    """Append a line to a file, flush the file to disk, and read the line back."""
    try:
        with os.fdopen(open_regular(path, os.O_RDWR | os.O_APPEND | flags), "ab+") as file:
            begin = file.seek(0, os.SEEK_END)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
            file.seek(begin)
            written = file.read(len(line) + 1)
    except OSError as error:
        raise store_error(path, error) from None
    if written != line:
        raise StoreError(f"{path}: does not contain the written line; another process writes to the file")


def _safe(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "-" for char in name)[:60]


def utc_now() -> str:
    """Return the current time as ISO 8601 in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def keep(files: Iterable[UserFile], folder: Path) -> None:
    """Copy the files into the run. Raises OSError, and ValueError if a file has changed since it was read."""
    for file in files:
        content = Path(file.path).read_bytes()
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise ValueError(f"{file.path} has changed since it was read")
        copy = folder / file.kept
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(content)
