"""Run the steps of one trial: start the workers, connect them, measure, collect results and evidence."""

import asyncio
import math
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Transport, Worker
from middlemark.model.noise import Witnessed
from middlemark.model.outcome import Evidence, Placed, SharedSegment, TrialOutcome, Underway
from middlemark.model.own_settings import together
from middlemark.model.pairs import SAME
from middlemark.model.plan import Limits
from middlemark.model.protocol import (
    PROTOCOL_VERSION,
    Account,
    AnyRoleRequest,
    AnyRoleResult,
    CallerResult,
    EndedEvent,
    HelloEvent,
    Identity,
    JoinCommand,
    Message,
    PublishedEvent,
    PublisherRequest,
    PublisherResult,
    ReadyEvent,
    SubscriberRequest,
    SubscriberResult,
    TickEvent,
)
from middlemark.model.record import Record
from middlemark.model.turns import Turn
from middlemark.sites.channel import Channel, WorkerFailedError
from middlemark.sites.session import Captured, Ground, Session
from middlemark.trial import clocks, crowd_course
from middlemark.trial.awaiting import all_of, all_with_reasons, ready, while_alive
from middlemark.trial.costs import companion_cost, series, worker_cost
from middlemark.trial.crowd_course import CrowdCourse
from middlemark.trial.following import Following
from middlemark.trial.ledger import Ledger
from middlemark.trial.patterns import Heard, Pattern, Roles
from middlemark.trial.patterns.graph import Ends
from middlemark.trial.recording import Recording
from middlemark.trial.side_by_side import Group, turns_path, write_turns
from middlemark.trial.tasks import DRAIN_S, Tasks, measuring_s, tasks_of
from middlemark.trial.warnings import with_last_words
from middlemark.trial.worker_request import reply_timeout_s

HELLO_S = 30.0
"""The longest time in s until a worker says hello. On a busy machine, Python needs seconds to import a library."""
START_S = 10.0
"""Opening a middleware may take this time in s in addition to the match timeout."""
FIRST_TICK_S = 5.0
STOP_S = 5.0
AWAKE_BEYOND_S = 60.0
"""Even without a command, the witness stops keeping processors awake this time after a measurement, in s."""

Tick = Callable[[Underway], None]


class TrialSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one trial, such as its names, paths and domain."""

    cell: Cell
    limits: Limits
    seed: int
    worker: Worker
    transport: Transport
    domain: int
    scope: str
    folder: str
    """The run's folder."""
    samples_stem: str
    """The first part of the names of the trial's samples files, relative to the run's folder."""
    receiver: Identity = "receiver"
    """The identity whose certificate and key the receiving workers use."""
    captures: bool = False
    """True if the trial's traffic is captured. The trial's figures are then not used."""
    keep_record: Callable[[Record], None] | None = None
    """Stores a record of a long trial, or raises RecordLostError. None: the trial writes no records."""
    turn: Turn | None = None
    group: Group | None = None
    """The group of trials that run side by side; None: the trial runs alone."""


