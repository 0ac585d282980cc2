"""The verdicts on long trials: growth of resources, drift of latencies, and stalls.

All slopes of a trial are one family: with a probability of 95 % all their intervals are right (Bonferroni).
"""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from middlemark.model.growth import RESOURCES, Resource
from middlemark.model.record import Record, RoleRecord
from middlemark.model.run import Run
from middlemark.stats.trends import FEWEST, LevelStep, Slope, slope

Quantile = Literal["p50", "p99"]
Verdict = Literal["grows", "does not grow", "undecided"]

FAMILY = 0.05
"""The probability that any interval of a trial is wrong."""
TOLERATED = 0.05
"""A series does not grow if the upper end of its growth over the trial is below this share of its level."""
LEAST_DRIFT = 0.02
"""The smallest drift over the trial that counts as a drift."""
EXPLAINED = 0.5
"""The machine explains a stall if threads waited for processors for at least this share of it."""
LEAST_PART = 0.5
"""Slopes leave out a record whose interval is shorter than this share of the usual interval."""


_QUANTILES: Mapping[Quantile, Callable[[RoleRecord], float | None]] = {
    "p50": lambda each: each.p50_ns,
    "p99": lambda each: each.p99_ns,
}


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """The growth of one resource of one worker."""

    trial: int
    """The trial's round, from 1."""
    role: str
    """The worker's roles; ``machine`` for a resource that all workers share."""
    resource: Resource
    per_hour: float
    """Bytes per hour, or number per hour, without the steps."""
    low: float
    high: float
    verdict: Verdict
    level: float
    """The last value."""
    steps: tuple[LevelStep, ...] = ()
    """Sudden changes, which are not part of the slope."""
    levels_off: bool = False
    """True if the growth of the second half is much smaller. The verdict is then undecided."""
    per_million: float | None = None
    """The growth divided by the millions of messages that the worker sent or received. None: of the machine, or the
    worker has no messages."""


class LatencyDrift(msgspec.Struct, frozen=True, kw_only=True):
    """The change of a latency's quantile per hour, as a part of its median over the trial: 0.02 is 2 %."""

    trial: int
    role: str
    quantile: Quantile
    per_hour: float
    low: float
    high: float
    verdict: Literal["drifts", "does not drift", "undecided"]


class Stalls(msgspec.Struct, frozen=True, kw_only=True):
    """The stalls of one role: seconds whose longest latency is at least 1 ms and ten times the median."""

    trial: int
    role: str
    count: int
    machine: int
    """Stalls that the machine explains: in their second, threads of the worker waited for processors, or the hypervisor
    ran other guests, for at least half of the stall."""
    unexplained: int
    """Stalls that the kernel's counters do not explain. Their cause is the middleware, or a pause of the machine that
    left no trace."""
    longest_ns: int
    """The longest unexplained stall. If all are explained, the longest of all."""
    interval_s: float | None
    """Mean time between unexplained stalls; None: there is none."""
    low: float
    """The lower end of its 95 % interval (Garwood), in s."""
    high: float | None


class LongTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One long trial, complete or not."""

    trial: int
    """Its round, from 1."""
    cell: int
    """Index of its cell in the plan."""
    seconds: float
    """The time that its records cover."""
    ended: bool
    """False: the trial still runs, or was interrupted or killed."""
    trends: tuple[Trend, ...]
    drift: tuple[LatencyDrift, ...]
    stalls: tuple[Stalls, ...]


def long_trials(run: Run) -> tuple[LongTrial, ...]:
    """Return the run's long trials, in the order in which they ran."""
    if not run.records:
        return ()
    by_trial: dict[int, list[Record]] = {}
    for each in run.records:
        by_trial.setdefault(each.order, []).append(each)
    started = {each.order: each.started for each in run.outcomes}
    planned = {each.order: each for each in run.file.plan.trials}
    found = []
    for order, records in sorted(by_trial.items()):
        begun = started.get(order, records[-1].started)
        mine = [each for each in records if each.started == begun]
        if mine:
            trial = planned[order]
            found.append(judged(mine, trial=trial.number, cell=trial.cell, ended=order in started))
    return tuple(found)


class JudgedGrowth(msgspec.Struct, frozen=True):
    """The trends of one resource in a trial, compared with the largest growth that is allowed."""

    above: tuple[Trend, ...]
    """Trends whose whole interval is above the allowed growth."""
    undecided: tuple[Trend, ...]
    within: tuple[Trend, ...]
    """Trends whose whole interval is at most the allowed growth."""


def judged_growth(trial: LongTrial, resource: Resource, per_hour: float) -> JudgedGrowth:
    """Compare the growth of a resource with ``per_hour``. ``--fail-if`` and expectations use the result."""
    mine = [each for each in trial.trends if each.resource == resource]
    above = tuple(each for each in mine if each.verdict == "grows" and each.low > per_hour)
    rest = [each for each in mine if each not in above]
    return JudgedGrowth(
        above,
        undecided=tuple(each for each in rest if each.high > per_hour),
        within=tuple(each for each in rest if each.high <= per_hour),
    )


def judged(records: Sequence[Record], *, trial: int = 1, cell: int = 0, ended: bool = True) -> LongTrial:
    """Return the verdicts of one trial from its records."""
    by_worker: dict[str, list[Record]] = {}
    for each in records:
        by_worker.setdefault(each.who, []).append(each)
    regular = {who: _regular(some) for who, some in by_worker.items()}
    tests = max(1, sum(1 for _ in _series(regular)) + sum(1 for _ in _latencies(regular)))
    confidence = 1 - FAMILY / tests
    return LongTrial(
        trial=trial,
        cell=cell,
        seconds=max(each.at_s for each in records),
        ended=ended,
        trends=tuple(found for series in _series(regular) if (found := _trend(trial, *series, confidence))),
        drift=tuple(drift for series in _latencies(regular) if (drift := _drift(trial, *series, confidence))),
        stalls=tuple(each for some in by_worker.values() for each in _stalls(trial, some)),
    )


