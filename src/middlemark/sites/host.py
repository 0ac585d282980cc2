"""A host of a run that another machine coordinates: an actor on its Dask worker.

The actor offers the session of ``here`` through a connection. Events of the host's workers wait in a queue. The
coordinator fetches them at least once a second. If it is silent for ``LEASE_S``, the actor ends the trial.
"""

import asyncio
import contextlib
import os
import socket
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet

import msgspec

from middlemark import __version__
from middlemark.files import digest_of
from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.outcome import Failure, NetworkCost
from middlemark.model.plan import Limits
from middlemark.model.protocol import Account, Command, Message, Settings
from middlemark.model.run import HostMachine
from middlemark.model.workload import Workload
from middlemark.sites import residue
from middlemark.sites.channel import WorkerFailedError, WorkerProcess
from middlemark.sites.clocks import Answering, Asking, Exchange
from middlemark.sites.descendants import adopting
from middlemark.sites.here import LocalSession
from middlemark.sites.interface import read_interface, towards
from middlemark.sites.machine import read_machine
from middlemark.sites.namespace import OWN
from middlemark.sites.session import CompanionUse, Cpus
from middlemark.system.checks.participants import used_domains
from middlemark.system.checks.time_sync import synchronised
from middlemark.workers.find import described, executables, witness

KNOCK_S = 2.0
POLL_S = 1.0
"""The longest time in s that the actor waits for an event. It then answers the coordinator without events."""
LEASE_S = 15.0
NOTES_S = 0.02
MOST_NOTE_BYTES = 1 << 16
CHUNK_BYTES = 8 << 20
KEPT = "kept"
"""The name of the folder for samples inside the trial's scratch folder."""


class WorkerEvent(msgspec.Struct, frozen=True):
    """An event of worker ``number``. During the measurement the event contains the network's counters at that time."""

    number: int
    event: Message
    network: NetworkCost | None


class WorkerFailure(msgspec.Struct, frozen=True):
    """A failure of a worker, or of a companion if ``number`` is None."""

    number: int | None
    error: WorkerFailedError


class LeftFile(msgspec.Struct, frozen=True):
    """A note: a file that a worker has left in the trial's folder for other workers."""

    name: str
    content: bytes


Report = WorkerEvent | WorkerFailure | LeftFile


_OF_HOST = ("facts", "ping", "listen", "knock", "heard", "begin", "close", "answer_clock", "ask_clock", "clock_asked")
KNOCK = b"middlemark"

# Commands arrive as JSON: a struct that was pickled no longer omits fields with default values when it is encoded.
_COMMAND = msgspec.json.Decoder(Command)
_SETTINGS = msgspec.json.Decoder(Settings)


class Facts(msgspec.Struct, frozen=True):
    """The description of a host. ``adapters``: adapter → version. ``builds``: adapter → digest of the worker."""

    host: HostMachine
    adapters: dict[str, str]
    builds: dict[str, str]


class Begun(msgspec.Struct, frozen=True):
    """A trial that has begun on a host."""

    scratch: str
    interface: str
    used_domains: tuple[int, ...]


_actors: "WeakSet[Host]" = WeakSet()
"""The actors of this process. If a coordinator has abandoned an actor, the actor may still run a trial. At its end,
that trial kills all processes that started after it. So an actor begins a trial only when all other actors have ended
theirs."""


