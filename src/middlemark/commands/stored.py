"""Reading stored runs, for the verbs that do."""

from pathlib import Path

import click

from middlemark.launch.outcome import SamplesFile, TrialOutcome
from middlemark.problems import MeasureError
from middlemark.stats.samples import Kept, Samples, load, load_kept
from middlemark.stats.trials import KeptOf, SamplesOf
from middlemark.store import StoredRun, StoreError, list_runs, read_run


def stored_run(folder: Path) -> StoredRun:
    """Read a run back. Raises MeasureError with the path and the next step."""
    try:
        return read_run(folder)
    except StoreError as error:
        raise MeasureError(
            str(error), "name the folder of a run; `middlemark list runs` shows those in runs/"
        ) from None


def tell_damaged(folder: Path | str, lines: int) -> None:
    """Say on stderr how many lines of a run's trials could not be read, where there are any."""
    if lines:
        click.echo(f"middlemark: {folder}: {lines} damaged lines of trials.jsonl are left out", err=True)


def newest(folder: Path) -> Path:
    """Return the folder itself where it is a run's, or of a folder of runs the newest."""
    inside = list_runs(folder) if folder.is_dir() and not (folder / "run.json").exists() else []
    return inside[-1] if inside else folder


def readers(folder: Path) -> tuple[SamplesOf, KeptOf]:
    """Return how what a run's trials kept is read."""

    def samples(outcome: TrialOutcome) -> Samples | None:
        return load(folder / outcome.samples_file) if outcome.samples_file else None

    def kept(file: SamplesFile) -> Kept:
        return load_kept(folder, file)

    return samples, kept
