"""The trials of a run: kept one by one, gone on with where they stopped, and rounds added where the plan wants them."""

import secrets
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from middlemark import __version__, limits
from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan, Reached
from middlemark.model.run import RunFile
from middlemark.runs.until import Until
from middlemark.show.progress import progress
from middlemark.sites.apart import Apart
from middlemark.sites.cluster import Cluster
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.sites.machine import read_machine
from middlemark.store import RunWriter, StoreError
from middlemark.trial.observe import Shared
from middlemark.trial.proof import Proofs
from middlemark.trial.run import run_plan
from middlemark.workers.find import witness


class Ending(NamedTuple):
    """How the trials of a run came to an end; ``error``: what the disk did not take."""

    complete: bool
    error: str | None = None
    reached: Reached | None = None


def measure_trials(
    writer: RunWriter,
    outcomes: list[TrialOutcome],
    workers: Mapping[str, Worker],
    *,
    interface: str,
    quiet: bool,
    cluster: Cluster | None = None,
) -> Ending:
    """Measure the trials that are not in ``outcomes`` yet, which grows by each one that ends.

    ``cluster``: the hosts that take part; None: none do.
    """
    plan = writer.file.plan
    measured = {each.order for each in outcomes}
    left = msgspec.structs.replace(plan, trials=tuple(each for each in plan.trials if each.order not in measured))
    here = Here(Domains(plan.seed), interface=interface, witness=witness(), certs=writer.file.certs)
    site = here if cluster is None else Apart(cluster, here)
    shared = Shared(str(writer.folder), secrets.token_hex(3), site)
    until = Until(writer.folder, plan, writer.file.adapters, outcomes)
    proofs = Proofs(outcomes)

    def keep(outcome: TrialOutcome) -> None:
        outcomes.append(writer.append(outcome))

    def extend(longer: Plan) -> bool:
        further = msgspec.structs.replace(longer, trials=longer.trials[len(writer.file.plan.trials) :])
        writer.extend(longer)
        watcher.more(further)
        return run_plan(further, workers, shared, keep, watcher, proofs)

    try:
        with progress(left, quiet=quiet, folder=writer.folder, adapters=writer.file.adapters) as watcher:
            complete = run_plan(left, workers, shared, keep, watcher, proofs)
            if not complete:
                return Ending(complete=False)
            complete, reached = until.settle(plan, outcomes, extend)
            return Ending(complete, reached=reached)
    except KeyboardInterrupt:  # just before or just after the time in which run_plan takes care of it
        return Ending(complete=False)
    except StoreError as failure:
        return Ending(complete=True, error=str(failure))
    except OSError as failure:  # no room for a scratch folder, say
        what = f"{failure.filename}: {failure.strerror}" if failure.filename else str(failure)
        return Ending(complete=True, error=limits.sentence(failure) or what)


def differences(file: RunFile, workers: Mapping[str, Worker]) -> Iterator[str]:
    """Yield what is not as it was when the run began, each to be read after ``--resume``.

    Trials of two worlds are not one cell's.
    """
    if file.imported:
        yield "it was imported: there is nothing in it to measure"
        return
    if file.machines:
        yield f"it was measured on {len(file.machines)} hosts, which may be others now: measure anew"
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
