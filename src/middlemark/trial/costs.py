"""What workers said of their resources while they measured → costs and the series. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from middlemark.model.outcome import CompanionCost, NetworkCost, Second, ThreadCost, WorkerCost
from middlemark.model.protocol import Account, MeasuringEvent
from middlemark.sites.evidence import moved
from middlemark.sites.witness import Waited

ENDED = "(ended)"
"""Stands for threads of several names that ended between two readings."""


class WorkerAccounts(msgspec.Struct, frozen=True, kw_only=True):
    """One worker's own accounts of a trial."""

    who: str
    pid: int
    events: tuple[Account, ...]
    """From its ``measuring`` on, in order."""
    network: tuple[NetworkCost, ...] = ()
    """A reading of the namespace's counters for each event; empty for all workers but the first."""


def account(who: str, pid: int, heard: Sequence[Account], network: Sequence[NetworkCost] = ()) -> WorkerAccounts | None:
    """Return the part of what a worker said that its costs follow from; None: it did not measure.

    ``heard`` are its events in order; ``network`` is as long as ``heard``, or empty.
    """
    begin = next((at for at, event in enumerate(heard) if isinstance(event, MeasuringEvent)), len(heard))
    if len(heard) - begin < 2:
        return None
    return WorkerAccounts(who=who, pid=pid, events=tuple(heard[begin:]), network=tuple(network[begin:]))


def worker_cost(told: WorkerAccounts) -> WorkerCost:
    """Return what one worker cost from when it began to measure to its end."""
    first, last = told.events[0], told.events[-1]
    return WorkerCost(
        who=told.who,
        pid=told.pid,
        seconds=_seconds(first, last),
        rss_bytes=_memory(last, "rss_bytes"),
        peak_rss_bytes=max(_memory(event, "peak_rss_bytes") for event in told.events),
        bench_bytes=last.resources.bench_bytes,
        **_resources(first, last),
        threads=_threads(told.events),
    )


def companion_cost(who: str, pid: int, ready_ns: int, first: Account, last: Account) -> CompanionCost:
    """Return what a companion cost between two readings; a thread that ended between them takes nothing back."""
    before, after = first.resources, last.resources
    kept = {name: max(getattr(before, name), getattr(after, name)) for name in _RESOURCES.values()}
    last = msgspec.structs.replace(last, resources=msgspec.structs.replace(after, **kept))
    told = WorkerAccounts(who=who, pid=pid, events=(first, last))
    return CompanionCost(ready_ns=ready_ns, **msgspec.structs.asdict(worker_cost(told)))


def series(workers: Sequence[WorkerAccounts]) -> tuple[Second, ...]:
    """Return the steps of every worker, one worker after the other."""
    if not workers:
        return ()
    origin_ns = min(each.events[0].at_ns for each in workers)
    return tuple(step for each in workers for step in _steps(each, origin_ns))


def _steps(told: WorkerAccounts, origin_ns: int) -> Iterable[Second]:
    for at in range(1, len(told.events)):
        before, after = told.events[at - 1], told.events[at]
        yield Second(
            at_s=(after.at_ns - origin_ns) / 1e9,
            seconds=_seconds(before, after),
            who=told.who,
            sent=_counted("sent", before, after),
            received=_counted("received", before, after),
            duplicated=_counted("duplicated", before, after),
            reordered=_counted("reordered", before, after),
            damaged=_counted("damaged", before, after),
            publish_failed=_counted("publish_failed", before, after),
            blocked_ns=_counted("blocked_ns", before, after),
            rss_bytes=_memory(after, "rss_bytes"),
            **_resources(before, after),
            threads=_threads(told.events[: at + 1], since=at - 1),
            network=moved(told.network[at - 1], told.network[at]) if told.network else None,
        )


def _memory(event: Account, figure: str) -> int:
    """Return the resident memory without what holds the bench's own samples, which is resident from the start."""
    return max(0, int(getattr(event.resources, figure)) - event.resources.bench_bytes)


def _counted(name: str, before: Account, after: Account) -> int | None:
    """Return by how much the roles that count it moved; None: none of them does."""
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
    """Return each name's threads and what they used between ``events[since]`` and the last of ``events``.

    One that began meanwhile counts from its beginning. One that ended (a role's own has when its worker says ``done``)
    is no longer listed; but what it used is in the process's total, less what the living account for. That remainder
    is its name's, or, of several names, that of ENDED.
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
    """Return how the roles waited, each worker from its ``measuring`` to its ``done``.

    ``workers`` are the events of each in order, ``roles`` the names of the threads whose waiting for a processor
    counts.
    """
    delays: list[int] = []
    others: list[int] = []
    switches: dict[str, list[int]] = {"voluntary": [], "involuntary": []}
    for events in workers:
        told = account("", 0, events)
        if told is None:
            continue
        first, last = told.events[0].resources, told.events[-1].resources
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
