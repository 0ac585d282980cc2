"""A machine as a site of a run that another one coordinates: an actor of the Dask worker on it.

It is ``here`` behind a connection: what its workers say is kept until the coordinator fetches it, once a second at
least. Where the coordinator is silent for ``LEASE_S`` all that the trial has started is ended.
"""

import asyncio
import contextlib
import hashlib
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
"""The coordinator is answered within this, also when there is nothing to tell."""
LEASE_S = 15.0
NOTES_S = 0.02
MOST_NOTE_BYTES = 1 << 16
CHUNK_BYTES = 8 << 20
KEPT = "kept"
"""The folder of samples in the trial's."""


class Said(msgspec.Struct, frozen=True):
    """One event of a worker's, by its number, and the network's counters just then, while the trial measures."""

    number: int
    event: Message
    network: NetworkCost | None


class Failed(msgspec.Struct, frozen=True):
    """A worker, or with None a companion, could not go on."""

    number: int | None
    error: WorkerFailedError


class LeftFile(msgspec.Struct, frozen=True):
    """A file that a worker has left in the trial's folder for the others to find."""

    name: str
    content: bytes


Told = Said | Failed | LeftFile


_OF_HOST = ("facts", "ping", "listen", "knock", "heard", "begin", "close", "answer_clock", "ask_clock", "clock_asked")
KNOCK = b"middlemark"

# What a worker is told comes in JSON: a default that was pickled is not left out any more when it is written for it.
_COMMAND = msgspec.json.Decoder(Command)
_SETTINGS = msgspec.json.Decoder(Settings)


class Facts(msgspec.Struct, frozen=True):
    """What a host is. ``adapters``: their versions; ``builds``: the digests of their workers."""

    host: HostMachine
    adapters: dict[str, str]
    builds: dict[str, str]


class Begun(msgspec.Struct, frozen=True):
    """A trial that has begun on a host."""

    scratch: str
    interface: str
    used_domains: tuple[int, ...]


_actors: "WeakSet[Host]" = WeakSet()
"""Those of this process. One that its coordinator took for gone may have a trial still, whose end takes with it what
was started here meanwhile: so no trial of a site begins before all others of it have ended."""


