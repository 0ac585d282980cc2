"""Convert logs to the plan and the outcomes of a run. Each measurement in a log is one trial of its cell."""

from collections.abc import Sequence

from middlemark.imports.log import ImportedTrial, Log, Records, not_read
from middlemark.model.cell import Cell
from middlemark.model.imported import Imported, Source
from middlemark.model.outcome import SamplesFile, TrialOutcome
from middlemark.model.plan import Limits, Note, Plan, Trial

SUITE = "imported"
"""The name of the suite of every imported cell."""


def assemble(logs: Sequence[tuple[Source, Log]], started: str) -> tuple[Plan, tuple[TrialOutcome, ...]]:
    """Return the plan and the outcomes. Measurements with the same settings in several logs are trials of one cell."""
    cells: dict[Cell, int] = {}
    numbers: dict[int, int] = {}
    trials: list[Trial] = []
    outcomes: list[TrialOutcome] = []
    for source, log in logs:
        for each in log.measured:
            index = cells.setdefault(each.cell, len(cells))
            numbers[index] = numbers.get(index, 0) + 1
            trial = Trial(order=len(trials), cell=index, number=numbers[index], limits=Limits())
            trials.append(trial)
            outcomes.append(_outcome(source, log, each, trial, started))
    notes = [Note(source.file, note) for source, log in logs for note in log.notes]
    plan = Plan(cells=tuple(cells), trials=tuple(trials), names=(SUITE,) * len(cells), notes=tuple(notes))
    return plan, tuple(outcomes)


def samples_of(logs: Sequence[tuple[Source, Log]]) -> dict[str, Records]:
    """Return the records of single messages, keyed by the path in the run's folder that an outcome names."""
    trials = (each for _, log in logs for each in log.measured)
    return {_path(order, records): records for order, each in enumerate(trials) for records in each.records}


def _path(order: int, records: Records) -> str:
    return (
        f"samples/{order:05d}.npy"
        if records.role == "ping"
        else f"samples/{order:05d}-{records.role}-{records.index}.npy"
    )


def _outcome(source: Source, log: Log, imported: ImportedTrial, trial: Trial, started: str) -> TrialOutcome:
    damaged = not_read(log)
    return TrialOutcome(
        cell=trial.cell,
        number=trial.number,
        order=trial.order,
        started=started,
        seconds=0.0,
        failed=imported.failed,
        samples_file=next((_path(trial.order, each) for each in imported.records if each.role == "ping"), None),
        samples=imported.samples,
        measured_s=imported.measured_s,
        files=tuple(
            SamplesFile(role=each.role, index=each.index, path=_path(trial.order, each), samples=len(each.raw))
            for each in imported.records
            if each.role != "ping"
        ),
        publishers=imported.publishers,
        subscribers=imported.subscribers,
        stamps_absent=imported.stamps_absent,
        counts=imported.counts,
        costs=imported.costs,
        warnings=(*imported.warnings, *([damaged] if damaged else [])),
        imported=Imported(
            tool=source.tool,
            file=source.file,
            times=imported.times,
            rate_hz=imported.rate_hz,
            rate_total_hz=imported.rate_total_hz,
            sent_hz=imported.sent_hz,
            loss=imported.loss,
            counted=imported.counted,
        ),
    )
