"""Tests that a trial leaves no process, file or segment behind, whether it succeeds, fails or is cancelled."""

import asyncio
import os
import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from candidate import Candidate, candidates, selected
from runner import Measured, Runner

from middlemark.model.cell import Cell
from middlemark.model.description import CompanionSpec
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.protocol import Settings, Via
from middlemark.sites import companion, here, residue
from middlemark.sites.channel import WorkerProcess
from middlemark.sites.companion import Companion
from middlemark.system.in_use import in_use


def files_of_trials(runner: Runner) -> set[str]:
    """Return the files in shared memory that belong to these trials or to a middleware's residue."""
    patterns = {pattern for who in candidates() for pattern in who.worker.description.residue}
    return set(residue.snapshot((*patterns, f"/dev/shm/*{runner.shared.token}*"), f"mm_{runner.shared.token}_*"))


class Started:
    """The process ids of the started workers, by role."""

    def __init__(self) -> None:
        self.pids: dict[str, int] = {}

    def gone(self) -> bool:
        return not any(Path(f"/proc/{pid}").exists() for pid in self.pids.values())


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """Return the record of the workers that the launcher starts during this test."""
    noted = Started()
    start = WorkerProcess.start

    async def noting(who: str, argv: list[str], environment: dict[str, str]) -> WorkerProcess:
        worker = await start(who, argv, environment)
        noted.pids[who] = worker.pid
        return worker

    monkeypatch.setattr(WorkerProcess, "start", noting)
    return noted


@pytest.fixture
def nothing_left(runner: Runner, scratch: Path) -> Iterator[None]:
    """Check that the test leaves no file in shared memory or scratch. Ignore files that other processes use."""
    before = files_of_trials(runner)
    yield
    left = files_of_trials(runner) - before
    assert left - in_use(left) == set()
    assert list(scratch.iterdir()) == []


def test_no_process_outlives_its_trial(measured: Measured) -> None:
    assert [each for each in measured.outcome.placed if Path(f"/proc/{each.pid}").exists()] == []


@pytest.mark.usefixtures("trial")
def test_scratch_is_empty_after_every_trial(scratch: Path) -> None:
    assert list(scratch.iterdir()) == []


ENDLESS = Limits(duration_s=60.0, warmup_s=0.01, reply_timeout_s=5.0, match_timeout_s=60.0)


def endless(candidate: Candidate) -> Cell:
    """Return a cell with a rate, because at rate max a ping of a minute would first touch 1 GiB for its samples."""
    return candidate.cell(rate=1000.0)


async def killed(runner: Runner, candidate: Candidate, started: Started, role: str) -> TrialOutcome:
    """Run a trial, and kill the worker of a role with SIGKILL shortly after the first tick."""
    loop = asyncio.get_running_loop()
    struck = False

    def tick(_: object) -> None:
        nonlocal struck
        if not struck:
            struck = True
            loop.call_later(0.2, os.kill, started.pids[role], signal.SIGKILL)

    return (await runner.observe(candidate, endless(candidate), ENDLESS, tick)).outcome


def roles(candidate: Candidate) -> tuple[str, ...]:
    """Return the role, or roles, of each worker of a trial."""
    if candidate.transport.alone:
        return ("ping",)
    return ("ping", "pong 0") if 2 in candidate.transport.processes else ("ping and pong 0",)


@pytest.mark.parametrize(
    ("who", "role"),
    [pytest.param(who, role, id=f"{who.name}-{role}") for who in selected() for role in roles(who)],
)
@pytest.mark.usefixtures("nothing_left")
def test_a_killed_worker_fails_only_its_trial(who: Candidate, runner: Runner, started: Started, role: str) -> None:
    outcome = asyncio.run(killed(runner, who, started, role))
    assert outcome.failed is not None
    assert outcome.failed.code == "crashed"
    assert outcome.failed.text.startswith(f"{role} (pid {started.pids[role]}) was ended by SIGKILL (signal 9)")
    assert started.gone()

    after = runner.measure(who, who.cell(), Limits(samples=50, warmup_s=0.02)).outcome
    assert after.failed is None
    assert after.samples == 50
    assert started.gone()


