"""Logs that were read → the plan and the outcomes of a run. One measurement of a log is one trial of its cell."""

from collections.abc import Sequence

import msgspec

from middlemark.imports.log import Log, Measured, not_read
from middlemark.launch.imported import Imported, Source
from middlemark.launch.outcome import TrialOutcome
from middlemark.plan.cell import Cell, Limits, Note, Plan, Trial

SUITE = "imported"
"""The name of the experiment that imported cells are of."""


def assemble(logs: Sequence[tuple[Source, Log]], started: str) -> tuple[Plan, tuple[TrialOutcome, ...]]:
    """Return what a run is made of. What is measured with the same settings in several logs is several trials."""
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


def _outcome(source: Source, log: Log, of: Measured, trial: Trial, started: str) -> TrialOutcome:
    damaged = not_read(log)
    figures = {field: times for field, times in of.times.items() if any(msgspec.structs.astuple(times))}
    return TrialOutcome(
        cell=trial.cell,
        number=trial.number,
        order=trial.order,
        started=started,
        seconds=0.0,
        failed=of.failed,
        samples=of.samples,
        counts=of.counts,
        warnings=(*of.doubts, *([damaged] if damaged else [])),
        imported=Imported(
            tool=source.tool,
            file=source.file,
            times=figures,
            rate_hz=of.rate_hz,
            rate_total_hz=of.rate_total_hz,
            sent_hz=of.sent_hz,
            counted=of.counted,
        ),
    )
