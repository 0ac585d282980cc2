"""This machine as a site: its part of each trial, from the first process to the removal of the last leftover.

The coordinator of a trial calls a session (``session.Session``). It touches no process and no file of /proc itself.
Another host offers the same session through a connection.
"""

import contextlib
import os
import shutil
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.link import sites_of
from middlemark.model.noise import Witnessed
from middlemark.model.outcome import ClockOffset, Evidence, Failure, NetworkCost, Room, RunWarning
from middlemark.model.plan import Limits
from middlemark.model.protocol import Account, Message, Settings
from middlemark.model.workload import Workload
from middlemark.security.layout import FOLDER as CERTS
from middlemark.sites import evidence, recorded, residue
from middlemark.sites.capture import Capture
from middlemark.sites.channel import WorkerFailedError, WorkerProcess
from middlemark.sites.companion import Companion, declared
from middlemark.sites.crowd_ground import CrowdGround
from middlemark.sites.crowd_room import refuse_too_large_a_crowd
from middlemark.sites.descendants import MARK, SideBySide, adopting, end_descendants
from middlemark.sites.domains import Domains
from middlemark.sites.interface import ipv4_of
from middlemark.sites.link import Joined, join
from middlemark.sites.machine_use import MachineUse, machine_use
from middlemark.sites.memory import refuse_too_much
from middlemark.sites.namespace import NETWORK, OWN, Holder, Namespace
from middlemark.sites.process_resources import read_account
from middlemark.sites.processes import Processes
from middlemark.sites.session import Captured, CompanionUse, Cpus, Ground
from middlemark.sites.trial_settings import TrialSettings
from middlemark.sites.witness import Waited, Witness


