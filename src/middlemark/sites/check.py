"""What is tried of hosts before anything is measured: their connection, their builds, their ports."""

import asyncio
import time

import msgspec

from middlemark.model.outcome import ClockOffset
from middlemark.sites.clocks import fitted
from middlemark.sites.cluster import Cluster

TIMES = 20
ANSWER_S = 10.0


class Checked(msgspec.Struct, frozen=True):
    """One host."""

    name: str
    round_trips_ns: tuple[int, ...]
    """Of the connection by which it is coordinated."""
    adapters: dict[str, str]
    """Those that are not as they are here, each with what differs."""
    clock: ClockOffset | None
    """That of the first host against this one's; None: it is the first, or they could not be compared."""
    passes: dict[str, bool]
    """Whether what the other hosts send to a free port of it arrives, by protocol and sender."""


async def check(cluster: Cluster) -> list[Checked]:
    """Check each host, one after the other. Raises HostGoneError."""
    found: list[Checked] = []
    for name in cluster.addresses:
        trips = []
        for _ in range(TIMES):
            begin = time.perf_counter_ns()
            await cluster.call(name, "ping", timeout_s=ANSWER_S)
            trips.append(time.perf_counter_ns() - begin)
        passes: dict[str, bool] = {}
        for other in cluster.addresses:
            if other != name:
                passes |= await _passing(cluster, other, name)
        clock = await _compared(cluster, next(iter(cluster.addresses)), name) if found else None
        found.append(Checked(name, tuple(trips), cluster.differing(name), clock, passes))
    return found


async def _compared(cluster: Cluster, first: str, name: str) -> ClockOffset | None:
    address = cluster.addresses[first]
    port = await cluster.call(first, "answer_clock", address, timeout_s=ANSWER_S)
    try:
        await cluster.call(name, "ask_clock", address, port, timeout_s=ANSWER_S)
        return fitted(await cluster.call(name, "clock_asked", timeout_s=ANSWER_S))
    finally:
        await cluster.call(first, "close", 0.0, timeout_s=ANSWER_S)  # a cluster that exists goes on without us


async def _passing(cluster: Cluster, sender: str, receiver: str) -> dict[str, bool]:
    address = cluster.addresses[receiver]
    udp, tcp = await cluster.call(receiver, "listen", address, timeout_s=ANSWER_S)
    heard = asyncio.create_task(cluster.call(receiver, "heard", timeout_s=ANSWER_S))
    await cluster.call(sender, "knock", address, udp, tcp, timeout_s=ANSWER_S)
    came = await heard
    return {f"{kind} {sender}": passed for kind, passed in zip(("UDP from", "TCP from"), came, strict=True)}
