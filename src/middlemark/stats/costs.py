"""Resources that trials used: processors, memory, context switches and the network, from the kernel's counters."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from middlemark.model.cell import Cell
from middlemark.model.outcome import CompanionCost, NetworkCost, TrialOutcome, WorkerCost
from middlemark.stats.result import CellResources, CompanionResources, ThreadResources, WorkerResources

_NS = 1_000_000_000
Cost = TypeVar("Cost", WorkerCost, CompanionCost)


def resources(cell: Cell, outcomes: Sequence[TrialOutcome]) -> CellResources | None:
    """Return the resources of a cell over its measured trials; None if nothing was read."""
    costed = [each for each in outcomes if each.costs]
    network = _added([each.network for each in outcomes if each.network is not None])
    if not costed and network is None:
        return None

    def over(figure: Callable[[TrialOutcome], float | None]) -> float | None:
        return _median(value for each in costed if (value := figure(each)) is not None)

    return CellResources(
        cpu=over(trial_cpu),
        user=over(lambda each: sum(_share(cost.user_ns, cost) for cost in each.costs)),
        system=over(lambda each: sum(_share(cost.system_ns, cost) for cost in each.costs)),
        ns_per_message=over(trial_cpu_ns_per_message),
        rss_bytes=over(lambda each: sum(cost.rss_bytes for cost in each.costs)),
        peak_rss_bytes=over(lambda each: sum(cost.peak_rss_bytes for cost in each.costs)),
        bytes_per_subscriber=over(lambda each: _bytes_per_subscriber(cell, each)),
        voluntary_hz=over(lambda each: sum(map(voluntary_hz, each.costs))),
        involuntary_hz=over(lambda each: sum(map(involuntary_hz, each.costs))),
        voluntary_per_message=over(
            lambda each: _per_message(each, sum(cost.voluntary_switches for cost in each.costs))
        ),
        involuntary_per_message=over(
            lambda each: _per_message(each, sum(cost.involuntary_switches for cost in each.costs))
        ),
        minor_faults=over(lambda each: _sum(cost.minor_faults for cost in each.costs)),
        major_faults=over(lambda each: _sum(cost.major_faults for cost in each.costs)),
        workers=_workers(costed),
        companions=_companions(costed),
        network=network,
    )


def trial_cpu_ns_per_message(outcome: TrialOutcome) -> float | None:
    """Return one trial's ``ns_per_message``; None if nothing was read or received."""
    return _per_message(outcome, _working_ns(outcome)) if outcome.costs else None


def trial_companions_ns_per_message(outcome: TrialOutcome) -> float | None:
    """Return the processor time of one trial's companions for each message received; None: there is no such figure.

    Companions are also read during the warm-up, so their share of a processor is applied to the time of the workers.
    """
    if not outcome.companions or not outcome.costs:
        return None
    seconds = max(each.seconds for each in outcome.costs)
    return _per_message(outcome, sum(map(cpu_of, outcome.companions)) * seconds * _NS)


def trial_cpu(outcome: TrialOutcome) -> float | None:
    """Return the processors that all workers of one trial used together; None: nothing was read."""
    return sum(map(cpu_of, outcome.costs)) if outcome.costs else None


def _workers(outcomes: Sequence[TrialOutcome]) -> tuple[WorkerResources, ...]:
    found = _by_who([outcome.costs for outcome in outcomes])
    return tuple(WorkerResources(**_used(who, costs)) for who, costs in found.items())


def _companions(outcomes: Sequence[TrialOutcome]) -> tuple[CompanionResources, ...]:
    found = _by_who([outcome.companions for outcome in outcomes])
    return tuple(
        CompanionResources(ready_ns=statistics.median(each.ready_ns for each in costs), **_used(who, costs))
        for who, costs in found.items()
    )


def _by_who(trials: Iterable[Sequence[Cost]]) -> dict[str, list[Cost]]:
    """Return name of a process → the costs of the process in each trial.

    The names are in the order of the first trial.
    """
    by_who: dict[str, list[Cost]] = {}
    for costs in trials:
        for cost in costs:
            by_who.setdefault(cost.who, []).append(cost)
    return by_who


