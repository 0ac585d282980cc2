"""What the statistics cost: 10^8 samples to doubts and intervals, a plan of 10,000 cells, a comparison of 1,000.

Usage: python bench/stats.py [FOLDER [SAMPLES]]

FOLDER must have room for 6.4 GB (64 bytes a sample); they are read once before the time begins, so that it is not the
disk's. The samples are of 10 trials of one cell, each in a file of its own, as a run keeps them.
"""

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from middlemark.launch.outcome import Counts, TrialOutcome
from middlemark.plan.cell import Cell, Limits, Plan, Trial
from middlemark.plan.make import make_plan
from middlemark.stats.cells import cell_results
from middlemark.stats.comparisons import Side, by_factor, compare, side
from middlemark.stats.samples import NOT_MEASURED, SAMPLE, Samples, load
from middlemark.stats.trials import trial_summary
from middlemark.suite.read import parse_toml, read_suite
from middlemark.workers.find import find_workers

TRIALS = 10
CELL = Cell(adapter="shm", transport="shm", size=1024, receive="poll")


def outcome(number: int, samples: int, file: str, cell: int = 0, order: int = 0) -> TrialOutcome:
    """Return what a trial of so many round trips came to."""
    return TrialOutcome(
        cell=cell,
        number=number,
        order=order,
        started="",
        seconds=1.0,
        samples_file=file,
        samples=samples,
        measured_s=samples * 13e-6,
        counts=Counts(sent=samples, received=samples),
    )


def write(path: Path, samples: int, seed: int) -> None:
    """Write a trial's samples: a level that wanders, a heavy tail, and what a ping records beside its round trips."""
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


def seconds(what: Callable[[], object]) -> float:
    """Return how long it took."""
    begin = time.perf_counter()
    what()
    return time.perf_counter() - begin


def many_samples(folder: Path, samples: int) -> None:
    """Print the time and the memory that the figures, doubts and intervals of so many samples take."""
    each = samples // TRIALS
    for number in range(TRIALS):
        write(folder / f"{number}.npy", each, number)
    for number in range(TRIALS):
        with (folder / f"{number}.npy").open("rb") as file:
            while file.read(1 << 24):
                pass
    plan = Plan(
        cells=(CELL,),
        trials=tuple(Trial(order=at, cell=0, number=at + 1, limits=Limits(samples=each)) for at in range(TRIALS)),
        names=("bench",),
    )
    outcomes = [outcome(at + 1, each, f"{at}.npy", order=at) for at in range(TRIALS)]

    def read(trial: TrialOutcome) -> Samples:
        return load(folder / str(trial.samples_file))

    before = resource.getrusage(resource.RUSAGE_SELF)
    took = seconds(lambda: cell_results(plan, outcomes, read, {}))
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{samples:.0e} samples: {took:.1f} s ({cpu:.1f} s of a processor), {took / 10:.2f} of the aim of 10 s; "
        f"peak memory {after.ru_maxrss / 2**20:.2f} GiB, files mapped into it included: "
        f"{after.ru_maxrss / 2**21:.2f} of the aim of 2 GiB"
    )


def planning() -> None:
    """Print the time that a plan of 10,000 cells in ten trials takes."""
    sizes, rates = [64 * at for at in range(1, 101)], list(range(1, 101))
    text = f"[[sweep]]\nadapter='shm'\nsize={sizes}\nrate={rates}\ntrials={TRIALS}"
    document, problems = parse_toml(text, "bench.toml")
    suite, more = read_suite(document, "bench", "bench.toml", Path(), {}) if document is not None else (None, [])
    if suite is None:
        raise SystemExit(f"bench: {problems or more}")
    descriptions = [each.description for each in find_workers()[0]]
    took = [seconds(lambda: make_plan([suite], descriptions, cpus=(0, 1), seed=1)) for _ in range(3)]
    plan = make_plan([suite], descriptions, cpus=(0, 1), seed=1)
    print(f"plan of {len(plan.cells):,} cells, {len(plan.trials):,} trials: {statistics.median(took):.2f} s of 1 s")


def comparing(folder: Path) -> None:
    """Print the time that verdicts on 1,000 cells of 20 trials take, without and with reading 1,000 samples a trial."""
    trials = 20
    for number in range(trials):
        write(folder / f"short-{number}.npy", 1_000, number)  # twenty files stand for the 20,000

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
                    lambda file: load(Path(file.path)),  # type: ignore[arg-type, return-value]
                    times=("round_trip_ns",),
                )
                for number in range(trials)
            ]
            found.append(side("bench", "run", cell, None, "here", figures))
        return found

    reading = seconds(sides)
    pairings = by_factor(sides(), "receive")
    judging = seconds(lambda: compare(pairings, ["p50", "p99"]))
    print(
        f"compare of 1,000 cells in 20 trials, {len(pairings)} pairs, p50 and p99: {judging:.2f} s from the trials' "
        f"figures and {reading:.2f} s to make those from 1,000 samples each, together {(judging + reading) / 5:.2f} of "
        "the aim of 5 s"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(
        prefix="middlemark-bench-", dir=sys.argv[1] if len(sys.argv) > 1 else None
    ) as name:
        planning()
        comparing(Path(name))
        many_samples(Path(name), int(float(sys.argv[2])) if len(sys.argv) > 2 else 10**8)
