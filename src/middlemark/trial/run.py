"""All trials of a plan, one after the other, each kept before the next starts."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from middlemark import interrupts
from middlemark.model.cell import SEARCHES, Cell
from middlemark.model.description import Worker
from middlemark.model.outcome import Failure, TrialOutcome, Underway
from middlemark.model.plan import Plan, Trial
from middlemark.trial.observe import Shared, run_trial
from middlemark.trial.proof import Proofs
from middlemark.trial.search import run_search

_OUTCOME = msgspec.json.Decoder(TrialOutcome)


class Watcher(Protocol):
    """What is told while the trials run; it must not raise."""

    def trial_begins(self, cell: Cell, trial: Trial) -> None:
        """Before its first process."""

    def tick(self, event: Underway) -> None:
        """About once a second while it measures."""

    def trial_ended(self, cell: Cell, outcome: TrialOutcome) -> None:
        """After it has been kept."""

    def more(self, plan: Plan) -> None:
        """Before further trials than were planned at first: those of ``plan``."""


def storable(outcome: TrialOutcome) -> TrialOutcome:
    """Return the outcome as it is read back from what is stored; a failure that says where, if it cannot be."""
    try:
        read = _OUTCOME.decode(msgspec.json.encode(outcome))
        if read == outcome:
            return outcome
        differ = (name for name in outcome.__struct_fields__ if getattr(read, name) != getattr(outcome, name))
        why = f"it reads back as something else - at `$.{next(differ)}`"
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        why = str(error)
    begun = TrialOutcome(
        cell=outcome.cell, number=outcome.number, order=outcome.order, started=outcome.started, seconds=outcome.seconds
    )
    text = f"what the trial came to cannot be stored: {why}"
    return msgspec.structs.replace(begun, failed=Failure(code="internal", text=text))


def run_plan(
    plan: Plan,
    workers: Mapping[str, Worker],
    shared: Shared,
    keep: Callable[[TrialOutcome], None],
    watcher: Watcher,
    proofs: Proofs | None = None,
) -> bool:
    """Run every trial; ``keep`` is called with each outcome. False when SIGINT or SIGTERM ended it early.

    ``proofs``: of the cells so far; None: nothing is proven. What ``keep`` raises (a full disk) ends the run and is
    raised. What a killed launcher left is cleared away first.
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
            measuring = asyncio.create_task(_measured(cell, trial, workers[cell.adapter], shared, watcher, proofs))
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
    """A cancellation while something is proven leaves the outcome as it was measured: another trial proves it."""
    run = run_search if cell.rate in SEARCHES else run_trial
    outcome = await run(cell, trial, worker, shared, watcher.tick)
    if proofs is None:
        return outcome
    try:
        return await proofs.proven(cell, trial, worker, shared, outcome)
    except asyncio.CancelledError:
        return outcome
