"""The steps of one trial, in order: start the workers, let them meet, measure, gather what they and the kernel say."""

import asyncio
import contextlib
import math
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from middlemark.launch import clocks
from middlemark.launch.costs import WorkerAccounts, account, companion_cost, series, waited, worker_cost
from middlemark.launch.following import Following
from middlemark.launch.patterns import Heard, Pattern, Roles
from middlemark.launch.patterns.graph import Ends
from middlemark.launch.proof import not_proven
from middlemark.launch.tasks import DRAIN_S, Tasks, measuring_s, tasks_of
from middlemark.launch.worker_request import reply_timeout_s
from middlemark.model.cell import Cell
from middlemark.model.description import Transport, Worker
from middlemark.model.noise import Witnessed
from middlemark.model.outcome import Evidence, NetworkCost, Placed, TrialOutcome, Underway
from middlemark.model.plan import Limits
from middlemark.model.protocol import (
    PROTOCOL_VERSION,
    Account,
    AnyRoleRequest,
    AnyRoleResult,
    CallerResult,
    EndedEvent,
    HelloEvent,
    JoinCommand,
    MeasuringEvent,
    Message,
    PublishedEvent,
    PublisherRequest,
    PublisherResult,
    ReadyEvent,
    SubscriberRequest,
    SubscriberResult,
    TickEvent,
)
from middlemark.sites import evidence
from middlemark.sites.channel import Channel, WorkerFailedError
from middlemark.sites.session import Ground, Session
from middlemark.sites.witness import Waited

START_S = 10.0
"""A worker must say hello within this; opening a middleware has this beyond the match timeout."""
FIRST_TICK_S = 5.0
STOP_S = 5.0
AWAKE_BEYOND_S = 60.0
"""Longer than the end of a measuring takes: a witness that nobody ends stops spinning all the same."""

Tick = Callable[[Underway], None]
Item = TypeVar("Item")


class TrialSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One trial's own place in the world: names, paths, a domain."""

    cell: Cell
    limits: Limits
    seed: int
    worker: Worker
    transport: Transport
    domain: int
    scope: str
    folder: str
    """The run's."""
    samples_stem: str
    """Relative to it; the names of the trial's samples files begin so."""


