"""The trials of a run: kept one by one, gone on with where they stopped, and rounds added until it is precise."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from middlemark import __version__
from middlemark.launch.domains import Domains
from middlemark.launch.run import run_plan
from middlemark.launch.trial import Site
from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan, Precision, Reached
from middlemark.model.run import RunFile
from middlemark.plan.rounds import with_another_round
from middlemark.runs.read import readers
from middlemark.show.progress import progress
from middlemark.stats.interval import known
from middlemark.stats.trials import figures, trial_summary
from middlemark.store import RunWriter, StoreError
from middlemark.store.machine import read_machine
from middlemark.workers.find import witness


class Ending(NamedTuple):
    """How the trials of a run came to an end; ``error``: what the disk did not take."""

    complete: bool
    error: str | None = None
    reached: Reached | None = None


def measure_trials(
    writer: RunWriter, outcomes: list[TrialOutcome], workers: Mapping[str, Worker], *, interface: str, quiet: bool
) -> Ending:
    """Measure the trials that are not in ``outcomes`` yet, which grows by each one that ends."""
    plan = writer.file.plan
    measured = {each.order for each in outcomes}
    left = msgspec.structs.replace(plan, trials=tuple(each for each in plan.trials if each.order not in measured))
    site = Site(str(writer.folder), secrets.token_hex(3), Domains(plan.seed), interface, witness())
    precisely = UntilPrecise(writer.folder, plan.precision, outcomes) if plan.precision is not None else None

    def keep(outcome: TrialOutcome) -> None:
        writer.append(outcome)
        outcomes.append(outcome)

    def extend(longer: Plan) -> bool:
        further = msgspec.structs.replace(longer, trials=longer.trials[len(writer.file.plan.trials) :])
        writer.extend(longer)
        watcher.more(further)
        return run_plan(further, workers, site, keep, watcher)

    try:
        with progress(left, quiet=quiet, folder=writer.folder, adapters=writer.file.adapters) as watcher:
            complete = run_plan(left, workers, site, keep, watcher)
            if not complete or precisely is None:
                return Ending(complete)
            reached = precisely.settle(plan, outcomes, extend)
            return Ending(reached is not None, reached=reached)
    except KeyboardInterrupt:  # just before or just after the time in which run_plan takes care of it
        return Ending(complete=False)
    except StoreError as failure:
        return Ending(complete=True, error=str(failure))
    except OSError as failure:  # no room for a scratch folder, say
        return Ending(
            complete=True,
            error=f"{failure.filename}: {failure.strerror}" if failure.filename else str(failure),
        )


class UntilPrecise:
    """What a run knows so far. Samples are read once, when the round of their trial is over."""

    def __init__(self, folder: Path, precision: Precision, outcomes: Sequence[TrialOutcome]) -> None:
        """``outcomes``: those of an earlier part of the run; their time counts."""
        self._samples, self._kept = readers(folder)
        self._precision = precision
        self._figures: dict[int, list[float]] = {}
        self._read = 0
        self._before_s = sum(each.seconds for each in outcomes)
        self._began = time.monotonic()

    def seconds(self) -> float:
        """Return the time spent on the run."""
        return self._before_s + time.monotonic() - self._began

    def reached(self, plan: Plan, outcomes: Sequence[TrialOutcome]) -> Reached | None:
        """Return how it ended, once every trial of the plan has; None: another round is due."""
        for outcome in outcomes[self._read :]:
            cell = plan.cells[outcome.cell]
            found = figures(cell, [trial_summary(cell, outcome, self._samples, self._kept)])[0]
            if found is not None and found > 0:
                self._figures.setdefault(outcome.cell, []).append(found)
        self._read = len(outcomes)
        rounds = max(trial.number for trial in plan.trials)
        left = known(self._precision, self._figures, rounds)
        spent = self.seconds()
        if left.wide and spent + spent / rounds <= self._precision.budget_s:
            return None
        met = not left.wide and len(left.unmeasured) < len(self._precision.focus)
        return Reached(rounds=rounds, seconds=spent, met=met, wide=left.wide, unmeasured=left.unmeasured)

    def settle(self, plan: Plan, outcomes: Sequence[TrialOutcome], extend: Callable[[Plan], bool]) -> Reached | None:
        """Add rounds until it is reached; ``extend`` notes and measures them, and says whether all came to an end.

        None when that was interrupted. ``outcomes`` grows while it does.
        """
        while (reached := self.reached(plan, outcomes)) is None:
            plan = with_another_round(plan)
            if not extend(plan):
                return None
        return reached


def differences(file: RunFile, workers: Mapping[str, Worker]) -> Iterator[str]:
    """Yield what is not as it was when the run began, each to be read after ``--resume``.

    Trials of two worlds are not one cell's.
    """
    if file.imported:
        yield "it was imported: there is nothing in it to measure"
        return
    if file.middlemark != __version__:
        yield f"Middlemark was {file.middlemark} then and is {__version__} now: measure anew"
    machine = read_machine()
    for field in ("host", "cpu", "processors", "memory_bytes", "kernel", "system", "clocksource", "governor"):
        then, now = getattr(file.machine, field), getattr(machine, field)
        if then != now:
            yield f"the machine's {field} was {then} then and is {now} now: measure anew"
    for described in file.adapters:
        worker = workers.get(described.name)
        if worker is None:
            yield f"{described.name} {described.version} is not built here any more"
        elif worker.description != described:
            was, now = described.version, worker.description.version
            changed = f"was {was} then and is {now} now" if was != now else "describes itself otherwise than then"
            yield f"{described.name} {changed}: measure anew"