class Host:
    """The actor. The coordinator calls :meth:`do` alone."""

    def __init__(self, site: str) -> None:
        """``site``: the name that this machine has in the run."""
        self._site = site
        self._workers: dict[str, Worker] = {}
        self._trial: _Trial | None = None
        self._calls = 0
        self._heard = time.monotonic()
        self._watching: asyncio.Task[None] | None = None
        self._adopting = contextlib.ExitStack()
        self._doors: tuple[socket.socket, socket.socket]
        self._answering: Answering | None = None
        self._asking: Asking | None = None
        self._closing = asyncio.Lock()
        _actors.add(self)

    async def do(self, verb: str, *arguments: Any, scope: str | None = None) -> Any:
        """Do what ``verb``, a method of this class or of the trial, says. Raises WorkerFailedError.

        ``scope``: of the trial that it is meant for. What a cut line held back comes while another one runs.
        """
        self._calls += 1
        try:
            of = self if verb in _OF_HOST else self._trial
            if scope is not None and (self._trial is None or self._trial.scope != scope):
                of = None
            if of is None and verb == "close":
                return []
            if of is None:
                text = f"{self._site} has this trial no more: it has ended, or its Dask worker began anew"
                raise WorkerFailedError("lost", text)
            return await getattr(of, verb)(*arguments)
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
            raise WorkerFailedError("internal", f"{self._site}: {what}") from None
        finally:
            self._calls -= 1
            self._heard = time.monotonic()

    async def facts(self, address: str, peer: str) -> bytes:
        """Return ``Facts`` as JSON, which another version reads too. ``peer``: the address of the other site."""
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
        builds = {name: digest(each.path) for name, each in self._workers.items()}
        return msgspec.json.encode(Facts(host, versions, builds))

    async def ping(self) -> None:
        """Do nothing: how long that takes is the connection's round trip."""

    async def listen(self, address: str) -> tuple[int, int]:
        """Open a UDP and a TCP port on that address of this host; return both."""
        self._doors = (socket.socket(type=socket.SOCK_DGRAM), socket.socket())
        for each in self._doors:
            each.setblocking(False)
            each.bind((address, 0))
        self._doors[1].listen()
        return self._doors[0].getsockname()[1], self._doors[1].getsockname()[1]

    async def knock(self, address: str, udp: int, tcp: int) -> None:
        """Send to both ports of another host."""
        with socket.socket(type=socket.SOCK_DGRAM) as datagrams:
            datagrams.sendto(KNOCK, (address, udp))
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(KNOCK_S):
                _, writer = await asyncio.open_connection(address, tcp)
                writer.close()

    async def heard(self) -> tuple[bool, bool]:
        """Return whether a datagram and a connection have come; close both ports."""
        loop = asyncio.get_running_loop()
        datagrams, connections = self._doors
        with datagrams, connections:
            came = await asyncio.gather(
                asyncio.wait_for(loop.sock_recv(datagrams, len(KNOCK)), KNOCK_S),
                asyncio.wait_for(loop.sock_accept(connections), KNOCK_S),
                return_exceptions=True,
            )
        if isinstance(came[1], tuple):
            came[1][0].close()
        return came[0] == KNOCK, isinstance(came[1], tuple)

    async def begin(self, cell: Cell, adapter: str, scope: str, peer: str) -> Begun:
        """Begin a trial; what is left of another one is ended first."""
        for actor in [each for each in _actors if each._site == self._site]:
            await actor.close(0.0)
        if self._watching is None:
            residue.clear_abandoned()
            self._adopting.enter_context(adopting())
            self._watching = asyncio.create_task(self._watch())
        worker = self._workers.get(adapter)
        if worker is None:
            raise WorkerFailedError(
                "refused", f"{self._site} has no adapter {adapter}", f"build it there: ./middlemark build {adapter}"
            )
        own = msgspec.structs.replace(OWN, name=self._site, interface=towards(peer))
        self._trial = _Trial(scope, LocalSession(worker, scope, witness(), (own,), mark=f"{scope} {self._site}"))
        [ground, _] = self._trial.session.grounds
        os.makedirs(f"{ground.scratch}/{KEPT}/samples")
        return Begun(ground.scratch, ground.interface, tuple(used_domains()))

    async def answer_clock(self, address: str) -> int:
        """Tell another host this one's time whenever it asks; return the UDP port."""
        await self._silenced()
        self._answering = Answering(address)
        return self._answering.port

    async def ask_clock(self, address: str, port: int) -> None:
        """Hold this host's clock against another's from now on."""
        await self.clock_asked()
        self._asking = Asking(address, port)

    async def clock_asked(self) -> tuple[Exchange, ...]:
        """End that; return what bounds the difference."""
        asking, self._asking = self._asking, None
        return () if asking is None else await asyncio.to_thread(asking.end)

    async def _silenced(self) -> None:
        answering, self._answering = self._answering, None
        if answering is not None:
            await asyncio.to_thread(answering.close)

    async def close(self, grace_s: float) -> list[str]:
        """End the trial."""
        async with self._closing:
            await self.clock_asked()
            await self._silenced()
            trial, self._trial = self._trial, None
            return [] if trial is None else await trial.close(grace_s)

    async def _watch(self) -> None:
        """End a trial of which the coordinator does not ask any more."""
        while True:
            await asyncio.sleep(1.0)
            if self._trial is not None and not self._calls and time.monotonic() - self._heard > LEASE_S:
                await self.close(0.0)


