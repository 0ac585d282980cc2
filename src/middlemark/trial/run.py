"""Run all trials of a plan, one after the other, or side by side if they have turns.

The outcome of each trial is stored before the next trial starts.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from middlemark import interrupts
from middlemark.model.cell import SEARCHES, Cell
from middlemark.model.description import Worker
from middlemark.model.outcome import Failure, TrialOutcome, Underway
from middlemark.model.pairs import worker_of
from middlemark.model.plan import Plan, Trial
from middlemark.model.turns import side_by_side
from middlemark.trial.interop import Tries
from middlemark.trial.measurement import Tick
from middlemark.trial.observe import Shared, new_outcome, run_trial
from middlemark.trial.proof import Proofs
from middlemark.trial.search import run_search
from middlemark.trial.side_by_side import Group

_OUTCOME = msgspec.json.Decoder(TrialOutcome)


class Watcher(Protocol):
    """The interface of an object that observes the trials of a run. Its methods must not raise."""

    def trial_begins(self, cell: Cell, trial: Trial) -> None:
        """Called before the first process of a trial starts."""

    def tick(self, event: Underway) -> None:
        """Called about once a second during the measurement."""

    def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None:
        """Called after the outcome of a trial is stored."""

    def more(self, plan: Plan) -> None:
        """Called before the additional trials of ``plan``."""


def storable(outcome: TrialOutcome) -> TrialOutcome:
    """Return the outcome if it can be stored and read back unchanged, else a failure that names the field."""
    try:
        read = _OUTCOME.decode(msgspec.json.encode(outcome))
        if read == outcome:
            return outcome
        differ = (name for name in outcome.__struct_fields__ if getattr(read, name) != getattr(outcome, name))
        why = f"it is different when it is read back - at `$.{next(differ)}`"
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        why = str(error)
    begun = TrialOutcome(
        cell=outcome.cell, number=outcome.number, order=outcome.order, started=outcome.started, seconds=outcome.seconds
    )
    text = f"the outcome of the trial cannot be stored: {why}"
    return msgspec.structs.replace(begun, failed=Failure(code="internal", text=text))


def run_plan(
    plan: Plan,
    workers: Mapping[str, Worker],
    shared: Shared,
    keep: Callable[[TrialOutcome], None],
    watcher: Watcher,
    proofs: Proofs | None = None,
) -> bool:
    """Run every trial, and call ``keep`` with each outcome. Returns False if SIGINT or SIGTERM ended the run early.

    ``proofs``: the earlier proofs of the cells; None: prove nothing. If ``keep`` raises, for example because the disk
    is full, the run ends and the exception is raised. The leftovers of a killed launcher are removed first.
    """
    interrupted = asyncio.Event()
    with shared.here.running():
        complete = interrupts.run(_run_plan(plan, workers, shared, keep, watcher, proofs, interrupted), interrupted.set)
    return complete and not interrupted.is_set()


async def _run_plan(
    plan: Plan,
    workers: Mapping[str, Worker],
    shared: Shared,
    keep: Callable[[TrialOutcome], None],
    watcher: Watcher,
    proofs: Proofs | None,
    interrupted: asyncio.Event,
) -> bool:
    stop = asyncio.create_task(interrupted.wait())
    tries = Tries()
    try:
        for trials in side_by_side(plan.trials):
            group = Group(each.order for each in trials) if len(trials) > 1 else None
            together = msgspec.structs.replace(shared, group=group)
            measuring = []
            for trial in trials:
                cell = plan.cells[trial.cell]
                watcher.trial_begins(cell, trial)
                worker = worker_of(cell.sides, workers)
                tick = watcher.tick if trial is trials[0] else _untold
                measured = _measured(cell, trial, worker, together, tick, proofs, tries)
                measuring.append(asyncio.create_task(measured))
            every = asyncio.gather(*measuring, return_exceptions=True)
            awaited: list[asyncio.Future[Any]] = [every, stop]
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            if not every.done():
                for each in measuring:
                    each.cancel()
            for trial, found in zip(trials, await every, strict=True):
                if isinstance(found, asyncio.CancelledError):
                    continue
                if isinstance(found, BaseException):
                    raise found
                outcome = storable(found)
                keep(outcome)
                watcher.trial_ended(plan.cells[trial.cell], outcome)
            if interrupted.is_set() or any(each.cancelled() for each in measuring):
                return False
        return True
    finally:
        stop.cancel()


def _untold(_: Underway) -> None:
    """Ignore a tick: of a group, only the first trial's progress is shown."""


async def _measured(
    cell: Cell, trial: Trial, worker: Worker, shared: Shared, tick: Tick, proofs: Proofs | None, tries: Tries
) -> TrialOutcome:
    """Measure one trial and prove the cell's protection. If the proof is cancelled, return the outcome without a proof.

    A later trial then proves it.
    """
    foreseen = tries.foreseen(trial)
    if foreseen is not None:
        return msgspec.structs.replace(new_outcome(trial), failed=foreseen)
    run = run_search if cell.rate in SEARCHES else run_trial
    outcome = await run(cell, trial, worker, shared, tick)
    tries.add(outcome)
    if proofs is None:
        return outcome
    try:
        return await proofs.proven(cell, trial, worker, shared, outcome)
    except asyncio.CancelledError:
        return outcome
