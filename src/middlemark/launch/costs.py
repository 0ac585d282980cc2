"""What workers said of their resources while they measured → costs and the series. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.launch.network import moved
from middlemark.launch.outcome import NetworkCost, Second, ThreadCost, WorkerCost

Event = Mapping[str, Any]
"""A ``measuring``, ``tick`` or ``done`` event with ``at_ns``, ``roles`` and ``resources`` (docs/protocol.md)."""


ENDED = "(ended)"
"""Stands for threads of several names that ended between two readings."""


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """One worker's own account of a trial."""

    who: str
    pid: int
    events: tuple[Event, ...]
    """From its ``measuring`` on, in order."""
    network: tuple[NetworkCost, ...] = ()
    """A reading of the namespace's counters for each event; empty for all workers but the first."""


def account(who: str, pid: int, heard: Sequence[Event], network: Sequence[NetworkCost] = ()) -> Account | None:
    """Return the part of what a worker said that its costs follow from; None: it did not measure, or did not say.

    ``heard`` are its events in order; ``network`` is as long as ``heard``, or empty.
    """
    begin = next((at for at, event in enumerate(heard) if event["event"] == "measuring"), None)
    if begin is None:
        return None
    told = [at for at in range(begin, len(heard)) if "resources" in heard[at] and "at_ns" in heard[at]]
    if len(told) < 2 or told[0] != begin:
        return None
    return Account(
        who=who,
        pid=pid,
        events=tuple(heard[at] for at in told),
        network=tuple(network[at] for at in told) if network else (),
    )


def worker_cost(account: Account) -> WorkerCost:
    """Return what one worker cost from when it began to measure to its end."""
    first, last = account.events[0], account.events[-1]
    return WorkerCost(
        who=account.who,
        pid=account.pid,
        seconds=_seconds(first, last),
        rss_bytes=_memory(last, "rss_bytes"),
        peak_rss_bytes=max(_memory(event, "peak_rss_bytes") for event in account.events),
        bench_bytes=last["resources"]["bench_bytes"],
        **_resources(first, last),
        threads=_threads(account.events),
    )


def series(accounts: Sequence[Account]) -> tuple[Second, ...]:
    """Return the steps of every worker, one worker after the other."""
    if not accounts:
        return ()
    origin_ns = min(int(each.events[0]["at_ns"]) for each in accounts)
    return tuple(step for each in accounts for step in _steps(each, origin_ns))


def _steps(account: Account, origin_ns: int) -> Iterable[Second]:
    for at in range(1, len(account.events)):
        before, after = account.events[at - 1], account.events[at]
        yield Second(
            at_s=(int(after["at_ns"]) - origin_ns) / 1e9,
            seconds=_seconds(before, after),
            who=account.who,
            sent=_counted("sent", before, after),
            received=_counted("received", before, after),
            duplicated=_counted("duplicated", before, after),
            reordered=_counted("reordered", before, after),
            damaged=_counted("damaged", before, after),
            publish_failed=_counted("publish_failed", before, after),
            blocked_ns=_counted("blocked_ns", before, after),
            rss_bytes=_memory(after, "rss_bytes"),
            **_resources(before, after),
            threads=_threads(account.events[: at + 1], since=at - 1),
            network=moved(account.network[at - 1], account.network[at]) if account.network else None,
        )


def _memory(event: Event, figure: str) -> int:
    """Return the resident memory without what holds the bench's own samples, which is resident from the start."""
    return max(0, int(event["resources"][figure]) - int(event["resources"]["bench_bytes"]))


def _counted(name: str, before: Event, after: Event) -> int | None:
    """Return by how much the roles that count it moved; None: none of them does."""
    late = [role[name] for role in after.get("roles", ()) if role.get(name) is not None]
    early = [role[name] for role in before.get("roles", ()) if role.get(name) is not None]
    return sum(late) - sum(early) if late else None


_RESOURCES = {
    "user_ns": "user_ns",
    "system_ns": "system_ns",
    "voluntary_switches": "voluntary",
    "involuntary_switches": "involuntary",
    "minor_faults": "minor_faults",
    "major_faults": "major_faults",
}


def _resources(before: Event, after: Event) -> dict[str, int]:
    return {field: after["resources"][name] - before["resources"][name] for field, name in _RESOURCES.items()}


def _threads(events: Sequence[Event], since: int = 0) -> tuple[ThreadCost, ...]:
    """Return each name's threads and what they used between ``events[since]`` and the last of ``events``.

    One that began meanwhile counts from its beginning. One that ended (a role's own has when its worker says ``done``)
    is no longer listed; but what it used is in the process's total, less what the living account for. That remainder
    is its name's, or, of several names, that of ENDED.
    """
    first, final = events[since]["resources"], events[-1]["resources"]
    before = {thread["tid"]: int(thread["cpu_ns"]) for thread in first["threads"]}
    last: dict[int, tuple[str, int]] = {}
    for event in events[since:]:
        for thread in event["resources"]["threads"]:
            last[thread["tid"]] = (thread["name"], int(thread["cpu_ns"]))
    found: dict[str, list[int]] = {}
    for tid, (name, cpu_ns) in last.items():
        found.setdefault(name, []).append(cpu_ns - before.get(tid, 0))
    ended = {name for tid, (name, _) in last.items() if tid not in {thread["tid"] for thread in final["threads"]}}
    used = sum(int(final[key]) - int(first[key]) for key in ("user_ns", "system_ns"))
    unlisted = used - sum(sum(each) for each in found.values())
    if ended and unlisted > 0:
        found.setdefault(ended.pop() if len(ended) == 1 else ENDED, [0])[0] += unlisted
    return tuple(ThreadCost(name=name, threads=len(each), cpu_ns=sum(each)) for name, each in sorted(found.items()))


def _seconds(before: Event, after: Event) -> float:
    return (int(after["at_ns"]) - int(before["at_ns"])) / 1e9


def waited(workers: Sequence[Sequence[Event]], roles: Sequence[str]) -> dict[str, int | None]:
    """Return ``delay_ns``, ``voluntary`` and ``involuntary``, each worker from its ``measuring`` to its ``done``.

    ``workers`` are the events of each in order, ``roles`` the names of the threads whose waiting for a processor
    counts. None: not told (no schedstat, an older worker, or all was over before it was asked).
    """
    delays: list[int] = []
    switches: dict[str, list[int]] = {"voluntary": [], "involuntary": []}
    for events in workers:
        told = account("", 0, events)
        if told is None:
            continue
        first, last = told.events[0]["resources"], told.events[-1]["resources"]
        for kind, found in switches.items():
            found.append(int(last[kind]) - int(first[kind]))
        before = {thread["tid"]: thread.get("waiting_ns") for thread in first["threads"]}
        for thread in last["threads"]:
            waiting, was = thread.get("waiting_ns"), before.get(thread["tid"])
            if thread["name"] in roles and waiting is not None and was is not None:
                delays.append(int(waiting) - int(was))
    return {
        "delay_ns": sum(delays) if len(delays) >= len(roles) else None,
        **{kind: sum(found) if found else None for kind, found in switches.items()},
    }
