"""What is left when a trial has ended, in whatever way: nothing."""

import asyncio
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from contender import Contender, contenders
from course import Course, Measured

from middlemark.model.cell import Cell
from middlemark.model.description import CompanionSpec
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Limits
from middlemark.sites import residue
from middlemark.sites.channel import WorkerProcess
from middlemark.sites.companion import Companion
from middlemark.system.in_use import in_use


def left_by(course: Course) -> set[str]:
    """Return what lies in shared memory under the names of this course's trials, or of what its middlewares leave."""
    patterns = {pattern for who in contenders() for pattern in who.worker.description.residue}
    return set(residue.snapshot((*patterns, f"/dev/shm/*{course.shared.token}*"), f"mm_{course.shared.token}_*"))


class Started:
    """The workers that were started, by role."""

    def __init__(self) -> None:
        self.pids: dict[str, int] = {}

    def gone(self) -> bool:
        return not any(Path(f"/proc/{pid}").exists() for pid in self.pids.values())


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """Note each worker that the launcher starts."""
    noted = Started()
    start = WorkerProcess.start

    async def noting(who: str, argv: list[str], environment: dict[str, str]) -> WorkerProcess:
        worker = await start(who, argv, environment)
        noted.pids[who] = worker.pid
        return worker

    monkeypatch.setattr(WorkerProcess, "start", noting)
    return noted


@pytest.fixture
def nothing_left(course: Course, scratch: Path) -> Iterator[None]:
    """Hold that the test leaves nothing of its own in shared memory or scratch; a neighbour's files are not counted."""
    before = left_by(course)
    yield
    left = left_by(course) - before
    assert left - in_use(left) == set()
    assert list(scratch.iterdir()) == []


def test_no_process_outlives_its_trial(measured: Measured) -> None:
    assert [each for each in measured.outcome.placed if Path(f"/proc/{each.pid}").exists()] == []


@pytest.mark.usefixtures("trial")
def test_scratch_is_empty_after_every_trial(scratch: Path) -> None:
    assert list(scratch.iterdir()) == []


ENDLESS = Limits(duration_s=60.0, warmup_s=0.01, reply_timeout_s=5.0, match_timeout_s=60.0)


def endless(contender: Contender) -> Cell:
    """Return a cell at a rate. At rate max a ping of a minute touches 1 GiB for its samples before it is ready."""
    return contender.cell(rate=1000.0)


async def killed(course: Course, contender: Contender, started: Started, role: str) -> TrialOutcome:
    """Measure, and kill -9 the worker of that role when the ping has said that it is in its loop."""
    loop = asyncio.get_running_loop()
    struck = False

    def tick(_: object) -> None:
        nonlocal struck
        if not struck:
            struck = True
            loop.call_later(0.2, os.kill, started.pids[role], signal.SIGKILL)

    return (await course.observe(contender, endless(contender), ENDLESS, tick)).outcome


@pytest.mark.parametrize("role", ["ping", "pong 0"])
@pytest.mark.usefixtures("nothing_left")
def test_a_killed_worker_costs_its_trial_and_nothing_else(
    contender: Contender, course: Course, started: Started, role: str
) -> None:
    if 2 not in contender.transport.processes:
        role = "ping" if contender.transport.alone else "ping and pong 0"
    outcome = asyncio.run(killed(course, contender, started, role))
    assert outcome.failed is not None
    assert outcome.failed.code == "crashed"
    assert outcome.failed.text.startswith(f"{role} (pid {started.pids[role]}) was ended by SIGKILL (signal 9)")
    assert started.gone()

    after = course.measure(contender, contender.cell(), Limits(samples=50, warmup_s=0.02)).outcome
    assert after.failed is None
    assert after.samples == 50
    assert started.gone()


async def orphaned(course: Course, contender: Contender, daemons: list[Companion]) -> TrialOutcome:
    """Measure, and kill -9 the daemon while the roles are in their loops."""
    loop = asyncio.get_running_loop()
    struck = False

    def tick(_: object) -> None:
        nonlocal struck
        if not struck:
            struck = True
            loop.call_later(0.2, daemons[0].process.kill)

    return (await course.observe(contender, endless(contender), ENDLESS, tick)).outcome


@pytest.mark.parametrize("served", [who for who in contenders() if who.transport.companions], ids=lambda who: who.name)
@pytest.mark.usefixtures("nothing_left")
def test_a_daemon_that_dies_costs_its_trial_and_nothing_else(
    served: Contender, course: Course, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemons: list[Companion] = []
    start = Companion.start

    async def noting(spec: CompanionSpec, prefix: Sequence[str] = ()) -> Companion:
        daemons.append(await start(spec, prefix))
        return daemons[-1]

    monkeypatch.setattr(Companion, "start", noting)
    outcome = asyncio.run(orphaned(course, served, daemons))
    assert outcome.failed is not None
    assert outcome.failed.code == "companion"
    assert f"{daemons[0].spec.name} (pid {daemons[0].process.pid}) was ended by SIGKILL" in outcome.failed.text
    assert started.gone()

    after = course.measure(served, served.cell(), Limits(samples=50, warmup_s=0.02)).outcome
    assert (after.failed, after.samples) == (None, 50)


@pytest.mark.usefixtures("nothing_left")
def test_a_trial_that_is_cancelled_leaves_nothing(contender: Contender, course: Course, started: Started) -> None:
    async def cancelled() -> None:
        ticked = asyncio.Event()
        trial = asyncio.create_task(course.observe(contender, endless(contender), ENDLESS, lambda _: ticked.set()))
        await asyncio.wait_for(ticked.wait(), 60)
        trial.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trial

    asyncio.run(cancelled())
    assert started.pids
    assert started.gone()
