"""Compare the rates of streams with and without Middlemark: received messages per second, alternating.

Usage: python bench/streams.py FOLDER [ROUNDS]

FOLDER contains ``ring_bench`` and ``bare_ring``. The ``shm`` baseline at 64 B is compared with the adapter's ring
without Middlemark's roles, and with a ring written by hand for one size and one subscriber.
Cyclone DDS over UDP is compared with ``ddsperf pub`` and ``ddsperf sub`` (package cyclonedds-tools): reliable,
keep-all, with listeners, batching and the same configuration.
"""

import asyncio
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from middlemark.model.cell import Cell
from middlemark.model.outcome import TrialOutcome
from middlemark.model.plan import Limits, Trial
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.stats.rates import received_by_second
from middlemark.trial.observe import Shared, run_trial
from middlemark.workers.find import find_workers

MESSAGES = 20_000_000
SECONDS = 3
SIZES = (16, 256, 1024, 65536)
CONFIGURATION = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='lo' multicast='true'/></Interfaces>"
    "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize></General>"
    "<Internal><WriteBatch>true</WriteBatch></Internal></Domain></CycloneDDS>"
)


def measured(cell: Cell, limits: Limits, order: int, folder: Path) -> TrialOutcome:
    """Return the outcome of one trial, and remove its samples."""
    worker = next(worker for worker in find_workers()[0] if worker.description.name == cell.adapter)
    trial = Trial(order=order, cell=0, number=1, limits=limits)
    outcome = asyncio.run(
        run_trial(cell, trial, worker, Shared(str(folder), "bench", Here(Domains(0))), lambda _: None)
    )
    for file in outcome.files:
        (folder / file.path).unlink()
    if outcome.failed:
        raise SystemExit(f"bench: {outcome.failed.text}")
    return outcome


def received_hz(outcome: TrialOutcome) -> float:
    """Return the number of messages per second that arrived undamaged at the only subscriber."""
    (arrived,), (sent,) = outcome.subscribers, outcome.publishers
    return (arrived.received - arrived.damaged) / ((arrived.last_received_ns - sent.first_sent_ns) / 1e9)


def median_second_hz(outcome: TrialOutcome) -> float:
    """Return the median rate of the full seconds, without the first and the last, as ddsperf_hz() does."""
    seconds = received_by_second(outcome.series)
    if len(seconds) < SECONDS:
        raise SystemExit(f"bench: {len(seconds)} seconds were reported, not {SECONDS}")
    return statistics.median(seconds[1:-1])


def print_ratios(name: str, ours: list[float], theirs: list[float]) -> None:
    """Print the medians and the ratios of the pairs."""
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    print(
        f"{name}: product {statistics.median(ours):12,.0f}/s, other {statistics.median(theirs):12,.0f}/s: ratio median "
        f"{statistics.median(ratios):.3f}, from {ratios[0]:.3f} to {ratios[-1]:.3f} over {len(ratios)} pairs",
        flush=True,
    )


def bare_rings(loops: Path, rounds: int, folder: Path) -> None:
    """Compare the stream of ``shm`` with its ring alone and with a ring written by hand."""
    cell = Cell(
        adapter="shm",
        transport="shm",
        pattern="stream",
        size=64,
        receive="poll",
        depth=None,
        payload="untouched",
        pin=(0, 1),
    )
    bare = {
        "its ring alone": [str(loops / "ring_bench"), "64", str(MESSAGES)],
        "a hand-written ring": [str(loops / "bare_ring"), "stream", "64", str(MESSAGES)],
    }
    for name, command in bare.items():
        ours, theirs = [], []
        for number in range(rounds):
            answer = subprocess.run(command, capture_output=True, check=True, text=True)
            theirs.append(float(answer.stdout.split()[0]))
            ours.append(received_hz(measured(cell, Limits(duration_s=0.5, warmup_s=0.05), number, folder)))
        print_ratios(f"shm stream, 64 B, over {name}", ours, theirs)


def ddsperf_hz(size: int) -> float:
    """Return the median of the rates that ddsperf's subscriber printed for its full seconds."""
    environment = {**os.environ, "CYCLONEDDS_URI": CONFIGURATION}
    pinned = ["taskset", "-c"]
    begin = ["ddsperf", "-D", str(SECONDS + 2)]
    subscriber = subprocess.Popen(
        [*pinned, "1", *begin, "sub"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    time.sleep(0.3)
    publisher = subprocess.Popen(
        [*pinned, "0", *begin, "pub", "size", str(size)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    words, _ = subscriber.communicate()
    publisher.wait()
    rates = [float(rate) * 1000 for rate in re.findall(r"rate\s+([0-9.]+)\s*kS/s", words)]
    if len(rates) < SECONDS:
        raise SystemExit(f"bench: ddsperf printed no rates: {words}")
    return statistics.median(rates[1:-1])


def ddsperf(rounds: int, folder: Path) -> None:
    """Compare Cyclone's stream with ddsperf's."""
    for size in SIZES:
        cell = Cell(
            adapter="cyclonedds",
            transport="udp",
            pattern="stream",
            size=size,
            receive="listen",
            depth=None,
            payload="untouched",
            pin=(0, 1),
            native=(("Internal/WriteBatch", "true"),),
        )
        ours, theirs = [], []
        for number in range(rounds):
            theirs.append(ddsperf_hz(size))
            limits = Limits(duration_s=SECONDS + 1.2, warmup_s=0.5)
            ours.append(median_second_hz(measured(cell, limits, number, folder)))
        print_ratios(f"cyclonedds udp stream, {size:>5} B", ours, theirs)


if __name__ == "__main__":
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as name:
        where = Path(name)
        (where / "samples").mkdir()
        bare_rings(Path(sys.argv[1]), times, where)
        if shutil.which("ddsperf") is None:
            print("ddsperf: skipped, not installed (Debian and Ubuntu: apt-get install cyclonedds-tools)")
        else:
            ddsperf(times, where)