def with_daemons(*, own: bool = True) -> list[object]:
    """Return the first transport at each level of ``via`` that needs a daemon.

    ``own``: also each transport that always has one.
    """
    always = [(who, who.transport.via[0]) for who in candidates() if own and who.transport.companions]
    first: dict[tuple[str, Via], tuple[Candidate, Via]] = {}
    for who in candidates():
        for via in who.transport.via:
            if not who.transport.companions and who.transport.has_companions(via):
                first.setdefault((who.worker.description.name, via), (who, via))
    return [pytest.param(who, via, id=f"{who.name}-{via}") for who, via in (*always, *first.values())]


@pytest.fixture
def daemons(monkeypatch: pytest.MonkeyPatch) -> list[Companion]:
    """Return the record of the daemons that the launcher starts during this test."""
    noted: list[Companion] = []
    start = Companion.start

    async def noting(spec: CompanionSpec, prefix: Sequence[str] = ()) -> Companion:
        noted.append(await start(spec, prefix))
        return noted[-1]

    monkeypatch.setattr(Companion, "start", noting)
    return noted


async def struck(
    runner: Runner, candidate: Candidate, via: Via, daemons: list[Companion], number: signal.Signals
) -> TrialOutcome:
    """Run a trial, and send a signal to the first daemon shortly after the first tick."""
    loop = asyncio.get_running_loop()
    sent = False

    def tick(_: object) -> None:
        nonlocal sent
        if not sent:
            sent = True
            loop.call_later(0.2, os.kill, daemons[0].process.pid, number)

    cell = msgspec.structs.replace(endless(candidate), via=via)
    return (await runner.observe(candidate, cell, ENDLESS, tick)).outcome


@pytest.mark.parametrize(
    ("number", "says"), [(signal.SIGKILL, "was ended by SIGKILL"), (signal.SIGSTOP, "was stopped by a signal")]
)
@pytest.mark.parametrize(("served", "via"), with_daemons())
@pytest.mark.usefixtures("nothing_left")
def test_a_daemon_that_dies_or_stops_fails_only_its_trial(
    served: Candidate,
    via: Via,
    number: signal.Signals,
    says: str,
    runner: Runner,
    started: Started,
    daemons: list[Companion],
) -> None:
    outcome = asyncio.run(struck(runner, served, via, daemons, number))
    assert outcome.failed is not None
    assert outcome.failed.code == "companion"
    assert f"{daemons[0].spec.name} (pid {daemons[0].process.pid}) {says}" in outcome.failed.text
    assert started.gone()
    assert daemons[0].process.poll() is not None

    after = runner.measure(served, served.cell(via=via), Limits(samples=50, warmup_s=0.02)).outcome
    assert (after.failed, after.samples) == (None, 50)


def unreachable(specs: tuple[CompanionSpec, ...]) -> tuple[CompanionSpec, ...]:
    """Return the daemons, whose port the workers get wrong: nothing listens on port 9."""
    wrong = [{name: re.sub(r":\d+", ":9", value) for name, value in each.environment.items()} for each in specs]
    return tuple(msgspec.structs.replace(each, environment=values) for each, values in zip(specs, wrong, strict=True))


@pytest.mark.parametrize(("served", "via"), with_daemons(own=False))
@pytest.mark.usefixtures("nothing_left")
def test_a_server_that_nobody_can_reach_fails_only_its_trial(
    served: Candidate, via: Via, runner: Runner, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = companion.declared

    async def misled(worker: str, settings: Settings, prefix: Sequence[str] = ()) -> tuple[CompanionSpec, ...]:
        return unreachable(await ask(worker, settings, prefix))

    limits = msgspec.structs.replace(ENDLESS, match_timeout_s=3.0)
    with monkeypatch.context() as patch:
        patch.setattr(here, "declared", misled)
        outcome = runner.measure(served, msgspec.structs.replace(endless(served), via=via), limits).outcome
    assert outcome.failed is not None
    assert outcome.failed.code in ("unmatched", "refused")
    assert ":9" in outcome.failed.text
    assert started.gone()

    after = runner.measure(served, served.cell(via=via), Limits(samples=50, warmup_s=0.02)).outcome
    assert (after.failed, after.samples) == (None, 50)


@pytest.mark.usefixtures("nothing_left")
def test_a_trial_that_is_cancelled_leaves_nothing(candidate: Candidate, runner: Runner, started: Started) -> None:
    async def cancelled() -> None:
        ticked = asyncio.Event()
        trial = asyncio.create_task(runner.observe(candidate, endless(candidate), ENDLESS, lambda _: ticked.set()))
        await asyncio.wait_for(ticked.wait(), 60)
        trial.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trial

    asyncio.run(cancelled())
    assert started.pids
    assert started.gone()
