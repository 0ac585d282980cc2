"""Run all trials of a plan, one after the other. The outcome of each trial is stored before the next trial starts."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from middlemark import interrupts
from middlemark.model.cell import SEARCHES, Cell
from middlemark.model.description import Worker
from middlemark.model.outcome import Failure, TrialOutcome, Underway
from middlemark.model.pairs import worker_of
from middlemark.model.plan import Plan, Trial
from middlemark.trial.observe import Shared, run_trial
from middlemark.trial.proof import Proofs
from middlemark.trial.search import run_search

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
    try:
        for trial in plan.trials:
            cell = plan.cells[trial.cell]
            watcher.trial_begins(cell, trial)
            worker = worker_of(cell.sides, workers)
            measuring = asyncio.create_task(_measured(cell, trial, worker, shared, watcher, proofs))
            await asyncio.wait([measuring, stop], return_when=asyncio.FIRST_COMPLETED)
            if not measuring.done():
                measuring.cancel()
            try:
                outcome = await measuring
            except asyncio.CancelledError:
                return False
            outcome = storable(outcome)
            keep(outcome)
            watcher.trial_ended(cell, outcome)
            if interrupted.is_set():
                return False
        return True
    finally:
        stop.cancel()


async def _measured(
    cell: Cell, trial: Trial, worker: Worker, shared: Shared, watcher: Watcher, proofs: Proofs | None
) -> TrialOutcome:
    """Measure one trial and prove the cell's protection. If the proof is cancelled, return the outcome without a proof.

    A later trial then proves it.
    """
    run = run_search if cell.rate in SEARCHES else run_trial
    outcome = await run(cell, trial, worker, shared, watcher.tick)
    if proofs is None:
        return outcome
    try:
        return await proofs.proven(cell, trial, worker, shared, outcome)
    except asyncio.CancelledError:
        return outcome
