"""A run as a whole: what was asked, of whom, on what machine, and what came of it."""

from pathlib import Path

import msgspec

from middlemark.model.description import Description
from middlemark.model.imported import Source
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Plan, Reached

SCHEMA = 2


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What the run was measured on, read when it began."""

    host: str
    cpu: str
    processors: int
    memory_bytes: int
    kernel: str
    system: str
    virtual: bool | None
    """Whether the processor says that a hypervisor is there; None where it does not say."""
    clocksource: str | None
    governor: str | None
    """The frequency governor of processor 0; None where the kernel offers none."""


class HostMachine(msgspec.Struct, frozen=True, kw_only=True):
    """One of several machines that a run was measured on, and what it is reached by."""

    name: str
    """Of the site that it is."""
    address: str
    machine: Machine
    middlemark: str
    interface: str
    """The network interface that leads to the others."""
    mtu: int | None = None
    link_bps: float | None = None
    """What the interface says of its speed; None: nothing (WiFi as a rule)."""
    driver: str | None = None
    time: str = ""
    """What keeps its time of day, and how well by its own account; empty: nobody looked."""


class NotTried(msgspec.Struct, frozen=True):
    """An adapter that did not take part in a run, and the command with which it would; empty: there is none."""

    adapter: str
    why: str
    command: str = ""


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """``run.json``."""

    schema: int = SCHEMA
    middlemark: str
    suites: tuple[str, ...]
    suite_texts: dict[str, str] = {}
    """The suites as written, by name."""
    command: tuple[str, ...]
    started: str
    ended: str | None = None
    interrupted: bool = False
    error: str | None = None
    """What ended the run early, when it was neither complete nor interrupted."""
    seed: int
    machine: Machine
    """The one that coordinated the trials, and where there are no ``machines``, the one they ran on."""
    machines: tuple[HostMachine, ...] = ()
    """Of the sites, where these are hosts."""
    adapters: tuple[Description, ...]
    plan: Plan
    certs: str = ""
    """Absolute path of the user's own certificates, of trials with security; empty: each trial made its own."""
    not_tried: tuple[NotTried, ...] = ()
    """The adapters that were meant and did not take part."""
    reached: Reached | None = None
    """How precise it became; None unless that was asked for and it came to an end."""
    imported: tuple[Source, ...] = ()
    """The logs of other tools that the run was read from; then ``machine`` is unknown. Empty: it was measured here."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it was kept: what was asked, and every trial that ended."""

    folder: Path
    file: RunFile
    outcomes: tuple[TrialOutcome, ...]
    damaged: tuple[str, ...] = ()
    """The lines of ``trials.jsonl`` that were left out, each with its number and what is wrong with it."""
    running: bool | None = False
    """Whether the process that measures it lives; None: it has not ended, and the file system has no locks to tell."""

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @property
    def machine(self) -> Machine | None:
        """What it was measured on; None where other tools measured, whose logs do not tell."""
        return None if self.file.imported else self.file.machine

    @property
    def planned_trials(self) -> int:
        """How many trials there were to be."""
        return len(self.file.plan.trials)

    @property
    def damaged_lines(self) -> int:
        """How many lines of ``trials.jsonl`` were left out."""
        return len(self.damaged)

    @property
    def failed_trials(self) -> int:
        """How many of those that ended gave nothing."""
        return sum(each.failed is not None for each in self.outcomes)

    @property
    def state(self) -> str:
        """How it ended, in words: complete, interrupted, running, killed, or what ended it early."""
        if self.file.error:
            return f"ended early: {self.file.error}"
        if self.file.ended:
            tools = ", ".join(dict.fromkeys(each.tool for each in self.file.imported))
            whole = f"imported from {tools}" if tools else "complete"
            return "interrupted" if self.file.interrupted else whole
        if self.running is None:
            return "running or killed: its file system has no locks to tell"
        return "running" if self.running else "killed"
