"""What every worker is put through: a trial of each variant of each transport, measured once and looked at often."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from contender import Contender
from variants import Extent, variants_of

from middlemark.model.cell import Cell
from middlemark.model.description import ANY
from middlemark.model.outcome import Arrived, ProtectionProof, Sent, TrialOutcome
from middlemark.model.plan import Limits, Trial
from middlemark.model.samples import SEQUENCE_BITS
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.stats.samples import load, load_kept
from middlemark.trial.observe import Observed, Shared, observe_trial
from middlemark.trial.patterns import Heard
from middlemark.trial.proof import Proofs

Records = npt.NDArray[np.void]


class Measured(msgspec.Struct, frozen=True):
    """One trial, what it kept and, unless it failed, what its roles said."""

    contender: Contender
    cell: Cell
    limits: Limits
    outcome: TrialOutcome
    heard: Heard | None
    folder: Path

    @property
    def samples(self) -> Records:
        """A ping's records, read back as the product reads them."""
        assert self.outcome.samples_file is not None
        return load(self.folder / self.outcome.samples_file)

    def kept(self, role: str) -> dict[int, Records]:
        """Return what the roles of that name kept, by their index."""
        files = [file for file in self.outcome.files if file.role == role]
        return {file.index: load_kept(self.folder, file).raw for file in files}

    def senders_to(self, subscriber: Arrived) -> list[Sent]:
        """Return the publishers of its topic."""
        return [each for each in self.outcome.publishers if each.topic == subscriber.topic]

    @property
    def ended(self) -> dict[str, set[str]]:
        """Why the roles ended, by name."""
        assert self.heard is not None
        reasons: dict[str, set[str]] = {}
        for result in (*self.heard.senders, *self.heard.receivers):
            reasons.setdefault(result.role, set()).add(result.ended)
        return reasons

    @property
    def warnings(self) -> dict[str, str]:
        return {warning.code: warning.text for warning in self.outcome.warnings}


def by_publisher(arrivals: Records) -> dict[int, npt.NDArray[np.uint64]]:
    """Return the sequences that a subscriber kept of each publisher, in order of arrival."""
    sources = (arrivals["stamp"] >> np.uint64(SEQUENCE_BITS)).astype(int)
    sequences = arrivals["stamp"] & np.uint64((1 << SEQUENCE_BITS) - 1)
    return {int(source): sequences[sources == source] for source in np.unique(sources)}


def carried_as(due: str | None, outcome: TrialOutcome) -> bool:
    """Return whether what carried the data is what should; where the middleware chooses, that it is known."""
    return outcome.actual_transport is not None if due == ANY else outcome.actual_transport == due


class Course:
    """Runs each trial that a test asks for, once."""

    def __init__(self, folder: Path, extent: Extent) -> None:
        self.folder = folder
        self.extent = extent
        self.trials = 0
        (folder / "samples").mkdir()
        self.here = Here(Domains(os.getpid()))
        self.shared = Shared(str(folder), os.urandom(3).hex(), self.here)
        self._measured: dict[tuple[str, str], Measured] = {}

    def measured(self, contender: Contender, variant: str) -> Measured:
        """Return that variant's trial; the contender must offer it."""
        key = (contender.name, variant)
        if key not in self._measured:
            asked = variants_of(contender.name, self.extent)[variant]
            self._measured[key] = self.measure(contender, asked.cell, asked.limits)
        return self._measured[key]

    def measure(self, contender: Contender, cell: Cell, limits: Limits) -> Measured:
        """Measure it now."""
        observed = asyncio.run(self.observe(contender, cell, limits))
        return Measured(contender, cell, limits, observed.outcome, observed.heard, self.folder)

    async def observe(
        self, contender: Contender, cell: Cell, limits: Limits, tick: Callable[[object], None] = lambda _: None
    ) -> Observed:
        """Measure as the product does."""
        return await observe_trial(cell, self._trial(limits), contender.worker, self.shared, tick)

    def proof(self, contender: Contender, cell: Cell, limits: Limits) -> ProtectionProof:
        """Measure it, and make its proof."""

        async def proven() -> TrialOutcome:
            measured = await self.observe(contender, cell, limits)
            assert measured.outcome.failed is None, measured.outcome.failed
            return await Proofs().proven(cell, self._trial(limits), contender.worker, self.shared, measured.outcome)

        proof = asyncio.run(proven()).proof
        assert proof is not None
        return proof

    def _trial(self, limits: Limits) -> Trial:
        self.trials += 1
        return Trial(order=self.trials - 1, cell=0, number=1, limits=limits)
