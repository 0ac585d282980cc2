"""All trials of a plan, one after the other, each kept before the next starts."""

import asyncio
import signal
from collections.abc import Callable, Mapping
from typing import Protocol

from middlemark.launch import residue
from middlemark.launch.search import run_search
from middlemark.launch.trial import Site, run_trial
from middlemark.model.cell import SEARCHES, Cell
from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome, Underway
from middlemark.model.plan import Plan, Trial


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


def run_plan(
    plan: Plan,
    workers: Mapping[str, Worker],
    site: Site,
    keep: Callable[[TrialOutcome], None],
    watcher: Watcher,
) -> bool:
    """Run every trial; ``keep`` is called with each outcome. False when SIGINT or SIGTERM ended it early.

    What ``keep`` raises (a full disk) ends the run and is raised. What a killed launcher left is cleared away first.
    """
    residue.clear_abandoned()
    return asyncio.run(_run_plan(plan, workers, site, keep, watcher))


async def _run_plan(
    plan: Plan, workers: Mapping[str, Worker], site: Site, keep: Callable[[TrialOutcome], None], watcher: Watcher
) -> bool:
    loop = asyncio.get_running_loop()
    interrupted = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted.set)
    stop = asyncio.create_task(interrupted.wait())
    try:
        for trial in plan.trials:
            cell = plan.cells[trial.cell]
            watcher.trial_begins(cell, trial)
            run = run_search if cell.rate in SEARCHES else run_trial
            measuring = asyncio.create_task(run(cell, trial, workers[cell.adapter], site, watcher.tick))
            await asyncio.wait([measuring, stop], return_when=asyncio.FIRST_COMPLETED)
            if not measuring.done():
                measuring.cancel()
            try:
                outcome = await measuring
            except asyncio.CancelledError:
                return False
            keep(outcome)
            watcher.trial_ended(cell, outcome)
            if interrupted.is_set():
                return False
        return True
    finally:
        stop.cancel()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
