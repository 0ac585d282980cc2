"""The interface between the coordinator of a trial and the sites that take part, on this machine or on others.

Methods that may wait for another machine are async. On this machine these methods do not wait.
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
from middlemark.sites.witness import Waited

Cpus = Sequence[int | None]
"""One processor per role; None: not pinned."""


class Ground(msgspec.Struct, frozen=True):
    """The settings of the workers at one end of a trial that depend on the machine."""

    scratch: str
    """The trial's folder."""
    interface: str
    """The network interface that the trial's traffic uses."""
    samples: str | None = None
    """The folder for samples; None: the run's own."""
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
    """The result of a capture by medium: ``network`` (the trial's interfaces) and ``shared-memory`` (segments)."""

    holds_payload: bool = False
    """Medium → whether the payload of a message was recognised."""
    bytes: Mapping[str, int] = {}
    """Medium → the number of bytes that were captured and searched."""
    absent: Mapping[str, str] = {}
    """Medium → why there is no capture."""


class Session(Protocol):
    """The sites of one trial. The caller must close the session.

    All methods except ``close`` may raise WorkerFailedError.
    """

    link: str | None
    """A description of how the link between the sites is emulated; None: there is no link."""
    clocks: str | None
    """Why the times of both ends cannot be compared; None: both ends are on one machine."""
    elsewhere: bool
    """True if no end is on this machine."""
    offset: ClockOffset | None
    """The offset between the clocks of both ends, known after ``counted``; None: one clock, or unknown."""
    doubts: tuple[RunWarning, ...]
    """Warnings that apply to every trial on these sites."""
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
        """Start a worker on the senders' or, if it ``receives``, on the receivers' site (in a workload: the second)."""

    async def settled(self) -> None:
        """Wait until the receivers have probably opened their ends, and left notes are on both sites."""

    async def keep_awake(self, longest_s: float) -> None:
        """Keep processors from halting if the cell requests it."""

    async def watch(self) -> None:
        """Let the witness watch the processors, and read the counters for the first time."""

    def hear(self, event: Message, *, first: bool) -> None:
        """Process an event of a worker. ``first``: the event is from the first worker."""

    def network(self) -> NetworkCost:
        """Return the network's counters. Only the difference between two readings is meaningful."""

    def deaths(self) -> list[Coroutine[Any, Any, None]]:
        """Return coroutines that wait until a companion or site ends, and then raise WorkerFailedError."""

    async def capture(self) -> None:
        """Begin to capture the trial's messages. This slows them down, so measured trials have no capture."""

    async def captured(self) -> Captured:
        """End the capture and return its result."""

    async def counted(self) -> tuple[Evidence, tuple[CompanionUse, ...]]:
        """Return the counts since :meth:`watch`, the sockets and segments of the workers, and the companions' usage."""

    async def witnessed(self, *, begins_ns: Sequence[int], to_ns: int, waited: Waited) -> Witnessed | None:
        """Return the observations on the senders' machine during the measurement, see ``Witness.conclude``."""

    async def bring(self, folder: str) -> None:
        """Copy samples from other machines into the run's folder, each file completely or not at all."""

    async def blame(self, error: WorkerFailedError) -> Failure:
        """Return the cause of an error. The error may be a symptom of another failure."""

    async def close(self, grace_s: float) -> list[str]:
        """End every process and remove its leftovers, even after errors. Return descriptions of unclean ends."""


class TrialSite(Protocol):
    """A place where the trials of a run can run."""

    def running(self) -> AbstractContextManager[None]:
        """Return a context manager in which trials may run. The leftovers of a killed launcher are removed first."""

    async def begin(self, cell: Cell, worker: Worker, scope: str) -> Session:
        """Begin a trial of the cell. ``scope``: a unique name, see ``Settings``. Raises OSError, WorkerFailedError."""
