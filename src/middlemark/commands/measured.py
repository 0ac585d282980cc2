"""A run as it is kept → what a report is made from."""

from collections.abc import Sequence
from pathlib import Path

from middlemark.commands.stored import newest, readers, stored_run
from middlemark.launch.outcome import TrialOutcome
from middlemark.report.document import MeasuredRun
from middlemark.stats.cells import results_of, trials_by_cell
from middlemark.store import RunFile


def read_measured(folder: Path) -> MeasuredRun:
    """Read a run, or of a folder of runs the newest, and every sample it kept. Raises MeasureError."""
    folder = newest(folder)
    run = stored_run(folder)
    return summarised(run.file, run.outcomes, folder, running=bool(run.running), damaged_lines=run.damaged_lines)


def summarised(
    file: RunFile,
    outcomes: Sequence[TrialOutcome],
    folder: Path,
    *,
    running: bool = False,
    damaged_lines: int = 0,
) -> MeasuredRun:
    """Return what those trials of a run came to: every sample is read, once."""
    samples, kept = readers(folder)
    trials = trials_by_cell(file.plan, outcomes, samples, kept)
    return MeasuredRun(
        name=folder.resolve().name,
        folder=str(folder),
        file=file,
        outcomes=outcomes,
        trials=trials,
        results=results_of(file.plan, trials, {each.name: each for each in file.adapters}),
        samples=samples,
        kept=kept,
        running=running,
        damaged_lines=damaged_lines,
    )
