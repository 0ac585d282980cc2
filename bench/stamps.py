"""Cost of the pong's stamps: round trips with stamps ÷ without stamps, alternating; or this build ÷ another build.

Usage: python bench/stamps.py [ROUNDS] [FOLDER]

FOLDER contains the other build's workers. Without FOLDER both sides use this build, and one side makes no stamps.
"""

import asyncio
import os
import statistics
import sys
import tempfile
from pathlib import Path

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.plan import Limits, Trial
from middlemark.model.protocol import Reception
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.stats.samples import load
from middlemark.trial import round_trips
from middlemark.trial.observe import Shared, run_trial
from middlemark.workers.find import find_workers

EXPERIMENTS: tuple[tuple[str, Reception, int], ...] = (
    ("shm", "poll", 64),
    ("shm", "poll", 65536),
    ("shm", "block", 64),
    ("udp", "block", 64),
)
SECONDS = 0.3
ASKED = round_trips.answerer_fields


def middle_mean(values: list[int]) -> float:
    """Return the mean of the middle half, because the counter's resolution is too coarse for a median."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return statistics.fmean(ordered[quarter : len(ordered) - quarter])


def typical_ns(worker: Worker, cell: Cell, order: int, folder: Path, *, stamped: bool) -> float:
    """Return the typical round trip of one trial, in ns."""
    round_trips.answerer_fields = ASKED if stamped else lambda *_: {}
    trial = Trial(order=order, cell=0, number=1, limits=Limits(duration_s=SECONDS, warmup_s=0.1))
    outcome = asyncio.run(
        run_trial(cell, trial, worker, Shared(str(folder), "bench", Here(Domains(0))), lambda _: None)
    )
    if outcome.failed or outcome.samples_file is None:
        raise SystemExit(f"bench: {outcome.failed}")
    path = folder / outcome.samples_file
    typical = middle_mean(load(path)["round_trip_ns"].tolist())
    path.unlink()
    return typical


def main(rounds: int, other: Path | None) -> None:
    """Print for each experiment the ratio of the round trips with stamps to those without.

    The ratio is the median and the range over ``rounds`` pairs. ``other``: a folder with another build's workers, which
    then make the trials without stamps.
    """
    workers = {worker.description.name: worker for worker in find_workers()[0]}
    for name, receive, size in EXPERIMENTS:
        worker = workers[name]
        theirs = msgspec.structs.replace(worker, path=str(other / Path(worker.path).name)) if other else worker
        reliability = worker.description.transports[0].reliability[0]
        cell = Cell(adapter=name, transport=name, size=size, receive=receive, reliability=reliability, pin=(0, 1))
        new: list[float] = []
        old: list[float] = []
        with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as folder:
            os.mkdir(f"{folder}/samples")
            for number in range(rounds):
                for ours in (True, False) if number % 2 else (False, True):
                    used = worker if ours else theirs
                    (new if ours else old).append(typical_ns(used, cell, number, Path(folder), stamped=ours))
        ratios = sorted(a / b for a, b in zip(new, old, strict=True))
        print(
            f"{name} {receive} {size:>6} B: with {statistics.median(new):9.1f} ns, without"
            f" {statistics.median(old):9.1f} ns: ratio median {statistics.median(ratios):.4f}, from {ratios[0]:.3f} to"
            f" {ratios[-1]:.3f} over {rounds} pairs",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11, Path(sys.argv[2]) if len(sys.argv) > 2 else None)
