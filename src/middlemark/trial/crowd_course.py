"""Run the phases of a crowd after its start: idle, join, talk, storm and leave."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.crowd import Crowd, Join, Leave, Storm, bereaved, leavers
from middlemark.model.description import Transport
from middlemark.model.outcome import NetworkCost
from middlemark.model.plan import Limits
from middlemark.model.protocol import (
    CrowdCommand,
    HelloEvent,
    Message,
    ParticipantRequest,
    PeersEvent,
    ReadyEvent,
)
from middlemark.sites.channel import Channel, WorkerFailedError
from middlemark.sites.crowd_ground import CrowdGround
from middlemark.sites.evidence import moved
from middlemark.sites.session import Session
from middlemark.trial.awaiting import all_of
from middlemark.trial.following import Following
from middlemark.trial.tasks import Tasks, WorkerTask

NEWCOMER = "the newcomer"
SETTLING_S = 0.3
"""Between the command that starts the probes to the newcomer and the first reading, in s."""
JOIN_S = 2.0
"""The shortest time over which the cost of a join is counted, in s."""
ANNOUNCED_S = 0.5
"""Time from the command to the begin of the talk, so that all workers begin together."""
QUIET_S = 2.5
"""A participant waits at most about this time for messages after the talk."""
LEAVE_S = 30.0
"""The longest time for others to notice a leave, in s. The usual lease of DDS is 10 or 20 s."""
LEAVE_WITHOUT_DISCOVERY_S = 3.0
"""As LEAVE_S, where the middleware does not discover its peers: a closed connection is noticed at once, or never."""
REPLY_S = 10.0
"""The longest time until a worker reports its peers."""
STARTS_S = 10.0
"""Opening a middleware may take this time in s in addition to the match timeout."""


def newcomer_of(tasks: Tasks, cell: Cell) -> WorkerTask:
    """Return the task of the newcomer, whose index follows that of the last participant."""
    first = tasks.workers[0]
    role = first.roles[0]
    assert isinstance(role, ParticipantRequest), "a crowd has only participants"
    place = msgspec.structs.replace(first.place, role_cpus=(None,))
    role = msgspec.structs.replace(role, index=cell.participants, samples_path="", messages=1, storms=False)
    return WorkerTask(NEWCOMER, place, (role,), far=False)


def longest_s(cell: Cell, limits: Limits) -> float:
    """Return the longest time of all phases from idle to storm, in s, without the drain."""
    storm = cell.storm_s + limits.match_timeout_s + 2 * QUIET_S if cell.storm_s is not None else 0.0
    join = 2 * STARTS_S + 2 * JOIN_S + limits.match_timeout_s
    return 2 * (limits.duration_s or 0.0) + join + storm + 10.0


class CrowdCourse:
    """The phases of one trial. ``join``, ``storm`` and ``leave`` have their results, ``absent`` the missing ones."""

    def __init__(
        self,
        cell: Cell,
        limits: Limits,
        transport: Transport,
        tasks: Tasks,
        session: Session,
        environment: Mapping[str, str],
    ) -> None:
        """Create it. ``environment``: the variables that the companions need in the workers."""
        assert session.crowd is not None, "a crowd is measured here"
        self.join: Join | None = None
        self.storm: Storm | None = None
        self.leave: Leave | None = None
        self.absent: dict[str, str] = {}
        self._cell = cell
        self._limits = limits
        self._transport = transport
        self._tasks = tasks
        self._session = session
        self._ground: CrowdGround = session.crowd
        self._environment = environment
        self._following: Sequence[Following] = ()

    async def run(self, following: Sequence[Following]) -> None:
        """Run the phases idle, join, talk and storm. ``following``: the workers, which have been started."""
        self._following = following
        await asyncio.sleep(self._limits.duration_s or 0.0)
        try:
            self.join = await self._join()
        except (WorkerFailedError, OSError) as error:
            self.absent["join"] = f"the newcomer failed: {error}"
        begin_ns = time.monotonic_ns() + round(ANNOUNCED_S * 1e9)
        self._tell(CrowdCommand(phase="talk", at_ns=begin_ns))
        if self._cell.storm_s is None:
            self.absent["storm"] = "no pause of the network was requested; --storm 10s requests one"
            return
        await asyncio.sleep(ANNOUNCED_S + (self._limits.duration_s or 0.0) + QUIET_S)
        try:
            self.storm = await self._storm(self._cell.storm_s)
        except WorkerFailedError as error:
            self.absent["storm"] = error.text
        for each in following:
            each.stop(0, STARTS_S)

    def _tell(self, command: Message) -> None:
        for each in self._following:
            each.worker.send(command)

    async def _join(self) -> Join | None:
        """Let one more participant open, and return its figures. Raises WorkerFailedError, OSError."""
        newcomer = await self._session.start(NEWCOMER, self._environment, receives=False)
        try:
            await newcomer.event(HelloEvent, timeout_s=STARTS_S)
            self._tell(CrowdCommand(phase="join"))
            await asyncio.sleep(SETTLING_S)
            first = self._use()
            await asyncio.sleep(JOIN_S)
            begin = self._use()
            newcomer.send(self._tasks.command(newcomer_of(self._tasks, self._cell)))
            ready = await newcomer.event(ReadyEvent, timeout_s=self._limits.match_timeout_s + STARTS_S)
            await asyncio.sleep(max(0.0, JOIN_S - (time.monotonic_ns() - begin.at_ns) / 1e9))
            end = self._use()
        except BaseException:
            await self._ground.kill([newcomer])
            raise
        if not ready.discovery_ns:
            waited = f"{self._limits.match_timeout_s:g} s"
            self.absent["join"] = f"the newcomer did not hear all publishers of its topics within {waited}"
            return None
        return Join(
            complete_ns=ready.opening_ns + ready.discovery_ns,
            seconds=(end.at_ns - begin.at_ns) / 1e9,
            cpu_s=_beyond(first, begin, end, lambda use: use.cpu_ns) / 1e9,
            packets=round(_beyond(first, begin, end, lambda use: use.network.loopback_packets)),
            bytes=round(_beyond(first, begin, end, lambda use: use.network.loopback_bytes)),
        )

    def _use(self) -> "_Use":
        pids = [each.worker.pid for each in self._following]
        return _Use(time.monotonic_ns(), self._ground.cpu_ns(pids), self._session.network())

    async def _storm(self, pause_s: float) -> Storm | None:
        """Pause the network, and return how long it takes until all participants have heard each other again."""
        due = self._cell.participants
        waiting = _Storm(self._heard_by_each(), due)
        await self._ground.pause_network(pause_s)
        begin_ns, before = time.monotonic_ns(), self._session.network()
        for each in self._following:
            each.on_peers = waiting.hear
        self._tell(CrowdCommand(phase="storm"))
        try:
            async with asyncio.timeout(self._limits.match_timeout_s):
                await waiting.complete.wait()
        except TimeoutError:
            within = f"within {self._limits.match_timeout_s:g} s of the pause"
            self.absent["storm"] = f"{waiting.missing} of {due} participants did not hear all their publishers {within}"
            return None
        traffic = moved(before, self._session.network())
        return Storm(
            pause_s=pause_s,
            complete_ns=max(0, waiting.last_ns - begin_ns),
            packets=traffic.loopback_packets,
            bytes=traffic.loopback_bytes,
        )

    def _heard_by_each(self) -> int:
        cell = self._cell
        if cell.participants < 2:
            return 0
        return cell.topics * (1 if cell.subscribe == "next" else cell.participants - 1)

    async def concluded(self, crowd: Crowd | None) -> Crowd | None:
        """Run the phase leave, and return the crowd with the figures of all phases. Call this after the results."""
        if crowd is None:
            return None
        await self._end()
        return msgspec.structs.replace(
            crowd, join=self.join, leave=self.leave, storm=self.storm, absent=dict(self.absent)
        )

    async def _end(self) -> None:
        """Kill a tenth of the participants, and find out when the others notice."""
        cell = self._cell
        leaving = leavers(cell.participants, cell.participants_per_process)
        lost = bereaved(cell.participants, cell.subscribe, leaving)
        if not leaving:
            alone = cell.participants == 1
            self.absent["leave"] = (
                "a crowd of one has nobody to notice" if alone else "all participants share a process"
            )
            return
        try:
            self.leave = await self._leave(leaving, {each: cell.topics * number for each, number in lost.items()})
        except WorkerFailedError as error:
            self.absent["leave"] = error.text

    async def _leave(self, leaving: tuple[int, ...], lost: Mapping[int, int]) -> Leave:
        doomed = [each.worker for each in self._following if each.roles[0].index in leaving]
        staying = [each for each in self._following if each.roles[0].index not in leaving]
        for each in staying:
            each.worker.send(CrowdCommand(phase="leave"))
        watches = [_Leaving(each, lost) for each in staying]
        await all_of(each.begin() for each in watches)
        before = self._ground.used_paths(each.pid for each in doomed)
        killed_ns = time.monotonic_ns()
        await self._ground.kill(doomed)
        by_itself = bool(self._transport.discovery_by)
        within_s = LEAVE_WITHOUT_DISCOVERY_S if by_itself else LEAVE_S
        until = time.monotonic() + within_s
        noticed = await all_of(each.noticed(until) for each in watches)
        unnoticed = sum(each is None for each in noticed)
        if unnoticed:
            how = f" ({self._transport.discovery_by})" if by_itself else ""
            them = f"{unnoticed} of {sum(each.awaits for each in watches)} processes"
            self.absent["leave"] = f"{them} with a killed peer did not notice within {within_s:g} s{how}"
        return Leave(
            killed=len(leaving),
            noticed_ns=None if unnoticed else max(each or 0 for each in noticed) - killed_ns,
            left=self._ground.left_behind(before, self._ground.others(doomed)),
        )


class _Use(msgspec.Struct, frozen=True):
    """The use of the crowd's processes until an instant, without the newcomer."""

    at_ns: int
    cpu_ns: int
    network: NetworkCost


