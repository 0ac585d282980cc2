"""Compare adapters with the same round trip written directly for their middleware: p50, adapter ÷ direct.

Usage: python bench/adapters.py FOLDER [ROUNDS] [ADAPTER…]

FOLDER contains the direct programs, ``bench_<adapter>`` from ``adapters/<adapter>/``. That of an adapter in
Python is ``adapters/<adapter>/bench.py``, which runs with the Python of the adapter. Adapter and direct program run
alternately, both with blocking receives, on the same two processors. If the middleware needs a daemon, each starts the
daemon that the worker declares.
"""

import asyncio
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.plan import Limits, Trial
from middlemark.model.protocol import Settings
from middlemark.sites.companion import Companion, declared
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.stats.samples import load
from middlemark.trial.observe import Shared, run_trial
from middlemark.trial.worker_request import settings_of
from middlemark.workers.find import executables, find_workers

ROOT = Path(__file__).resolve().parents[1]
SIZES = (64, 65_536)
ROUND_TRIPS = {"Python": {64: 3_000, 65_536: 1_500}}
"""Language of the adapter → size → number of round trips."""
OTHER_ROUND_TRIPS = {64: 20_000, 65_536: 4_000}
CPUS = (0, 1)


def round_trips(worker: Worker, size: int) -> int:
    """Return the number of round trips of a measurement."""
    return ROUND_TRIPS.get(worker.description.language, OTHER_ROUND_TRIPS)[size]


def direct_programs(folder: Path) -> dict[str, list[str]]:
    """Return adapter → the command of its direct program."""
    found = {path.name.removeprefix("bench_"): [str(path)] for path in sorted(folder.glob("bench_*"))}
    here = executables()
    for program in sorted((ROOT / "adapters").glob("*/bench.py")):
        if worker := here.get(program.parent.name):
            with open(worker, encoding="utf-8") as script:
                python = script.readline().removeprefix("#!").split()[0]
            found[program.parent.name] = [python, str(program)]
    return found


def cell_of(worker: Worker, size: int) -> Cell:
    """Return the direct program's cell: the adapter's first transport, and default levels otherwise."""
    transport = worker.description.transports[0]
    return Cell(
        adapter=worker.description.name,
        transport=transport.name,
        size=size,
        receive="block",
        reliability=transport.reliability[0],
        loan=transport.loan[0],
        via=transport.via[0],
        payload="untouched",
        pin=CPUS,
    )


def product_ns(worker: Worker, size: int, number: int, folder: Path) -> float:
    """Return the p50 of one trial through the adapter, in ns."""
    limits = Limits(samples=round_trips(worker, size), warmup_s=0.2)
    trial = Trial(order=number, cell=0, number=1, limits=limits)
    shared = Shared(str(folder), "bench", Here(Domains(0)))
    outcome = asyncio.run(run_trial(cell_of(worker, size), trial, worker, shared, lambda _: None))
    if outcome.failed or outcome.samples_file is None:
        raise SystemExit(f"bench: {worker.description.name}: {outcome.failed}")
    path = folder / outcome.samples_file
    typical = float(statistics.median(load(path)["round_trip_ns"].tolist()))
    path.unlink()
    return typical


def direct_ns(loop: list[str], worker: Worker, size: int, number: int) -> float:
    """Return the p50 in ns that the direct program prints. Starts a daemon for it if the middleware needs one."""
    with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as scratch:
        scope = f"mm_bench_{number}"
        settings = settings_of(cell_of(worker, size), domain=0, scope=scope, scratch=scratch, interface="lo")
        return asyncio.run(_with_companions(loop, worker, settings))


async def _with_companions(loop: list[str], worker: Worker, settings: Settings) -> float:
    needed = worker.description.transports[0].companions
    specs = await declared(worker.path, settings) if needed else ()
    running: list[Companion] = []
    try:
        for spec in specs:
            companion = await Companion.start(spec)
            running.append(companion)
        environment = {name: value for spec in specs for name, value in spec.environment.items()}
        size = settings.message_bytes
        process = await asyncio.create_subprocess_exec(
            *loop,
            *map(str, (size, round_trips(worker, size), *CPUS)),
            env={
                **os.environ,
                **environment,
                "MIDDLEMARK_BENCH_SCRATCH": settings.scratch,
                "PYTHONPATH": str(ROOT / "bench"),
            },
            stdout=subprocess.PIPE,
        )
        words, _ = await process.communicate()
        if process.returncode != 0:
            raise SystemExit(f"bench: {' '.join(loop)} ended with status {process.returncode}")
        return float(words.split()[0])
    finally:
        for companion in reversed(running):
            await companion.stop(3.0)


def rounds_of(loop: list[str], worker: Worker, size: int, rounds: int, folder: Path) -> Generator[tuple[float, float]]:
    """Yield pairs of p50 in ns: of the adapter, and of the direct program. They alternate in running first."""
    for number in range(rounds):
        if number % 2:
            theirs = direct_ns(loop, worker, size, number)
            yield product_ns(worker, size, number, folder), theirs
        else:
            ours = product_ns(worker, size, number, folder)
            yield ours, direct_ns(loop, worker, size, number)


def main(loops: Path, rounds: int, names: list[str]) -> None:
    """Compare every adapter that has a direct program."""
    workers = {worker.description.name: worker for worker in find_workers()[0]}
    for name, loop in sorted(direct_programs(loops).items()):
        if name in workers and (not names or name in names):
            for size in SIZES:
                compare(loop, workers[name], size, rounds)


def compare(loop: list[str], worker: Worker, size: int, rounds: int) -> None:
    """Print the figures and the ratio of an adapter and its direct program."""
    with (
        tempfile.TemporaryDirectory(prefix="middlemark-bench-") as folder,
        contextlib.closing(rounds_of(loop, worker, size, rounds, Path(folder))) as pairs,
    ):
        (Path(folder) / "samples").mkdir()
        measured = list(pairs)
    ratios = sorted(ours / theirs for ours, theirs in measured)
    print(
        f"{worker.description.name:<12} {size:>6} B, block: product "
        f"{statistics.median(ours for ours, _ in measured):8.0f} ns, "
        f"direct {statistics.median(theirs for _, theirs in measured):8.0f} ns: ratio median "
        f"{statistics.median(ratios):.3f}, from {ratios[0]:.3f} to {ratios[-1]:.3f} over {rounds} pairs",
        flush=True,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7, sys.argv[3:])