class _Trial:
    """One trial on this machine."""

    def __init__(self, scope: str, session: LocalSession) -> None:
        self.scope = scope
        self.session = session
        self._scratch = session.grounds[0].scratch
        self._workers: list[WorkerProcess] = []
        self._told: list[Told] = []
        self._something = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._noting: asyncio.Task[None] | None = None
        self._known: set[str] = set()
        self._counting = False
        self._all = os.sched_getaffinity(0)
        self._others = self._all
        """The processors that no role is pinned to: Dask keeps to them while the trial measures."""

    async def prepare(self, cell: Cell, limits: Limits, cpus: Cpus, graph: Workload | None, number: int) -> None:
        """As the session does; ``cpus`` are those of the roles here."""
        self._others = self._all - {cpu for cpu in cpus if cpu is not None}
        await self.session.prepare(cell, limits, (cpus, ()), graph, number)

    async def start_companions(self, settings: bytes) -> dict[str, str]:
        """As the session does; ``settings`` are in JSON."""
        return await self.session.start_companions(_SETTINGS.decode(settings))

    async def start(self, who: str, environment: Mapping[str, str]) -> int:
        """Start a worker, whose number is that of the starts before it; return its pid."""
        if self._noting is None:
            self._noting = asyncio.create_task(self._note())
            self._tasks += [self._noting, *(asyncio.create_task(self._mourn(each)) for each in self.session.deaths())]
        worker = await self.session.start(who, environment, receives=False)
        self._workers.append(worker)
        self._tasks.append(asyncio.create_task(self._listen(len(self._workers) - 1, worker)))
        return worker.pid

    async def tell(self, number: int, command: bytes) -> None:
        """Hand a command, in JSON, on to that worker."""
        self._workers[number].send(_COMMAND.decode(command))

    async def note(self, name: str, content: bytes) -> None:
        """Leave a note of the other site's."""
        self._known.add(name)
        aside = f"{self._scratch}/new.{KEPT}"
        Path(aside).write_bytes(content)
        with contextlib.suppress(FileExistsError):  # this site has one of that name
            os.link(aside, f"{self._scratch}/{name}")
        os.unlink(aside)

    async def keep_awake(self, longest_s: float) -> None:
        """As the session does."""
        await self.session.keep_awake(longest_s)

    async def watch(self) -> NetworkCost:
        """Begin to count; return the network's counters. By now all have met."""
        if self._noting is not None:
            self._noting.cancel()
        await self.session.watch()
        _keep_to(self._others)
        self._counting = True
        return self.session.network()

    async def hear(self) -> list[Told]:
        """Return what has been said since the last time, as soon as there is something."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await self._something.wait()
        told, self._told = self._told, []
        self._something.clear()
        return told

    async def counted(self) -> tuple[Any, tuple[CompanionUse, ...], NetworkCost]:
        """Return what the session has counted, and the network's counters."""
        return (*await self.session.counted(), self.session.network())

    async def witnessed(self, begins_ns: Sequence[int], to_ns: int, waited: Any) -> Any:
        """As the session does."""
        return await self.session.witnessed(begins_ns=begins_ns, to_ns=to_ns, waited=waited)

    async def blame(self, error: WorkerFailedError) -> Failure:
        """As the session does."""
        return await self.session.blame(error)

    async def kept(self) -> list[tuple[str, int]]:
        """Return the samples files, relative to the run's folder, with their sizes."""
        folder = Path(self._scratch, KEPT)
        return [(str(each.relative_to(folder)), each.stat().st_size) for each in sorted(folder.glob("samples/*.npy"))]

    async def part(self, name: str, offset: int) -> bytes:
        """Return some of a samples file, compressed."""
        with open(Path(self._scratch, KEPT, name), "rb") as file:
            file.seek(offset)
            return await asyncio.to_thread(zlib.compress, file.read(CHUNK_BYTES), 1)

    async def close(self, grace_s: float) -> list[str]:
        """End it."""
        for task in self._tasks:
            task.cancel()
        _keep_to(self._all)
        return await self.session.close(grace_s)

    def _tell(self, told: Told) -> None:
        self._told.append(told)
        self._something.set()

    async def _listen(self, number: int, worker: WorkerProcess) -> None:
        try:
            while True:
                event = await worker.said()
                network = None
                if self._counting and isinstance(event, Account):
                    self.session.hear(event, first=number == 0)
                    network = self.session.network()
                self._tell(Said(number, event, network))
        except WorkerFailedError as error:
            self._tell(Failed(number, error))

    async def _mourn(self, death: Any) -> None:
        try:
            await death
        except WorkerFailedError as error:
            self._tell(Failed(None, error))

    async def _note(self) -> None:
        while True:
            for entry in os.scandir(self._scratch):
                aside = entry.name.startswith((".", "new.")) or entry.name.endswith((".new", ".lock"))
                if aside or entry.name in self._known or not entry.is_file(follow_symlinks=False):
                    continue
                self._known.add(entry.name)
                if entry.stat().st_size <= MOST_NOTE_BYTES:
                    self._tell(LeftFile(entry.name, Path(entry.path).read_bytes()))
            await asyncio.sleep(NOTES_S)


def _keep_to(processors: set[int]) -> None:
    """Have all threads of this process run on those; where there are none, as they do."""
    for thread in os.listdir("/proc/self/task") if processors else ():
        with contextlib.suppress(OSError):  # it has ended
            os.sched_setaffinity(int(thread), processors)


def digest(path: str) -> str:
    """Return the SHA-256 of a worker: two of one digest are one build."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
