"""Compute the idle cost of a crowd from the resource reports of its workers. Pure."""

from collections.abc import Sequence

from middlemark.model.crowd import IdleUse
from middlemark.model.outcome import NetworkCost
from middlemark.model.protocol import Account, TickEvent
from middlemark.sites.evidence import moved

SETTLING_S = 0.5
"""Readings before this time, in s since the start, are left out, because other workers may still send probes."""


def idle_use(workers: Sequence[Sequence[Account]], network: Sequence[NetworkCost]) -> tuple[IdleUse | None, str | None]:
    """Return the use of all workers together while they were idle, or None and the reason.

    ``workers``: the events of each worker in order. ``network``: the counters at each event of the first worker.
    """
    cpu = switches = 0.0
    rss = threads = 0
    seconds: list[float] = []
    for events in workers:
        idle = _idle(events)
        if len(idle) < 2:
            counted = f"a worker reported its use {len(idle)} times"
            return None, f"{counted} while it was idle, and two reports are needed; measure longer"
        first, last = events[idle[0]], events[idle[-1]]
        seconds.append((last.at_ns - first.at_ns) / 1e9)
        before, after = first.resources, last.resources
        used_ns = after.user_ns + after.system_ns - before.user_ns - before.system_ns
        cpu += used_ns / 1e9 / seconds[-1]
        switches += (after.voluntary + after.involuntary - before.voluntary - before.involuntary) / seconds[-1]
        rss += max(0, after.rss_bytes - after.bench_bytes)
        threads += len(after.threads)
    if not workers:
        return None, "no worker reported its use"
    at = _idle(workers[0])
    traffic = moved(network[at[0]], network[at[-1]])
    return IdleUse(
        seconds=min(seconds),
        cpu=cpu,
        switches_hz=switches,
        packets_hz=traffic.loopback_packets / seconds[0],
        bytes_hz=traffic.loopback_bytes / seconds[0],
        rss_bytes=rss,
        threads=threads,
    ), None


def _idle(events: Sequence[Account]) -> list[int]:
    """Return the indices of the reports of the idle phase, without the first ``SETTLING_S``."""
    return [
        at
        for at, each in enumerate(events)
        if isinstance(each, TickEvent) and each.phase == "idle" and each.elapsed_s >= SETTLING_S
    ]
