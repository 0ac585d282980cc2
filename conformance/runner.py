"""Runs the trials of the conformance tests. Each variant of each transport is measured once, for all its tests."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from candidate import Candidate
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
    """One trial: its cell, its limits, its outcome, and the results of its roles (None if it failed)."""

    candidate: Candidate
    cell: Cell
    limits: Limits
    outcome: TrialOutcome
    heard: Heard | None
    folder: Path

    @property
    def samples(self) -> Records:
        """The ping's records, read as ``middlemark`` reads them."""
        assert self.outcome.samples_file is not None
        return load(self.folder / self.outcome.samples_file)

    def kept(self, role: str) -> dict[int, Records]:
        """Return the records of the roles with this name, by index."""
        files = [file for file in self.outcome.files if file.role == role]
        return {file.index: load_kept(self.folder, file).raw for file in files}

    def senders_to(self, subscriber: Arrived) -> list[Sent]:
        """Return the results of the publishers of the subscriber's topic."""
        return [each for each in self.outcome.publishers if each.topic == subscriber.topic]

    @property
    def ended(self) -> dict[str, set[str]]:
        """The reasons for which the roles ended, by role name."""
        assert self.heard is not None
        reasons: dict[str, set[str]] = {}
        for result in (*self.heard.senders, *self.heard.receivers):
            reasons.setdefault(result.role, set()).add(result.ended)
        return reasons

    @property
    def warnings(self) -> dict[str, str]:
        return {warning.code: warning.text for warning in self.outcome.warnings}


def by_publisher(arrivals: Records) -> dict[int, npt.NDArray[np.uint64]]:
    """Return the sequence numbers that a subscriber received from each publisher, in order of arrival."""
    sources = (arrivals["stamp"] >> np.uint64(SEQUENCE_BITS)).astype(int)
    sequences = arrivals["stamp"] & np.uint64((1 << SEQUENCE_BITS) - 1)
    return {int(source): sequences[sources == source] for source in np.unique(sources)}


def carried_as(expected: str | None, outcome: TrialOutcome) -> bool:
    """Return true if the actual transport is ``expected``; if ``expected`` is ``ANY``, true if it is known."""
    return outcome.actual_transport is not None if expected == ANY else outcome.actual_transport == expected


class Runner:
    """Runs the trials that tests request. Each variant is run only once."""

    trials = 0
    """The number of trials that this process has begun."""

    def __init__(self, folder: Path, extent: Extent) -> None:
        self.folder = folder
        self.extent = extent
        (folder / "samples").mkdir()
        self.here = Here(Domains(os.getpid()))
        self.shared = Shared(str(folder), os.urandom(3).hex(), self.here)
        self._measured: dict[tuple[str, str], Measured] = {}

    def measured(self, candidate: Candidate, variant: str) -> Measured:
        """Return the trial of a variant of the candidate. The first call measures it."""
        key = (candidate.name, variant)
        if key not in self._measured:
            chosen = variants_of(candidate.name, self.extent)[variant]
            self._measured[key] = self.measure(candidate, chosen.cell, chosen.limits)
        return self._measured[key]

    def measure(self, candidate: Candidate, cell: Cell, limits: Limits) -> Measured:
        """Run a trial of the cell now."""
        observed = asyncio.run(self.observe(candidate, cell, limits))
        return Measured(candidate, cell, limits, observed.outcome, observed.heard, self.folder)

    async def observe(
        self, candidate: Candidate, cell: Cell, limits: Limits, tick: Callable[[object], None] = lambda _: None
    ) -> Observed:
        """Run a trial as ``middlemark`` does; ``tick`` is called with each progress report."""
        return await observe_trial(cell, self._trial(limits), candidate.worker, self.shared, tick)

    def proof(self, candidate: Candidate, cell: Cell, limits: Limits) -> ProtectionProof:
        """Run a trial of the cell, and return its proof of protection."""

        async def proven() -> TrialOutcome:
            measured = await self.observe(candidate, cell, limits)
            assert measured.outcome.failed is None, measured.outcome.failed
            return await Proofs().proven(cell, self._trial(limits), candidate.worker, self.shared, measured.outcome)

        proof = asyncio.run(proven()).proof
        assert proof is not None
        return proof

    def _trial(self, limits: Limits) -> Trial:
        Runner.trials += 1
        return Trial(order=Runner.trials - 1, cell=0, number=1, limits=limits)