def _beyond(first: _Use, begin: _Use, end: _Use, figure: Callable[[_Use], int]) -> float:
    """Return the increase from ``begin`` to ``end`` beyond the rate from ``first`` to ``begin``, at least 0."""
    rate = (figure(begin) - figure(first)) / (begin.at_ns - first.at_ns)
    return max(0.0, figure(end) - figure(begin) - rate * (end.at_ns - begin.at_ns))


class _Storm:
    """The participants that have not heard all their publishers since the pause."""

    def __init__(self, publishers: int, participants: int) -> None:
        self.complete = asyncio.Event()
        self.last_ns = 0
        self.missing = participants
        self._publishers = publishers
        self._done: set[int] = set()

    def hear(self, event: PeersEvent) -> None:
        for each in event.participants:
            if each.found >= self._publishers and each.index not in self._done:
                self._done.add(each.index)
                self.missing -= 1
                self.last_ns = max(self.last_ns, event.at_ns)
        if self.missing == 0:
            self.complete.set()


class _Leaving:
    """One worker that stays. ``awaits``: True if a killed participant subscribed to one of its topics."""

    def __init__(self, following: Following, lost: Mapping[int, int]) -> None:
        self._worker: Channel = following.worker
        self._lost = {role.index: lost[role.index] for role in following.roles if role.index in lost}
        self._due: dict[int, int] = {}
        self.awaits = bool(self._lost)

    async def begin(self) -> None:
        """Read the number of subscribers before the kill. Raises WorkerFailedError."""
        event = await self._worker.event(PeersEvent, timeout_s=REPLY_S)
        self._due = {
            each.index: each.found - self._lost[each.index] for each in event.participants if each.index in self._lost
        }
        if any(due < 0 for due in self._due.values()):
            text = "the publishers of a participant did not match all the subscribers that were killed"
            raise WorkerFailedError("unmatched", text)

    async def noticed(self, until: float) -> int | None:
        """Return CLOCK_MONOTONIC in ns when the last killed subscriber was gone; 0: it awaits none; None: too late."""
        at_ns = 0
        due = dict(self._due)
        while due:
            try:
                async with asyncio.timeout(max(0.0, until - time.monotonic())):
                    event = await self._worker.event(PeersEvent, timeout_s=2 * LEAVE_S)
            except TimeoutError:
                return None
            found = {each.index: each.found for each in event.participants}
            due = {index: most for index, most in due.items() if found[index] > most}
            at_ns = event.at_ns
        return at_ns
