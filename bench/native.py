"""Compare measurements with the middlewares' own tools, alternating. docs/reference/native-tools.md says what differs.

Usage: python bench/native.py [ROUNDS] [TOOL…], best as scripts/alone python bench/native.py

Needs PYTHONPATH=src and MIDDLEMARK_WORKERS, as bench/run sets them.

Runs every tool that is on the PATH, and prints how to install the others. Sender and receiver each have a processor, as
in Middlemark's trials. Each pair of measurements has a ratio, Middlemark's time or rate ÷ the tool's. Middlemark and
the tool alternate in running first.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from native_tools import (
    CPUS,
    SAMPLES,
    SECONDS,
    dbus_calls,
    ddsperf_ping,
    iceoryx2,
    latencytest,
    roundtripping,
    throughputtest,
    zenoh_latency,
    zenoh_throughput,
    zeromq_latency,
    zeromq_throughput,
)
from streams import ddsperf_hz

ROOT = Path(__file__).resolve().parents[1]
ALIKE = (0.93, 1.07)
"""A median ratio within these limits needs no explanation in ``why``."""


@dataclass(frozen=True)
class Pair:
    """A measurement that both a tool and Middlemark can make.

    ``theirs`` runs the tool with a size and a folder, and returns ns, or messages per second.
    """

    tool: str
    what: str
    sizes: tuple[int, ...]
    theirs: Callable[[int, Path], float]
    ours: str
    mean: bool = False
    """True if the tool prints the mean of the round trips, False if their median."""
    samples: int = SAMPLES
    """Number of Middlemark's round trips."""
    why: str = ""
    """Why the two figures differ, confirmed by removing the cause. Printed if the ratio is outside ``ALIKE``."""

    @property
    def stream(self) -> bool:
        """Return whether the figure is a rate."""
        return "--pattern stream" in self.ours


FAST = "--adapter fastdds --receive listen --payload untouched"
CYCLONE = "--adapter cyclonedds --transport udp --payload untouched"
ZEROMQ = "--adapter zeromq --transport ipc --payload untouched"
ZENOH = "--adapter zenoh --transport tcp --payload untouched"
ICEORYX2 = "--adapter iceoryx2 --processes 1 --receive poll --loan --payload untouched"
RESTS = (
    "the tool counts the rest from a burst's start, so a long burst has none; counted from the end, the ratio is near 1"
)
UNTOUCHED = (
    "the tool does not write or read messages, and its echo loans before receiving; without these differences the"
    " ratio is 0.92 to 1.04"
)
THROUGHPUT = (
    "--pattern stream --burst 1000 --depth 1000 --recovery 5ms "
    "--native heartbeat_period_ms=100 --native nack_response_delay_ms=0"
)
OFF, ON = "--data_sharing=off", "--data_sharing=on"
PAIRS = (
    Pair("LatencyTest", "intraprocess", (16, 1024, 64512), latencytest(OFF, both=True),
         f"{FAST} --transport intraprocess --processes 1",
         why="the tool's writers are transient-local, and it copies each message four times, Middlemark twice"),
    Pair("LatencyTest", "data-sharing, loans", (16, 1024), latencytest(ON, "--data_loans"),
         f"{FAST} --transport data-sharing --loan --native extra_samples=30",
         why="the tool's ping yields before each message, outside the measured time; without it the ratio is near 1"),
    Pair("LatencyTest", "data-sharing", (16, 1024), latencytest(ON), f"{FAST} --transport data-sharing"),
    Pair("LatencyTest", "shm", (16, 1024), latencytest(OFF, "--shared_memory=on"), f"{FAST} --transport shm"),
    Pair("LatencyTest", "udp", (16, 1024, 64512), latencytest(OFF, "--shared_memory=off"), f"{FAST} --transport udp"),
    Pair("ThroughputTest", "shm", (1024,), throughputtest(OFF, "--shared_memory=on"),
         f"{FAST} --transport shm {THROUGHPUT} --native shm_port_queue_capacity=512 --native shm_segment_size=512KiB",
         why=RESTS),
    Pair("ThroughputTest", "udp", (1024,), throughputtest(OFF, "--shared_memory=off"),
         f"{FAST} --transport udp {THROUGHPUT} --native socket_buffer_bytes=0", why=RESTS),
    Pair("RoundtripPing", "udp", (64, 1024), roundtripping, f"{CYCLONE} --receive block"),
    Pair("ddsperf", "ping", (64, 1024), ddsperf_ping, f"{CYCLONE} --receive listen"),
    Pair("ddsperf", "pub, sub", (64, 1024), lambda size, _: ddsperf_hz(size),
         f"{CYCLONE} --receive listen --pattern stream --native Internal/WriteBatch=true --warmup 2s"),
    Pair("dbus-test-tool", "spam, echo", (64, 1024), dbus_calls,
         "--adapter dbus --transport bus --receive block --payload untouched --pattern request-reply", mean=True,
         samples=8 * SAMPLES),
    Pair("local_lat", "ipc", (64, 1024), zeromq_latency,
         f"{ZEROMQ} --receive block --pattern request-reply --native rpc=req-rep", mean=True),
    Pair("local_thr", "ipc", (64, 1024), zeromq_throughput,
         f"{ZEROMQ} --receive block --pattern stream --native sndhwm=1000 --native rcvhwm=1000 --warmup 2s",
         why="Middlemark uses PUB, SUB and stamps, slower than PUSH and PULL; with these the ratio is near 1"),
    Pair("z_ping", "tcp", (64, 1024), zenoh_latency, f"{ZENOH} --receive block",
         why="the tool has LTO, and its pong echoes from a callback; without LTO, and with a channel, the ratio is 1"),
    Pair("z_pub_thr", "tcp", (64, 1024), zenoh_throughput, f"{ZENOH} --receive listen --pattern stream",
         why="the tool has LTO, one memory for all messages, no stamps, default timer slack; else the ratio is 1"),
    Pair("benchmark-publish-subscribe", "ipc", (64, 1024), iceoryx2("ipc"), ICEORYX2, mean=True, samples=500_000,
         why=UNTOUCHED),
    Pair("benchmark-publish-subscribe", "ipc_threadsafe", (64, 1024), iceoryx2("ipc_threadsafe"),
         f"{ICEORYX2} --native service=ipc_threadsafe", mean=True, samples=500_000, why=UNTOUCHED),
)  # fmt: skip
ABSENT = {
    "LatencyTest": "build Fast DDS with -DPERFORMANCE_TESTS=ON; test/performance/latency",
    "ThroughputTest": "build Fast DDS with -DPERFORMANCE_TESTS=ON; test/performance/throughput",
    "RoundtripPing": "build Cyclone DDS with -DBUILD_EXAMPLES=ON; examples/roundtrip, both programs",
    "ddsperf": "apt-get install cyclonedds-tools",
    "dbus-test-tool": "apt-get install dbus-tests",
    "local_lat": "build libzmq's perf/local_lat and perf/remote_lat",
    "local_thr": "build libzmq's perf/local_thr and perf/remote_thr",
    "z_ping": "build zenoh's examples, z_ping and z_pong",
    "z_pub_thr": "build zenoh's examples, z_pub_thr and z_sub_thr",
    "benchmark-publish-subscribe": "build iceoryx2's benchmarks",
}