class Host:
    """The actor. The coordinator calls only :meth:`do`."""

    def __init__(self, site: str) -> None:
        """Create the actor. ``site``: the name of this host in the run."""
        self._site = site
        self._workers: dict[str, Worker] = {}
        self._trial: _Trial | None = None
        self._calls = 0
        self._heard = time.monotonic()
        self._watching: asyncio.Task[None] | None = None
        self._adopting = contextlib.ExitStack()
        self._open_sockets: tuple[socket.socket, socket.socket]
        self._answering: Answering | None = None
        self._asking: Asking | None = None
        self._closing = asyncio.Lock()
        _actors.add(self)

    async def do(self, verb: str, *arguments: Any, scope: str | None = None) -> Any:
        """Call ``verb``, a method of this class or of the trial. Raises WorkerFailedError.

        ``scope``: the trial that the call is for. After a network outage a call for an earlier trial may arrive late.
        """
        self._calls += 1
        try:
            target = self if verb in _OF_HOST else self._trial
            if scope is not None and (self._trial is None or self._trial.scope != scope):
                target = None
            if target is None and verb == "close":
                return []
            if target is None:
                text = f"{self._site} does not run this trial any more: it has ended, or the Dask worker was restarted"
                raise WorkerFailedError("lost", text)
            return await getattr(target, verb)(*arguments)
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
            raise WorkerFailedError("internal", f"{self._site}: {what}") from None
        finally:
            self._calls -= 1
            self._heard = time.monotonic()

    async def facts(self, address: str, peer: str) -> bytes:
        """Return ``Facts`` as JSON, which other versions can read. ``peer``: the address of the other site."""
        found, _ = await described(executables())
        self._workers = {each.description.name: each for each in found}
        host = HostMachine(
            name=self._site,
            address=address,
            machine=read_machine(),
            middlemark=__version__,
            time=synchronised(),
            **msgspec.structs.asdict(read_interface(towards(peer))),
        )
        versions = {name: each.description.version for name, each in self._workers.items()}
        builds = {name: digest_of(each.path) for name, each in self._workers.items()}
        return msgspec.json.encode(Facts(host, versions, builds))

    async def ping(self) -> None:
        """Do nothing, so that the caller can measure the connection's round trip."""

    async def listen(self, address: str) -> tuple[int, int]:
        """Open a UDP and a TCP port at this address; return the port numbers."""
        self._open_sockets = (socket.socket(type=socket.SOCK_DGRAM), socket.socket())
        for each in self._open_sockets:
            each.setblocking(False)
            each.bind((address, 0))
        self._open_sockets[1].listen()
        return self._open_sockets[0].getsockname()[1], self._open_sockets[1].getsockname()[1]

    async def knock(self, address: str, udp: int, tcp: int) -> None:
        """Send a datagram and open a connection to the ports of another host."""
        with socket.socket(type=socket.SOCK_DGRAM) as datagrams:
            datagrams.sendto(KNOCK, (address, udp))
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(KNOCK_S):
                _, writer = await asyncio.open_connection(address, tcp)
                writer.close()

    async def heard(self) -> tuple[bool, bool]:
        """Return whether a datagram and a connection have arrived, and close both ports."""
        loop = asyncio.get_running_loop()
        datagrams, connections = self._open_sockets
        with datagrams, connections:
            arrived = await asyncio.gather(
                asyncio.wait_for(loop.sock_recv(datagrams, len(KNOCK)), KNOCK_S),
                asyncio.wait_for(loop.sock_accept(connections), KNOCK_S),
                return_exceptions=True,
            )
        if isinstance(arrived[1], tuple):
            arrived[1][0].close()
        return arrived[0] == KNOCK, isinstance(arrived[1], tuple)

    async def begin(self, cell: Cell, adapter: str, scope: str, peer: str) -> Begun:
        """Begin a trial. An earlier trial is ended first."""
        for actor in [each for each in _actors if each._site == self._site]:
            await actor.close(0.0)
        if self._watching is None:
            residue.clear_abandoned()
            self._adopting.enter_context(adopting())
            self._watching = asyncio.create_task(self._watch())
        worker = self._workers.get(adapter)
        if worker is None:
            raise WorkerFailedError(
                "refused", f"{self._site} has no adapter {adapter}", f"to build it there: ./middlemark build {adapter}"
            )
        own = msgspec.structs.replace(OWN, name=self._site, interface=towards(peer))
        self._trial = _Trial(scope, LocalSession(worker, scope, witness(), (own,), mark=f"{scope} {self._site}"))
        [ground, _] = self._trial.session.grounds
        os.makedirs(f"{ground.scratch}/{KEPT}/samples")
        return Begun(ground.scratch, ground.interface, tuple(used_domains()))

    async def answer_clock(self, address: str) -> int:
        """Start to answer another host's questions about this host's clock; return the UDP port."""
        await self._stop_answering()
        self._answering = Answering(address)
        return self._answering.port

    async def ask_clock(self, address: str, port: int) -> None:
        """Start to compare this host's clock with the clock of the host that answers at this address and port."""
        await self.clock_asked()
        self._asking = Asking(address, port)

    async def clock_asked(self) -> tuple[Exchange, ...]:
        """Stop the comparison of clocks that ``ask_clock`` started. Return its exchanges; empty if none is running."""
        asking, self._asking = self._asking, None
        return () if asking is None else await asyncio.to_thread(asking.end)

    async def _stop_answering(self) -> None:
        answering, self._answering = self._answering, None
        if answering is not None:
            await asyncio.to_thread(answering.close)

    async def close(self, grace_s: float) -> list[str]:
        """End the trial."""
        async with self._closing:
            await self.clock_asked()
            await self._stop_answering()
            trial, self._trial = self._trial, None
            return [] if trial is None else await trial.close(grace_s)

    async def _watch(self) -> None:
        """End the trial if the coordinator has been silent for LEASE_S."""
        while True:
            await asyncio.sleep(1.0)
            if self._trial is not None and not self._calls and time.monotonic() - self._heard > LEASE_S:
                await self.close(0.0)


