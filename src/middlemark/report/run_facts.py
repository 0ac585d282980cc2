"""What a report says of the run as a whole: when, where, with what, and how far it came."""

import statistics
from collections.abc import Sequence

import msgspec

from middlemark.launch.outcome import Clock, TrialOutcome
from middlemark.plan.cell import Precision, Reached


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Where it was measured. ``os`` is the distribution with its version, ``kernel`` its release. None: unknown."""

    hostname: str | None = None
    cpu_model: str | None = None
    processors: int | None
    kernel: str | None
    os: str | None


class AdapterFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An adapter that took part; the version is that of the library that was loaded."""

    name: str
    title: str
    version: str
    licence: str
    floor: bool


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One run. ``done_trials`` counts those that ended, failed ones included."""

    suites: tuple[str, ...]
    started: str
    """UTC, ISO 8601."""
    seconds: float
    middlemark: str
    """The version."""
    machine: Machine
    clock: Clock | None
    adapters: tuple[AdapterFacts, ...]
    folder: str | None
    seed: int
    interrupted: bool
    planned_trials: int
    done_trials: int
    notes: tuple[str, ...] = ()
    """What the plan changed or left out, and why."""
    precision: Precision | None = None
    """What was asked of it; None: a number of trials."""
    reached: Reached | None = None
    imported: tuple[str, ...] = ()
    """The logs of other tools that all of it was read from, each with how much could be read. Then the machine is
    unknown, and ``started`` is when it was read."""

    def is_floor(self, adapter: str) -> bool:
        """Say whether that adapter is a floor; false for one that did not take part."""
        return any(each.floor for each in self.adapters if each.name == adapter)


def clock_of(outcomes: Sequence[TrialOutcome]) -> Clock | None:
    """Return the ruler of a run: the medians over its trials, and every source that was used. None without a trial."""
    clocks = [each.clock for each in outcomes if each.clock]
    if not clocks:
        return None
    return Clock(
        source=", ".join(sorted({each.source for each in clocks})),
        ticks_per_second=statistics.median(each.ticks_per_second for each in clocks),
        cost_ns=statistics.median(each.cost_ns for each in clocks),
        resolution_ns=statistics.median(each.resolution_ns for each in clocks),
    )
