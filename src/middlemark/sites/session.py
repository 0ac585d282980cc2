"""The interface between the coordinator of a trial and the sites that take part in it, here or elsewhere.

Methods that wait for another machine are async; on this machine they do not wait.
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
    """The machine-dependent settings of the workers at one end of a trial."""

    scratch: str
    """The trial's folder."""
    interface: str
    """The network interface that the trial's traffic uses."""
    samples: str | None = None
    """The folder for samples; None: the run's own."""
    certs: str = ""
    """The folder of the trial's certificates; empty without security."""


class CompanionUse(msgspec.Struct, frozen=True):
    """A companion, and its resource usage at the beginning and at the end of the measurement."""

    name: str
    pid: int
    ready_ns: int
    first: Account
    last: Account


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a capture. ``network``: traffic of the trial's interfaces; ``shared-memory``: its segments."""

    holds_payload: bool = False
    """True: the messages' payload was recognised."""
    bytes: Mapping[str, int] = {}
    """The number of captured and searched bytes, by medium."""
    absent: Mapping[str, str] = {}
    """Why there is no capture, by medium."""


class Session(Protocol):
    """The sites of one trial. It must be closed. All methods except ``close`` raise WorkerFailedError."""

    link: str | None
    """How the link between the sites is emulated; None: there is no link."""
    clocks: str | None
    """Why times of the two ends cannot be compared; None: both are on one machine."""
    elsewhere: bool
    """True: no end is on this machine."""
    offset: ClockOffset | None
    """The offset between the clocks of the ends, after ``counted``; None: one clock, or unknown."""
    doubts: tuple[RunWarning, ...]
    """Warnings about every trial on these sites."""
    shm: Room | None
    """The least free space seen in /dev/shm; None: unknown."""

    @property
    def grounds(self) -> tuple[Ground, Ground]:
        """The settings of the senders' and of the receivers' end."""

    def domain(self) -> int:
        """Return a DDS domain that is unused where the trial runs."""

    async def prepare(
        self, cell: Cell, limits: Limits, cpus: tuple[Cpus, Cpus], graph: Workload | None, number: int
    ) -> None:
        """Write the files that workers read, and probe the machine before anything runs.

        ``cpus``: the processors of the roles on the first and on the second site. ``number``: the trial's round.
        """

    async def start_companions(self, settings: Settings) -> dict[str, str]:
        """Start the companions that the settings need, on the senders' site; return the workers' environment."""

    async def start(self, who: str, environment: Mapping[str, str], *, receives: bool) -> Channel:
        """Start a worker on the receivers' site (in a workload: the second site), or on the senders'."""

    async def settled(self) -> None:
        """Wait until the receivers' ends are probably open, and the files that they left are on the other site too."""

    async def keep_awake(self, longest_s: float) -> None:
        """Keep processors from halting, if the cell requests it."""

    async def watch(self) -> None:
        """Let the witness watch the processors, and begin to count."""

    def hear(self, event: Message, *, first: bool) -> None:
        """Process an event of a worker. ``first``: it is the first worker."""

    def network(self) -> NetworkCost:
        """Return the network's counters. Only the difference of two readings is meaningful."""

    def deaths(self) -> list[Coroutine[Any, Any, None]]:
        """Return coroutines that wait for the end of a companion or site, and then raise WorkerFailedError."""

    async def capture(self) -> None:
        """Begin to capture the trial's messages. It slows them down: measured trials have no capture."""

    async def captured(self) -> Captured:
        """End the capture and return its result."""

    async def counted(self) -> tuple[Evidence, tuple[CompanionUse, ...]]:
        """Return the counts since :meth:`watch`, what the workers have open, and what the companions used."""

    async def witnessed(self, *, begins_ns: Sequence[int], to_ns: int, waited: Waited) -> Witnessed | None:
        """Return what the senders' machine did meanwhile, as ``Witness.conclude`` does."""

    async def bring(self, folder: str) -> None:
        """Copy samples from elsewhere into the run's folder, each file completely or not at all."""

    async def blame(self, error: WorkerFailedError) -> Failure:
        """Name the cause instead of the symptom."""

    async def close(self, grace_s: float) -> list[str]:
        """End every process and remove what they left, even after errors. Returns what did not end cleanly."""


class TrialSite(Protocol):
    """A place where the trials of a run can run."""

    def running(self) -> AbstractContextManager[None]:
        """Return a context manager in which trials may run. First removes what a killed launcher left."""

    async def begin(self, cell: Cell, worker: Worker, scope: str) -> Session:
        """Begin a trial of the cell. ``scope``: unique, as in ``Settings``. Raises OSError and WorkerFailedError."""