class _Trial:
    """The part of one trial that runs on this host."""

    def __init__(self, scope: str, session: LocalSession) -> None:
        self.scope = scope
        self.session = session
        self._scratch = session.grounds[0].scratch
        self._workers: list[WorkerProcess] = []
        self._reports: list[Report] = []
        self._has_reports = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._noting: asyncio.Task[None] | None = None
        self._known_notes: set[str] = set()
        self._counting = False
        self._all_cpus = os.sched_getaffinity(0)
        self._free_cpus = self._all_cpus
        """The processors without a pinned role. Dask may use only these processors while the trial measures."""

    async def prepare(self, cell: Cell, limits: Limits, cpus: Cpus, graph: Workload | None, number: int) -> None:
        """Prepare the session. ``cpus``: the processors of the roles on this host."""
        self._free_cpus = self._all_cpus - {cpu for cpu in cpus if cpu is not None}
        await self.session.prepare(cell, limits, (cpus, ()), graph, number)

    async def start_companions(self, settings: bytes) -> dict[str, str]:
        """Start the companions. ``settings``: as JSON."""
        return await self.session.start_companions(_SETTINGS.decode(settings))

    async def start(self, who: str, environment: Mapping[str, str]) -> int:
        """Start the next worker; return its pid. Workers are numbered from 0 in the order of their starts."""
        if self._noting is None:
            self._noting = asyncio.create_task(self._note())
            self._tasks += [
                self._noting,
                *(asyncio.create_task(self._await_death(each)) for each in self.session.deaths()),
            ]
        worker = await self.session.start(who, environment, receives=False)
        self._workers.append(worker)
        self._tasks.append(asyncio.create_task(self._listen(len(self._workers) - 1, worker)))
        return worker.pid

    async def tell(self, number: int, command: bytes) -> None:
        """Pass a command, as JSON, to a worker."""
        self._workers[number].send(_COMMAND.decode(command))

    async def note(self, name: str, content: bytes) -> None:
        """Write a note that a worker left on the other site."""
        self._known_notes.add(name)
        aside = f"{self._scratch}/new.{KEPT}"
        Path(aside).write_bytes(content)
        with contextlib.suppress(FileExistsError):  # a worker on this site has left a note of this name
            os.link(aside, f"{self._scratch}/{name}")
        os.unlink(aside)

    async def keep_awake(self, longest_s: float) -> None:
        """Keep the processors awake."""
        await self.session.keep_awake(longest_s)

    async def watch(self) -> NetworkCost:
        """Start the witness and the counters; return the network's counters. All workers are connected at this time."""
        if self._noting is not None:
            self._noting.cancel()
        await self.session.watch()
        _keep_to(self._free_cpus)
        self._counting = True
        return self.session.network()

    async def hear(self) -> list[Report]:
        """Return the new events, failures and notes, after waiting at most POLL_S for the first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await self._has_reports.wait()
        reports, self._reports = self._reports, []
        self._has_reports.clear()
        return reports

    async def counted(self) -> tuple[Any, tuple[CompanionUse, ...], NetworkCost]:
        """Return the session's counts, and the network's counters."""
        return (*await self.session.counted(), self.session.network())

    async def witnessed(self, begins_ns: Sequence[int], to_ns: int, waited: Any) -> Any:
        """Return the witness's observations of this host."""
        return await self.session.witnessed(begins_ns=begins_ns, to_ns=to_ns, waited=waited)

    async def blame(self, error: WorkerFailedError) -> Failure:
        """Return the cause of an error."""
        return await self.session.blame(error)

    async def kept(self) -> list[tuple[str, int]]:
        """Return the samples files, relative to the run's folder, with their sizes."""
        folder = Path(self._scratch, KEPT)
        return [(str(each.relative_to(folder)), each.stat().st_size) for each in sorted(folder.glob("samples/*.npy"))]

    async def part(self, name: str, offset: int) -> bytes:
        """Return a part of a samples file, compressed."""
        with open(Path(self._scratch, KEPT, name), "rb") as file:
            file.seek(offset)
            return await asyncio.to_thread(zlib.compress, file.read(CHUNK_BYTES), 1)

    async def close(self, grace_s: float) -> list[str]:
        """End the trial."""
        for task in self._tasks:
            task.cancel()
        _keep_to(self._all_cpus)
        return await self.session.close(grace_s)

    def _report(self, report: Report) -> None:
        self._reports.append(report)
        self._has_reports.set()

    async def _listen(self, number: int, worker: WorkerProcess) -> None:
        try:
            while True:
                event = await worker.next_event()
                network = None
                if self._counting and isinstance(event, Account):
                    self.session.hear(event, first=number == 0)
                    network = self.session.network()
                self._report(WorkerEvent(number, event, network))
        except WorkerFailedError as error:
            self._report(WorkerFailure(number, error))

    async def _await_death(self, death: Any) -> None:
        try:
            await death
        except WorkerFailedError as error:
            self._report(WorkerFailure(None, error))

    async def _note(self) -> None:
        while True:
            for entry in os.scandir(self._scratch):
                aside = entry.name.startswith((".", "new.")) or entry.name.endswith((".new", ".lock"))
                if aside or entry.name in self._known_notes or not entry.is_file(follow_symlinks=False):
                    continue
                self._known_notes.add(entry.name)
                if entry.stat().st_size <= MOST_NOTE_BYTES:
                    self._report(LeftFile(entry.name, Path(entry.path).read_bytes()))
            await asyncio.sleep(NOTES_S)


def _keep_to(processors: set[int]) -> None:
    """Restrict all threads of this process to these processors; without processors do nothing."""
    for thread in os.listdir("/proc/self/task") if processors else ():
        with contextlib.suppress(OSError):  # the thread has ended meanwhile
            os.sched_setaffinity(int(thread), processors)
