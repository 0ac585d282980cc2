"""Common code of the Python programs with which the adapters in Python are compared; the C++ counterpart is direct.hpp.

A program uses a client library directly, without the core. It runs with the adapter's own Python:

    PROGRAM BYTES ROUND_TRIPS PING_CPU PONG_CPU      prints the p50 of the round trip in ns
"""

import ctypes
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable

PR_SET_PDEATHSIG, PR_SET_TIMERSLACK = 1, 29
LIMIT_S = 60


def run(ping: Callable[[int, int], None], pong: Callable[[int], None]) -> None:
    """Call ``ping(bytes, round_trips)`` and ``pong(bytes)``, each in its own process. Forks before it calls either."""
    size, round_trips, ping_cpu, pong_cpu = map(int, sys.argv[1:])
    prctl = ctypes.CDLL(None).prctl
    child = os.fork()
    os.sched_setaffinity(0, {ping_cpu if child else pong_cpu})
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    signal.alarm(LIMIT_S)
    if not child:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        pong(size)
        os._exit(0)
    try:
        ping(size, round_trips)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    sys.stdout.flush()
    os._exit(0)  # a client library's threads may still run


def measure(round_trips: int, round_trip: Callable[[], None]) -> None:
    """Measure the round trips, and print their median without the first tenth."""
    times = [0] * round_trips
    for index in range(round_trips):
        begin = time.monotonic_ns()
        round_trip()
        times[index] = time.monotonic_ns() - begin
    print(round(statistics.median(times[round_trips // 10 :])))
