"""Read a run's folder. Damaged lines are skipped and reported. All other values are checked."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from middlemark.files import open_regular, read_regular
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan, Trial
from middlemark.model.record import Record
from middlemark.model.run import SCHEMA, Run, RunFile
from middlemark.store.checks import InvalidFile, check_outcome, check_run
from middlemark.store.lock import is_held
from middlemark.store.schema1 import converted_run, converted_trial

DESCRIPTION_BYTES = 1 << 28
"""The largest accepted ``run.json`` in bytes: a hundred times the size for a run with ten thousand trials."""
LINE_BYTES = 1 << 26
"""The longest accepted line of a trial in bytes: ten times the length for a trial of a week with one row per second."""

RECORDS = "records.jsonl"
"""The file with the records of long trials."""

NOT_READ = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidFile)
"""The errors of decoding. A text with a thousand nested levels causes RecursionError."""


class StoreError(Exception):
    """A run's folder cannot be written or read. The text contains the path."""


class _Written(msgspec.Struct):
    """The part of ``run.json`` in every schema. It distinguishes a newer schema from a damaged file."""

    schema: int
    middlemark: str = "version unknown"


def read_run(folder: Path) -> Run:
    """Read a run: complete, killed or running. Raises StoreError with the path and the problem."""
    # Check the lock first: if the run ends after this check, its end is already in run.json.
    held = is_held(folder / "trials.jsonl")
    file = _description(folder / "run.json")
    return _with_trials(folder, file, running=held if file.ended is None else False)


def read_held_run(folder: Path) -> Run:
    """Read a run that this process has locked. Raises StoreError."""
    return _with_trials(folder, _description(folder / "run.json"), running=False)


def list_runs(root: Path) -> list[Path]:
    """Return the folders of runs in ``root``, oldest first."""
    found = []
    for path in root.glob("*/run.json"):
        try:
            found.append((path.parent.stat().st_mtime, path.parent))
        except OSError:  # the run was removed meanwhile
            continue
    return [folder for _, folder in sorted(found)]


def _description(path: Path) -> RunFile:
    try:
        text = read_regular(path, DESCRIPTION_BYTES)
        written = msgspec.json.decode(text, type=_Written)
        if written.schema > SCHEMA:
            newer = f"was written by a newer Middlemark ({written.middlemark})"
            raise StoreError(f"{path}: schema {written.schema} {newer}")
        file = msgspec.json.decode(converted_run(text) if written.schema == 1 else text, type=RunFile)
        check_run(file)
    except OSError as error:
        raise store_error(path, error) from None
    except NOT_READ as error:
        raise StoreError(f"{path}: not the description of a run: {_why(error)}") from None
    return file


def read_outcome(line: bytes, trials: Mapping[int, Trial]) -> TrialOutcome:
    """Decode the outcome of one of these trials. Raises one of the errors in ``NOT_READ``."""
    outcome = msgspec.json.decode(converted_trial(line), type=TrialOutcome)
    check_outcome(outcome, trials)
    return outcome


def _with_trials(folder: Path, file: RunFile, *, running: bool | None) -> Run:
    trials = {trial.order: trial for trial in file.plan.trials}
    outcomes: dict[int, TrialOutcome] = {}
    damaged = []
    for number, line in enumerate(_lines(folder / "trials.jsonl"), 1):
        try:
            outcome = read_outcome(line, trials)
            if outcome.order in outcomes:
                raise InvalidFile(f"order: trial {outcome.order} is in an earlier line")
            outcomes[outcome.order] = outcome
        except NOT_READ as error:
            damaged.append(f"line {number}: {_why(error)}")
    records, damaged_records = read_records(folder, file.plan)
    return Run(
        folder=folder,
        file=file,
        outcomes=tuple(outcomes.values()),
        damaged=(*damaged, *damaged_records),
        records=records,
        running=running,
    )


def read_records(folder: Path, plan: Plan) -> tuple[tuple[Record, ...], list[str]]:
    """Return the records, and a message for each damaged line.

    The last line is left out if it has no end: it is being written, or its writing was cut off by a power cut.
    """
    found: list[Record] = []
    damaged = []
    orders = {each.order for each in plan.trials}
    path = folder / RECORDS
    for number, line in enumerate(_lines(path, ended=True), 1):
        try:
            record = msgspec.json.decode(line, type=Record)
            if record.order not in orders:
                raise InvalidFile(f"order: the plan has no trial {record.order}")
            found.append(record)
        except NOT_READ as error:
            damaged.append(f"{path.name} line {number}: {_why(error)}")
    return tuple(found), damaged


def _lines(path: Path, *, ended: bool = False) -> Iterator[bytes]:
    """Yield each line without its end. A line that is too long for a trial is cut, and reading ends.

    ``ended``: leave out a last line without an end.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as trials:
            while line := trials.readline(LINE_BYTES):
                if ended and not line.endswith(b"\n"):
                    return
                yield line.removesuffix(b"\n")
                if len(line) == LINE_BYTES:
                    return
    except FileNotFoundError:
        return
    except OSError as error:
        raise store_error(path, error) from None


def _why(error: Exception) -> str:
    return "its values are nested too deeply" if isinstance(error, RecursionError) else str(error)


def store_error(path: Path, error: OSError) -> StoreError:
    """Return the error for a path that cannot be used."""
    return StoreError(f"{path}: {error.strerror or error}")
