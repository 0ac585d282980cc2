"""Series of one configuration over the runs of a suite on a machine, and the changes in them."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from middlemark.history.figures import RunFigures, SeriesFigure
from middlemark.model.units import format_count, format_size
from middlemark.stats.change_points import FEWEST_RUNS, change_points, shift
from middlemark.stats.verdict import MARGIN

MOST_RUNS = 500
"""The number of a suite's newest runs that are searched by default."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """The figure of one run."""

    run: str
    started: str
    version: str
    """The version of the middleware."""
    value: float
    low: float | None
    """The lower end of the interval; null: the run has fewer than six trials."""
    high: float | None


class ChangePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A change between two successive runs. ``before`` and ``after`` are the runs to compare."""

    at: str
    """The time at which the first run after the change began."""
    before: str
    after: str
    shift: float
    """The relative change of the figure: 0.1 is a tenth more. More is worse."""
    low: float
    """The lower end of the 95 % interval of the change."""
    high: float
    suspect: str | None
    """The differences between the two runs that the runs record (commit, versions, kernel, …); null: none."""

    @property
    def is_worse(self) -> bool:
        """Say whether the figure became worse."""
        return self.shift > 0


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """One configuration over time, the oldest run first."""

    suite: str
    machine: str
    adapter: str
    transport: str
    size: int
    what: str
    """The levels that differ from the default, in words, without adapter, transport and size."""
    figure: str
    """``p50``, ``throughput`` (as the time per message) or ``deadline``. Less is better."""
    unit: str
    """``ratio``: times the baseline of each run. Without a baseline: ``ns`` or ``deadlines``."""
    points: tuple[Point, ...]
    changes: tuple[ChangePoint, ...]
    why: str
    """Why no change can be found; empty: the series has enough runs."""

    @property
    def name(self) -> str:
        """Adapter, transport, size and the other levels."""
        subject = self.adapter if self.adapter == self.transport else f"{self.adapter} {self.transport}"
        return ", ".join(filter(None, (subject, format_size(self.size), self.what)))


class History(msgspec.Struct, frozen=True, kw_only=True):
    """All series of the named folders and runs."""

    folder: str
    runs: int
    """The number of runs in the series."""
    others: int
    """The number of runs that belong to no series, because they were imported or measured without a suite."""
    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()
    paths: bool = False
    """True if the runs are in several folders. ``run``, ``before`` and ``after`` are then paths, not names."""

    @property
    def changed(self) -> tuple[Series, ...]:
        """The series with a change."""
        return tuple(each for each in self.series if each.changes)

    @property
    def sentence(self) -> str:
        """The number of changes, or the reason why no change can be found."""
        number = f"{len(self.series):,} series of {format_count(self.runs, 'run')}"
        if not self.series:
            return "no run of a suite has a figure"
        if all(each.why for each in self.series):
            return f"{number}: too few for a change; a series needs {FEWEST_RUNS} runs"
        changes = sum(len(each.changes) for each in self.series)
        return f"{number}: {format_count(changes, 'change') if changes else 'no change'}"


def history_of(
    folder: str,
    runs: Sequence[RunFigures],
    *,
    now: str,
    last: int = MOST_RUNS,
    margin: float = MARGIN,
    paths: bool = False,
) -> History:
    """Return the series with their changes. A change smaller than the margin does not count.

    ``now``: the present time; a note names each run with a later start. ``last``: use only this number of newest runs
    of each suite. ``paths``: as in ``History``.
    """
    groups: dict[tuple[str, ...], list[RunFigures]] = {}
    for each in sorted(runs, key=lambda run: (run.started, run.run)):
        if each.repeats:
            groups.setdefault(tuple(each.repeats), []).append(each)
    groups = {key: members[-last:] for key, members in groups.items()}
    found = [each for key, members in groups.items() for each in _points(key, members)]
    long = sum(len(points) >= FEWEST_RUNS for _, points in found)
    return History(
        folder=folder,
        runs=sum(map(len, groups.values())),
        others=sum(not each.repeats for each in runs),
        series=tuple(_series(key, points, max(1, long), margin) for key, points in found),
        paths=paths,
        notes=tuple(
            f"{each.run} began in the future ({each.started[:19]}): the clock jumped, and the order of the runs may be "
            "wrong"
            for members in groups.values()
            for each in members
            if each.started > now
        ),
    )


_Points = list[tuple[RunFigures, SeriesFigure]]


def _points(key: tuple[str, ...], members: Sequence[RunFigures]) -> Iterator[tuple[tuple[str, ...], _Points]]:
    """Yield the points of each configuration of one suite on one machine."""
    by_cell: dict[tuple[str, str, str], _Points] = {}
    for run in members:
        for each in run.figures:
            by_cell.setdefault((each.cell, each.metric, each.unit), []).append((run, each))
    yield from ((key, points) for points in by_cell.values())


def _series(key: tuple[str, ...], found: _Points, series: int, margin: float) -> Series:
    *suites, host, cpu, processors = key
    figure = found[-1][1]
    values = [each.value for _, each in found]
    enough = len(found) >= FEWEST_RUNS
    return Series(
        suite=", ".join(suites),
        machine=f"{host}, {cpu}, {processors} processors",
        adapter=figure.adapter,
        transport=figure.transport,
        size=figure.size,
        what=figure.what,
        figure=figure.metric,
        unit=figure.unit,
        points=tuple(
            Point(
                run=run.run,
                started=run.started,
                version=each.version,
                value=each.value,
                low=each.low,
                high=each.high,
            )
            for run, each in found
        ),
        changes=tuple(_changes(found, values, change_points(values, series), margin)) if enough else (),
        why="" if enough else f"{format_count(len(found), 'run')}; a change needs {FEWEST_RUNS}",
    )


def _changes(found: _Points, values: Sequence[float], at: Sequence[int], margin: float) -> Iterator[ChangePoint]:
    """Yield the changes that exceed the margin. If a change is smaller, the parts before and after it are joined."""
    ends = [0, *at, len(values)]
    while len(ends) > 2:
        shifts = [
            shift(values[begin:middle], values[middle:end])
            for begin, middle, end in zip(ends, ends[1:], ends[2:], strict=False)
        ]
        least = min(range(len(shifts)), key=lambda each: abs(shifts[each].part))
        if max(shifts[least].part, 1 / (1 + shifts[least].part) - 1) > margin:
            break
        del ends[least + 1]
    else:
        return
    for middle, each in zip(ends[1:], shifts, strict=False):
        (before, old), (after, new) = found[middle - 1], found[middle]
        yield ChangePoint(
            at=after.started,
            before=before.run,
            after=after.run,
            shift=each.part,
            low=each.low,
            high=each.high,
            suspect="; ".join(_differences(before, old, after, new)) or None,
        )


def _differences(before: RunFigures, old: SeriesFigure, after: RunFigures, new: SeriesFigure) -> Iterator[str]:
    if old.version != new.version:
        yield f"{new.adapter} {old.version or 'unknown'} → {new.version or 'unknown'}"
    if old.baseline != new.baseline:
        yield f"baseline {old.baseline} → {new.baseline}"
    yield from _facts(before.facts, after.facts, {new.adapter, new.baseline.partition(" ")[0]})


def _facts(old: Mapping[str, str], new: Mapping[str, str], adapters: set[str]) -> Iterator[str]:
    for name in {**old, **new}:
        words = name.partition("library of ")
        if words[1] and words[2] not in adapters:
            continue
        if old.get(name, "") != new.get(name, ""):
            yield f"{name} {old.get(name) or 'unknown'} → {new.get(name) or 'unknown'}"
