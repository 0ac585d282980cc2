"""Compute costs and the time series from the resource usage that workers report. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from middlemark.model.outcome import CompanionCost, NetworkCost, Second, ThreadCost, WorkerCost
from middlemark.model.protocol import Account, MeasuringEvent
from middlemark.sites.evidence import moved
from middlemark.sites.witness import Waited

ENDED = "(ended)"
"""The name under which threads are listed that ended between two readings and had different names."""


class WorkerAccounts(msgspec.Struct, frozen=True, kw_only=True):
    """The resource reports of one worker in a trial."""

    who: str
    pid: int
    events: tuple[Account, ...]
    """The worker's events in order, beginning with ``measuring``."""
    network: tuple[NetworkCost, ...] = ()
    """The counters of the network at each event; only for the first worker."""


def account(who: str, pid: int, heard: Sequence[Account], network: Sequence[NetworkCost] = ()) -> WorkerAccounts | None:
    """Return the reports since the measurement began; None: the worker did not measure.

    ``heard``: the worker's events in order. ``network``: as long as ``heard``, or empty.
    """
    begin = next((at for at, event in enumerate(heard) if isinstance(event, MeasuringEvent)), len(heard))
    if len(heard) - begin < 2:
        return None
    return WorkerAccounts(who=who, pid=pid, events=tuple(heard[begin:]), network=tuple(network[begin:]))


def worker_cost(accounts: WorkerAccounts) -> WorkerCost:
    """Return the cost of a worker from the beginning to the end of its measurement."""
    first, last = accounts.events[0], accounts.events[-1]
    return WorkerCost(
        who=accounts.who,
        pid=accounts.pid,
        seconds=_seconds(first, last),
        rss_bytes=_memory(last, "rss_bytes"),
        peak_rss_bytes=max(_memory(event, "peak_rss_bytes") for event in accounts.events),
        bench_bytes=last.resources.bench_bytes,
        **_resources(first, last),
        threads=_threads(accounts.events),
    )


def companion_cost(who: str, pid: int, ready_ns: int, first: Account, last: Account) -> CompanionCost:
    """Return the cost of a companion between the readings ``first`` and ``last``.

    No figure is negative, even if a thread ended in between.
    """
    before, after = first.resources, last.resources
    kept = {name: max(getattr(before, name), getattr(after, name)) for name in _RESOURCES.values()}
    last = msgspec.structs.replace(last, resources=msgspec.structs.replace(after, **kept))
    accounts = WorkerAccounts(who=who, pid=pid, events=(first, last))
    return CompanionCost(ready_ns=ready_ns, **msgspec.structs.asdict(worker_cost(accounts)))


def series(workers: Sequence[WorkerAccounts]) -> tuple[Second, ...]:
    """Return the time series of all workers, worker by worker."""
    if not workers:
        return ()
    origin_ns = min(each.events[0].at_ns for each in workers)
    return tuple(step for each in workers for step in _steps(each, origin_ns))


def _steps(accounts: WorkerAccounts, origin_ns: int) -> Iterable[Second]:
    for at in range(1, len(accounts.events)):
        before, after = accounts.events[at - 1], accounts.events[at]
        counts: dict[str, Any] = {name: _counted(name, before, after) for name in _COUNTED}
        yield Second(
            at_s=(after.at_ns - origin_ns) / 1e9,
            seconds=_seconds(before, after),
            who=accounts.who,
            **counts,
            rss_bytes=_memory(after, "rss_bytes"),
            **_resources(before, after),
            threads=_threads(accounts.events[: at + 1], since=at - 1),
            network=moved(accounts.network[at - 1], accounts.network[at]) if accounts.network else None,
        )


_COUNTED = ("sent", "received", "duplicated", "reordered", "damaged", "publish_failed", "blocked_ns")


def _memory(event: Account, figure: str) -> int:
    """Return the resident memory in bytes, without the bench's memory for samples."""
    return max(0, int(getattr(event.resources, figure)) - event.resources.bench_bytes)


def _counted(name: str, before: Account, after: Account) -> int | None:
    """Return the increase of the count ``name``, summed over the roles that report it; None: no role reports it."""
    late = [count for role in after.roles if (count := getattr(role, name)) is not None]
    early = [count for role in before.roles if (count := getattr(role, name)) is not None]
    return sum(late) - sum(early) if late else None


_RESOURCES = {
    "user_ns": "user_ns",
    "system_ns": "system_ns",
    "voluntary_switches": "voluntary",
    "involuntary_switches": "involuntary",
    "minor_faults": "minor_faults",
    "major_faults": "major_faults",
}


def _resources(before: Account, after: Account) -> dict[str, int]:
    return {
        field: getattr(after.resources, name) - getattr(before.resources, name) for field, name in _RESOURCES.items()
    }


def _threads(events: Sequence[Account], since: int = 0) -> tuple[ThreadCost, ...]:
    """Return the threads by name, with their processor time between ``events[since]`` and the last event.

    The time of a thread that started in between counts from its start. A thread that has ended is no longer listed, and
    a role's thread ends before its worker sends ``done``. So the process's time that no listed thread used counts for
    the ended threads. The ended threads are listed under their name, or as ENDED if their names differ.
    """
    first, final = events[since].resources, events[-1].resources
    before = {thread.tid: thread.cpu_ns for thread in first.threads}
    last: dict[int, tuple[str, int]] = {}
    for event in events[since:]:
        for thread in event.resources.threads:
            last[thread.tid] = (thread.name, thread.cpu_ns)
    found: dict[str, list[int]] = {}
    for tid, (name, cpu_ns) in last.items():
        found.setdefault(name, []).append(cpu_ns - before.get(tid, 0))
    ended = {name for tid, (name, _) in last.items() if tid not in {thread.tid for thread in final.threads}}
    used = final.user_ns + final.system_ns - first.user_ns - first.system_ns
    unlisted = used - sum(sum(each) for each in found.values())
    if ended and unlisted > 0:
        found.setdefault(ended.pop() if len(ended) == 1 else ENDED, [0])[0] += unlisted
    return tuple(ThreadCost(name=name, threads=len(each), cpu_ns=sum(each)) for name, each in sorted(found.items()))


def _seconds(before: Account, after: Account) -> float:
    return (after.at_ns - before.at_ns) / 1e9


def waited(workers: Sequence[Sequence[Account]], roles: Sequence[str]) -> Waited:
    """Return how long the roles waited for processors, in ns, from each worker's ``measuring`` to its ``done``.

    ``workers``: the events of each worker in order. ``roles``: the names of the threads whose waiting counts.
    """
    delays: list[int] = []
    others: list[int] = []
    switches: dict[str, list[int]] = {"voluntary": [], "involuntary": []}
    for events in workers:
        accounts = account("", 0, events)
        if accounts is None:
            continue
        first, last = accounts.events[0].resources, accounts.events[-1].resources
        for kind, found in switches.items():
            found.append(getattr(last, kind) - getattr(first, kind))
        before = {thread.tid: thread.waiting_ns for thread in first.threads}
        for thread in last.threads:
            waiting, was = thread.waiting_ns, before.get(thread.tid)
            if waiting is not None and was is not None:
                (delays if thread.name in roles else others).append(int(waiting) - int(was))
    return Waited(
        delay_ns=sum(delays) if len(delays) >= len(roles) else None,
        middleware_ns=sum(others) if others else None,
        **{kind: sum(found) if found else None for kind, found in switches.items()},
    )
