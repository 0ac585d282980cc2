"""Measure the trials of a run, store each trial when it ends, and add rounds if the plan says so."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from middlemark import __version__, limits
from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan, Reached
from middlemark.model.record import Record
from middlemark.model.run import RunFile
from middlemark.runs.breaking import search_breaks
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
from middlemark.trial.recording import RecordLostError
from middlemark.trial.run import run_plan
from middlemark.workers.find import witness


class Ending(NamedTuple):
    """How the trials of a run ended. ``error``: the reason why results could not be stored, or None."""

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
    """Measure the trials that have no outcome in ``outcomes`` yet, and append the new outcomes to ``outcomes``.

    ``cluster``: the hosts of the run; None: only this machine.
    """
    plan = writer.file.plan
    measured = {each.order for each in outcomes}
    remaining = msgspec.structs.replace(plan, trials=tuple(each for each in plan.trials if each.order not in measured))
    here = Here(Domains(plan.seed), interface=interface, witness=witness(), certs=writer.file.certs)
    site = here if cluster is None else Apart(cluster, here)
    shared = Shared(str(writer.folder), secrets.token_hex(3), site, _keeping(writer))
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
        with progress(remaining, quiet=quiet, folder=writer.folder, adapters=writer.file.adapters) as watcher:
            complete = run_plan(remaining, workers, shared, keep, watcher, proofs)
            if not complete:
                return Ending(complete=False)
            if plan.breaking is not None:
                complete, reached = search_breaks(plan, plan.breaking, outcomes, extend)
            else:
                complete, reached = until.settle(plan, outcomes, extend)
            return Ending(complete, reached=reached)
    except KeyboardInterrupt:  # raised outside run_plan, which handles Ctrl-C itself
        return Ending(complete=False)
    except StoreError as failure:
        return Ending(complete=True, error=str(failure))
    except OSError as failure:  # for example, a full disk
        what = f"{failure.filename}: {failure.strerror}" if failure.filename else str(failure)
        return Ending(complete=True, error=limits.sentence(failure) or what)


def _keeping(writer: RunWriter) -> Callable[[Record], None]:
    def keep(record: Record) -> None:
        try:
            writer.record(record)
        except StoreError as error:
            raise RecordLostError(str(error)) from None

    return keep


def differences(file: RunFile, workers: Mapping[str, Worker]) -> Iterator[str]:
    """Yield a message for each difference between the run and now: machine, versions and workers.

    A cell must not mix trials that were measured under different conditions.
    """
    if file.imported:
        yield "the run was imported, so it has no trials to measure"
        return
    if file.machines:
        yield f"the run was measured on {len(file.machines)} hosts, which may have changed since then: start a new run"
    if file.middlemark != __version__:
        yield f"Middlemark was {file.middlemark} then and is {__version__} now: start a new run"
    machine = read_machine()
    for field in ("host", "cpu", "processors", "memory_bytes", "kernel", "system", "clocksource", "governor"):
        then, now = getattr(file.machine, field), getattr(machine, field)
        if then != now:
            yield f"the machine's {field} was {then} then and is {now} now: start a new run"
    for described in file.adapters:
        worker = workers.get(described.name)
        if worker is None:
            yield f"{described.name} {described.version} is not built here any more"
        elif worker.description != described:
            was, now = described.version, worker.description.version
            changed = f"was {was} then and is {now} now" if was != now else "has other capabilities or settings now"
            yield f"{described.name} {changed}: start a new run"
