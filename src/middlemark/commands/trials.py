"""The trials of a run, kept one by one, with rounds added where precision was asked for."""

import secrets
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from middlemark.commands.precision import Precisely
from middlemark.commands.progress import progress
from middlemark.launch.domains import Domains
from middlemark.launch.outcome import TrialOutcome
from middlemark.launch.run import run_plan
from middlemark.launch.trial import Site
from middlemark.plan import Plan
from middlemark.plan.cell import Reached
from middlemark.store import RunWriter, StoreError
from middlemark.workers.description import Worker
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
    precisely = Precisely(writer.folder, plan.precision, outcomes) if plan.precision is not None else None

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