class Measurement:
    """One trial. ``outcome``: the outcome so far. ``heard``: the roles' results, set at the end."""

    def __init__(self, setting: TrialSetup, session: Session, tick: Tick, outcome: TrialOutcome) -> None:
        """Create the trial. ``session``: the trial's sites. ``tick``: called with the first sender's progress.

        ``outcome``: empty.
        """
        self.setting = setting
        self.session = session
        self.tick = tick
        self.outcome = outcome
        self.heard: Heard | None = None
        self.captured: Captured | None = None
        self.recording: Recording | None = None
        if setting.keep_record is not None and setting.limits.recording_s is not None:
            self.recording = Recording(
                order=outcome.order,
                started=outcome.started,
                every_s=setting.limits.recording_s,
                keep=setting.keep_record,
                machine=session.machine,
            )
        sending, receiving = session.grounds
        self.tasks = self._tasks_on(sending)
        self.receiver_tasks = self.tasks if receiving == sending else self._tasks_on(receiving)
        """The tasks of ``tasks``, with the receivers' folders. The folders differ if the receivers run on another
        machine."""
        self.pattern: Pattern = self.tasks.pattern
        self.roles: Roles = self.tasks.roles

    def _tasks_on(self, ground: Ground) -> Tasks:
        setting = self.setting
        return tasks_of(
            setting.cell,
            setting.limits,
            setting.transport,
            seed=setting.seed,
            samples_stem=os.path.join(ground.samples or setting.folder, setting.samples_stem),
            domain=setting.domain,
            scope=setting.scope,
            scratch=ground.scratch,
            interface=ground.interface,
            certs=ground.certs,
            receiver=setting.receiver,
            folder=setting.folder,
            turns_path=turns_path(ground.scratch) if setting.turn is not None else "",
        )

    async def run(self) -> None:
        """Measure the trial. Raises WorkerFailedError."""
        session, limits = self.session, self.setting.limits
        environment = await self._prepare()
        begin_ns = time.monotonic_ns()
        workers = await self._start(environment)
        await self._meet(workers)
        await session.keep_awake(limits.warmup_s + measuring_s(limits) + AWAKE_BEYOND_S)
        await session.watch()
        if self.setting.captures:
            await session.capture()
        ledger = Ledger(session.network, limits.recording_s)
        following = [Following(worker, mine, self._hear(ledger)) for worker, mine in workers]
        ledger.first = following[0]
        course = self._crowd_course(environment) if self.setting.cell.pattern == "crowd" else None
        if course is not None:
            longest_s = crowd_course.longest_s(self.setting.cell, limits) + DRAIN_S
            await self._run_to_end(following, longest_s, course.run(following))
        else:
            await (self._measure_graph(following) if self.tasks.graph else self._measure(following))
        ledger.end()
        if self.setting.captures:
            self.captured = await session.captured()
        seen, companions = await session.counted()
        used = tuple(companion_cost(each.name, each.pid, each.ready_ns, each.first, each.last) for each in companions)
        accounts = ledger.accounts(following)
        costs = tuple(map(worker_cost, accounts))
        self._know(evidence=seen, costs=costs, companions=used, series=series(accounts), network=ledger.moved)
        self._conclude(following, seen, begin_ns, ledger)
        self._know(noise=await self._noise(ledger))
        if course is not None:
            self._know(crowd=await course.concluded(self.outcome.crowd))
        await session.bring(self.setting.folder)

    async def try_to_meet(self) -> tuple[list[WorkerFailedError | None], list[WorkerFailedError | None]]:
        """Start the workers and let them connect, without measuring. Raises WorkerFailedError.

        Returns two lists, for the senders and for the other workers: for each the reason why it did not find its peers,
        or None.
        """
        workers = await self._start(await self._prepare())
        timeout = self.setting.limits.match_timeout_s + START_S
        came = await asyncio.gather(*(ready(worker, timeout) for worker, _ in workers))
        found: tuple[list[WorkerFailedError | None], list[WorkerFailedError | None]] = ([], [])
        for each, error in zip(self.tasks.workers, came, strict=True):
            found[self.tasks.identity_of(each) == self.setting.receiver].append(error)
        return found

    async def _prepare(self) -> dict[str, str]:
        """Prepare the session. Return the environment variables that the companions need in the workers."""
        cpus = self.tasks.cpus(far=False), self.tasks.cpus(far=True)
        await self.session.prepare(self.setting.cell, self.setting.limits, cpus, self.tasks.graph, self.outcome.number)
        if self.setting.turn is not None:
            write_turns(self.session.grounds[0].scratch, self.setting.cell, self.setting.limits, self.setting.turn)
        needed = self.setting.transport.has_companions(self.setting.cell.via)
        return await self.session.start_companions(self.tasks.settings) if needed else {}

    def _know(self, **fields: Any) -> None:
        self.outcome = msgspec.structs.replace(self.outcome, **fields)

    def _hear(self, ledger: Ledger) -> Callable[[Following, Message], None]:
        def hear(who: Following, event: Message) -> None:
            if isinstance(event, Account):
                ledger.hear(who, event)
                if self.recording is not None:
                    self.recording.hear(who.worker.who, event)
            self.session.hear(event, first=who is ledger.first)
            if who is ledger.first and isinstance(event, TickEvent):
                self.tick(Underway(phase=event.phase, samples=event.samples))

        return hear

    async def _start(self, environment: dict[str, str]) -> list[tuple[Channel, tuple[AnyRoleRequest, ...]]]:
        """Start every process with its roles. The first sender's process is first."""
        worker_tasks = self.tasks.workers
        receives = [each.far for each in worker_tasks]
        workers = [
            await self.session.start(each.who, environment, receives=far)
            for each, far in zip(worker_tasks, receives, strict=True)
        ]
        hellos = await asyncio.gather(*(worker.event(HelloEvent, timeout_s=HELLO_S) for worker in workers))
        for worker, hello in zip(workers, hellos, strict=True):
            if hello.protocol != PROTOCOL_VERSION:
                raise worker.protocol_error(f"hello: protocol {hello.protocol}, but this is {PROTOCOL_VERSION}")
        self._know(clock=hellos[0].clock, version=hellos[0].version)
        read = [(worker.who, hello.clock) for worker, hello in zip(workers, hellos, strict=True)]
        if self.pattern.one_clock and self.session.clocks is None:
            clocks.refuse_different(read)
        self._know(stamps_absent=self.session.clocks or clocks.difference(read))
        tasks = [self.receiver_tasks if far else self.tasks for far in receives]
        commands = [each.command(each.workers[at]) for at, each in enumerate(tasks)]
        # on two machines, configure receivers first: senders then find them
        if self.session.clocks is not None:
            for at, worker in enumerate(workers):
                if receives[at]:
                    worker.send(commands[at])
            await self.session.settled()
        for at, worker in enumerate(workers):
            if self.session.clocks is None or not receives[at]:
                worker.send(commands[at])
        return [(worker, each.roles) for worker, each in zip(workers, worker_tasks, strict=True)]

    async def _meet(self, workers: Sequence[tuple[Channel, tuple[AnyRoleRequest, ...]]]) -> None:
        timeout = self.setting.limits.match_timeout_s + START_S
        if any(each.history for each in self.tasks.settings.topics):
            await all_of(worker.event(PublishedEvent, timeout_s=START_S) for worker, _ in workers)
            for worker, _ in workers:
                worker.send(JoinCommand())
        every = all_of if self.setting.cell.pair == SAME else all_with_reasons
        readies = await every(worker.event(ReadyEvent, timeout_s=timeout) for worker, _ in workers)
        # Only senders count: the time from creating their topics until they have found their peers.
        sending = [
            ready
            for ready, (_, mine) in zip(readies, workers, strict=True)
            if mine[0] in self.roles.senders or self.tasks.graph  # in a workload all workers count
        ]
        self._know(
            discovery_ns=max(ready.discovery_ns for ready in sending),
            handshake_ns=max(ready.opening_ns + ready.discovery_ns for ready in sending),
            notes=tuple(dict.fromkeys(note for ready in readies for note in ready.notes)),
            protected_by="; ".join(dict.fromkeys(each.protected_by for each in readies if each.protected_by)) or None,
            segment=min(
                (SharedSegment(each.segment_bytes, each.segment_setting) for each in readies if each.segment_bytes),
                key=lambda each: each.bytes,
                default=None,
            ),
            settings=together(
                [(worker.who, ready.settings) for (worker, _), ready in zip(workers, readies, strict=True)]
            ),
            placed=tuple(
                Placed(role=worker.who, pid=worker.pid, **msgspec.structs.asdict(ready.placement))
                for (worker, _), ready in zip(workers, readies, strict=True)
            ),
        )

    async def _measure(self, following: Sequence[Following]) -> None:
        """Start the receivers, then the senders.

        When the senders have ended, send the receivers the number of messages.
        """
        senders = [each for each in following if each.roles[0] in self.roles.senders]
        receivers = [each for each in following if each not in senders]
        watching = [asyncio.create_task(each) for each in self.session.deaths()]
        tasks: list[asyncio.Task[None]] = [*watching]
        setting = self.setting

        def start(which: Iterable[Following], patience_s: float) -> list[asyncio.Task[None]]:
            for each in which:
                each.start(patience_s)
            begun = [asyncio.create_task(each.run()) for each in which]
            tasks.extend(begun)
            return begun

        try:
            start(receivers, math.inf)
            if not await while_alive(tasks, *(each.ticked.wait() for each in receivers), timeout_s=FIRST_TICK_S):
                raise next(each for each in receivers if not each.ticked.is_set()).worker.hung((TickEvent,))
            if setting.group is not None:
                await while_alive(tasks, setting.group.start.arrive(self.outcome.order))
            patience_s = (
                setting.limits.warmup_s
                + measuring_s(setting.limits)
                + 20 * reply_timeout_s(setting.cell, setting.limits)
                + 10
                + (DRAIN_S if not receivers else 0)
            )
            sending = start(senders, patience_s)
            await while_alive(tasks, *(each.done.wait() for each in senders))
            if any(each.sent(role) is None for each in senders for role in each.roles if role in self.roles.senders):
                await while_alive(tasks, *sending)
            for each in receivers:
                [role] = each.roles
                drains = self.pattern.drains(setting.cell, role)
                expected = self._expected(role, senders) if drains else 0
                each.stop(expected, DRAIN_S if drains else STOP_S)
            await while_alive(tasks, *tasks[len(watching) :])
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _measure_graph(self, following: Sequence[Following]) -> None:
        """Start all workers. When a sender has ended, send its receivers the number of its messages."""
        limits = self.setting.limits
        topics = {each.index: each.topic for each in self.roles.senders if isinstance(each, PublisherRequest)}
        ends = Ends([each for each in self.roles.receivers if isinstance(each, SubscriberRequest)])
        holding = [{each.index for each in who.roles if isinstance(each, SubscriberRequest)} for who in following]

        def stop_receivers(event: EndedEvent) -> None:
            for stop in ends.after(topics, event):
                for who, mine in zip(following, holding, strict=True):
                    if here := mine.intersection(stop.subscribers):
                        who.stop(stop.expected, DRAIN_S, subscribers=tuple(sorted(here)))

        waves = max((len(each) for each in self.tasks.graph.chains), default=1) if self.tasks.graph else 1
        longest_s = limits.warmup_s + measuring_s(limits) + 10 + DRAIN_S * waves
        for each in following:
            each.on_end = stop_receivers
        await self._run_to_end(following, longest_s)

    def _crowd_course(self, environment: Mapping[str, str]) -> CrowdCourse:
        setting = self.setting
        return CrowdCourse(setting.cell, setting.limits, setting.transport, self.tasks, self.session, environment)

    async def _run_to_end(self, following: Sequence[Following], longest_s: float, *also: Awaitable[None]) -> None:
        """Start all workers, and wait until all have ended. Raises what ends the trial if a worker dies or hangs.

        ``also``: what else must end.
        """
        tasks = [asyncio.create_task(each) for each in self.session.deaths()]
        try:
            for each in following:
                each.start(longest_s)
            running = [asyncio.create_task(each.run()) for each in following]
            tasks += running
            await while_alive(tasks, *also, *running)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _expected(self, receiver: AnyRoleRequest, senders: Sequence[Following]) -> int:
        """Return the number of messages sent to this receiver: on its topic, or in a ping-pong by the ping."""
        return sum(
            each.sent(role) or 0
            for each in senders
            for role in each.roles
            if role in self.roles.senders and getattr(role, "topic", None) == getattr(receiver, "topic", None)
        )

    def _conclude(self, following: Sequence[Following], seen: Evidence, begin_ns: int, ledger: Ledger) -> None:
        def results(roles: Sequence[AnyRoleRequest]) -> tuple[AnyRoleResult, ...]:
            return tuple(each.result(role) for role in roles for each in following if role in each.roles)

        idle, idle_absent = ledger.idle() if self.setting.cell.pattern == "crowd" else (None, None)
        heard = Heard(
            idle=idle,
            idle_absent=idle_absent,
            cell=self.setting.cell,
            limits=self.setting.limits,
            transport=self.setting.transport,
            senders=(*results(self.roles.senders), *(result for each in following for result in each.forwarded())),
            receivers=results(self.roles.receivers),
            evidence=seen,
            samples_stem=self.setting.samples_stem,
            graph=self.tasks.graph,
        )
        outcome = self.pattern.conclude(heard, self.outcome)
        records_lost = self.recording.warnings if self.recording is not None else ()
        warnings = with_last_words(
            (*outcome.warnings, *records_lost), outcome.counts, (*heard.senders, *heard.receivers)
        )
        self.outcome = msgspec.structs.replace(outcome, warnings=warnings)
        begins = [begin for begin in map(_begin_ns, heard.senders) if begin]
        if begins and not self.session.elsewhere and self.setting.turn is None:
            self._know(first_sample_ns=min(begins) - begin_ns - round(self.setting.limits.warmup_s * 1e9))
        self.heard = heard

    async def _noise(self, ledger: Ledger) -> Witnessed | None:
        assert self.heard is not None
        # With two hosts only the first host's witness reports. Senders on the second host (``far``) have another clock.
        far = self.tasks.far if self.session.clocks is not None else ()
        senders = [each for each in self.heard.senders if (each.role, each.index) not in far]
        receivers = self.heard.receivers
        begins = [_begin_ns(each) for each in senders]
        ends = [
            begin + round(each.measured_s * 1e9)
            for begin, each in zip(begins, senders, strict=True)
            if begin and isinstance(each, CallerResult | PublisherResult)
        ]
        if self.session.clocks is None:
            ends += [each.last_received_ns for each in receivers if isinstance(each, SubscriberResult)]
        roles = (*self.roles.senders, *self.roles.receivers)
        threads = [role.role if role.role == "ping" else f"{role.role} {role.index}" for role in roles]
        found = ledger.waited([each[:15] for each in threads])  # the kernel cuts thread names to 15 characters
        return await self.session.witnessed(begins_ns=begins, to_ns=max(ends, default=0), waited=found)


def _begin_ns(sender: AnyRoleResult) -> int:
    """Return CLOCK_MONOTONIC in ns at a publisher's first measured message, or when another sender began to measure.

    0: no message was sent.
    """
    if isinstance(sender, CallerResult):
        return sender.first_begin_ns
    return sender.first_sent_ns if isinstance(sender, PublisherResult) else 0
