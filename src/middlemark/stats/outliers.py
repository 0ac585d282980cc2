"""Samples above the 99.9th percentile of a trial, and their cause: the machine, the middleware, or unknown.

A sample is the **machine's** if another process had a role's processor for at least half of the time by which the
sample exceeds the median. The kernel's record of context switches shows such times to the microsecond. Interrupts and
the hypervisor leave no record. The probes around the run's trials measure how often they interrupt a processor for that
long, which gives an upper bound (95 %) of the number of samples that such gaps explain. The samples beyond that number
are the **middleware's**, but nothing shows which samples they are. All other samples are **unknown**.
"""

import math
from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.model.noise import Witnessed
from middlemark.model.outcome import TrialOutcome
from middlemark.model.protocol import Durations
from middlemark.model.times import Summary
from middlemark.stats.quantiles import Numbers
from middlemark.stats.samples import Kept, Samples

SLACK_NS = 2_000.0
DRIFT = 2e-5
"""Relative difference between a worker's clock and the kernel's clock, by the accuracy of the calibration."""

LEAST_NS = 1000
"""The shortest gap that the probe counts, in ns."""

_CHUNK = 1 << 22


class Exposure(msgspec.Struct, frozen=True):
    """The processor time of a trial's roles and the number of their wake-ups.

    Disturbances without a record hit these.
    """

    processor_s: float
    wakes: int


class Outliers(msgspec.Struct, frozen=True, kw_only=True):
    """One trial's samples above its 99.9th percentile."""

    above: int
    machine: int
    unexplained_ns: tuple[float, ...] = ()
    """For each sample that is not the machine's: the ns by which it exceeds the median, in descending order."""
    exposure: Exposure | None = None
    blind: str | None = None
    """The reason why no sample can be attributed to the middleware; None: samples can be attributed."""


class Stillness(msgspec.Struct, frozen=True, kw_only=True):
    """Disturbances that the probes of a run measured: gaps in their processor time, and late ends of their sleeps."""

    spun_s: float = 0.0
    gaps: tuple[tuple[int, int], ...] = ()
    """(lower bound in ns, number of gaps) for each octave of the gaps' lengths."""
    wakes: int = 0
    late: tuple[tuple[int, int], ...] = ()

    def most(self, longer_ns: float, exposure: Exposure) -> float:
        """Return an upper bound of the number of gaps of at least ``longer_ns`` in a trial; inf: nothing was probed.

        The bound is the 95 % quantile of a Poisson distribution whose mean is itself an upper 95 % bound.
        """
        found = math.inf
        if self.spun_s > 0:
            found = upper_bound(_longer(self.gaps, longer_ns)) / self.spun_s * exposure.processor_s
        if exposure.wakes and found < math.inf:
            found += (
                upper_bound(_longer(self.late, longer_ns)) / self.wakes * exposure.wakes if self.wakes else math.inf
            )
        return poisson_quantile(found) if found < math.inf else math.inf


def stillness(trials: Iterable[Witnessed]) -> Stillness:
    """Return the disturbances that the probes of all trials measured, summed."""
    probes = [still for each in trials for still in (*(each.before or ()), *(each.after or ()))]
    return Stillness(
        spun_s=sum(max(0, each.spun_ns - each.taken.total_ns) for each in probes) / 1e9,
        gaps=_added(each.gaps for each in probes),
        wakes=sum(each.wakes for each in probes),
        late=_added(each.late for each in probes),
    )


def poisson_quantile(mean: float) -> int:
    """Return the smallest number that a Poisson variable with this mean exceeds in at most 5 % of cases."""
    if mean > 500:  # the normal distribution is close enough
        return math.ceil(mean + 1.6449 * math.sqrt(mean))
    number, term = 0, math.exp(-mean)
    total = term
    while total < 0.95:
        number += 1
        term *= mean / number
        total += term
    return number


def upper_bound(count: int) -> float:
    """Return the upper 95 % bound of the mean of a Poisson variable, if its value was ``count``.

    The bound is half the 95 % quantile of chi² with 2 (count + 1) degrees of freedom (Garwood 1936). The cube formula
    of Wilson and Hilferty (1931) approximates the quantile to 1 %.
    """
    shape = count + 1
    return float(shape * (1 - 1 / (9 * shape) + 1.6449 / (3 * math.sqrt(shape))) ** 3)


class RoleTimes(msgspec.Struct, frozen=True):
    """Samples of one role in ns. ``begins`` returns the instants (CLOCK_MONOTONIC, ns) of samples, by index."""

    values: Numbers
    begins: Callable[[npt.NDArray[np.int64]], Numbers]


def outliers(parts: Sequence[RoleTimes], summary: Summary | None, outcome: TrialOutcome) -> Outliers | None:
    """Return a trial's samples above p99.9. None: there are no such samples, or the machine was not observed.

    ``summary`` is of all parts together. A gap may lengthen one sample of each part.
    """
    seen = outcome.noise
    if seen is None or summary is None or summary.p50 is None:
        return None
    threshold = summary.p99_9 if summary.p99_9 is not None else _threshold([each.values for each in parts])
    chosen = [(part, _above(part.values, threshold)) for part in parts]
    taken = np.concatenate([np.asarray(part.values[at], dtype=np.float64) for part, at in chosen])
    if len(taken) == 0:
        return None
    # Subtract as integers: a double does not represent the time since boot to the nanosecond.
    begin = np.concatenate(
        [(part.begins(at).astype(np.int64) - seen.from_ns).astype(np.float64) for part, at in chosen]
    )
    excess = taken - summary.p50
    explained = np.zeros(len(taken), dtype=bool)
    if seen.pinned and seen.switches is not None and seen.switches.spells:
        slack = SLACK_NS + DRIFT * np.maximum(begin, 0.0)
        explained = _had_by_others(seen.switches.spells, begin - slack, begin + taken + slack) >= excess / 2
    rest = np.sort(excess[~explained])[::-1]
    return Outliers(
        above=len(taken),
        machine=int(explained.sum()),
        unexplained_ns=tuple(map(float, rest)),
        exposure=Exposure(
            processor_s=(seen.to_ns - seen.from_ns) / 1e9 * len(seen.cpus) * len(parts),
            wakes=seen.voluntary or 0 if seen.before and any(each.wakes for each in seen.before) else 0,
        ),
        blind=_blind(outcome, seen),
    )