def _used(who: str, costs: Sequence[WorkerCost]) -> dict[str, Any]:
    def over(figure: Callable[[WorkerCost], float]) -> float:
        return statistics.median(map(figure, costs))

    return {
        "who": who,
        "cpu": over(cpu_of),
        "user": over(lambda each: _share(each.user_ns, each)),
        "system": over(lambda each: _share(each.system_ns, each)),
        "rss_bytes": over(lambda each: each.rss_bytes),
        "peak_rss_bytes": over(lambda each: each.peak_rss_bytes),
        "voluntary_hz": over(voluntary_hz),
        "involuntary_hz": over(involuntary_hz),
        "minor_faults": _median(each.minor_faults for each in costs if each.minor_faults is not None),
        "major_faults": _median(each.major_faults for each in costs if each.major_faults is not None),
        "threads": _threads(costs),
    }


def _threads(costs: Sequence[WorkerCost]) -> tuple[ThreadResources, ...]:
    by_name: dict[str, list[float]] = {}
    for cost in costs:
        for thread in cost.threads:
            by_name.setdefault(thread.name, []).append(_share(thread.cpu_ns, cost))
    # A thread that is missing in a trial used nothing there.
    found = [
        ThreadResources(name, statistics.median([*shares, *([0.0] * (len(costs) - len(shares)))]))
        for name, shares in by_name.items()
    ]
    return tuple(sorted(found, key=lambda each: -each.cpu))


def _working_ns(outcome: TrialOutcome) -> float:
    """Return the workers' processor time in ns, without the time in which publishers spun until their next instant."""
    used = sum(each.user_ns + each.system_ns for each in outcome.costs)
    return max(used - sum(each.pacing_ns for each in outcome.publishers), 0)


def _per_message(outcome: TrialOutcome, amount: float) -> float | None:
    if outcome.subscribers:
        received = sum(each.received for each in outcome.subscribers)
    else:
        received = outcome.counts.received if outcome.counts else 0
    return amount / received if received else None


def _bytes_per_subscriber(cell: Cell, outcome: TrialOutcome) -> float | None:
    if cell.pattern != "stream" or cell.processes == 1:
        return None
    memory = [each.rss_bytes for each in outcome.costs if each.who.startswith("subscriber")]
    return statistics.mean(memory) if memory else None


def cpu_of(cost: WorkerCost) -> float:
    """Return the processors that one worker used."""
    return _share(cost.user_ns + cost.system_ns, cost)


def voluntary_hz(cost: WorkerCost) -> float:
    """Return how often per second a thread of the worker waited for something (voluntary context switches)."""
    return _rate(cost.voluntary_switches, cost)


def involuntary_hz(cost: WorkerCost) -> float:
    """Return how often per second another thread took the processor (involuntary context switches)."""
    return _rate(cost.involuntary_switches, cost)


def threads_of(cost: WorkerCost) -> float | None:
    """Return the number of the worker's threads, including ended threads; None if an imported log lacks the number."""
    present = [each.threads for each in cost.threads if each.threads is not None]
    return sum(present) if len(present) == len(cost.threads) else None


def _share(nanoseconds: int, cost: WorkerCost) -> float:
    return nanoseconds / (cost.seconds * _NS) if cost.seconds > 0 else 0.0


def _rate(number: int, cost: WorkerCost) -> float:
    return number / cost.seconds if cost.seconds > 0 else 0.0


def _added(costs: Sequence[NetworkCost]) -> NetworkCost | None:
    if not costs:
        return None
    return NetworkCost(
        **{field: sum(getattr(each, field) for each in costs) for field in NetworkCost.__struct_fields__}
    )


def _sum(amounts: Iterable[int | None]) -> int | None:
    present = [each for each in amounts if each is not None]
    return sum(present) if present else None


def _median(figures: Iterable[float]) -> float | None:
    present = list(figures)
    return statistics.median(present) if present else None
