"""Read stored runs and their samples."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from middlemark.model.outcome import SamplesFile, TrialOutcome
from middlemark.model.run import Run
from middlemark.model.spelling import nearest
from middlemark.model.units import format_count
from middlemark.problems import MeasureError
from middlemark.stats.cells import results_of, trials_by_cell
from middlemark.stats.samples import Kept, Samples, SamplesError, load, load_kept
from middlemark.stats.trials import KeptOf, SamplesOf
from middlemark.store import StoreError, list_runs, read_run
from middlemark.store.reading import RECORDS
from middlemark.verdicts.rows import MeasuredRun

RUNS = "runs"
"""The folder of the runs if the user names none."""


def read_measured(folder: Path) -> MeasuredRun:
    """Read a run and all its samples. Raises MeasureError."""
    return measured(stored_run(folder))


def measured(run: Run) -> MeasuredRun:
    """Return a run with the results of its cells. Reads all samples once."""
    plan = run.file.plan
    samples, kept = readers(run.folder)
    trials = trials_by_cell(plan, run.outcomes, samples, kept)
    return MeasuredRun(
        **{name: getattr(run, name) for name in Run.__struct_fields__},
        trials=trials,
        results=results_of(plan, trials, {each.name: each for each in run.file.adapters}),
        samples=samples,
        kept=kept,
    )


def stored_run(folder: Path) -> Run:
    """Read a stored run. Raises MeasureError with the path and the next step."""
    if not folder.exists():
        raise _no_such_run(folder)
    try:
        return read_run(folder)
    except StoreError as error:
        raise MeasureError(
            str(error), "name the folder of a run; to see the runs in runs/: middlemark list runs"
        ) from None


def trials_of(run: MeasuredRun, index: int, warn: Callable[[str], None]) -> Iterator[tuple[TrialOutcome, list[Kept]]]:
    """Yield the measured trials of a cell with their samples. ``warn`` gets a message for each unreadable trial."""
    for outcome in (each.outcome for each in run.trials[index] if each.outcome.failed is None):
        try:
            if outcome.files:
                yield outcome, [run.kept(each) for each in outcome.files]
            else:
                raw = run.samples(outcome)
                yield outcome, [] if raw is None else [Kept("ping", 0, raw)]
        except SamplesError as error:
            warn(f"left out: {error}")


def damaged(run: Run) -> tuple[str, ...]:
    """Return a message about the damaged lines of each file, or an empty tuple."""
    of_records = [each for each in run.damaged if each.startswith(RECORDS)]
    of_trials = [each for each in run.damaged if each not in of_records]
    return tuple(
        f"{run.folder}: {format_count(len(lines), 'damaged line')} of {name} left out: {'; '.join(lines[:3])}"
        f"{f'; and {len(lines) - 3} more' if len(lines) > 3 else ''}"
        for name, lines in (("trials.jsonl", of_trials), (RECORDS, of_records))
        if lines
    )


def newest(folder: Path) -> Path:
    """Return ``folder`` if it is a run or the name of one in ``runs``, else the newest run in it.

    Raises MeasureError if there is no run.
    """
    for place in (folder, Path(RUNS) / folder):
        if (place / "run.json").exists():
            return place
    if inside := list_runs(folder) if folder.is_dir() else []:
        return inside[-1]
    if folder.is_dir():
        raise MeasureError(
            f"{folder}: is not a run and contains no runs; searched {folder}/run.json and {folder}/*/run.json",
            "`middlemark run` and `middlemark which` make runs; --out names the folder",
        )
    raise _no_such_run(folder)


def _no_such_run(folder: Path) -> MeasureError:
    return MeasureError(
        f"{folder}: there is no such run; searched {folder}/run.json{_runs_nearby(folder)}",
        "`middlemark list runs` lists the runs in runs/",
    )


def earlier_run(last: Path, accepts: Callable[[Run], bool]) -> Run | None:
    """Return the newest run before ``last`` in the same folder that ``accepts`` accepts; None: no such run.

    Runs that cannot be read are left out.
    """
    earlier = list_runs(last.parent)
    for each in reversed(earlier[: earlier.index(last)] if last in earlier else earlier):
        with contextlib.suppress(StoreError):  # `list runs` prints why a run is unreadable
            run = read_run(each)
            if accepts(run):
                return run
    return None


def _runs_nearby(folder: Path) -> str:
    """Return the number of runs in the same folder or in ``runs``, and the closest name; empty if there are no runs."""
    for place in dict.fromkeys((folder.parent, Path(RUNS))):
        if names := [each.name for each in list_runs(place)] if place.is_dir() else []:
            near = nearest(folder.name, names)
            named = f"did you mean {place / near}?" if near else f"the newest is {place / names[-1]}"
            return f"; {place} has {format_count(len(names), 'run')}, {named}"
    return ""


def read_runs(paths: Sequence[str], warn: Callable[[str], None]) -> list[MeasuredRun]:
    """Read the run at each path. Without paths, read the newest run in ``runs``. Raises MeasureError.

    ``warn`` is called with a message for each damaged run.
    """
    found = [read_measured(newest(Path(each))) for each in paths or (RUNS,)]
    for run in found:
        for each in damaged(run):
            warn(each)
    return found


def readers(folder: Path) -> tuple[SamplesOf, KeptOf]:
    """Return two functions: one reads the samples of a trial, and one reads the trial's other files."""

    def samples(outcome: TrialOutcome) -> Samples | None:
        return load(folder / outcome.samples_file) if outcome.samples_file else None

    def kept(file: SamplesFile) -> Kept:
        return load_kept(folder, file)

    return samples, kept