def ours(pair: Pair, size: int, folder: Path) -> float:
    """Return the figure of one Middlemark trial, run by the command that docs/reference/native-tools.md shows."""
    length = f"--duration {SECONDS}s" if pair.stream else f"--samples {pair.samples}"
    once = f"--size {size} {length} --pin {','.join(CPUS)} --trials 1 --no-baseline --format json --quiet"
    command = [sys.executable, "-m", "middlemark", "run", *pair.ours.split(), *once.split(), "--out", str(folder)]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, stdout=subprocess.PIPE, check=True
    )
    [cell] = json.loads(ended.stdout)["cells"]
    if pair.stream:
        return float(cell["rate_hz"])
    return float(cell["round_trip_ns"]["mean" if pair.mean else "p50"])


def measured(pair: Pair, size: int, rounds: int) -> Iterator[tuple[float, float]]:
    """Yield pairs of Middlemark's figure and the tool's. Each measurement has its own folder."""
    for number in range(rounds):
        figures = {}
        for side in ("ours", "theirs") if number % 2 else ("theirs", "ours"):
            with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as name:
                folder = Path(name)
                figures[side] = ours(pair, size, folder) if side == "ours" else pair.theirs(size, folder)
        yield figures["ours"], figures["theirs"]


def main(rounds: int, names: list[str]) -> None:
    """Compare with every tool that is installed."""
    chosen = [pair for pair in PAIRS if not names or pair.tool in names]
    for tool in dict.fromkeys(pair.tool for pair in chosen):
        if shutil.which(tool) is None:
            print(f"{tool}: skipped, not installed ({ABSENT[tool]})", flush=True)
    for pair in (pair for pair in chosen if shutil.which(pair.tool)):
        for size in pair.sizes:
            print(line_of(pair, size, list(measured(pair, size, rounds))), flush=True)


def line_of(pair: Pair, size: int, pairs: list[tuple[float, float]]) -> str:
    """Return the printed line of a measurement, with the reason if the two figures differ."""
    ratios = sorted(a / b for a, b in pairs)
    here, there = (statistics.median(figures) for figures in zip(*pairs, strict=True))
    form, scale = ("{:,.0f}/s", 1) if pair.stream else ("{:,.1f} µs", 1e-3)
    both = " and ".join(form.format(figure * scale) for figure in (here, there))
    spread = f"{statistics.median(ratios):.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}"
    line = f"{pair.tool:<14} {pair.what:<19} {size:>6} B: {both}: ratio median {spread} over {len(pairs)} pairs"
    if ALIKE[0] <= statistics.median(ratios) <= ALIKE[1]:
        return line
    return f"{line}\n{'':<14} {pair.why or 'the reason is not known'}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, sys.argv[2:])
