"""A measurement here ÷ the same with the middleware's own tool, alternating: docs/native-tools.md says what differs.

Usage: python bench/native.py [ROUNDS] [TOOL…], best as scripts/alone python bench/native.py

Runs every tool that is on the PATH, each with a processor of its own for sender and receiver, as here, and names how
to install the others. A ratio of times or of rates is ours ÷ theirs, one for each pair; what runs first alternates.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from streams import ddsperf_hz

from middlemark.imports.find import find

SAMPLES = 5_000
SECONDS = 2
ROOT = Path(__file__).resolve().parents[1]
CPUS = [str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2]]
LOOPBACK = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='lo' multicast='true'/></Interfaces>"
    "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize></General></Domain></CycloneDDS>"
)


@dataclass(frozen=True)
class Pair:
    """One measurement, as both make it. ``theirs`` takes a size and a folder and returns ns, or messages a second."""

    tool: str
    what: str
    sizes: tuple[int, ...]
    theirs: Callable[[int, Path], float]
    ours: str
    mean: bool = False
    """The tool tells the mean of the round trips; otherwise their median."""

    @property
    def stream(self) -> bool:
        """Whether the figure is a rate."""
        return "--pattern stream" in self.ours


def alongside(behind: list[str], ahead: list[str], folder: Path, **environment: str) -> bytes:
    """Run both, each on a processor of its own, and return what the one told that is asked for its figures."""
    env = {**os.environ, **environment}
    receiver = subprocess.Popen(
        ["taskset", "-c", CPUS[-1], *behind],
        cwd=folder,
        env=env,
        start_new_session=True,  # as a worker has one: the kernel's automatic groups share processors by session
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        return alone(ahead, folder, CPUS[0], **environment)
    finally:
        try:
            receiver.wait(5)
        except subprocess.TimeoutExpired:
            receiver.kill()
            receiver.wait()


def alone(command: list[str], folder: Path, cpus: str, **environment: str) -> bytes:
    """Return what a tool printed."""
    ended = subprocess.run(
        ["taskset", "-c", cpus, *command],
        cwd=folder,
        env={**os.environ, **environment},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=120,
        check=True,
    )
    return ended.stdout


def told(log: bytes, *, rate: bool = False) -> float:
    """Return the p50 of whole round trips in ns, or the rate, by what `middlemark import` reads from a log."""
    form = find(log)
    if form is None or not (measured := form.read([log]).measured):
        raise SystemExit(f"bench: no figures in {log!r}")
    times = measured[-1].times.round_trip_ns
    figure = measured[-1].rate_hz if rate else None if times is None else times.p50
    if figure is None:
        raise SystemExit(f"bench: no median in {log!r}")
    return figure


def latencytest(*options: str, both: bool = False) -> Callable[[int, Path], float]:
    """Return what measures a p50 with LatencyTest."""

    def run(size: int, folder: Path) -> float:
        (folder / "demands.csv").write_text(f"{size};\n")
        given = ["-s", str(SAMPLES), "-f", "demands.csv", "-r", "reliable", "--domain", "7", "--seed", "7", *options]
        if both:
            return told(alone(["LatencyTest", "both", *given], folder, ",".join(CPUS)))
        return told(alongside(["LatencyTest", "subscriber", *given], ["LatencyTest", "publisher", *given], folder))

    return run


def throughputtest(*options: str) -> Callable[[int, Path], float]:
    """Return what measures the received rate with ThroughputTest."""

    def run(size: int, folder: Path) -> float:
        given = ["-r", "reliable", "--domain", "7", "--seed", "7", *options]
        load = [f"--time={SECONDS}", "--demand=1000", f"--msg_size={size}", "--recovery_time=5"]
        publisher = ["ThroughputTest", "publisher", *given, *load]
        return told(alongside(["ThroughputTest", "subscriber", *given], publisher, folder), rate=True)

    return run


def ddsperf_ping(size: int, folder: Path) -> float:
    """Return the median of ddsperf's p50 of each second."""
    ping = ["ddsperf", "-D", str(SECONDS + 1), "ping", "size", str(size)]
    return told(alongside(["ddsperf", "-D", str(SECONDS + 2), "pong"], ping, folder, CYCLONEDDS_URI=LOOPBACK))


def roundtripping(size: int, folder: Path) -> float:
    """Return the p50 of RoundtripPing, which is in whole µs of half round trips."""
    ping = ["RoundtripPing", str(size), "0", str(SECONDS)]
    log = alongside(["RoundtripPong"], ping, folder, CYCLONEDDS_URI=LOOPBACK)
    alone(["RoundtripPing", "quit"], folder, CPUS[0], CYCLONEDDS_URI=LOOPBACK)
    return told(log)


def zeromq_latency(size: int, folder: Path) -> float:
    """Return the mean round trip of REQ and REP."""
    where = [f"ipc://{folder}/lat", str(size), str(SAMPLES)]
    words = alongside(["local_lat", *where], ["remote_lat", *where], folder).decode()
    return 2_000 * float(re.findall(r"average latency: ([0-9.]+) \[us\]", words)[0])


def zeromq_throughput(size: int, folder: Path) -> float:
    """Return the rate of PUSH and PULL."""
    where = [f"ipc://{folder}/thr", str(size), str(200 * SAMPLES)]
    words = alongside(["remote_thr", *where], ["local_thr", *where], folder).decode()
    return float(re.findall(r"mean throughput: (\d+) \[msg/s\]", words)[0])


