"""Run trials on other hosts. One session covers the one or two ends of a trial, each reached through a connection."""

import asyncio
import contextlib
import os
import time
import zlib
from collections.abc import Coroutine, Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.link import HERE, sites_of
from middlemark.model.noise import Witnessed
from middlemark.model.outcome import ClockOffset, Evidence, Failure, NetworkCost, Room, RunWarning
from middlemark.model.plan import Limits
from middlemark.model.protocol import Message, Settings
from middlemark.model.user_file import user_file
from middlemark.model.workload import Workload
from middlemark.sites.channel import Channel, WorkerFailedError
from middlemark.sites.clocks import fitted
from middlemark.sites.cluster import Cluster, HostGoneError
from middlemark.sites.crowd_ground import CrowdGround
from middlemark.sites.here import Here
from middlemark.sites.host import KEPT, POLL_S, Begun, LeftFile, WorkerEvent, WorkerFailure
from middlemark.sites.machine_use import MachineUse
from middlemark.sites.session import Captured, CompanionUse, Cpus, Ground, Session
from middlemark.sites.witness import Waited

CLOCKS = "a breakdown would compare raw counters of two hosts"
LOOPBACK = "127.0.0.1"
ANSWER_S = 30.0
"""The longest time in s until a host answers a request that does not wait for a worker, such as a probe."""
SETTLE_S, QUIET_S = 1.0, 0.25
"""SETTLE_S seconds after the start, receivers count as open. They count as open earlier if they have left notes, and no
new note came for QUIET_S seconds."""
SILENCE_S = 8.0
"""A host whose answer is late by this number of seconds counts as gone."""

Counts = TypeVar("Counts", Evidence, NetworkCost)


class Apart:
    """The hosts of a run, as a site. A trial that uses none of the hosts runs on this machine."""

    def __init__(self, cluster: Cluster, here: Here) -> None:
        """Create the site. ``here``: this machine."""
        self.here = here
        self._cluster = cluster

    def running(self) -> contextlib.AbstractContextManager[None]:
        """See ``Here.running``. Leftovers of a killed coordinator are removed from a host when a trial begins there."""
        return self.here.running()

    async def begin(self, cell: Cell, worker: Worker, scope: str) -> Session:
        """Begin a trial at both of its ends, or at a single end if the whole trial runs on one host."""
        if cell.across == HERE:
            return await self.here.begin(cell, worker, scope)
        if any(user_file(value) for _, value in cell.native):
            text = "a configuration file of your own cannot be copied to other hosts"
            raise WorkerFailedError("refused", text, "write its settings as --native KEY=VALUE, or measure here")
        names = sites_of(cell.across)
        ends = tuple(_End(self._cluster, name) for name in names)
        peers = [self._cluster.addresses[name] for name in reversed(names)] if len(names) > 1 else [LOOPBACK]
        adapter = worker.description.name
        begun = await asyncio.gather(
            *(end.begin(cell, adapter, scope, peer) for end, peer in zip(ends, peers, strict=True)),
            return_exceptions=True,
        )
        failed = next((each for each in begun if isinstance(each, BaseException)), None)
        if failed is not None:
            await asyncio.gather(*(each.close(0.0) for each in ends))
            raise failed
        there = [each for each in begun if isinstance(each, Begun)]
        grounds = [Ground(each.scratch, each.interface, f"{each.scratch}/{KEPT}") for each in there]
        used = {domain for each in there for domain in each.used_domains}
        return _Session(ends, grounds, self.here.domains.next(used), self._cluster.doubts(names, adapter))


class _FarWorker(Channel):
    """A worker on a host."""

    def __init__(self, who: str, pid: int, number: int, end: "_End") -> None:
        super().__init__(who, pid)
        self._number = number
        self._end = end

    def send(self, command: Message) -> None:
        self.last_heard = time.monotonic()
        self._end.send("tell", self._number, msgspec.json.encode(command))

    def hear(self, event: Message | WorkerFailedError) -> None:
        self.last_heard = time.monotonic()
        self._events.put_nowait(event)

    def _state(self) -> str:
        return f"it runs on {self._end.name}"


