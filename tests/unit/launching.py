"""Runs trials with the fake worker."""

import asyncio
import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from descriptions import description, transport

from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome, Underway
from middlemark.model.plan import Limits, Trial
from middlemark.sites.descendants import adopting
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.trial.observe import Shared, run_trial
from middlemark.trial.search import run_search

FAKE = Path(__file__).with_name("fake_worker.py")


class Launching:
    """A run's folder with a fake worker in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.samples = folder / "samples"
        self.samples.mkdir()
        path = folder / "middlemark-worker-fake"
        path.write_text(f"#!{sys.executable} -IS\n{FAKE.read_text()}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.worker = Worker(str(path), description("fake", transport("memory")))
        self.shared = Shared(str(folder), os.urandom(3).hex(), Here(Domains(os.getpid())))
        self.log = folder / "log"
        self.ticks: list[Underway] = []

    def cell(self, native: dict[str, str], **factors: Any) -> Cell:
        script = {"log": str(self.log), **native}
        values = {"pattern": "stream", "size": 64, "depth": None, **factors}
        return Cell(adapter="fake", transport="memory", native=tuple(sorted(script.items())), **values)

    def trial(self, native: dict[str, str] | None = None, **factors: Any) -> TrialOutcome:
        """Measure one cell as a run does."""
        with adopting():
            return asyncio.run(self.measure(self.cell(native or {}, **factors)))

    async def measure(
        self, cell: Cell, limits: Limits | None = None, tick: Callable[[Underway], None] | None = None
    ) -> TrialOutcome:
        trial = Trial(
            order=7,
            cell=0,
            number=1,
            limits=limits or Limits(duration_s=1.0, warmup_s=0.0, match_timeout_s=60.0),
            seed=3,
        )
        run = run_search if cell.rate in ("sustainable", "curve") else run_trial
        return await run(cell, trial, self.worker, self.shared, tick or self.ticks.append)

    def one_reads(self, source: str, ticks_per_second: float) -> None:
        """Make the first worker that starts report this clock, while all others report another."""
        (self.folder / "clock-odd").write_text(json.dumps([source, ticks_per_second]))

    def commands(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the workers and the commands that they received, in order."""
        found = []
        for line in sorted(self.log.read_text().splitlines(), key=lambda line: int(line.split()[0])):
            _, role, index, command = line.split(maxsplit=3)
            found.append((f"{role} {index}", json.loads(command)))
        return found

    def kept(self) -> list[str]:
        return sorted(path.name for path in self.samples.iterdir())
