"""What the coordinator of a trial asks of the sites that take part in it: all of the interface, here or elsewhere.

What has to wait for another machine is awaited; here none of it waits.
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
"""A processor for each role; None: it is not pinned."""


class Ground(msgspec.Struct, frozen=True):
    """What workers at one end of a trial are told of the machine that they are on."""

    scratch: str
    """The trial's folder."""
    interface: str
    """The network interface that the trial's traffic keeps to."""
    samples: str | None = None
    """The folder that samples are written to; None: the run's own."""
    certs: str = ""
    """The folder of the trial's certificates; there is one where the cell has security."""


class CompanionUse(msgspec.Struct, frozen=True):
    """A companion, and what it had used by the beginning and by the end of the counting."""

    name: str
    pid: int
    ready_ns: int
    first: Account
    last: Account


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """What a capture of a trial holds. ``network``: what crossed its interfaces; ``shared-memory``: its segments."""

    holds_payload: bool = False
    """The messages' payload was recognised in it."""
    bytes: Mapping[str, int] = {}
    """That were captured and searched, of each of the two."""
    absent: Mapping[str, str] = {}
    """Why there is none, of each of them."""


class Session(Protocol):
    """One trial, as far as machines take part in it. It must be closed. All but ``close`` raise WorkerFailedError."""

    link: str | None
    """How the link between the sites is emulated; None: there is none."""
    clocks: str | None
    """Why a time of one end cannot be held against one of the other; None: both are on one machine."""
    elsewhere: bool
    """No clock of it is this machine's."""
    offset: ClockOffset | None
    """How the clock of the one ran against the other's, once all is counted; None: one clock, or it is not known."""
    doubts: tuple[RunWarning, ...]
    """What is doubtful about whatever is measured so."""
    shm: Room | None
    """What /dev/shm could hold, as far as it was looked at; None: it was not."""

    @property
    def grounds(self) -> tuple[Ground, Ground]:
        """Return where the senders are, and where the receivers are."""

    def domain(self) -> int:
        """Return a DDS domain that nobody uses where the trial runs."""

    async def prepare(
        self, cell: Cell, limits: Limits, cpus: tuple[Cpus, Cpus], graph: Workload | None, number: int
    ) -> None:
        """Write what the workers will read, and look at the machine while nothing of the trial runs.

        ``cpus``: the processors of the roles on the first site and on the second. ``number``: the trial's round.
        """

    async def start_companions(self, settings: Settings) -> dict[str, str]:
        """Start what the settings need beside the workers, where the senders are; return the workers' environment."""

    async def start(self, who: str, environment: Mapping[str, str], *, receives: bool) -> Channel:
        """Start a worker where the receivers are (of a workload: on the second site), or where the senders are."""

    async def settled(self) -> None:
        """Wait until the receivers' ends are likely to be open, and what they left to be found is at the other site."""

    async def keep_awake(self, longest_s: float) -> None:
        """Keep processors from halting, where the cell wants it."""

    async def watch(self) -> None:
        """Have the witness see who has the processors, and begin to count."""

    def hear(self, event: Message, *, first: bool) -> None:
        """Learn what a worker says; ``first``: the first of them does."""

    def network(self) -> NetworkCost:
        """Return the network's counters as they stand; only a difference of two readings means anything."""

    def deaths(self) -> list[Coroutine[Any, Any, None]]:
        """Return what waits for the death of each companion or site: it raises WorkerFailedError then, no earlier."""

    async def capture(self) -> None:
        """Begin to capture what the trial moves. It costs its messages time: no trial that is measured has it."""

    async def captured(self) -> Captured:
        """End that, and return what it holds."""

    async def counted(self) -> tuple[Evidence, tuple[CompanionUse, ...]]:
        """Return what moved since :meth:`watch`, what the workers have open, and what the companions used."""

    async def witnessed(self, *, begins_ns: Sequence[int], to_ns: int, waited: Waited) -> Witnessed | None:
        """Return what the machine of the senders did meanwhile, as ``Witness.conclude`` does."""

    async def bring(self, folder: str) -> None:
        """Bring the samples that are elsewhere into the run's folder: every file whole, or none of it."""

    async def blame(self, error: WorkerFailedError) -> Failure:
        """Name the cause rather than the symptom."""

    async def close(self, grace_s: float) -> list[str]:
        """End every process and clear away what they left, whatever happens. Returns what did not end cleanly."""


class TrialSite(Protocol):
    """Where the trials of a run run."""

    def running(self) -> AbstractContextManager[None]:
        """Within, trials may run. What a killed launcher left is cleared away first."""

    async def begin(self, cell: Cell, worker: Worker, scope: str) -> Session:
        """Begin a trial of the cell. ``scope``: unique, as in ``Settings``. Raises OSError and WorkerFailedError."""
