"""What every worker is put through: a trial of each variant of each transport, measured once and looked at often."""

import asyncio
import functools
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.launch.domains import Domains
from middlemark.launch.outcome import TrialOutcome
from middlemark.launch.trial import Site, run_trial
from middlemark.plan.cell import Cell, Limits, Trial
from middlemark.stats.samples import load
from middlemark.workers.description import BrokenWorker, Transport, Worker
from middlemark.workers.find import find_workers

KIB = 1 << 10
MIB = 1 << 20
CPUS = sorted(os.sched_getaffinity(0))


class Contender(msgspec.Struct, frozen=True):
    """A worker on one of its transports."""

    worker: Worker
    transport: Transport

    @property
    def name(self) -> str:
        """As it stands in a test's name."""
        adapter = self.worker.description.name
        return adapter if adapter == self.transport.name else f"{adapter}-{self.transport.name}"

    def cell(self, **factors: object) -> Cell:
        """Make a cell of what it can do: its first way where it has no choice of the bench's default."""
        offered = self.transport
        processes = 2 if 2 in offered.processes else 1
        values: dict[str, object] = {
            "adapter": self.worker.description.name,
            "transport": offered.name,
            "size": KIB,
            "receive": "block" if "block" in offered.receive else offered.receive[0],
            "reliability": offered.reliability[0],
            "loan": offered.loan[0],
            "processes": processes,
            **factors,
        }
        # Pollers sleep never: each wants a processor. Whoever blocks goes where the scheduler pleases.
        if values["receive"] == "poll" and processes == 2 and len(CPUS) >= 2:
            values["pin"] = (CPUS[0], CPUS[1])
        return Cell(**values)  # type: ignore[arg-type]


@functools.cache
def found() -> tuple[tuple[Worker, ...], tuple[BrokenWorker, ...]]:
    """Return the workers there are and those that could not describe themselves; asked once."""
    return find_workers()


def contenders() -> list[Contender]:
    return [Contender(worker, transport) for worker in found()[0] for transport in worker.description.transports]


Variant = Callable[[Contender], Cell | None]
"""A contender's cell of that variant; None: it does not offer it."""


def _size(size: int) -> Variant:
    return lambda who: who.cell(size=size) if size <= who.transport.max_bytes else None


def _receive(mode: str) -> Variant:
    return lambda who: who.cell(receive=mode) if mode in who.transport.receive else None


def _several(echo: str) -> Variant:
    # A pong that does not echo holds nobody up: without a history to fall behind in, it may miss what is overwritten.
    def cell(who: Contender) -> Cell:
        deepest = None if who.transport.keep_all else who.transport.max_depth
        return who.cell(subscribers=3, echo=echo, depth=deepest if echo == "first" else 1)

    return cell


def _depth(depth: int | None) -> Variant:
    def cell(who: Contender) -> Cell | None:
        offered = who.transport
        honoured = offered.keep_all if depth is None else offered.max_depth is None or depth <= offered.max_depth
        return who.cell(depth=depth, size=64) if honoured else None

    return cell


def _other_loan(who: Contender) -> Cell | None:
    return who.cell(loan=who.transport.loan[1], size=64 * KIB) if len(who.transport.loan) > 1 else None


def _other_processes(who: Contender) -> Cell | None:
    return who.cell(processes=1) if who.transport.processes == (1, 2) else None


def _other_reliability(who: Contender) -> Cell | None:
    return who.cell(reliability=who.transport.reliability[1], size=64) if len(who.transport.reliability) > 1 else None


VARIANTS: dict[str, Variant] = {
    "block": _receive("block"),
    "poll": _receive("poll"),
    "listen": _receive("listen"),
    "16B": _size(16),
    "17B": _size(17),
    "70001B": _size(70001),
    "64KiB": _size(64 * KIB),
    "1MiB": _size(MIB),
    "largest": lambda who: who.cell(size=min(who.transport.max_bytes, 8 * MIB + 3)),
    "loan": _other_loan,
    "one-process": _other_processes,
    "other-reliability": _other_reliability,
    "three-echo-all": _several("all"),
    "three-echo-first": _several("first"),
    "keep-all": _depth(None),
    "depth-10": _depth(10),
    "untouched": lambda who: who.cell(payload="untouched"),
    "for-a-while": lambda who: who.cell(size=64),
}

DURATION_S = 0.25
REPLY_TIMEOUT_S = 10.0
"""Whether a message arrives is asked here, not how soon: a crowded machine must not turn patience into loss."""


def limits(variant: str, cell: Cell) -> Limits:
    """Return how long that variant is measured."""
    for_a_while = variant == "for-a-while"
    samples = 200 if cell.size <= 64 * KIB else 40 if cell.size <= MIB else 10
    return Limits(
        samples=None if for_a_while else samples,
        duration_s=DURATION_S if for_a_while else None,
        warmup_s=0.02,
        reply_timeout_s=REPLY_TIMEOUT_S,
        match_timeout_s=20.0,
        limit_s=60.0,
    )


class Measured(msgspec.Struct, frozen=True):
    """One trial and what it kept."""

    contender: Contender
    variant: str
    cell: Cell
    limits: Limits
    outcome: TrialOutcome
    folder: Path

    @property
    def samples(self) -> npt.NDArray[np.void]:
        """Its records, read back as the product reads them."""
        assert self.outcome.samples_file is not None
        return load(self.folder / self.outcome.samples_file)


class Course:
    """Runs each trial that a test asks for, once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "samples").mkdir()
        self.site = Site(folder=str(folder), token=os.urandom(3).hex(), domains=Domains(os.getpid()))
        self._measured: dict[tuple[str, str], Measured] = {}
        self._trials = 0

    def measured(self, contender: Contender, variant: str) -> Measured | None:
        """Return that variant's trial; None: the contender does not offer it."""
        key = (contender.name, variant)
        if key not in self._measured:
            cell = VARIANTS[variant](contender)
            if cell is None:
                return None
            asked = limits(variant, cell)
            outcome = asyncio.run(self.trial(contender, cell, asked))
            self._measured[key] = Measured(contender, variant, cell, asked, outcome, self.folder)
        return self._measured[key]

    async def trial(
        self, contender: Contender, cell: Cell, asked: Limits, tick: Callable[[object], None] = lambda _: None
    ) -> TrialOutcome:
        """Measure it as the product does."""
        trial = Trial(order=self._trials, cell=0, number=1, limits=asked)
        self._trials += 1
        return await run_trial(cell, trial, contender.worker, self.site, tick)