def _regular(records: Sequence[Record]) -> list[Record]:
    usual = sorted(each.seconds for each in records)[len(records) // 2]
    return [each for each in records if each.seconds >= LEAST_PART * usual]


_Points = tuple[list[float], list[float]]


def _series(workers: Mapping[str, Sequence[Record]]) -> Iterator[tuple[str, Resource, _Points, int]]:
    """Yield (role, resource, points, messages) of each series that is long enough for a slope.

    The messages are those of the worker; 0 for a resource of the machine.
    """
    shared: set[Resource] = set()
    for who, records in workers.items():
        for name, kind in RESOURCES.items():
            if name in shared:
                continue
            points = _points([(each.at_s, kind.of(each)) for each in records])
            if len(points[0]) < FEWEST:
                continue
            if kind.of_machine:
                shared.add(name)
                yield "machine", name, points, 0
            else:
                yield who, name, points, _messages(records)


def _messages(records: Sequence[Record]) -> int:
    """Return the messages that a worker sent or received after its first record."""
    return sum(max(each.sent or 0, each.received or 0) for record in records[1:] for each in record.roles)


def _latencies(workers: Mapping[str, Sequence[Record]]) -> Iterator[tuple[str, Quantile, _Points]]:
    for records in workers.values():
        for role in dict.fromkeys((each.role, each.index) for record in records for each in record.roles):
            mine = [
                (record.at_s, each) for record in records for each in record.roles if (each.role, each.index) == role
            ]
            for name, of in _QUANTILES.items():
                points = _points([(at_s, of(each)) for at_s, each in mine])
                if len(points[0]) >= FEWEST and min(points[1]) > 0:
                    yield role_name(*role), name, points


def _points(found: Sequence[tuple[float, float | None]]) -> _Points:
    known = [(at_s / 3600, value) for at_s, value in found if value is not None]
    return [at for at, _ in known], [float(value) for _, value in known]


def role_name(role: str, index: int) -> str:
    """Return the name of a role as in errors: ``ping``, ``subscriber 0``."""
    return role if role in ("ping", "server") else f"{role} {index}"


def _trend(
    trial: int, role: str, resource: Resource, points: _Points, messages: int, confidence: float
) -> Trend | None:
    kind = RESOURCES[resource]
    found = slope(*points, kind.resolution, confidence)
    if found is None:
        return None
    level = points[1][-1]
    return Trend(
        trial=trial,
        role=role,
        resource=resource,
        per_hour=found.per_hour,
        low=found.low,
        high=found.high,
        verdict=_growth(found, kind.least, max(TOLERATED * level, 2 * kind.resolution)),
        level=level,
        steps=found.steps,
        levels_off=found.levels_off and found.low > 0,
        per_million=found.per_hour * found.hours / (messages / 1e6) if messages else None,
    )


def _growth(found: Slope, least: float, tolerated: float) -> Verdict:
    if found.low > 0 and found.per_hour * found.hours >= least:
        return "undecided" if found.levels_off else "grows"
    return "does not grow" if found.high * found.hours <= tolerated else "undecided"


def _drift(trial: int, role: str, quantile: Quantile, points: _Points, confidence: float) -> LatencyDrift | None:
    middle = statistics.median(points[1])
    found = slope(points[0], [each / middle for each in points[1]], 0.0, confidence)
    if found is None:
        return None
    away = found.low if found.low > 0 else found.high if found.high < 0 else 0.0
    farthest = max(abs(found.low), abs(found.high))
    drifts = away != 0 and abs(found.per_hour) * found.hours >= LEAST_DRIFT and not found.levels_off
    still = farthest * found.hours <= TOLERATED
    return LatencyDrift(
        trial=trial,
        role=role,
        quantile=quantile,
        per_hour=found.per_hour,
        low=found.low,
        high=found.high,
        verdict="drifts" if drifts else "does not drift" if still else "undecided",
    )


def _stalls(trial: int, records: Sequence[Record]) -> Iterator[Stalls]:
    """Yield the stalls of each role of a worker that records latencies."""
    seconds = sum(each.seconds for each in records)
    for key in dict.fromkeys((each.role, each.index) for record in records for each in record.roles):
        mine = [each for record in records for each in record.roles if (each.role, each.index) == key]
        if not any(each.samples for each in mine):
            continue
        peaks = [each for role in mine for each in role.peaks]
        unexplained = [each for each in peaks if (each.machine_ns or 0) < EXPLAINED * each.longest_ns]
        low, high = _garwood(len(unexplained))
        yield Stalls(
            trial=trial,
            role=role_name(*key),
            count=len(peaks),
            machine=len(peaks) - len(unexplained),
            unexplained=len(unexplained),
            longest_ns=max((each.longest_ns for each in unexplained or peaks), default=0),
            interval_s=seconds / len(unexplained) if unexplained else None,
            low=seconds / high,
            high=seconds / low if low else None,
        )


def _garwood(count: int) -> tuple[float, float]:
    """Return the exact 95 % interval of the mean of a Poisson variable."""
    from scipy.special import chdtri  # type: ignore[import-untyped]  # the inverse of the upper tail of chi²

    low = 0.0 if count == 0 else float(chdtri(2 * count, 0.975)) / 2
    return low, float(chdtri(2 * count + 2, 0.025)) / 2
