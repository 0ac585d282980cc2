"""Cost of a robot's graph without its middleware: the time of a start, and processor time while it runs.

Usage: python bench/graphs.py [ROUNDS]

- start: 100 nodes and 400 topics of 2 Hz in ten processes, each adapter in its default configuration. Prints the time
  from the end of discovery to the first sample; the aim is 2 s.
- running: 60 topics of 20 Hz in ten processes over shared memory. Counts launcher, witness and workers together, as the
  difference of runs of 30 s and 10 s, per second. The aim, 3 % of a processor, excludes the two wake-ups per message.
"""

import asyncio
import resource
import statistics
import sys
import tempfile
from pathlib import Path

from middlemark.model.cell import Cell, carrying
from middlemark.model.description import Worker
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Limits, Trial
from middlemark.model.workload import Process, Topic, Workload
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.trial.observe import Shared, run_trial
from middlemark.workers.find import find_workers, witness

PROCESSES = 10
SHORT_S, LONG_S = 10.0, 30.0


def graph(nodes: int, topics: int, rate_hz: float) -> Workload:
    """Return a graph with topics of 256 B, each from a node to the next node, which is in another process."""
    return Workload(
        name="bench",
        topics=tuple(
            Topic(
                name=f"topic_{n}",
                source=f"node_{n % nodes}",
                to=(f"node_{(n + 1 + n // nodes) % nodes}",),
                size=256,
                rate_hz=rate_hz,
            )
            for n in range(topics)
        ),
        shared=tuple(
            Process(f"process_{n}", tuple(f"node_{node}" for node in range(n, nodes, PROCESSES)))
            for n in range(PROCESSES)
        ),
    )


def measured(worker: Worker, transport_name: str, workload: Workload, seconds: float) -> TrialOutcome:
    """Run one trial and return its outcome."""
    transport = worker.description.transport(transport_name)
    assert transport is not None
    asked = Cell(
        adapter=worker.description.name,
        transport=transport_name,
        size=256,
        pattern="stream",
        processes=2,
        pin=None,
        loan=transport.loan[0],
    )
    cell = carrying(asked, workload, transport)
    with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as name:
        (Path(name) / "samples").mkdir()
        shared = Shared(name, "bench", Here(Domains(0), witness=witness()))
        trial = Trial(order=0, cell=0, number=1, limits=Limits(duration_s=seconds, warmup_s=0.2))
        outcome = asyncio.run(run_trial(cell, trial, worker, shared, lambda _: None))
    if outcome.failed:
        raise SystemExit(f"bench: {worker.description.name}: {outcome.failed.text}")
    return outcome


def starts(rounds: int) -> None:
    """Print how long a large graph takes to start, for each adapter with a transport ``default``."""
    large = graph(nodes=100, topics=400, rate_hz=2)
    for worker in find_workers()[0]:
        if worker.description.transport("default") is None:
            continue
        outcomes = [measured(worker, "default", large, 2.0) for _ in range(rounds)]
        discovery = [(outcome.discovery_ns or 0) / 1e9 for outcome in outcomes]
        beyond = [((outcome.first_sample_ns or 0) - (outcome.discovery_ns or 0)) / 1e9 for outcome in outcomes]
        print(
            f"{worker.description.name:<12} discovery {statistics.median(discovery):5.2f} s, first sample "
            f"{statistics.median(beyond):5.2f} s later: {statistics.median(beyond) / 2:.2f} of the aim"
        )


def processor_s() -> float:
    """Return the processor time of this process and of its ended children, in s."""
    return sum(
        spent.ru_utime + spent.ru_stime
        for spent in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def running(rounds: int) -> None:
    """Print the share of a processor that a running graph uses."""
    small = graph(nodes=20, topics=60, rate_hz=20)
    (worker,) = (worker for worker in find_workers()[0] if worker.description.name == "shm")
    parts = []
    for _ in range(rounds):
        spent = []
        for seconds in (SHORT_S, LONG_S):
            before = processor_s()
            measured(worker, "shm", small, seconds)
            spent.append(processor_s() - before)
        parts.append((spent[1] - spent[0]) / (LONG_S - SHORT_S))
    part = statistics.median(parts)
    print(f"60 topics of 20 Hz use {part:.1%} of a processor, {part / 0.03:.2f} of the aim")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    running(count)
    starts(count)
