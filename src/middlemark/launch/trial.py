"""One trial: fresh processes, rendezvous, measuring, evidence, reaping."""

import asyncio
import contextlib
import datetime
import os
import shutil
import signal
import time
from collections.abc import Callable
from typing import Any

import msgspec

from middlemark.launch import evidence, residue
from middlemark.launch.channel import CONTROL_SILENCE_S, WorkerFailedError, WorkerProcess, process_state
from middlemark.launch.companion import Companion, declared
from middlemark.launch.domains import Domains
from middlemark.launch.findings import counted, doubts
from middlemark.launch.outcome import Clock, Doubt, Failure, Placed, TrialOutcome
from middlemark.launch.request import role_name, roles_of, settings_of
from middlemark.places import Place, place_roles
from middlemark.plan.cell import Cell, Trial
from middlemark.workers.description import Transport, Worker

START_S = 10.0
"""A worker must say hello within this; opening a middleware has this beyond the match timeout."""
QUIT_GRACE_S = 3.0
INTERRUPTED_GRACE_S = 0.6

Tick = Callable[[dict[str, Any]], None]


class Site(msgspec.Struct, frozen=True):
    """What all trials of a run share: where samples go and what makes names unique on this machine."""

    folder: str
    token: str
    domains: Domains
    interface: str = "lo"


class _Running:
    """The processes of one trial, in the order in which they must be stopped."""

    def __init__(self) -> None:
        self.workers: list[WorkerProcess] = []
        self.companions: list[Companion] = []

    async def close(self, grace_s: float) -> list[str]:
        """Stop workers, then companions (a RouDi whose clients died aborts). Returns the exits that were not clean."""
        unclean = await asyncio.gather(*(worker.finish(grace_s) for worker in self.workers))
        deaths = [companion.death() for companion in self.companions]
        for companion in reversed(self.companions):
            await companion.stop(grace_s)
        return [text for text in (*unclean, *deaths) if text]

    def kill(self) -> None:
        """Have :meth:`close` end now, whatever its grace was."""
        processes = [each.process for each in self.workers] + [each.process for each in self.companions]
        for process in processes:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)


async def run_trial(cell: Cell, trial: Trial, worker: Worker, site: Site, tick: Tick) -> TrialOutcome:
    """Measure ``trial`` of ``cell``. Whatever happens to the workers is in the outcome; only cancellation is raised.

    A cancellation that comes when the measuring is over only hurries the closing: the outcome is returned.
    """
    transport = worker.description.transport(cell.transport)
    assert transport is not None, "the plan checked it"
    scope = f"mm_{site.token}_{trial.order}"
    patterns = worker.description.residue
    before = residue.snapshot(patterns, scope)
    scratch = residue.make_scratch(patterns, scope, before)
    started = datetime.datetime.now(datetime.UTC)
    begin = time.monotonic()
    running = _Running()
    facts: dict[str, Any] = {}
    failure: Failure | None = None
    grace = INTERRUPTED_GRACE_S
    try:
        await _Measurement(cell, trial, worker, transport, site, scope, scratch, running, facts, tick).run()
        grace = QUIT_GRACE_S
    except WorkerFailedError as error:
        failure = _blame(error, running)
        if failure.code == "silent" and not failure.advice:  # a note often knows why: a socket buffer too small, say
            failure = msgspec.structs.replace(failure, advice="; ".join(facts.get("notes", ())))
    except OSError as error:
        failure = Failure(code="internal", text=f"{worker.path}: {error.strerror or error}")
    except (KeyError, TypeError, msgspec.ValidationError) as error:
        failure = Failure(
            code="internal",
            text=f"{worker.path} said something that is not in the protocol: {type(error).__name__}: {error}",
            advice="worker and launcher are of different versions: build both anew",
        )
    finally:
        unclean = await _to_the_end(running, grace)
        residue.clear(patterns, scope, before)
        shutil.rmtree(scratch, ignore_errors=True)
    warnings = list(facts.pop("warnings", ()))
    if failure is not None:  # nothing that was half measured
        facts = {key: facts[key] for key in ("clock", "version", "discovery_ns", "notes") if key in facts}
    if failure is None:
        warnings += [
            Doubt(code="unclean-exit", text=text, advice="its figures stand; its ending does not") for text in unclean
        ]
    return TrialOutcome(
        cell=trial.cell,
        number=trial.number,
        order=trial.order,
        started=started.isoformat(timespec="milliseconds"),
        seconds=time.monotonic() - begin,
        failed=failure,
        warnings=tuple(warnings),
        **facts,
    )


