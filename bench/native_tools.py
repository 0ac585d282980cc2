"""The middlewares' own tools, as bench/native.py runs them. Each function returns ns, or messages per second."""

import os
import re
import socket
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from middlemark.imports.find import find

SAMPLES = 5_000
SECONDS = 2
CPUS = [str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2]]
LOOPBACK = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='lo' multicast='true'/></Interfaces>"
    "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize></General></Domain></CycloneDDS>"
)


def alongside(
    behind: list[str], ahead: list[str], folder: Path, *, port: int | None = None, **environment: str
) -> bytes:
    """Run two programs, each on its own processor, and return the output of ``ahead``.

    If ``behind`` listens at a ``port``, start ``ahead`` when ``behind`` listens, and kill ``behind`` at the end,
    because it never ends.
    """
    env = {**os.environ, **environment}
    receiver = subprocess.Popen(
        ["taskset", "-c", CPUS[-1], *behind],
        cwd=folder,
        env=env,
        start_new_session=True,  # like a worker: the kernel's automatic groups share processors by session
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        if port is not None:
            _wait_for_listener(port)
        return output_of(ahead, folder, CPUS[0], **environment)
    finally:
        try:
            receiver.wait(5 if port is None else 0)
        except subprocess.TimeoutExpired:
            receiver.kill()
            receiver.wait()


def _wait_for_listener(port: int) -> None:
    """Wait until a program listens at the port, at most ten seconds."""
    until = time.monotonic() + 10
    while True:
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", port)) == 0:
                return
        if time.monotonic() > until:
            raise SystemExit(f"bench: no program listens at port {port} after 10 s")
        time.sleep(0.05)


def output_of(command: list[str], folder: Path, cpus: str, **environment: str) -> bytes:
    """Run one program and return its output."""
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


def figure_of(log: bytes, *, rate: bool = False) -> float:
    """Return the p50 of whole round trips in ns, or the rate, as `middlemark import` reads it from a log."""
    form = find(log)
    if form is None or not (measured := form.read([log]).measured):
        raise SystemExit(f"bench: no figures in {log!r}")
    times = measured[-1].times.round_trip_ns
    figure = measured[-1].rate_hz if rate else None if times is None else times.p50
    if figure is None:
        raise SystemExit(f"bench: no median in {log!r}")
    return figure


def latencytest(*options: str, both: bool = False) -> Callable[[int, Path], float]:
    """Return a function that measures a p50 with LatencyTest."""

    def run(size: int, folder: Path) -> float:
        (folder / "demands.csv").write_text(f"{size};\n")
        given = ["-s", str(SAMPLES), "-f", "demands.csv", "-r", "reliable", "--domain", "7", "--seed", "7", *options]
        if both:
            return figure_of(output_of(["LatencyTest", "both", *given], folder, ",".join(CPUS)))
        return figure_of(alongside(["LatencyTest", "subscriber", *given], ["LatencyTest", "publisher", *given], folder))

    return run


def throughputtest(*options: str) -> Callable[[int, Path], float]:
    """Return a function that measures the received rate with ThroughputTest."""

    def run(size: int, folder: Path) -> float:
        given = ["-r", "reliable", "--domain", "7", "--seed", "7", *options]
        load = [f"--time={SECONDS}", "--demand=1000", f"--msg_size={size}", "--recovery_time=5"]
        publisher = ["ThroughputTest", "publisher", *given, *load]
        return figure_of(alongside(["ThroughputTest", "subscriber", *given], publisher, folder), rate=True)

    return run


def ddsperf_ping(size: int, folder: Path) -> float:
    """Return the median of the p50 that ddsperf prints every second."""
    ping = ["ddsperf", "-D", str(SECONDS + 1), "ping", "size", str(size)]
    return figure_of(alongside(["ddsperf", "-D", str(SECONDS + 2), "pong"], ping, folder, CYCLONEDDS_URI=LOOPBACK))


def roundtripping(size: int, folder: Path) -> float:
    """Return the p50 of RoundtripPing, which prints half round trips in whole µs."""
    ping = ["RoundtripPing", str(size), "0", str(SECONDS)]
    log = alongside(["RoundtripPong"], ping, folder, CYCLONEDDS_URI=LOOPBACK)
    output_of(["RoundtripPing", "quit"], folder, CPUS[0], CYCLONEDDS_URI=LOOPBACK)
    return figure_of(log)


def zeromq_latency(size: int, folder: Path) -> float:
    """Return the mean round trip of REQ and REP."""
    where = [f"ipc://{folder}/lat", str(size), str(SAMPLES)]
    words = alongside(["local_lat", *where], ["remote_lat", *where], folder).decode()
    return 2_000 * float(re.findall(r"average latency: ([0-9.]+) \[us\]", words)[0])


def zeromq_throughput(size: int, folder: Path) -> float:
    """Return the rate of PUSH and PULL."""
    where = [f"ipc://{folder}/thr", str(size), str(800 * SAMPLES)]
    words = alongside(["remote_thr", *where], ["local_thr", *where], folder).decode()
    return float(re.findall(r"mean throughput: (\d+) \[msg/s\]", words)[0])


def _zenoh(behind: list[str], ahead: list[str], folder: Path) -> list[float]:
    """Return every figure that ``ahead`` printed. Make both programs use only TCP, as Middlemark's trial does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    alike = ["--no-multicast-scouting", "--cfg", "transport/shared_memory/enabled:false"]
    endpoint = f"tcp/127.0.0.1:{port}"
    words = alongside([*behind, *alike, "-l", endpoint], [*ahead, *alike, "-e", endpoint], folder, port=port)
    return [float(figure) for figure in re.findall(r"(?:rtt=)?([0-9.]+)(?=µs lat| msg/s)", words.decode())]


def zenoh_latency(size: int, folder: Path) -> float:
    """Return the median of the round trips, which z_ping prints in whole µs."""
    ping = ["z_ping", "--warmup", "0.5", "--samples", str(SAMPLES), str(size)]
    return 1_000 * statistics.median(_zenoh(["z_pong"], ping, folder))


def zenoh_throughput(size: int, folder: Path) -> float:
    """Return the median rate that z_sub_thr prints for rounds of 100,000 messages, without the first."""
    subscriber = ["z_sub_thr", "--samples", "20", "--number", "100000"]
    return statistics.median(_zenoh(["z_pub_thr", str(size)], subscriber, folder)[1:])


def iceoryx2(service: str) -> Callable[[int, Path], float]:
    """Return a function that measures the mean round trip between two threads over this kind of service."""

    def run(size: int, folder: Path) -> float:
        cores = ["--cpu-core-participant-1", CPUS[0], "--cpu-core-participant-2", CPUS[-1]]
        command = ["benchmark-publish-subscribe", "--bench-ipc", "-i", "1000000", "-p", str(size), *cores]
        words = output_of(command, folder, ",".join(CPUS)).decode()
        [[times, took_s]] = re.findall(rf"::{service}::Service ::: Iterations: (\d+), Time: ([0-9.]+) s", words)
        return 1e9 * float(took_s) / float(times)

    return run


def dbus_calls(size: int, folder: Path) -> float:
    """Return the mean round trip of a method call through a daemon, from the difference of many and few calls."""
    bus = f"unix:path={folder}/bus"
    daemon = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--nosyslog", f"--address={bus}"],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for_file(folder / "bus")
        few, many = (_dbus_calls(size, folder, calls, bus) for calls in (SAMPLES, 9 * SAMPLES))
    finally:
        daemon.kill()
        daemon.wait()
    return (many - few) / (8 * SAMPLES)


def _dbus_calls(size: int, folder: Path, calls: int, bus: str) -> int:
    """Return the time of ``calls`` calls in ns, including the start of the tool."""
    name = "com.example.Echo"
    echo = subprocess.Popen(
        ["taskset", "-c", CPUS[-1], "dbus-test-tool", "echo", f"--name={name}"],
        env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": bus},
        start_new_session=True,
    )
    try:
        time.sleep(0.5)  # wait until the echo program owns its name on the bus
        spam = ["dbus-test-tool", "spam", f"--dest={name}", "--bytes", f"--payload={'x' * size}", f"--count={calls}"]
        began = time.monotonic_ns()
        output_of(spam, folder, CPUS[0], DBUS_SESSION_BUS_ADDRESS=bus)
        return time.monotonic_ns() - began
    finally:
        echo.kill()
        echo.wait()


def _wait_for_file(path: Path) -> None:
    """Wait until the file exists, at most ten seconds."""
    until = time.monotonic() + 10
    while not path.exists():
        if time.monotonic() > until:
            raise SystemExit(f"bench: {path} does not exist after 10 s")
        time.sleep(0.05)