class Here:
    """This machine during one run."""

    def __init__(self, domains: Domains, *, interface: str = "lo", witness: str | None = None, certs: str = "") -> None:
        """Create the site. ``witness``: the executable that watches the machine during trials; None: not built.

        ``certs``: absolute path of the certificates for trials with security; empty: every trial makes its own.
        """
        self.domains = domains
        self.interface = interface
        self.witness = witness
        self.certs = certs
        self._joined: dict[str, Joined] = {}
        self._isolated: Holder | None = None
        self._settings = TrialSettings()
        self._side_by_side = SideBySide()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Return a context manager in which trials may run. The leftovers of a killed launcher are removed first."""
        residue.clear_abandoned()
        try:
            with adopting():
                yield
        finally:
            self.end()

    async def begin(self, cell: Cell, worker: Worker, scope: str) -> "LocalSession":
        """Begin a trial of the cell. ``scope``: a name that is unique on this machine, as in ``Settings``.

        Raises OSError, and WorkerFailedError if the trial's sites cannot be joined.
        """
        transport = worker.description.transport(cell.transport)
        if cell.link is None:
            isolated = transport is not None and transport.own_network
            own = await self._own_network() if isolated else msgspec.structs.replace(OWN, interface=self.interface)
            if cell.pattern == "crowd" and not isolated:
                return await self._crowd_session(worker, scope, own)
            return self._session(worker, scope, (own,))
        joined = self._joined.get(cell.link)
        if joined is None or not joined.is_fresh:
            if joined is not None:
                joined.end()
            joined = self._joined[cell.link] = await join(cell.link)
        return self._session(worker, scope, joined.named(sites_of(cell.across)), joined)

    def _session(
        self, worker: Worker, scope: str, at: Sequence[Namespace], joined: Joined | None = None
    ) -> "LocalSession":
        return LocalSession(
            worker,
            scope,
            self.witness,
            at,
            joined,
            self.domains,
            settings=self._settings,
            certs=self.certs,
            side_by_side=self._side_by_side,
        )

    async def _crowd_session(self, worker: Worker, scope: str, shared: Namespace) -> "LocalSession":
        """Return a session in a network of its own, whose counters contain no traffic of other programs.

        If that is not possible, it has the network ``shared``, and a warning.
        """
        try:
            if self.interface != "lo":
                raise WorkerFailedError("refused", f"a network of its own has no {self.interface}")
            return self._session(worker, scope, (await self._own_network(),))
        except WorkerFailedError as error:
            session = self._session(worker, scope, (shared,))
            text = f"its packets and bytes include those of other programs on {shared.interface}: {error.text}"
            session.doubts = (RunWarning("shared-network", text, error.advice),)
            return session

    async def _own_network(self) -> Namespace:
        """Return the isolated namespace.

        All trials that need the namespace share it, because trials run one at a time.
        """
        if self.interface != "lo":
            text = f"this adapter listens on every interface, so it gets its own network, which has no {self.interface}"
            raise WorkerFailedError("refused", text, "leave out --interface, or measure over a link with --link")
        if self._isolated is None or not self._isolated.is_running:
            if self._isolated is not None:
                self._isolated.end()
            self._isolated = await Holder.isolated()
        return self._isolated.namespace

    def end(self) -> None:
        """Remove the namespaces and restore the settings.

        Call this method after the last trial, even after an error.
        """
        self._settings.end()
        if self._isolated is not None:
            self._isolated.end()
            self._isolated = None
        while self._joined:
            self._joined.popitem()[1].end()


class LocalSession:
    """This machine's part of one trial. The caller must close the session."""

    def __init__(
        self,
        worker: Worker,
        scope: str,
        witness: str | None,
        namespaces: Sequence[Namespace],
        joined: Joined | None = None,
        domains: Domains | None = None,
        mark: str = "",
        settings: TrialSettings | None = None,
        certs: str = "",
        side_by_side: SideBySide | None = None,
    ) -> None:
        """Create the session. ``namespaces``: of the trial's sites on this machine, the senders' first.

        ``joined``: the link between the namespaces. ``mark``: identifies the trial's processes; empty: use the scope,
        which is the same on all hosts of a trial. ``settings``: the object that changes the machine's settings; None:
        the cells change no settings. ``certs``: as in ``Here``. ``side_by_side``: the launcher's
        sessions; None: this is the only one.
        """
        self.link = None if joined is None else joined.how
        self.clocks: str | None = None
        self.offset: ClockOffset | None = None
        self.elsewhere = False
        self.doubts: tuple[RunWarning, ...] = ()
        self.crowd: CrowdGround | None = None
        self.shm: Room | None = None
        self._domains = domains or Domains(os.getpid())
        self._carriers = () if joined is None else joined.pids
        self._worker = worker
        self._scope = scope
        self._settings = settings or TrialSettings()
        self._mark = mark or scope
        self._namespaces = namespaces
        self._patterns = residue.patterns_of(worker.description.residue)
        self._before = residue.left_before(self._patterns, scope)
        self._scratch = residue.make_scratch(self._patterns, scope, self._before, self._mark)
        self._own_certs = not certs
        self._certs = certs or os.path.join(self._scratch, CERTS)
        self._processes = Processes()
        self._witness_program = witness
        self._witness: Witness | None = None
        self._counters: evidence.NetworkCounters | None = None
        self._counted: evidence.Counters | None = None
        self._companions: list[tuple[Companion, Account | None]] = []
        self._capture: Capture | None = None
        self._side_by_side = side_by_side or SideBySide()
        self._side_by_side.begin()

    def _update_free_shm(self) -> None:
        """Read the free space in /dev/shm, and keep the least value so far."""
        now = evidence.room()
        if now is not None and self.shm is not None:
            least = min(now.least_free_bytes, self.shm.least_free_bytes)
            now = msgspec.structs.replace(now, least_free_bytes=least)
        self.shm = now

    @property
    def grounds(self) -> tuple[Ground, Ground]:
        """Return the same settings for both ends, because the interface has the same name in both namespaces."""
        own = Ground(self._scratch, self._namespaces[0].interface, certs=self._certs)
        return own, own

    def domain(self) -> int:
        """Return an unused domain."""
        return self._domains.next()

    async def prepare(
        self, cell: Cell, limits: Limits, cpus: tuple[Cpus, Cpus], graph: Workload | None, number: int
    ) -> None:
        """Check the memory, change settings, write the workers' files, and let the witness probe the machine."""
        refuse_too_much(cell, limits)
        refuse_too_large_a_crowd(cell)
        if cell.security != "none" and self._own_certs:
            self._make_certs()
        self._settings.make(cell.system, [each.prefix for each in self._namespaces])
        self._update_free_shm()
        if graph is not None:
            recorded.hand_over(graph, self._scratch, number)
        self._witness = Witness(self._witness_program, cell, limits, (*cpus[0], *cpus[1]))
        await self._witness.look_before(self._processes)

    def _make_certs(self) -> None:
        from middlemark.security.authority import make_set

        own = ipv4_of(self._namespaces[0].interface) if self.link is None else None
        make_set(self._certs, [own] if own else [f"{NETWORK}1", f"{NETWORK}2"])

    async def start_companions(self, settings: Settings) -> dict[str, str]:
        """Start the companions in the senders' namespace, with the trial's mark."""
        environment: dict[str, str] = {}
        at = self._namespaces[0]
        for spec in await declared(self._worker.path, settings, at.prefix):
            marked = msgspec.structs.replace(spec, environment=spec.environment | {MARK: self._mark})
            self._processes.companions.append(await Companion.start(marked, at.prefix))
            environment |= marked.environment
        return environment

    async def start(self, who: str, environment: Mapping[str, str], *, receives: bool) -> WorkerProcess:
        """Start a worker in the namespace of the receivers or of the senders.

        In a pair, each side has its own worker.
        """
        at = self._namespaces[-1 if receives else 0]
        used = self._worker.peer if receives and self._worker.peer else self._worker
        argv = [*at.prefix, used.path]
        worker = await WorkerProcess.start(who, argv, {MARK: self._mark, **environment})
        self._processes.workers.append(worker)
        return worker

    async def settled(self) -> None:
        """Return at once: both ends share a folder, so there are no notes to copy."""

    async def keep_awake(self, longest_s: float) -> None:
        """Let the witness keep the processors awake."""
        assert self._witness is not None, "it is prepared"
        await self._witness.keep_awake(longest_s)

    async def watch(self) -> None:
        """Start the witness and the counters."""
        assert self._witness is not None, "it is prepared"
        self._update_free_shm()
        await self._witness.watch(self._processes, self._carriers)
        self._counted = evidence.read_counters(self._namespaces)
        self._counters = evidence.NetworkCounters(self._namespaces)
        self.crowd = CrowdGround(self._processes, self._namespaces[0])
        self._companions = [(each, read_account(each.process.pid)) for each in self._processes.companions]

    def hear(self, event: Message, *, first: bool) -> None:
        """Pass the event to the witness."""
        assert self._witness is not None, "it is prepared"
        self._witness.hear(event, first=first)

    def machine(self) -> MachineUse:
        """Return the use of this machine."""
        return machine_use()

    def network(self) -> NetworkCost:
        """Return the network's counters."""
        assert self._counters is not None, "it watches"
        return self._counters.read()

    def deaths(self) -> list[Coroutine[Any, Any, None]]:
        """For each companion, return a coroutine that waits until it ends, and then raises WorkerFailedError."""
        return [each.watch() for each in self._processes.companions]

    async def capture(self) -> None:
        """Begin to capture in the senders' namespace, because all messages pass through it."""
        self._capture = await Capture.start(self._namespaces[0])

    async def captured(self) -> Captured:
        """End the capture. Search the shared memory of the workers and of the companions."""
        assert self._capture is not None, "it captures"
        workers = [each.pid for each in self._processes.workers]
        return await self._capture.captured([*workers, *(each.process.pid for each in self._processes.companions)])

    async def counted(self) -> tuple[Evidence, tuple[CompanionUse, ...]]:
        """Return the increases of the counters since :meth:`watch`, and the companions' usage."""
        assert self._counted is not None, "it watches"
        self._update_free_shm()
        now = evidence.read_counters(self._namespaces)
        used = [(each, first, read_account(each.process.pid)) for each, first in self._companions]
        pids = [each.pid for each in self._processes.workers]
        return evidence.gather(self._counted, now, pids, self._namespaces), tuple(
            CompanionUse(each.spec.name, each.process.pid, each.ready_ns, first, last)
            for each, first, last in used
            if first and last
        )

    async def witnessed(self, *, begins_ns: Sequence[int], to_ns: int, waited: Waited) -> Witnessed | None:
        """Return the observations of the witness."""
        assert self._witness is not None, "it is prepared"
        return await self._witness.conclude(begins_ns=begins_ns, to_ns=to_ns, waited=waited)

    async def bring(self, folder: str) -> None:
        """Do nothing: the workers wrote their samples into the run's folder."""

    async def blame(self, error: WorkerFailedError) -> Failure:
        """Return the cause of the error, which may be another process."""
        self._update_free_shm()
        return self._processes.blame(error)

    async def close(self, grace_s: float) -> list[str]:
        """End every process and remove its leftovers, even after errors. Return a description of each unclean end."""
        if self._counters is not None:
            self._counters.close()
        if self._capture is not None:
            self._capture.end()
        try:
            try:
                unclean = await self._processes.close_to_the_end(grace_s)
            finally:
                before = self._side_by_side.end()
            unclean += end_descendants(self._mark, before)
            residue.clear(self._patterns, self._scope, self._before)
            return [*unclean, *self._settings.restore()]
        finally:
            self._settings.restore()
            shutil.rmtree(self._scratch, ignore_errors=True)
