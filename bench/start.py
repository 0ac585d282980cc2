"""Cost of starting: the command ÷ a bare interpreter, and a trial's time to its first sample.

Usage: python bench/start.py [ROUNDS]
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from middlemark.model.cell import Cell
from middlemark.model.plan import Limits, Trial
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.trial.observe import Shared, run_trial
from middlemark.workers.find import find_workers

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "middlemark --version": [sys.executable, "-m", "middlemark", "--version"],
    "middlemark list adapters": [sys.executable, "-m", "middlemark", "list", "adapters"],
}


def seconds(argv: list[str]) -> float:
    """Run a command and return its wall time in s."""
    begin = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def commands(rounds: int) -> None:
    """Run the commands alternately. Print their medians, and their ratios to a bare interpreter."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, argv in COMMANDS.items():
            times[name].append(seconds(argv))
    bare = times["python -c pass"]
    for name, measured in times.items():
        ratio = statistics.median(a / b for a, b in zip(measured, bare, strict=True))
        print(f"{name:<26} median {statistics.median(measured) * 1e3:6.1f} ms, {ratio:.2f} times a bare interpreter")


def first_samples(rounds: int) -> None:
    """Print the time from the end of discovery to the first sample, for each adapter's first transport."""
    for worker in find_workers()[0]:
        transport = worker.description.transports[0]
        beyond, discovery = [], []
        with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as name:
            (Path(name) / "samples").mkdir()
            shared = Shared(name, "start", Here(Domains(0)))
            cell = Cell(
                adapter=worker.description.name,
                transport=transport.name,
                size=1024,
                pin=(0, 1),
                reliability=transport.reliability[0],
                loan=transport.loan[0],
                processes=max(transport.processes),
            )
            for order in range(rounds):
                trial = Trial(order=order, cell=0, number=1, limits=Limits(samples=100, warmup_s=0.05))
                outcome = asyncio.run(run_trial(cell, trial, worker, shared, lambda _: None))
                if outcome.failed is None and outcome.first_sample_ns and outcome.discovery_ns is not None:
                    beyond.append((outcome.first_sample_ns - outcome.discovery_ns) / 1e6)
                    discovery.append(outcome.discovery_ns / 1e6)
        if beyond:
            print(
                f"{worker.description.name:<12} {transport.name:<12} first sample after "
                f"{statistics.median(beyond):6.1f} ms beyond discovery ({statistics.median(discovery):.1f} ms): "
                f"{statistics.median(beyond) / 300:.2f} of the aim of 300 ms"
            )


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    commands(count)
    first_samples(count)
