"""A run: the request, the machine, the adapters and the outcomes."""

from pathlib import Path

import msgspec

from middlemark.model.asked import SelfTestCell, TriedLimit
from middlemark.model.description import Description
from middlemark.model.imported import Source
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan, Reached
from middlemark.model.record import Record

SCHEMA = 2


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The machine of a run, as read when the run began."""

    host: str
    cpu: str
    processors: int
    memory_bytes: int
    kernel: str
    system: str
    virtual: bool | None
    """True if the processor reports a hypervisor; None: the processor does not report it."""
    clocksource: str | None
    governor: str | None
    """Frequency governor of processor 0; None: the kernel has no governor."""


class HostMachine(msgspec.Struct, frozen=True, kw_only=True):
    """One of several machines of a run, and the interface that leads to the other machines."""

    name: str
    """Name of the host's site."""
    address: str
    machine: Machine
    middlemark: str
    interface: str
    """Network interface that leads to the other machines."""
    mtu: int | None = None
    link_bps: float | None = None
    """Speed that the interface reports; None: the interface reports no speed (usual for WiFi)."""
    driver: str | None = None
    time: str = ""
    """The service that synchronises the host's time of day, and the accuracy that this service reports; empty: not
    read."""


class NotTried(msgspec.Struct, frozen=True):
    """A requested adapter that a run did not measure, and the command that would include it (empty: no command)."""

    adapter: str
    why: str
    command: str = ""


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """``run.json``."""

    schema: int = SCHEMA
    middlemark: str
    suites: tuple[str, ...]
    suite_texts: dict[str, str] = {}
    """Text of each suite, by name."""
    command: tuple[str, ...]
    started: str
    ended: str | None = None
    interrupted: bool = False
    error: str | None = None
    """The error that ended the run early; None if the run is complete or was interrupted."""
    commit: str = ""
    """The commit of the git work tree in which the command ran, with ``-dirty`` if files differ; empty: none."""
    seed: int
    machine: Machine
    """The machine that coordinated the trials. Without ``machines``, the trials also ran on this machine."""
    machines: tuple[HostMachine, ...] = ()
    """The hosts on which the trials ran; empty: the trials ran on ``machine``."""
    adapters: tuple[Description, ...]
    plan: Plan
    certs: str = ""
    """Absolute path of the user's own certificates for trials with security; empty: each trial made its own."""
    not_tried: tuple[NotTried, ...] = ()
    """The requested adapters that the run did not measure."""
    reached: Reached | None = None
    """How adding rounds ended; None: no rounds were to be added, or the run did not end regularly."""
    selftest: tuple[SelfTestCell, ...] = ()
    """The settings that ``selftest`` compares with themselves. Empty: another verb made the run."""
    tried: TriedLimit | None = None
    """The limit that ``diagnose --try`` lifts. None: another verb made the run."""
    imported: tuple[Source, ...] = ()
    """Logs of other tools from which the run was read; ``machine`` is then unknown. Empty: Middlemark measured it."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A stored run: the request, and the outcome of every trial that ended."""

    folder: Path
    file: RunFile
    outcomes: tuple[TrialOutcome, ...]
    damaged: tuple[str, ...] = ()
    """Lines of ``trials.jsonl`` that were left out, each with its number and the problem."""
    records: tuple[Record, ...] = ()
    """The records of long trials, in the order in which they were written."""
    running: bool | None = False
    """True if the process that measures the run is alive. None: the run has not ended, and its file system has
    no locks."""

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @property
    def machine(self) -> Machine | None:
        """The machine; None: the run is imported, and logs of other tools do not describe the machine."""
        return None if self.file.imported else self.file.machine

    @property
    def repeats(self) -> tuple[str, ...] | None:
        """Suites and machine, equal for runs that can be compared over time.

        None: imported, or measured without a suite.
        """
        suites, machine = self.file.suites, self.file.machine
        if self.file.imported or suites in ((), ("command-line",)):
            return None
        return (*suites, machine.host, machine.cpu, str(machine.processors))

    @property
    def planned_trials(self) -> int:
        """Number of trials planned."""
        return len(self.file.plan.trials)

    @property
    def damaged_lines(self) -> int:
        """Number of lines of ``trials.jsonl`` that were left out."""
        return len(self.damaged)

    @property
    def failed_trials(self) -> int:
        """Number of trials that ended without a result."""
        return sum(each.failed is not None for each in self.outcomes)

    @property
    def state(self) -> str:
        """State in words: complete, imported, interrupted, running, killed, or the error that ended the run early."""
        if self.file.error:
            return f"ended early: {self.file.error}"
        if self.file.ended:
            tools = ", ".join(dict.fromkeys(each.tool for each in self.file.imported))
            whole = f"imported from {tools}" if tools else "complete"
            return "interrupted" if self.file.interrupted else whole
        if self.running is None:
            return "running or killed: its file system has no locks to check"
        return "running" if self.running else "killed"
