"""``run.json`` (what was asked, of whom, on what machine), ``trials.jsonl`` (a line a trial) and ``samples/*.npy``."""

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
from middlemark.model.run import Run, RunFile
from middlemark.model.user_file import UserFile, user_files
from middlemark.store.lock import Held, Lock
from middlemark.store.reading import NOT_READ, StoreError, read_held_run, read_outcome, store_error


class RunWriter:
    """Writes a run's folder. Every method raises StoreError with the path when the disk does not take it."""

    def __init__(self, folder: Path, file: RunFile, lock: Lock, damaged: tuple[str, ...] = ()) -> None:
        """Use :func:`open_run` or :func:`reopen_run`."""
        self.folder = folder
        self.file = file
        self._lock = lock
        self._damaged = damaged
        self._save()

    def run(self, outcomes: Iterable[TrialOutcome]) -> Run:
        """Return what was written; ``outcomes`` are the trials that were appended, here or before."""
        return Run(folder=self.folder, file=self.file, outcomes=tuple(outcomes), damaged=self._damaged)

    def extend(self, plan: Plan) -> None:
        """Note further trials of the same cells, on disk before this returns."""
        self.file = msgspec.structs.replace(self.file, plan=plan)
        self._save()

    def append(self, outcome: TrialOutcome) -> TrialOutcome:
        """Add a line to trials.jsonl, on disk before this returns; return the outcome that it holds.

        What would not be read again is not kept: then it is a failure that says why.
        """
        line = msgspec.json.encode(outcome)
        try:
            read_outcome(line, {each.order: each for each in self.file.plan.trials})
        except NOT_READ as error:
            failure = Failure("internal", f"what came of it contradicts itself: {error}", "report this as a fault")
            outcome = TrialOutcome(
                cell=outcome.cell, number=outcome.number, order=outcome.order, started=outcome.started,
                seconds=max(outcome.seconds, 0.0), failed=failure,
            )  # fmt: skip
            line = msgspec.json.encode(outcome)
        _append(self.folder / "trials.jsonl", line + b"\n")  # made anew, it would lack those before
        return outcome

    def close(self, *, interrupted: bool = False, error: str | None = None, reached: Reached | None = None) -> None:
        """Note how it ended. Whether that succeeds or not, the run is no longer under way."""
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
            draft.unlink(missing_ok=True)  # it might be a pipe
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(self.file), indent=1))
            draft.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
            raise store_error(path, error) from None


def open_run(root: Path, file: RunFile) -> RunWriter:
    """Make ``<root>/<time>-<suite>/`` with its samples folder. Raises StoreError naming the path."""
    stamp = datetime.datetime.fromisoformat(file.started).astimezone().strftime("%Y-%m-%d_%H-%M-%S")
    base = f"{stamp}-{'+'.join(_safe(name) for name in file.suites) or 'run'}"
    try:
        str(root.absolute()).encode()
    except FileNotFoundError:
        raise StoreError(f"{root}: the working folder has been removed") from None
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
            raise store_error(folder, error) from None
        try:
            keep(user_files(cell.native for cell in file.plan.cells), folder)
        except (OSError, ValueError) as error:
            raise StoreError(f"{folder}: a configuration file cannot be kept: {error}") from None
        return RunWriter(folder.absolute(), file, _locked(folder))
    raise StoreError(f"{root / base}: a thousand runs of this second exist already")


class ReopenedRun:
    """A run that this process alone may go on with. Nothing is written until ``writer`` is called."""

    def __init__(self, folder: Path) -> None:
        """Use :func:`reopen_run`."""
        self._lock = _locked(folder)
        self.run = read_held_run(folder)

    def writer(self) -> RunWriter:
        """Go on with it. Raises StoreError naming the path.

        A line that was cut off stays where it is, one that cannot be read; what follows begins on a line of its own.
        """
        path = self.run.folder / "trials.jsonl"
        try:
            with os.fdopen(open_regular(path), "rb") as trials:
                whole = not trials.seek(0, os.SEEK_END) or trials.seek(-1, os.SEEK_END) < 0 or trials.read(1) == b"\n"
        except OSError as error:
            raise store_error(path, error) from None
        if not whole:
            _append(path, b"\n")
        return RunWriter(
            self.run.folder.absolute(),
            msgspec.structs.replace(self.run.file, ended=None, interrupted=False, error=None, reached=None),
            self._lock,
            self.run.damaged,
        )


def reopen_run(folder: Path) -> ReopenedRun:
    """Return the run in a folder as it is, once nobody else can measure into it. Raises StoreError: somebody does."""
    return ReopenedRun(folder)


def _locked(folder: Path) -> Lock:
    """Lock a run's ``trials.jsonl``, which is made where there is none."""
    path = folder / "trials.jsonl"
    try:
        _append(path, b"", os.O_CREAT)
        return Lock(path)
    except Held as held:
        raise StoreError(f"{folder}: is being measured {held}") from None
    except OSError as error:
        raise store_error(path, error) from None


def _append(path: Path, line: bytes, flags: int = 0) -> None:
    """Add to a file, on disk before this returns, and read back."""
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
        raise StoreError(f"{path}: does not hold what was written to it; something else writes there")


def _safe(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "-" for char in name)[:60]


def utc_now() -> str:
    """Return the present as ISO 8601 in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def keep(files: Iterable[UserFile], folder: Path) -> None:
    """Copy them. OSError where that cannot be; ValueError when one has changed since it was read."""
    for file in files:
        content = Path(file.path).read_bytes()
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise ValueError(f"{file.path} has changed since it was read")
        copy = folder / file.kept
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(content)
