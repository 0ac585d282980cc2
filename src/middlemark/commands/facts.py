"""A run's file → what a report says of the run."""

from collections.abc import Sequence
from pathlib import Path

from middlemark.launch.imported import Source
from middlemark.launch.outcome import TrialOutcome
from middlemark.report.run_facts import AdapterFacts, Machine, RunFacts, clock_of
from middlemark.store import RunFile


def run_facts(file: RunFile, outcomes: Sequence[TrialOutcome], folder: Path, seconds: float) -> RunFacts:
    """Return the facts of a run that took ``seconds``."""
    machine = file.machine
    return RunFacts(
        suites=file.suites,
        started=file.started,
        seconds=seconds,
        middlemark=file.middlemark,
        machine=Machine(
            hostname=machine.host,
            cpu_model=machine.cpu,
            processors=machine.processors,
            kernel=machine.kernel,
            os=machine.system,
        )
        if not file.imported
        else Machine(processors=None, kernel=None, os=None),
        clock=clock_of(outcomes),
        adapters=tuple(
            AdapterFacts(name=each.name, title=each.title, version=each.version, licence=each.licence, floor=each.floor)
            for each in file.adapters
        ),
        folder=str(folder),
        seed=file.seed,
        interrupted=file.interrupted,
        planned_trials=len(file.plan.trials),
        done_trials=len(outcomes),
        notes=tuple(f"{note.place}: {note.text}" if note.place else note.text for note in file.plan.notes),
        precision=file.plan.precision,
        reached=file.reached,
        imported=tuple(map(_source, file.imported)),
    )


def _source(source: Source) -> str:
    lines = source.unit if source.lines == 1 else f"{source.unit}s"
    read = f"{source.lines - source.unread:,} of {source.lines:,}" if source.unread else f"all {source.lines:,}"
    return f"{source.file} ({source.format}, {read} {lines})"