class _End:
    """One end of a trial: sends requests to its host, and receives the answers."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.name = name
        self.address = cluster.addresses[name]
        self.network = NetworkCost(**dict.fromkeys(NetworkCost.__struct_fields__, 0))
        self.other = self
        self.last_note_s = 0.0
        """The time in s (monotonic) at which a worker of this end last left a note; 0: no worker has left a note."""
        self._cluster = cluster
        self._workers: list[_FarWorker] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._outgoing: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()
        self._death: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.lost: WorkerFailedError | None = None
        self._scope: str | None = None

    async def call(self, verb: str, *arguments: Any, timeout_s: float = ANSWER_S) -> Any:
        if self.lost is not None:
            raise self.lost
        try:
            return await self._cluster.call(self.name, verb, *arguments, timeout_s=timeout_s, scope=self._scope)
        except HostGoneError as gone:
            text = f"{self.name} ({self._cluster.addresses[self.name]}) is gone: {gone}"
            advice = "check that the host is on and can be reached: middlemark hosts --hosts …"
            self.lost = WorkerFailedError("lost", text, advice)
            self._die(self.lost)
            for each in self._workers:
                each.hear(self.lost)
            raise self.lost from None

    def _die(self, why: WorkerFailedError) -> None:
        if not self._death.done():
            self._death.set_exception(why)
            self._death.exception()  # mark the exception as retrieved, in case no coroutine waits for it

    async def begin(self, cell: Cell, adapter: str, scope: str, peer: str) -> Begun:
        try:
            await self._cluster.connect(self.name)
        except HostGoneError as gone:
            text = f"{self.name} ({self._cluster.addresses[self.name]}) cannot be reached: {gone}"
            self.lost = WorkerFailedError("lost", text, "check the host with: middlemark hosts --hosts …")
            raise self.lost from None
        begun: Begun = await self.call("begin", cell, adapter, scope, peer)
        self._scope = scope
        return begun

    async def start(self, who: str, environment: Mapping[str, str]) -> Channel:
        pid = await self.call("start", who, dict(environment))
        self._workers.append(_FarWorker(who, pid, len(self._workers), self))
        if not self._tasks:
            self._tasks += [asyncio.create_task(self._listen()), asyncio.create_task(self._speak())]
        return self._workers[-1]

    def send(self, *what: Any) -> None:
        """Queue a call to the host. The call runs after all earlier calls."""
        self._outgoing.put_nowait(what)

    async def _speak(self) -> None:
        with contextlib.suppress(WorkerFailedError):
            while True:
                await self.call(*await self._outgoing.get())

    async def _listen(self) -> None:
        with contextlib.suppress(WorkerFailedError):
            while True:
                for report in await self.call("hear", timeout_s=POLL_S + SILENCE_S):
                    self._take(report)

    def _take(self, report: WorkerEvent | WorkerFailure | LeftFile) -> None:
        if isinstance(report, LeftFile):
            self.last_note_s = time.monotonic()
            if self.other is not self:
                self.other.send("note", report.name, report.content)
        elif isinstance(report, WorkerFailure):
            why = WorkerFailedError(report.error.code, f"{report.error.text} (on {self.name})", report.error.advice)
            if report.number is None:
                self._die(why)
            else:
                self._workers[report.number].hear(why)
        else:
            self.network = report.network or self.network
            self._workers[report.number].hear(report.event)

    async def death(self) -> None:
        await asyncio.shield(self._death)

    async def close(self, grace_s: float) -> list[str]:
        for task in self._tasks:
            task.cancel()
        if self.lost is not None:  # the host ends its part of the trial by itself
            return []
        try:
            unclean = await self.call("close", grace_s, timeout_s=ANSWER_S + grace_s)
            return [f"{each} (on {self.name})" for each in unclean]
        except WorkerFailedError as error:
            return [error.text]

    async def bring(self, folder: str) -> None:
        for name, size in await self.call("kept"):
            path = Path(folder, name)
            aside = path.with_suffix(".part")
            try:
                with open(aside, "wb") as file:
                    while file.tell() < size:
                        part = zlib.decompress(await self.call("part", name, file.tell()))
                        if not part:
                            break
                        file.write(part)
                    whole = file.tell() == size
                if not whole:
                    raise WorkerFailedError("internal", f"{name} became shorter on {self.name} while it was fetched")
                os.replace(aside, path)
            except OSError as error:
                raise WorkerFailedError("disk", f"{path}: {error.strerror}", "make room in the folder") from None
            finally:
                aside.unlink(missing_ok=True)


class _Session:
    """The ``session.Session`` of a trial on hosts. The senders run at the first end, the receivers at the second."""

    def __init__(
        self, ends: tuple[_End, ...], grounds: Sequence[Ground], domain: int, doubts: tuple[RunWarning, ...]
    ) -> None:
        self.link: str | None = None
        self.clocks: str | None = CLOCKS if len(ends) > 1 else None
        self.elsewhere = True
        self.offset: ClockOffset | None = None
        self.doubts = doubts
        self.crowd: CrowdGround | None = None
        self.shm: Room | None = None
        self._ends = ends
        self._near, self._far = ends[0], ends[-1]
        self._near.other, self._far.other = self._far, self._near
        self._grounds = (grounds[0], grounds[-1])
        self._domain = domain

    @property
    def grounds(self) -> tuple[Ground, Ground]:
        return self._grounds

    def domain(self) -> int:
        return self._domain

    async def _all(self, verb: str, *arguments: Any) -> list[Any]:
        return list(await asyncio.gather(*(each.call(verb, *arguments) for each in self._ends)))

    async def prepare(
        self, cell: Cell, limits: Limits, cpus: tuple[Cpus, Cpus], graph: Workload | None, number: int
    ) -> None:
        pairs = zip(self._ends, cpus, strict=False)  # a trial on one host has all roles on the first site
        await asyncio.gather(*(each.call("prepare", cell, limits, mine, graph, number) for each, mine in pairs))

    async def start_companions(self, settings: Settings) -> dict[str, str]:
        found: dict[str, str] = await self._near.call("start_companions", msgspec.json.encode(settings))
        return found

    async def start(self, who: str, environment: Mapping[str, str], *, receives: bool) -> Channel:
        return await (self._far if receives else self._near).start(who, environment)

    async def settled(self) -> None:
        begin = time.monotonic()
        while time.monotonic() - begin < SETTLE_S:
            await asyncio.sleep(0.02)
            last_note_s = self._far.last_note_s
            if last_note_s and time.monotonic() - last_note_s > QUIET_S:
                return

    async def keep_awake(self, longest_s: float) -> None:
        await self._all("keep_awake", longest_s)

    async def watch(self) -> None:
        for each, network in zip(self._ends, await self._all("watch"), strict=True):
            each.network = network
        if self.clocks is None:
            return
        port = await self._near.call("answer_clock", self._near.address)
        await self._far.call("ask_clock", self._near.address, port)

    def hear(self, event: Message, *, first: bool) -> None:
        """Do nothing: the host passes the event to its own witness."""

    def machine(self) -> MachineUse:
        return MachineUse()

    def network(self) -> NetworkCost:
        return _added(NetworkCost, [each.network for each in self._ends])

    def deaths(self) -> list[Coroutine[Any, Any, None]]:
        return [each.death() for each in self._ends]

    async def capture(self) -> None:
        """Do nothing. A capture shows whether messages are encrypted, and there is no security between hosts yet."""

    async def captured(self) -> Captured:
        return Captured(absent=dict.fromkeys(("network", "shared-memory"), "nothing is captured on other hosts"))

    async def counted(self) -> tuple[Evidence, tuple[CompanionUse, ...]]:
        counts = await self._all("counted")
        for each, (_, _, network) in zip(self._ends, counts, strict=True):
            each.network = network
        if self.clocks is not None:
            self.offset = await asyncio.to_thread(fitted, await self._far.call("clock_asked"))
        return _added(Evidence, [evidence for evidence, _, _ in counts]), counts[0][1]

    async def witnessed(self, *, begins_ns: Sequence[int], to_ns: int, waited: Waited) -> Witnessed | None:
        found: Witnessed | None = await self._near.call("witnessed", list(begins_ns), to_ns, waited)
        return found

    async def bring(self, folder: str) -> None:
        for each in self._ends:
            await each.bring(folder)

    async def blame(self, error: WorkerFailedError) -> Failure:
        lost = next((each.lost for each in self._ends if each.lost is not None), None)
        own = lost or error
        failure = Failure(code=own.code, text=own.text, advice=own.advice)
        if lost is not None:
            return failure
        try:
            found = await asyncio.gather(*(each.call("blame", error, timeout_s=SILENCE_S) for each in self._ends))
        except WorkerFailedError as gone:
            return Failure(code=gone.code, text=gone.text, advice=gone.advice)
        return next((each for each in found if each.text != error.text), failure)

    async def close(self, grace_s: float) -> list[str]:
        closing = asyncio.gather(*(each.close(grace_s) for each in self._ends))
        try:
            ended = await asyncio.shield(closing)
        except asyncio.CancelledError:
            ended = await closing
        return [text for each in ended for text in each]


def _added(kind: type[Counts], counts: Sequence[Counts]) -> Counts:
    def added(name: str) -> Any:
        each = [getattr(count, name) for count in counts]
        return None if None in each else reduce(add, each)

    return kind(**{name: added(name) for name in kind.__struct_fields__})
