"""What a robot's graph costs beyond its middleware: a start, and processor time while it runs.

Usage: python bench/graphs.py [ROUNDS]

- start: 100 nodes and 400 topics of 2 Hz in ten processes, each adapter as it comes. The time to the first sample
  beyond discovery; the aim is 2 s.
- running: 60 topics of 20 Hz in ten processes over shared memory alone, launcher, witness and workers together. What
  30 s take more than 10 s, a second. The aim, 3 % of a processor, is without the two wake-ups of each message.
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
    """Return topics of 256 B from each node to the one that follows it in another process."""
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
    """Return the outcome of one trial."""
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
    """Print for each adapter with a transport of its own choice how long the graph takes until it runs."""
    large = graph(nodes=100, topics=400, rate_hz=2)
    for worker in find_workers()[0]:
        if worker.description.transport("default") is None:
            continue
        outcomes = [measured(worker, "default", large, 2.0) for _ in range(rounds)]
        discovery = [(each.discovery_ns or 0) / 1e9 for each in outcomes]
        beyond = [((each.first_sample_ns or 0) - (each.discovery_ns or 0)) / 1e9 for each in outcomes]
        print(
            f"{worker.description.name:<12} discovery {statistics.median(discovery):5.2f} s, first sample "
            f"{statistics.median(beyond):5.2f} s later: {statistics.median(beyond) / 2:.2f} of the aim"
        )


def processor_s() -> float:
    """Return the processor time of this process and of all it has started and that ended, in s."""
    return sum(
        spent.ru_utime + spent.ru_stime
        for spent in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def running(rounds: int) -> None:
    """Print the part of a processor that a running graph takes."""
    small = graph(nodes=20, topics=60, rate_hz=20)
    (worker,) = (each for each in find_workers()[0] if each.description.name == "shm")
    parts = []
    for _ in range(rounds):
        spent = []
        for seconds in (SHORT_S, LONG_S):
            before = processor_s()
            measured(worker, "shm", small, seconds)
            spent.append(processor_s() - before)
        parts.append((spent[1] - spent[0]) / (LONG_S - SHORT_S))
    part = statistics.median(parts)
    print(f"60 topics of 20 Hz take {part:.1%} of a processor, {part / 0.03:.2f} of the aim")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    running(count)
    starts(count)
