"""Run one trial: start its processes, connect them, measure, collect evidence, stop them."""

import asyncio
import contextlib
import datetime
import time
from collections.abc import Callable

import msgspec

from middlemark import limits
from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.outcome import Failure, RunWarning, TrialOutcome
from middlemark.model.plan import Trial
from middlemark.model.protocol import Identity
from middlemark.model.record import Record
from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.processes import INTERRUPTED_GRACE_S
from middlemark.sites.session import Captured, Session, TrialSite
from middlemark.trial.interop import decided
from middlemark.trial.measurement import Measurement, Tick, TrialSetup
from middlemark.trial.one_clock import on_one_clock
from middlemark.trial.patterns import Heard
from middlemark.trial.side_by_side import Group

QUIT_GRACE_S = 10.0
"""Time in s within which a worker must exit after its result. A busy kernel needs seconds to free GiBs of memory."""


class Shared(msgspec.Struct, frozen=True):
    """The state that all trials of a run share: the samples folder, the token in unique names, and the site.

    ``keep_record``: stores a record of a long trial; see ``TrialSetup``.
    """

    folder: str
    token: str
    here: TrialSite
    keep_record: Callable[[Record], None] | None = None
    group: Group | None = None
    """The group of the trial, if trials run side by side."""


class Observed(msgspec.Struct, frozen=True):
    """An outcome, and the results of the roles (None: the trial failed)."""

    outcome: TrialOutcome
    heard: Heard | None = None
    captured: Captured | None = None
    """The captured traffic, if it was requested."""


def samples_stem(trial: Trial, part: str = "") -> str:
    """Return the first part of the names of the trial's samples files, relative to the run's folder."""
    return f"samples/{trial.order:05d}{part}"


async def run_trial(cell: Cell, trial: Trial, worker: Worker, shared: Shared, tick: Tick) -> TrialOutcome:
    """Measure ``trial`` of ``cell``. If a worker fails, the outcome says so; only a cancellation is raised.

    If the measurement is already over, a cancellation only shortens the clean-up, and the outcome is returned.
    """
    return (await observe_trial(cell, trial, worker, shared, tick)).outcome


def scope_of(trial: Trial, shared: Shared, part: str = "") -> str:
    """Return the first part of all names that the part ``part`` of a trial creates."""
    return f"mm_{shared.token}_{trial.order}{part}"


def new_outcome(trial: Trial) -> TrialOutcome:
    """Return the empty outcome of a trial that starts now."""
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    return TrialOutcome(cell=trial.cell, number=trial.number, order=trial.order, started=started, seconds=0.0)


def setup_of(
    cell: Cell,
    trial: Trial,
    worker: Worker,
    shared: Shared,
    session: Session,
    *,
    part: str = "",
    receiver: Identity = "receiver",
    captures: bool = False,
) -> TrialSetup:
    """Return the settings of ``trial`` in ``session``. ``part``, ``captures``: as in :func:`observe_trial`."""
    transport = worker.description.transport(cell.transport)
    assert transport is not None, "the plan checked it"
    return TrialSetup(
        cell=cell,
        limits=trial.limits,
        seed=trial.seed,
        worker=worker,
        transport=transport,
        domain=trial.domain if trial.domain is not None else session.domain(),
        scope=scope_of(trial, shared, part),
        folder=shared.folder,
        samples_stem=samples_stem(trial, part),
        receiver=receiver,
        captures=captures,
        keep_record=None if part or captures else shared.keep_record,
        turn=trial.turn,
        group=shared.group,
    )


async def observe_trial(
    cell: Cell, trial: Trial, worker: Worker, shared: Shared, tick: Tick, *, part: str = "", captures: bool = False
) -> Observed:
    """Measure a trial as :func:`run_trial` does. ``part`` ([a-z0-9_]): distinguishes the names of a trial's parts.

    ``captures``: capture the traffic, which makes the figures invalid.
    """
    scope = scope_of(trial, shared, part)
    begun = new_outcome(trial)
    begin = time.monotonic()
    try:
        session = await shared.here.begin(cell, worker, scope)
    except WorkerFailedError as error:
        if shared.group is not None:
            shared.group.leave(trial.order)
        failed = Failure(code=error.code, text=error.text, advice=error.advice)
        return Observed(msgspec.structs.replace(begun, seconds=time.monotonic() - begin, failed=failed))
    begun = msgspec.structs.replace(begun, link_how=session.link)
    measurement: Measurement | None = None
    failure: Failure | None = None
    grace = INTERRUPTED_GRACE_S
    try:
        setting = setup_of(cell, trial, worker, shared, session, part=part, captures=captures)
        measurement = Measurement(setting, session, tick, begun)
        await measurement.run()
        if session.clocks is not None:
            seconds = time.monotonic() - begin
            far = measurement.tasks.far
            measurement.outcome = on_one_clock(measurement.outcome, session.offset, shared.folder, far, seconds)
        grace = QUIT_GRACE_S
        if shared.group is not None:
            with contextlib.suppress(asyncio.CancelledError):  # the measurement is over, so its outcome counts
                await shared.group.end.arrive(trial.order)
    except WorkerFailedError as error:
        failure = await session.blame(error)
        if failure.code == "silent" and not failure.advice and measurement is not None:
            # A note often has the cause, for example a socket buffer that is too small.
            failure = msgspec.structs.replace(failure, advice="; ".join(measurement.outcome.notes))
    except OSError as error:
        failure = Failure(
            code="internal", text=f"{worker.path}: {error.strerror or error}", advice=limits.sentence(error) or ""
        )
    finally:
        if shared.group is not None:
            shared.group.leave(trial.order)
        unclean = await session.close(grace)
    reached = measurement.outcome if measurement is not None else begun
    begun = msgspec.structs.replace(begun, shm=session.shm)
    reached = msgspec.structs.replace(reached, shm=session.shm)
    seconds = time.monotonic() - begin
    if failure is not None:  # discard incomplete measurements
        outcome = msgspec.structs.replace(
            begun,
            seconds=seconds,
            failed=failure,
            clock=reached.clock,
            version=reached.version,
            discovery_ns=reached.discovery_ns,
            handshake_ns=reached.handshake_ns,
            notes=reached.notes,
        )
    else:
        unclean_warnings = [
            RunWarning("unclean-exit", text, "the figures are valid; only the end was not clean") for text in unclean
        ]
        outcome = msgspec.structs.replace(
            reached, seconds=seconds, warnings=(*reached.warnings, *session.doubts, *unclean_warnings)
        )
    outcome = decided(cell, outcome)
    if measurement is None or outcome.failed is not None:
        return Observed(outcome)
    return Observed(outcome, measurement.heard, measurement.captured)
