"""Compare a polling round trip through ``shm`` with the same loop written by hand: Middlemark ÷ hand-written.

Usage: python bench/round_trip.py BARE_RING [ROUNDS]
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import get_args

from middlemark.model.cell import Cell
from middlemark.model.plan import Limits, Trial
from middlemark.model.protocol import Payload
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.stats.samples import load
from middlemark.trial.observe import Shared, run_trial
from middlemark.workers.find import find_workers

SIZES = (64, 65536)
ROUND_TRIPS = {64: 400_000, 65536: 40_000}


def middle_mean(values: list[float]) -> float:
    """Return the mean of the middle half; the counter's resolution (up to 10 ns) is too coarse for a median."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return statistics.fmean(ordered[quarter : len(ordered) - quarter])


def product_ns(size: int, payload: Payload, order: int, folder: Path) -> float:
    """Return the typical round trip of one Middlemark trial, in ns."""
    worker = next(worker for worker in find_workers()[0] if worker.description.name == "shm")
    cell = Cell(adapter="shm", transport="shm", size=size, receive="poll", payload=payload, pin=(0, 1))
    trial = Trial(order=order, cell=0, number=1, limits=Limits(samples=ROUND_TRIPS[size], warmup_s=0.05))
    outcome = asyncio.run(
        run_trial(cell, trial, worker, Shared(str(folder), "bench", Here(Domains(0))), lambda _: None)
    )
    if outcome.failed or outcome.samples_file is None or outcome.clock is None:
        raise SystemExit(f"bench: {outcome.failed}")
    path = folder / outcome.samples_file
    typical = middle_mean(load(path)["round_trip_ns"].tolist())
    path.unlink()
    return typical


def bare_ns(bare: str, size: int) -> float:
    """Return the typical round trip of one run of the hand-written loop, in ns."""
    answer = subprocess.run([bare, str(size), str(ROUND_TRIPS[size])], capture_output=True, check=True, text=True)
    return float(answer.stdout.split()[0]) / TICKS_PER_NS


def ticks_per_ns(folder: Path) -> float:
    """Return the rate of the TSC in ticks per ns, as a worker has calibrated it."""
    worker = next(worker for worker in find_workers()[0] if worker.description.name == "shm")
    cell = Cell(adapter="shm", transport="shm", size=64, receive="poll", pin=(0, 1))
    trial = Trial(order=999, cell=0, number=1, limits=Limits(samples=10, warmup_s=0.01))
    outcome = asyncio.run(
        run_trial(cell, trial, worker, Shared(str(folder), "bench", Here(Domains(0))), lambda _: None)
    )
    if outcome.clock is None or outcome.clock.source != "tsc":
        raise SystemExit("bench: this comparison needs the TSC")
    return outcome.clock.ticks_per_second / 1e9


if __name__ == "__main__":
    bare_ring, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 11
    with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as name:
        where = Path(name)
        (where / "samples").mkdir()
        TICKS_PER_NS = ticks_per_ns(where)
        for size in SIZES:
            for payload in get_args(Payload):
                ours, theirs = [], []
                for number in range(rounds):
                    theirs.append(bare_ns(bare_ring, size))
                    ours.append(product_ns(size, payload, number, where))
                ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
                print(
                    f"{size:>6} B {payload:<9} product {statistics.median(ours):8.0f} ns, "
                    f"bare {statistics.median(theirs):8.0f} ns: ratio median {statistics.median(ratios):.3f}, "
                    f"from {ratios[0]:.3f} to {ratios[-1]:.3f} over {rounds} pairs"
                )