class Measurement:
    """One trial. ``outcome`` is what is known so far; ``heard`` is there at the end."""

    def __init__(self, setting: TrialSetup, session: Session, tick: Tick, outcome: TrialOutcome) -> None:
        """``session``: where it runs. ``tick``: told what the first sender's ticks say; ``outcome``: which trial."""
        self.setting = setting
        self.session = session
        self.tick = tick
        self.outcome = outcome
        self.heard: Heard | None = None
        sending, receiving = session.grounds
        self.tasks = self._tasks_on(sending)
        self.told = self.tasks if receiving == sending else self._tasks_on(receiving)
        """The same tasks, as those are told who receive: another machine has other folders."""
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
            folder=setting.folder,
        )

    async def run(self) -> None:
        """Measure. Raises WorkerFailedError."""
        session, limits = self.session, self.setting.limits
        cpus = self.tasks.cpus(far=False), self.tasks.cpus(far=True)
        await session.prepare(self.setting.cell, limits, cpus, self.tasks.graph, self.outcome.number)
        needed = self.setting.transport.companions
        environment = await session.start_companions(self.tasks.settings) if needed else {}
        begin_ns = time.monotonic_ns()
        workers = await self._start(environment)
        await self._meet(workers)
        await session.keep_awake(limits.warmup_s + measuring_s(limits) + AWAKE_BEYOND_S)
        await session.watch()
        ledger = _Ledger(session.network)
        following = [Following(worker, mine, self._hear(ledger)) for worker, mine in workers]
        ledger.first = following[0]
        await (self._measure_graph(following) if self.tasks.graph else self._measure(following))
        ledger.end()
        seen, companions = await session.counted()
        used = tuple(companion_cost(each.name, each.pid, each.ready_ns, each.first, each.last) for each in companions)
        accounts = ledger.accounts(following)
        costs = tuple(map(worker_cost, accounts))
        self._know(evidence=seen, costs=costs, companions=used, series=series(accounts), network=ledger.moved)
        self._conclude(following, seen, begin_ns)
        self._know(noise=await self._noise(ledger))
        await session.bring(self.setting.folder)

    def _know(self, **fields: Any) -> None:
        self.outcome = msgspec.structs.replace(self.outcome, **fields)

    def _hear(self, ledger: "_Ledger") -> Callable[[Following, Message], None]:
        def hear(who: Following, event: Message) -> None:
            if isinstance(event, Account):
                ledger.hear(who, event)
            self.session.hear(event, first=who is ledger.first)
            if who is ledger.first and isinstance(event, TickEvent):
                self.tick(Underway(phase=event.phase, samples=event.samples))

        return hear

    async def _start(self, environment: dict[str, str]) -> list[tuple[Channel, tuple[AnyRoleRequest, ...]]]:
        """Start every process with its roles; the first sender's is the first."""
        told = self.tasks.workers
        receives = [each.far for each in told]
        workers = [
            await self.session.start(each.who, environment, receives=far)
            for each, far in zip(told, receives, strict=True)
        ]
        hellos = await asyncio.gather(*(worker.event(HelloEvent, timeout_s=START_S) for worker in workers))
        for worker, hello in zip(workers, hellos, strict=True):
            if hello.protocol != PROTOCOL_VERSION:
                raise worker.beside_the_protocol(f"hello: protocol {hello.protocol}, and this is {PROTOCOL_VERSION}")
        self._know(clock=hellos[0].clock, version=hellos[0].version)
        read = [(worker.who, hello.clock) for worker, hello in zip(workers, hellos, strict=True)]
        if self.pattern.one_clock and self.session.clocks is None:
            clocks.refuse_different(read)
        self._know(stamps_absent=self.session.clocks or clocks.difference(read))
        tasks = [self.told if far else self.tasks for far in receives]
        commands = [each.command(each.workers[at]) for at, each in enumerate(tasks)]
        if self.session.clocks is not None:  # of two machines the receivers' first: the senders find what they left
            for at, worker in enumerate(workers):
                if receives[at]:
                    worker.send(commands[at])
            await self.session.settled()
        for at, worker in enumerate(workers):
            if self.session.clocks is None or not receives[at]:
                worker.send(commands[at])
        return [(worker, each.roles) for worker, each in zip(workers, told, strict=True)]

    async def _meet(self, workers: Sequence[tuple[Channel, tuple[AnyRoleRequest, ...]]]) -> None:
        timeout = self.setting.limits.match_timeout_s + START_S
        if any(each.history for each in self.tasks.settings.topics):
            await _all(worker.event(PublishedEvent, timeout_s=START_S) for worker, _ in workers)
            for worker, _ in workers:
                worker.send(JoinCommand())
        readies = await _all(worker.event(ReadyEvent, timeout_s=timeout) for worker, _ in workers)
        # The senders' own: from their topics being made to their peers being found.
        sending = [
            ready
            for ready, (_, mine) in zip(readies, workers, strict=True)
            if mine[0] in self.roles.senders or self.tasks.graph  # of which it is when all is matched
        ]
        self._know(
            discovery_ns=max(ready.discovery_ns for ready in sending),
            notes=tuple(dict.fromkeys(note for ready in readies for note in ready.notes)),
            protected_by="; ".join(dict.fromkeys(each.protected_by for each in readies if each.protected_by)) or None,
            proof=not_proven(self.setting.cell.security, self.outcome.number),
            placed=tuple(
                Placed(role=worker.who, pid=worker.pid, **msgspec.structs.asdict(ready.placement))
                for (worker, _), ready in zip(workers, readies, strict=True)
            ),
        )

    async def _measure(self, following: Sequence[Following]) -> None:
        """Receivers first, then the senders together; when these are done the receivers are told what to expect."""
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
            if not await _while_alive(tasks, *(each.ticked.wait() for each in receivers), timeout_s=FIRST_TICK_S):
                raise next(each for each in receivers if not each.ticked.is_set()).worker.hung((TickEvent,))
            patience_s = (
                setting.limits.warmup_s
                + measuring_s(setting.limits)
                + 20 * reply_timeout_s(setting.cell, setting.limits)
                + 10
                + (DRAIN_S if not receivers else 0)
            )
            sending = start(senders, patience_s)
            await _while_alive(tasks, *(each.done.wait() for each in senders))
            if any(each.sent(role) is None for each in senders for role in each.roles if role in self.roles.senders):
                await _while_alive(tasks, *sending)
            for each in receivers:
                [role] = each.roles
                drains = self.pattern.drains(setting.cell, role)
                expected = self._expected(role, senders) if drains else 0
                each.stop(expected, DRAIN_S if drains else STOP_S)
            await _while_alive(tasks, *tasks[len(watching) :])
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _measure_graph(self, following: Sequence[Following]) -> None:
        """All at once; whenever somebody has ended, those who receive from it are told what to expect."""
        limits = self.setting.limits
        topics = {each.index: each.topic for each in self.roles.senders if isinstance(each, PublisherRequest)}
        ends = Ends([each for each in self.roles.receivers if isinstance(each, SubscriberRequest)])
        holding = [{each.index for each in who.roles if isinstance(each, SubscriberRequest)} for who in following]

        def told(event: EndedEvent) -> None:
            for stop in ends.after(topics, event):
                for who, mine in zip(following, holding, strict=True):
                    if here := mine.intersection(stop.subscribers):
                        who.stop(stop.expected, DRAIN_S, subscribers=tuple(sorted(here)))

        waves = max((len(each) for each in self.tasks.graph.chains), default=1) if self.tasks.graph else 1
        longest_s = limits.warmup_s + measuring_s(limits) + 10 + DRAIN_S * waves
        tasks = [asyncio.create_task(each) for each in self.session.deaths()]
        try:
            for each in following:
                each.on_end = told
                each.start(longest_s)
            running = [asyncio.create_task(each.run()) for each in following]
            tasks += running
            await _while_alive(tasks, *running)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _expected(self, receiver: AnyRoleRequest, senders: Sequence[Following]) -> int:
        """Return how many messages the senders of that receiver's topic have sent; of a ping-pong that is the ping."""
        return sum(
            each.sent(role) or 0
            for each in senders
            for role in each.roles
            if role in self.roles.senders and getattr(role, "topic", None) == getattr(receiver, "topic", None)
        )

    def _conclude(self, following: Sequence[Following], seen: Evidence, begin_ns: int) -> None:
        def results(roles: Sequence[AnyRoleRequest]) -> tuple[AnyRoleResult, ...]:
            return tuple(each.result(role) for role in roles for each in following if role in each.roles)

        heard = Heard(
            cell=self.setting.cell,
            limits=self.setting.limits,
            transport=self.setting.transport,
            senders=(*results(self.roles.senders), *(result for each in following for result in each.forwarded())),
            receivers=results(self.roles.receivers),
            evidence=seen,
            samples_stem=self.setting.samples_stem,
            graph=self.tasks.graph,
        )
        self.outcome = self.pattern.conclude(heard, self.outcome)
        begins = [begin for begin in map(_begin_ns, heard.senders) if begin]
        if begins and not self.session.elsewhere:
            self._know(first_sample_ns=min(begins) - begin_ns - round(self.setting.limits.warmup_s * 1e9))
        self.heard = heard

    async def _noise(self, ledger: "_Ledger") -> Witnessed | None:
        assert self.heard is not None
        far = self.tasks.far if self.session.clocks is not None else ()  # it is the machine of the first site
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
        found = ledger.waited([each[:15] for each in threads])  # the kernel cuts names there
        return await self.session.witnessed(begins_ns=begins, to_ns=max(ends, default=0), waited=found)


