"""Time of the statistics: warnings and intervals of 10^8 samples, a plan of 10,000 cells, a comparison of 1,000 cells.

Usage: python bench/stats.py [FOLDER [SAMPLES]]

FOLDER needs space for 6.4 GB (64 bytes per sample). The files are read once before timing, to exclude the disk. The
samples are 10 trials of one cell, each in its own file, as in a run.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from middlemark.model.cell import Cell
from middlemark.model.outcome import SamplesFile, TrialCounts, TrialOutcome
from middlemark.model.plan import Limits, Plan, Trial
from middlemark.model.samples import NOT_MEASURED, SAMPLE
from middlemark.plan.make import make_plan
from middlemark.stats.cells import cell_results
from middlemark.stats.comparisons import Side, compare, side
from middlemark.stats.pairings import by_factors
from middlemark.stats.samples import Kept, Samples, load
from middlemark.stats.trials import trial_summary
from middlemark.suite.read import read_suite
from middlemark.suite.table import parse_toml
from middlemark.workers.find import find_workers

TRIALS = 10
CELL = Cell(adapter="shm", transport="shm", size=1024, receive="poll")


def outcome(number: int, samples: int, file: str, cell: int = 0, order: int = 0) -> TrialOutcome:
    """Return the outcome of a trial with ``samples`` round trips."""
    return TrialOutcome(
        cell=cell,
        number=number,
        order=order,
        started="",
        seconds=1.0,
        samples_file=file,
        samples=samples,
        measured_s=samples * 13e-6,
        counts=TrialCounts(sent=samples, received=samples),
    )


def write(path: Path, samples: int, seed: int) -> None:
    """Write a trial's samples: round trips with drift and a heavy tail, and the other fields of a ping's record."""
    rng = np.random.default_rng(seed)
    kept = np.lib.format.open_memmap(path, mode="w+", dtype=SAMPLE, shape=(samples,), version=(1, 0))
    for begin in range(0, samples, 1 << 20):
        part = kept[begin : begin + (1 << 20)]
        wander = np.repeat(np.cumsum(rng.normal(0, 0.003, len(part) // 512 + 1)), 512)[: len(part)]
        trips = 12_000 * np.exp(wander + np.abs(rng.normal(0, 0.05, len(part))))
        trips[:: len(part) // 200] *= 1 + rng.pareto(1.2, len(trips[:: len(part) // 200]))
        part["sequence"] = np.arange(begin + 1, begin + 1 + len(part))
        part["round_trip_ns"] = trips
        part["first_reply_ns"] = part["round_trip_ns"]
        for field, share in (("write_ns", 0.1), ("take_ns", 0.05), ("fill_ns", 0.02), ("check_ns", 0.02)):
            part[field] = np.minimum(share * trips, 1e9)
        part["loan_ns"] = NOT_MEASURED
    kept.flush()


class Took(NamedTuple):
    """The wall-clock time and the processor time of a step, in s. They differ on a busy machine."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        """Return both times as text."""
        return f"{self.wall:.2f} s ({self.cpu:.2f} s of processor time)"


def took(what: Callable[[], object]) -> Took:
    """Call ``what`` and return how long it took, in s."""
    begin, cpu = time.perf_counter(), time.process_time()
    what()
    return Took(time.perf_counter() - begin, time.process_time() - cpu)


def unread(file: SamplesFile) -> Kept:
    """Fail, because trials of a ping have no other files than samples."""
    raise SystemExit(f"bench: {file.path} must not be read")


def many_samples(folder: Path, samples: int) -> None:
    """Print the time and the memory that figures, warnings and intervals of ``samples`` samples take."""
    per_trial = samples // TRIALS
    for number in range(TRIALS):
        write(folder / f"{number}.npy", per_trial, number)
    for number in range(TRIALS):
        with (folder / f"{number}.npy").open("rb") as file:
            while file.read(1 << 24):
                pass
    plan = Plan(
        cells=(CELL,),
        trials=tuple(Trial(order=at, cell=0, number=at + 1, limits=Limits(samples=per_trial)) for at in range(TRIALS)),
        names=("bench",),
    )
    outcomes = [outcome(at + 1, per_trial, f"{at}.npy", order=at) for at in range(TRIALS)]

    def read(trial: TrialOutcome) -> Samples:
        return load(folder / str(trial.samples_file))

    whole = took(lambda: cell_results(plan, outcomes, read, {}))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{samples:.0e} samples to figures, warnings, interval: {whole}, {whole.wall / 10:.2f} of the aim of 10 s; "
        f"peak memory {peak / 2**20:.2f} GiB, mapped files included, {peak / 2**21:.2f} of the aim of 2 GiB"
    )


def planning() -> None:
    """Print the time that a plan of 10,000 cells in ten trials takes."""
    sizes, rates = [64 * at for at in range(1, 101)], list(range(1, 101))
    text = f"[[sweep]]\nadapter='shm'\nsize={sizes}\nrate={rates}\ntrials={TRIALS}"
    document, problems = parse_toml(text, "bench.toml")
    suite, more = read_suite(document, "bench", "bench.toml", Path(), {}) if document is not None else (None, [])
    if suite is None:
        raise SystemExit(f"bench: {problems or more}")
    descriptions = [worker.description for worker in find_workers()[0]]
    plans = [make_plan([suite], descriptions, cpus=(0, 1), seed=1)]
    whole = took(lambda: plans.append(make_plan([suite], descriptions, cpus=(0, 1), seed=1)))
    print(
        f"plan of {len(plans[0].cells):,} cells in {len(plans[0].trials):,} trials: {whole}, {whole.wall:.2f} of the "
        "aim of 1 s"
    )


def comparing(folder: Path) -> None:
    """Print the time to compare 1,000 cells of 20 trials, and the time to read their trials of 1,000 samples."""
    trials = 20
    for number in range(trials):
        write(folder / f"short-{number}.npy", 1_000, number)  # twenty files are used for all 20,000 trials

    def read(trial: TrialOutcome) -> Samples:
        return load(folder / str(trial.samples_file))

    def sides() -> list[Side]:
        found = []
        for index in range(1_000):
            cell = Cell(
                adapter="shm", transport="shm", size=64 * (1 + index // 2), receive=("poll", "block")[index % 2]
            )
            figures = [
                trial_summary(
                    cell,
                    outcome(number + 1, 1_000, f"short-{(number + index) % trials}.npy", index),
                    read,
                    unread,
                    times=("round_trip_ns",),
                )
                for number in range(trials)
            ]
            found.append(side("bench", "run", cell, None, "here", figures))
        return found

    found: list[Side] = []
    reading = took(lambda: found.extend(sides()))
    pairings = by_factors(found, ["receive"])
    judging = took(lambda: compare(pairings, ["p50", "p99"]))
    print(
        f"comparing 1,000 cells in 20 trials, {len(pairings)} pairs, p50 and p99: {judging} from the trials' figures, "
        f"{reading} for figures from 1,000 samples per trial; together {(judging.wall + reading.wall) / 5:.2f} of the "
        "aim of 5 s"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(
        prefix="middlemark-bench-", dir=sys.argv[1] if len(sys.argv) > 1 else None
    ) as name:
        planning()
        comparing(Path(name))
        many_samples(Path(name), int(float(sys.argv[2])) if len(sys.argv) > 2 else 10**8)
