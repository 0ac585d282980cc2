"""The interface between the coordinator of a trial and the trial's sites, on this machine or on others.

Methods that may wait for another machine are async. On this machine they do not wait.
"""

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.noise import Witnessed
from middlemark.model.outcome import ClockOffset, Evidence, Failure, NetworkCost, Room, RunWarning
from middlemark.model.plan import Limits
from middlemark.model.protocol import Account, Message, Settings
from middlemark.model.workload import Workload
from middlemark.sites.channel import Channel, WorkerFailedError
from middlemark.sites.crowd_ground import CrowdGround
from middlemark.sites.machine_use import MachineUse
from middlemark.sites.witness import Waited

Cpus = Sequence[int | None]
"""One processor per role; None: not pinned."""


class Ground(msgspec.Struct, frozen=True):
    """The settings of the workers at one end of a trial that depend on that end's machine."""

    scratch: str
    """The trial's folder."""
    interface: str
    """The network interface that the trial's traffic uses."""
    samples: str | None = None
    """The folder for samples; None: the run's folder."""
    certs: str = ""
    """The folder of the trial's certificates; empty: no security."""


class CompanionUse(msgspec.Struct, frozen=True):
    """A companion, and its resource usage when the measurement began and when it ended."""

    name: str
    pid: int
    ready_ns: int
    first: Account
    last: Account


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a capture. The media are ``network`` (the trial's interfaces) and ``shared-memory`` (segments)."""

    holds_payload: bool = False
    """Medium → whether the payload of a message was recognised."""
    bytes: Mapping[str, int] = {}
    """Medium → the number of bytes that were captured and searched."""
    absent: Mapping[str, str] = {}
    """Medium → the reason why there is no capture."""


class Session(Protocol):
    """The sites of one trial. The caller must close the session.

    All methods except ``close`` may raise WorkerFailedError.
    """

    link: str | None
    """A description of how the link between the sites is emulated; None: there is no link."""
    clocks: str | None
    """The reason why times at one end cannot be compared with times at the other; None: both are on one machine."""
    elsewhere: bool
    """True if both ends are on other machines."""
    offset: ClockOffset | None
    """The offset between the clocks of both ends, set by ``counted``. None: both ends have one clock, or it is
    unknown."""
    doubts: tuple[RunWarning, ...]
    """Warnings that apply to every trial on these sites."""
    crowd: CrowdGround | None
    """The access to the processes and to the network of a crowd, set by ``watch``; None: both ends are elsewhere."""
    shm: Room | None
    """The least free space that was seen in /dev/shm; None: unknown."""

    @property
    def grounds(self) -> tuple[Ground, Ground]:
        """The settings of the senders' and of the receivers' end."""

    def domain(self) -> int:
        """Return a DDS domain that is unused on the trial's machines."""

    async def prepare(
        self, cell: Cell, limits: Limits, cpus: tuple[Cpus, Cpus], graph: Workload | None, number: int
    ) -> None:
        """Write the files that workers read, and probe the machine before other processes run.

        ``cpus``: the processors of the roles on the first and on the second site. ``number``: the trial's round.
        """

    async def start_companions(self, settings: Settings) -> dict[str, str]:
        """Start the companions for these settings on the senders' site. Return the environment for the workers."""

    async def start(self, who: str, environment: Mapping[str, str], *, receives: bool) -> Channel:
        """Start a worker on the senders' site, or on the receivers' site if ``receives``.

        In a workload, the receivers' site is the second site.
        """

    async def settled(self) -> None:
        """Wait until the receivers have probably opened their ends, and both sites have the notes of the workers."""

    async def keep_awake(self, longest_s: float) -> None:
        """Keep processors from halting if the cell requests it."""

    async def watch(self) -> None:
        """Let the witness watch the processors, and read the counters for the first time."""

    def hear(self, event: Message, *, first: bool) -> None:
        """Process an event of a worker. ``first``: the event is from the first worker."""

    def machine(self) -> MachineUse:
        """Return the use of the senders' machine. Its fields are None if that is another machine."""

    def network(self) -> NetworkCost:
        """Return the network's counters. Only the difference between two readings is meaningful."""

    def deaths(self) -> list[Coroutine[Any, Any, None]]:
        """Return coroutines. Each waits until a companion or a site ends, and then raises WorkerFailedError."""

    async def capture(self) -> None:
        """Begin to capture the trial's messages.

        Measured trials have no capture, because it slows the messages down.
        """

    async def captured(self) -> Captured:
        """End the capture and return its result."""

    async def counted(self) -> tuple[Evidence, tuple[CompanionUse, ...]]:
        """Return the counts since :meth:`watch`, the sockets and segments of the workers, and the companions' usage."""

    async def witnessed(self, *, begins_ns: Sequence[int], to_ns: int, waited: Waited) -> Witnessed | None:
        """Return the observations of the witness on the senders' machine; see ``Witness.conclude``."""

    async def bring(self, folder: str) -> None:
        """Copy samples from other machines into the run's folder, each file completely or not at all."""

    async def blame(self, error: WorkerFailedError) -> Failure:
        """Return the cause of ``error``, which may be the failure of another process."""

    async def close(self, grace_s: float) -> list[str]:
        """End every process and remove its leftovers, even after errors. Return a description of each unclean end."""


class TrialSite(Protocol):
    """A place where the trials of a run can run."""

    def running(self) -> AbstractContextManager[None]:
        """Return a context manager in which trials may run. The leftovers of a killed launcher are removed first."""

    async def begin(self, cell: Cell, worker: Worker, scope: str) -> Session:
        """Begin a trial of the cell. ``scope``: a unique name, see ``Settings``. Raises OSError, WorkerFailedError."""
