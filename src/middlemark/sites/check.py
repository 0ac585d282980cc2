"""Check hosts before a measurement: connections, builds, clocks and ports."""

import asyncio
import time

import msgspec

from middlemark.model.outcome import ClockOffset
from middlemark.sites.clocks import fitted
from middlemark.sites.cluster import Cluster

TIMES = 20
ANSWER_S = 10.0


class Checked(msgspec.Struct, frozen=True):
    """The results of the checks of one host."""

    name: str
    round_trips_ns: tuple[int, ...]
    """The round trips of the connection between coordinator and host."""
    adapters: dict[str, str]
    """The adapters that differ from the adapters on this machine, each with the difference."""
    clock: ClockOffset | None
    """The offset of the first host's clock from this host's clock. None: this is the first host, or the offset
    is unknown."""
    passes: dict[str, bool]
    """Protocol and name of another host → whether packets of that host arrive at a free port of this host."""


async def check(cluster: Cluster) -> list[Checked]:
    """Check the hosts one after the other. Raises HostGoneError."""
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
        await cluster.call(
            first, "close", 0.0, timeout_s=ANSWER_S
        )  # the joined cluster keeps running, so our actors must stop themselves


async def _passing(cluster: Cluster, sender: str, receiver: str) -> dict[str, bool]:
    address = cluster.addresses[receiver]
    udp, tcp = await cluster.call(receiver, "listen", address, timeout_s=ANSWER_S)
    heard = asyncio.create_task(cluster.call(receiver, "heard", timeout_s=ANSWER_S))
    await cluster.call(sender, "knock", address, udp, tcp, timeout_s=ANSWER_S)
    arrived = await heard
    return {f"{kind} {sender}": passed for kind, passed in zip(("UDP from", "TCP from"), arrived, strict=True)}
