"""Measure trials without storing a run."""

import secrets
from collections.abc import Mapping
from pathlib import Path

from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan
from middlemark.runs.read import readers
from middlemark.show.progress import progress
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.sites.residue import scratch_folder
from middlemark.stats.cells import trials_by_cell
from middlemark.stats.trials import TrialSummary
from middlemark.trial.observe import Shared
from middlemark.trial.run import run_plan
from middlemark.workers.find import witness


def measure_in_scratch(plan: Plan, workers: Mapping[str, Worker], *, quiet: bool) -> list[list[TrialSummary]] | None:
    """Return the trials of each cell; None: the user interrupted. The files of the trials are removed."""
    outcomes: list[TrialOutcome] = []
    with scratch_folder() as name:
        (Path(name) / "samples").mkdir()
        shared = Shared(name, secrets.token_hex(3), Here(Domains(plan.seed), witness=witness()))
        try:
            with progress(plan, quiet=quiet) as watcher:
                if not run_plan(plan, workers, shared, outcomes.append, watcher):
                    return None
        except KeyboardInterrupt:
            return None
        return trials_by_cell(plan, outcomes, *readers(Path(name)))