async def _to_the_end(running: _Running, grace_s: float) -> list[str]:
    """Close; when cancelled meanwhile, in a hurry, but to the end: nobody else would clear away what is left."""
    closing = asyncio.ensure_future(running.close(grace_s))
    try:
        return await asyncio.shield(closing)
    except asyncio.CancelledError:
        asyncio.get_running_loop().call_later(INTERRUPTED_GRACE_S, running.kill)
        return await closing


def _blame(error: WorkerFailedError, running: _Running) -> Failure:
    """Name the cause rather than the symptom: a dead companion, a stopped or dead peer behind a silent one."""
    code, text = error.code, error.text
    for companion in running.companions:
        if death := companion.death():
            return Failure(code="companion", text=f"{death} ({text})", advice=error.advice)
    if code in ("silent", "unmatched", "hung"):
        for peer in running.workers:
            ended = peer.process.poll()
            if ended is not None and ended < 0:
                return Failure(code="crashed", text=f"{peer.ended_early().text} ({text})", advice=error.advice)
            if process_state(peer.pid) in ("T", "t") and peer.hung().text.split(":")[0] not in text:
                return Failure(code="hung", text=f"{peer.hung().text} ({text})", advice=error.advice)
    return Failure(code=code, text=text, advice=error.advice)


class _Measurement:
    """The steps of one trial, in order."""

    def __init__(
        self,
        cell: Cell,
        trial: Trial,
        worker: Worker,
        transport: Transport,
        site: Site,
        scope: str,
        scratch: str,
        running: _Running,
        facts: dict[str, Any],
        tick: Tick,
    ) -> None:
        self.cell = cell
        self.trial = trial
        self.worker = worker
        self.transport = transport
        self.site = site
        self.running = running
        self.facts = facts
        self.tick = tick
        self.samples_file = f"samples/{trial.order:05d}.npy"
        limits = trial.limits
        self.measuring_s = limits.duration_s if limits.duration_s is not None else limits.limit_s
        self.places = place_roles(cell, spinning_s=limits.warmup_s + self.measuring_s)
        self.roles = roles_of(cell, limits, self.places, os.path.join(site.folder, self.samples_file))
        self.settings = settings_of(cell) | {
            "domain": trial.domain if trial.domain is not None else site.domains.next(),
            "scope": scope,
            "scratch": scratch,
            "interface": site.interface,
        }

    async def run(self) -> None:
        environment = await self._companions()
        begin_ns = time.monotonic_ns()
        await self._start(environment)
        await self._meet()
        before = evidence.read_counters()
        result, pongs = await self._measure(before)
        self._keep(result, pongs, begin_ns)

    async def _companions(self) -> dict[str, str]:
        environment: dict[str, str] = {}
        if self.transport.companions:
            for spec in await declared(self.worker.path, self.settings):
                self.running.companions.append(await Companion.start(spec))
                environment |= spec.environment
        return environment

    async def _start(self, environment: dict[str, str]) -> None:
        roles = self.roles
        for place, mine in zip(self.places, roles, strict=True):
            who = " and ".join(role_name(role) for role in mine)
            self.running.workers.append(await WorkerProcess.start(who, [*place.prefix, self.worker.path], environment))
        hellos = await asyncio.gather(*(worker.event("hello", timeout_s=START_S) for worker in self.running.workers))
        self.facts["clock"] = msgspec.convert(hellos[0]["clock"], Clock)
        self.facts["version"] = hellos[0]["version"]
        for worker, place, mine in zip(self.running.workers, self.places, roles, strict=True):
            worker.send(
                {
                    "command": "configure",
                    "settings": self.settings,
                    "placement": msgspec.to_builtins(place.placement),
                    "match_timeout_s": self.trial.limits.match_timeout_s,
                    "roles": mine,
                }
            )

    async def _meet(self) -> None:
        timeout = self.trial.limits.match_timeout_s + START_S
        readies = await _all(worker.event("ready", timeout_s=timeout) for worker in self.running.workers)
        # The ping's own: from its topics being made to its peers being found.
        self.facts["discovery_ns"] = readies[0]["discovery_ns"]
        self.facts["notes"] = tuple(dict.fromkeys(note for ready in readies for note in ready["notes"]))
        self.facts["placed"] = tuple(
            msgspec.convert({"role": worker.who, "pid": worker.pid, **ready["placement"]}, Placed)
            for worker, ready in zip(self.running.workers, readies, strict=True)
        )

    async def _measure(self, before: evidence.Counters) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        ping, *pongs = self.running.workers
        for worker in pongs:
            worker.send({"command": "start"})
        await _all(worker.event("tick", timeout_s=5.0) for worker in pongs)
        ping.send({"command": "start"})
        watch = [asyncio.create_task(self._watch(worker)) for worker in pongs]
        try:
            patience = self.trial.limits.warmup_s + self.measuring_s + 20 * self.roles[0][0]["reply_timeout_s"] + 10
            done = asyncio.create_task(self._until_done(ping, patience))
            # Whichever fails first is the one to name; a pong that merely lives never finishes.
            first, _ = await asyncio.wait([done, *watch], return_when=asyncio.FIRST_COMPLETED)
            for task in first:
                task.result()
            after = evidence.read_counters()
            pids = [worker.pid for worker in self.running.workers]
            self.facts["evidence"] = evidence.gather(before, after, pids)
        finally:
            done.cancel()
            for task in watch:
                task.cancel()
        result = await ping.event("result", timeout_s=60.0)
        return result, await self._pong_results(ping, pongs)

    async def _until_done(self, ping: WorkerProcess, patience_s: float) -> None:
        deadline = time.monotonic() + patience_s
        while (left_s := deadline - time.monotonic()) > 0:
            event = await ping.event("tick", "done", timeout_s=left_s + CONTROL_SILENCE_S, ticking=True)
            if event["event"] == "done":
                return
            self.tick(event)
        raise WorkerFailedError(
            "hung",
            f"{ping.who} (pid {ping.pid}) did not end: {patience_s:.3g} s after its start, beyond every limit of its"
            f" own, it has not come back from the middleware{ping.last_words()}",
        )

    async def _watch(self, pong: WorkerProcess) -> None:
        while True:
            await pong.event("tick", timeout_s=3600.0, ticking=True)

    async def _pong_results(self, ping: WorkerProcess, pongs: list[WorkerProcess]) -> list[dict[str, Any]]:
        if not pongs:
            return [await ping.event("result", timeout_s=5.0) for _ in range(self.cell.subscribers)]
        for worker in pongs:
            worker.send({"command": "stop"})
        return await _all(worker.event("result", timeout_s=5.0) for worker in pongs)

    def _keep(self, ping: dict[str, Any], pongs: list[dict[str, Any]], begin_ns: int) -> None:
        cell, facts = self.cell, self.facts
        counts = counted(ping, pongs)
        facts["counts"] = counts
        facts["samples"] = ping["samples"]
        facts["warmup_samples"] = ping["warmup_samples"]
        facts["measured_s"] = ping["measured_s"]
        facts["samples_file"] = self.samples_file
        if ping["first_begin_ns"]:
            facts["first_sample_ns"] = ping["first_begin_ns"] - begin_ns - round(self.trial.limits.warmup_s * 1e9)
        facts["carried_by"] = evidence.carried_by(
            facts["evidence"],
            self.transport,
            # One message out to however many pongs (it may be one multicast), and every reply.
            messages=counts.sent + counts.received,
            size=cell.size,
            processes=cell.processes,
        )
        facts["warnings"] = tuple(doubts(cell, self.trial.limits, ping, pongs))


async def _all(awaitables: Any) -> list[dict[str, Any]]:
    """Gather; the first failure cancels the rest and is raised alone."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


__all__ = ["Place", "Site", "run_trial"]
