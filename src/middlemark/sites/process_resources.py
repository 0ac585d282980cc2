"""Read from the kernel the resource usage of a process that is not a worker. Workers report their own usage."""

import contextlib
import os
import time

from middlemark.model.protocol import Account, Resources, ThreadUse

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def read_account(pid: int) -> Account | None:
    """Return the usage of a process. None: the process has ended, or its usage may not be read.

    The time of running threads is exact to the nanosecond. The time of ended threads is exact to a kernel tick (usually
    10 ms).
    """
    try:
        return Account(at_ns=time.monotonic_ns(), roles=(), resources=_resources(f"/proc/{pid}"))
    except (OSError, ValueError, LookupError):
        return None


def _resources(folder: str) -> Resources:
    status = _fields(f"{folder}/status")
    stat = _text(f"{folder}/stat").rpartition(")")[2].split()
    minor, major, user, system = (int(stat[at]) for at in (7, 9, 11, 12))
    threads: list[ThreadUse] = []
    switches = [0, 0]
    for tid in os.listdir(f"{folder}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended meanwhile
            own = _fields(f"{folder}/task/{tid}/status")
            on_cpu, waiting, _ = _text(f"{folder}/task/{tid}/schedstat").split()
            threads.append(ThreadUse(tid=int(tid), name=own["Name"], cpu_ns=int(on_cpu), waiting_ns=int(waiting)))
            switches[0] += int(own["voluntary_ctxt_switches"])
            switches[1] += int(own["nonvoluntary_ctxt_switches"])
    used = max(sum(each.cpu_ns for each in threads), (user + system) * _TICK_NS)
    user_ns = used * user // (user + system) if user + system else used
    return Resources(
        rss_bytes=_kilobytes(status["VmRSS"]),
        peak_rss_bytes=_kilobytes(status["VmHWM"]),
        bench_bytes=0,
        user_ns=user_ns,
        system_ns=used - user_ns,
        voluntary=switches[0],
        involuntary=switches[1],
        minor_faults=minor,
        major_faults=major,
        threads=tuple(threads),
    )


def _fields(path: str) -> dict[str, str]:
    return {name: value.strip() for name, _, value in (line.partition(":") for line in _text(path).splitlines())}


def _kilobytes(value: str) -> int:
    return int(value.removesuffix("kB")) * 1024


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