def _begin_ns(sender: AnyRoleResult) -> int:
    """Return the CLOCK_MONOTONIC of a sender's first measured message; 0: there was none."""
    if isinstance(sender, CallerResult):
        return sender.first_begin_ns
    return sender.first_sent_ns if isinstance(sender, PublisherResult) else 0


class _Ledger:
    """Who said what of their resources, and the network's counters each time the first worker said something."""

    def __init__(self, network: Callable[[], NetworkCost]) -> None:
        self.first: Following | None = None
        self._network = network
        self._events: dict[int, list[Account]] = {}
        self._readings: list[NetworkCost] = []
        self._begin: NetworkCost | None = None
        self.moved: NetworkCost | None = None

    def hear(self, who: Following, event: Account) -> None:
        """Keep what costs are made of."""
        begins = isinstance(event, MeasuringEvent) and self._begin is None
        if begins or who is self.first:
            reading = self._network()
            self._begin = reading if begins else self._begin
            if who is self.first:
                self._readings.append(reading)
        self._events.setdefault(id(who), []).append(event)

    def end(self) -> None:
        """Read the counters for the last time."""
        if self._begin is not None:
            self.moved = evidence.moved(self._begin, self._network())

    def waited(self, roles: Sequence[str]) -> Waited:
        """Return for how long threads of these names waited for a processor, and how often the workers switched."""
        return waited(tuple(self._events.values()), roles)

    def accounts(self, following: Iterable[Following]) -> list[WorkerAccounts]:
        """Return what each worker said of itself, as far as it measured."""
        return [
            found
            for each in following
            if (
                found := account(
                    each.worker.who,
                    each.worker.pid,
                    self._events.get(id(each), ()),
                    self._readings if each is self.first else (),
                )
            )
        ]


async def _while_alive(
    tasks: Sequence[asyncio.Task[None]], *wanted: Awaitable[Any], timeout_s: float | None = None
) -> bool:
    """Await all that is wanted, or raise what ends the first of ``tasks`` that fails. False: time over."""
    waiting = asyncio.ensure_future(asyncio.gather(*wanted))
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    try:
        while not waiting.done():
            pending = [task for task in tasks if not task.done()]
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ended, _ = await asyncio.wait([waiting, *pending], timeout=left, return_when=asyncio.FIRST_COMPLETED)
            # In the order of their start: which of two that fail at once is named must not be left to chance.
            for task in tasks:
                if task in ended:
                    task.result()
            if not ended:
                return False
        waiting.result()
        return True
    finally:
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError, WorkerFailedError):
            await waiting


async def _all(awaitables: Iterable[Awaitable[Item]]) -> list[Item]:
    """Gather; the first failure cancels the rest and is raised alone."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)