def of_round_trips(senders: Sequence[Samples], summary: Summary | None, outcome: TrialOutcome) -> Outliers | None:
    """Return the outliers of pings or clients.

    ``senders``: an array for each role, in the order of ``Witnessed.begins_ns``.
    """
    seen = outcome.noise
    if seen is None or len(senders) != len(seen.begins_ns):
        return None

    def part(samples: Samples, first_ns: int) -> RoleTimes:
        begins = samples["begin_ns"]
        return RoleTimes(samples["round_trip_ns"], lambda at: begins[at].astype(np.int64) + first_ns)

    parts = [part(samples, first) for samples, first in zip(senders, seen.begins_ns, strict=True) if len(samples)]
    return outliers(parts, summary, outcome) if parts else None


def of_stream(kept: Sequence[Kept], summary: Summary | None, outcome: TrialOutcome) -> Outliers | None:
    """Return the outliers of a stream's latencies from the intended instants.

    None as in :func:`outliers`, or if samples are in a histogram.
    """
    subscribers = [each for each in kept if each.role == "subscriber"]
    if any(each.histogram is not None for each in subscribers):
        return None

    def part(samples: Samples) -> RoleTimes:
        received, taken = samples["received_ns"], samples["one_way_ns"]
        return RoleTimes(taken, lambda at: received[at].astype(np.int64) - taken[at].astype(np.int64))

    parts = [part(each.raw) for each in subscribers if len(each.raw)]
    return outliers(parts, summary, outcome) if parts else None


def middlewares(found: Outliers, still: Stillness, *, least_ns: float = 0.0) -> int:
    """Return the least number of unexplained samples that the middleware caused.

    For each length in ns, two numbers are compared: the samples that exceed the median by at least this length, and the
    upper bound of the gaps of at least half this length. The result is the largest difference of the two. Samples less
    than ``least_ns`` above the median are left out.
    """
    if found.blind is not None or found.exposure is None:
        return 0
    excesses = [each for each in found.unexplained_ns if each >= max(least_ns, 2 * LEAST_NS)]
    # The probes count by octave, so the bound is constant within an octave, and the last sample of an octave gives the
    # largest difference.
    octaves = {math.frexp(excess / (2 * LEAST_NS))[1]: rank for rank, excess in enumerate(excesses, start=1)}
    certain = max((rank - still.most(excesses[rank - 1] / 2, found.exposure) for rank in octaves.values()), default=0)
    return max(0, int(certain)) if certain > -math.inf else 0


def _blind(outcome: TrialOutcome, seen: Witnessed) -> str | None:
    if outcome.subscribers:
        return "a delayed message delays all that queue behind it"
    if not seen.pinned:
        return "the roles were not pinned"
    if seen.before is None and seen.after is None:
        return seen.absent.get("before", "the processors were not probed")
    if seen.switches is None:
        return seen.absent.get("switches", "the context switches were not recorded")
    return None if seen.switches.complete else "the record of context switches overflowed"


def _threshold(parts: Sequence[Numbers]) -> float:
    """Return the p99.9 of all parts by nearest rank, even if fewer samples are above it than a report needs."""
    values = np.concatenate([np.asarray(each) for each in parts])
    rank = len(values) - len(values) // 1000 - 1
    return float(np.partition(values, rank)[rank])


def _above(values: Numbers, threshold: float) -> npt.NDArray[np.int64]:
    found = [
        np.flatnonzero(values[begin : begin + _CHUNK] > threshold) + begin for begin in range(0, len(values), _CHUNK)
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def _had_by_others(
    spells: Sequence[tuple[int, int, int]], begins: npt.NDArray[np.float64], ends: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return for each interval from begin to end how long another process had at least one of the processors, in ns."""
    union: list[list[float]] = []
    for begin, length, _ in sorted(spells):
        if union and begin <= union[-1][1]:
            union[-1][1] = max(union[-1][1], begin + length)
        else:
            union.append([begin, begin + length])
    edges = np.array(union, dtype=np.float64)
    had = np.concatenate([[0.0], np.cumsum(edges[:, 1] - edges[:, 0])])
    points, until = edges.ravel(), np.repeat(had, 2)[1:-1]
    found: npt.NDArray[np.float64] = np.interp(ends, points, until) - np.interp(begins, points, until)
    return found


def _longer(counts: Sequence[tuple[int, int]], ns: float) -> int:
    """Return how many gaps may have lasted at least ``ns``.

    A bucket ends at twice its lower bound and counts as a whole.
    """
    return sum(count for lower, count in counts if 2 * lower > ns)


def _added(durations: Iterable[Durations]) -> tuple[tuple[int, int], ...]:
    found: dict[int, int] = {}
    for each in durations:
        for lower, count in each.counts:
            found[lower] = found.get(lower, 0) + count
    return tuple(sorted(found.items()))
