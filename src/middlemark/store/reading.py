"""Reading a run's folder. What is wrong in it is left out and told; whoever has read it can rely on the rest."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from middlemark.files import open_regular, read_regular
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Trial
from middlemark.model.run import SCHEMA, Run, RunFile
from middlemark.store.checks import InvalidFile, check_outcome, check_run
from middlemark.store.lock import is_held
from middlemark.store.schema1 import converted_run, converted_trial

DESCRIPTION_BYTES = 1 << 28
"""Of ``run.json``: a hundred times what a run of ten thousand trials takes."""
LINE_BYTES = 1 << 26
"""Of a trial: a week of it, a second a row, has a tenth."""

NOT_READ = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidFile)
"""What decoding raises: RecursionError of a text that is nested a thousand deep."""


class StoreError(Exception):
    """A run's folder cannot be written or read; the text names the path."""


class _Written(msgspec.Struct):
    """The part of ``run.json`` that every schema has, so that a newer one can be told from a damaged one."""

    schema: int
    middlemark: str = "version unknown"


def read_run(folder: Path) -> Run:
    """Read a run back: complete, killed or under way. Raises StoreError naming the path and what is wrong with it."""
    held = is_held(folder / "trials.jsonl")  # asked first: a run that ends meanwhile has then said so in run.json
    file = _description(folder / "run.json")
    return _with_trials(folder, file, running=held if file.ended is None else False)


def read_held_run(folder: Path) -> Run:
    """Read a run whose lock this process has. Raises StoreError."""
    return _with_trials(folder, _description(folder / "run.json"), running=False)


def list_runs(root: Path) -> list[Path]:
    """Return the folders under ``root`` that hold a run, oldest first."""
    found = []
    for path in root.glob("*/run.json"):
        try:
            found.append((path.parent.stat().st_mtime, path.parent))
        except OSError:  # removed meanwhile
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
    """Return what came of one of these trials. Raises one of ``NOT_READ``."""
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
                raise InvalidFile(f"order: trial {outcome.order} stands in a line before")
            outcomes[outcome.order] = outcome
        except NOT_READ as error:
            damaged.append(f"line {number}: {_why(error)}")
    return Run(folder=folder, file=file, outcomes=tuple(outcomes.values()), damaged=tuple(damaged), running=running)


def _lines(path: Path) -> Iterator[bytes]:
    """Yield each line without its end. One that is too long for a trial is cut off; nothing is read after it."""
    try:
        with os.fdopen(open_regular(path), "rb") as trials:
            while line := trials.readline(LINE_BYTES):
                yield line.removesuffix(b"\n")
                if len(line) == LINE_BYTES:
                    return
    except FileNotFoundError:
        return
    except OSError as error:
        raise store_error(path, error) from None


def _why(error: Exception) -> str:
    return "its values are nested too deep" if isinstance(error, RecursionError) else str(error)


def store_error(path: Path, error: OSError) -> StoreError:
    """Return what is told of a path that the system does not let us use."""
    return StoreError(f"{path}: {error.strerror or error}")
