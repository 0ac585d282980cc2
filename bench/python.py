"""Compares a round trip of udp-python with a program that somebody wrote by hand, and with udp in C++.

usage: PYTHONPATH=src MIDDLEMARK_WORKERS=build/workers python bench/python.py [--pairs N]

The program written by hand is the shortest ping-pong over UDP in Python: send(), recv_into(), two stamps. All processes
are pinned, and the three programs alternate. The difference is the cost of the Python kit for a message.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from middlemark.model.samples import SAMPLE
from middlemark.stats.samples import load

sys.path.insert(0, str(Path(__file__).parent.parent / "conformance"))
from conversation import Conversation, configure

from middlemark.model.protocol import PingRequest, PongRequest, Settings

MESSAGES = 5_000
CPUS = sorted(os.sched_getaffinity(0))[:2]
BY_HAND = """
import os, socket, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
size = int(sys.argv[2])
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.bind(("127.0.0.1", 0))
print(end.getsockname()[1], flush=True)
end.connect(("127.0.0.1", int(sys.stdin.readline())))
buffer = bytearray(size)
while end.recv_into(buffer) == size:
    end.send(buffer)
"""


def by_hand(size: int) -> float:
    """Return the median round trip in µs of the program written by hand."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {CPUS[0]})
    pong = subprocess.Popen(
        [sys.executable, "-c", BY_HAND, str(CPUS[-1]), str(size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert pong.stdin is not None
    assert pong.stdout is not None
    ping = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        ping.bind(("127.0.0.1", 0))
        ping.connect(("127.0.0.1", int(pong.stdout.readline())))
        print(ping.getsockname()[1], file=pong.stdin, flush=True)
        message, reply = bytearray(size), bytearray(size)
        took = []
        for _ in range(MESSAGES + 500):
            begin = time.monotonic_ns()
            ping.send(message)
            ping.recv_into(reply)
            took.append(time.monotonic_ns() - begin)
        return statistics.median(took[500:]) / 1e3
    finally:
        pong.kill()
        pong.wait()
        ping.close()
        os.sched_setaffinity(0, before)


def by_worker(worker: str, size: int, transport: str) -> float:
    """Return the median round trip in µs of a trial with two workers."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            pattern="ping-pong",
            transport=transport,
            reliability="best-effort",
            reception="block",
            depth=1,
            loan=False,
            one_process=False,
            message_bytes=size,
            publishers=1,
            subscribers=1,
            workers=2,
            domain=79,
            scope=f"mm_bench_{os.urandom(3).hex()}",
            scratch=folder,
        )
        samples = f"{folder}/samples.npy"
        ping = PingRequest(
            index=0, cpu=CPUS[0], samples=MESSAGES, duration_s=None, warmup_s=0.1, reply_timeout_s=5.0, limit_s=60.0,
            payload="untouched", echoing=1, samples_path=samples,
        )  # fmt: skip
        pong = PongRequest(index=0, cpu=CPUS[-1], echoes=True, echoing=1, payload="untouched")
        with Conversation(worker) as one, Conversation(worker) as other:
            for talk, role in ((one, ping), (other, pong)):
                talk.expect("hello")
                talk.send(command="configure", **configure(settings, role))
            for talk in (one, other):
                talk.expect("ready")
            for talk in (other, one):
                talk.send(command="start")
                talk.expect("tick")
            one.expect("result")
            other.send(command="stop")
            other.expect("result")
            for talk in (one, other):
                talk.send(command="quit")
        return float(statistics.median(load(Path(samples), SAMPLE)["round_trip_ns"])) / 1e3


def main() -> None:
    """Print the medians of alternating pairs, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    pairs = parser.parse_args().pairs
    workers = Path(os.environ["MIDDLEMARK_WORKERS"])
    for size in (64, 60_000):
        rows = [
            (
                by_hand(size),
                by_worker(str(workers / "middlemark-worker-udp-python"), size, "udp-python"),
                by_worker(str(workers / "middlemark-worker-udp"), size, "udp"),
            )
            for _ in range(pairs)
        ]
        hand, python, cpp = (statistics.median(column) for column in zip(*rows, strict=True))
        ratio = statistics.median(python / hand for hand, python, _ in rows)
        print(f"{size} B: by hand {hand:.1f} µs, udp-python {python:.1f} µs ({ratio:.2f} by pair), udp {cpp:.1f} µs")


if __name__ == "__main__":
    main()