FAST = "--adapter fastdds --receive listen --payload untouched"
CYCLONE = "--adapter cyclonedds --transport udp --payload untouched"
ZEROMQ = "--adapter zeromq --transport ipc --payload untouched"
THROUGHPUT = (
    "--pattern stream --burst 1000 --depth 1000 --recovery 5ms "
    "--native heartbeat_period_ms=100 --native nack_response_delay_ms=0"
)
OFF, ON = "--data_sharing=off", "--data_sharing=on"
PAIRS = (
    Pair("LatencyTest", "intraprocess", (16, 1024, 64512), latencytest(both=True),
         f"{FAST} --transport intraprocess --processes 1"),
    Pair("LatencyTest", "data-sharing, loans", (16, 1024), latencytest(ON, "--data_loans"),
         f"{FAST} --transport data-sharing --loan --native extra_samples=30"),
    Pair("LatencyTest", "data-sharing", (16, 1024), latencytest(ON), f"{FAST} --transport data-sharing"),
    Pair("LatencyTest", "shm", (16, 1024), latencytest(OFF, "--shared_memory=on"), f"{FAST} --transport shm"),
    Pair("LatencyTest", "udp", (16, 1024, 64512), latencytest(OFF, "--shared_memory=off"), f"{FAST} --transport udp"),
    Pair("ThroughputTest", "shm", (1024,), throughputtest(OFF, "--shared_memory=on"),
         f"{FAST} --transport shm {THROUGHPUT} --native shm_port_queue_capacity=512 --native shm_segment_size=512KiB"),
    Pair("ThroughputTest", "udp", (1024,), throughputtest(OFF, "--shared_memory=off"),
         f"{FAST} --transport udp {THROUGHPUT} --native socket_buffer_bytes=0"),
    Pair("RoundtripPing", "udp", (64, 1024), roundtripping, f"{CYCLONE} --receive block"),
    Pair("ddsperf", "ping", (64, 1024), ddsperf_ping, f"{CYCLONE} --receive listen"),
    Pair("ddsperf", "pub, sub", (64, 1024), lambda size, _: ddsperf_hz(size),
         f"{CYCLONE} --receive listen --pattern stream --native Internal/WriteBatch=true"),
    Pair("local_lat", "ipc", (64, 1024), zeromq_latency,
         f"{ZEROMQ} --receive block --pattern request-reply --native rpc=req-rep", mean=True),
    Pair("local_thr", "ipc", (64, 1024), zeromq_throughput, f"{ZEROMQ} --receive block --pattern stream"),
)  # fmt: skip
ABSENT = {
    "LatencyTest": "build Fast DDS with -DPERFORMANCE_TESTS=ON; test/performance/latency",
    "ThroughputTest": "build Fast DDS with -DPERFORMANCE_TESTS=ON; test/performance/throughput",
    "RoundtripPing": "build Cyclone DDS with -DBUILD_EXAMPLES=ON; examples/roundtrip, both programs",
    "ddsperf": "apt-get install cyclonedds-tools",
    "local_lat": "build libzmq's perf/local_lat and perf/remote_lat",
    "local_thr": "build libzmq's perf/local_thr and perf/remote_thr",
}


def ours(pair: Pair, size: int, folder: Path) -> float:
    """Return the figure of one trial, by the command that the documentation gives."""
    length = f"--duration {SECONDS}s" if pair.stream else f"--samples {SAMPLES}"
    once = f"--size {size} {length} --pin {','.join(CPUS)} --trials 1 --no-floors --format json --quiet"
    command = [sys.executable, "-m", "middlemark", "run", *pair.ours.split(), *once.split(), "--out", str(folder)]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, stdout=subprocess.PIPE, check=True
    )
    [cell] = json.loads(ended.stdout)["cells"]
    if pair.stream:
        return float(cell["rate_hz"])
    return float(cell["round_trip_ns"]["mean" if pair.mean else "p50"])


def measured(pair: Pair, size: int, rounds: int) -> Iterator[tuple[float, float]]:
    """Yield our figure and theirs, from an own folder each."""
    for number in range(rounds):
        figures = {}
        for who in ("ours", "theirs") if number % 2 else ("theirs", "ours"):
            with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as name:
                folder = Path(name)
                figures[who] = ours(pair, size, folder) if who == "ours" else pair.theirs(size, folder)
        yield figures["ours"], figures["theirs"]


def main(rounds: int, names: list[str]) -> None:
    """Compare with every tool that is here."""
    chosen = [each for each in PAIRS if not names or each.tool in names]
    for tool in dict.fromkeys(each.tool for each in chosen):
        if shutil.which(tool) is None:
            print(f"{tool}: not here ({ABSENT[tool]}); left out", flush=True)
    for pair in (each for each in chosen if shutil.which(each.tool)):
        for size in pair.sizes:
            pairs = list(measured(pair, size, rounds))
            ratios = sorted(a / b for a, b in pairs)
            here, there = (statistics.median(each) for each in zip(*pairs, strict=True))
            form, unit = ("{:,.0f}", "/s") if pair.stream else ("{:,.1f}", " µs")
            figures = " and ".join(form.format(each if pair.stream else each / 1e3) + unit for each in (here, there))
            spread = f"{statistics.median(ratios):.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}"
            print(
                f"{pair.tool:<14} {pair.what:<19} {size:>6} B: {figures}: ratio median {spread} over {rounds} pairs",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, sys.argv[2:])
