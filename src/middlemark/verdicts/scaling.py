"""How the figures of a crowd grow with its number of participants, or of topics: as a power law with an interval."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from middlemark.model.cell import EXPERIMENT, FIELDS, Cell, subject
from middlemark.model.outcome import TrialOutcome
from middlemark.stats.metrics import METRICS
from middlemark.stats.power_law import power_law
from middlemark.verdicts.breaking import Break, find_break
from middlemark.verdicts.exponents import Rounds, Steepness, steepness
from middlemark.verdicts.names import is_contradicted, joined, native_settings
from middlemark.verdicts.rows import Row

ALONG = ("participants", "topics")
OF_THE_CROWD: Mapping[str, bool] = {
    "complete": False,
    "complete_max": False,
    "idle_cpu": True,
    "idle_packets": True,
    "idle_bytes": True,
    "idle_memory": True,
    "p50": False,
}
"""Metric → True if the figure of the whole crowd is fitted: the metric times the number of participants."""


class ScalingPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One level of a power law."""

    level: int
    median: float
    """The median of the figure over the trials at this level: of the logarithms, as in the fit."""
    residual: float
    """The median divided by the value of the line: 1.2 is 20 % above the line."""


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """The power law of one figure of one configuration: the figure grows with the exponent-th power of ``along``."""

    adapter: str
    transport: str
    name: str
    """Adapter, transport, label and own settings."""
    line: str
    """The label of the configuration: its name, and the levels that all its crowds have."""
    along: str
    """The factor along which the crowds differ: participants or topics."""
    figure: str
    """The name of a metric. The figures ``idle_…`` are those of all participants together."""
    unit: str
    """The unit of the figure."""
    levels: tuple[int, ...]
    """The levels of ``along`` with a figure, ascending."""
    points: tuple[ScalingPoint, ...]
    """The figure at each level, with its residual."""
    exponent: float
    low: float
    """The lower end of the 95 % interval of the exponent."""
    high: float
    coefficient: float
    """The value of the line at the number 1."""
    residual: float
    """How far the level that fits worst is from the line: 1.2 is 20 %."""
    group: int | None
    """The number of the comparison that it takes part in; null: none, because it is a raw transport."""
    standing: str | None
    """The exponent's standing among the power laws of this figure under the same load: ``best`` (significantly smaller
    than all others), ``equivalent``, ``slower`` (it grows significantly faster than the smallest), ``undecided``,
    ``too_few_trials``, ``no_common_rounds`` or ``only``. null: a raw transport, which is no candidate."""
    reference: str | None
    """The configuration with the smallest exponent; null: it is this one, or there is no verdict."""
    difference: float | None
    """The exponent minus that of ``reference``, paired by round over their common levels."""
    difference_low: float | None
    """The lower end of its 95 % interval; null: fewer than six common rounds."""
    difference_high: float | None
    rounds: int
    """The number of common rounds."""
    holds_to: int | None
    """The highest level below ``breaks_at`` at which nothing broke; null: no level held."""
    breaks_at: int | None
    """The lowest level at which a trial failed, a publisher was never heard or a message was lost; null: none."""
    breaks_because: str | None
    """The reason; null: nothing broke."""
    breaks_absent: str | None
    """Why there is no ``breaks_at``; null: there is one."""
    rows: tuple[int, ...]


def lines_along(cells: Mapping[int, Cell], along: str) -> list[list[int]]:
    """Return the crowds that differ in ``along`` only, by rising level, as the keys of ``cells``.

    Crowds that differ in nothing, because they are in different suites, are in one line too.
    """
    fields = [field for field in FIELDS if field != along]
    lines: dict[tuple[object, ...], list[int]] = {}
    for key, cell in cells.items():
        if cell.pattern == "crowd":
            lines.setdefault(tuple(getattr(cell, field) for field in fields), []).append(key)
    return [sorted(line, key=lambda key: level_along(cells[key], along)) for line in lines.values()]


def level_along(cell: Cell, along: str) -> int:
    """Return the number of participants, or of topics, of a crowd."""
    level: int = getattr(cell, along)
    return level


def scalings(rows: Sequence[Row]) -> tuple[Scaling, ...]:
    """Return the power law of each figure of each group of crowds that differ in one number only, with its standing."""
    crowds = [row for row in rows if row.result.cell.pattern == "crowd" and not is_contradicted(row.result)]
    by_index = {row.index: row for row in crowds}
    fitted: list[_Fitted] = []
    for along in ALONG:
        for run in dict.fromkeys(row.run for row in crowds):
            cells = {row.index: row.result.cell for row in crowds if row.run == run}
            for line in lines_along(cells, along):
                fitted += _fitted([by_index[key] for key in line], along)
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, each in enumerate(fitted):
        if not each.is_raw_transport:
            groups.setdefault(each.experiment, []).append(number)
    judged = steepness(
        [
            (key[:3], [(fitted[number].scaling.exponent, fitted[number].rounds) for number in members])
            for key, members in groups.items()
        ]
    )
    scalings_of = [each.scaling for each in fitted]
    for group, (members, standings) in enumerate(zip(groups.values(), judged, strict=True)):
        for number, found in zip(members, standings, strict=True):
            other = None if found.reference is None else scalings_of[members[found.reference]].line
            scalings_of[number] = _judged(scalings_of[number], found, group, other)
    return tuple(scalings_of)


class _Fitted(msgspec.Struct, frozen=True, kw_only=True):
    scaling: Scaling
    rounds: Rounds
    experiment: tuple[object, ...]
    """Run, ``along``, figure, then the levels of the experiment without ``along``."""
    is_raw_transport: bool


def _judged(scaling: Scaling, found: Steepness, group: int, reference: str | None) -> Scaling:
    return msgspec.structs.replace(
        scaling,
        group=group,
        standing=str(found.standing),
        reference=reference,
        difference=found.difference,
        difference_low=found.low,
        difference_high=found.high,
        rounds=found.rounds,
    )


def _fitted(line: Sequence[Row], along: str) -> Iterator[_Fitted]:
    outcomes: dict[int, list[TrialOutcome]] = {}
    for row in line:
        outcomes.setdefault(level_along(row.result.cell, along), []).extend(each.outcome for each in row.trials)
    broken = find_break(outcomes, along)
    cell = line[0].result.cell
    load = tuple(getattr(cell, field) for field in EXPERIMENT if field != along)
    for metric, whole in OF_THE_CROWD.items():
        rounds = _figures(line, along, metric, whole=whole)
        found = _fit(rounds, broken, line, along, metric)
        if found is not None:
            yield _Fitted(
                scaling=found,
                rounds=rounds,
                experiment=(line[0].run, along, metric, *load),
                is_raw_transport=line[0].is_raw_transport or line[0].bench_only,
            )


def _figures(line: Sequence[Row], along: str, metric: str, *, whole: bool) -> dict[int, dict[int, float]]:
    """Return round → level → figure. ``whole``: the figure is that of all participants together."""
    rounds: dict[int, dict[int, float]] = {}
    for row in line:
        cell = row.result.cell
        for trial in row.trials:
            if trial.outcome.failed is None:
                value = METRICS[metric].figure(cell, trial)
                if value is not None and value > 0:
                    figure = value * (cell.participants if whole else 1)
                    rounds.setdefault(trial.outcome.number, {})[level_along(cell, along)] = figure
    return rounds


def _fit(rounds: Rounds, broken: Break, line: Sequence[Row], along: str, metric: str) -> Scaling | None:
    points = [(float(level), figure) for figures in rounds.values() for level, figure in figures.items()]
    law = power_law(points)
    if law is None:
        return None
    levels = tuple(sorted({int(at) for at, _ in points}))
    logs = {level: [math.log(figure) for at, figure in points if at == level] for level in levels}
    medians = {level: math.exp(statistics.median(each)) for level, each in logs.items()}
    return Scaling(
        adapter=line[0].result.cell.adapter,
        transport=line[0].result.cell.transport,
        name=_name(line[0]),
        line=_line(line[0], along),
        along=along,
        figure=metric,
        unit=METRICS[metric].unit,
        levels=levels,
        points=tuple(
            ScalingPoint(level=level, median=median, residual=median / law.at(level))
            for level, median in medians.items()
        ),
        exponent=law.exponent,
        low=law.low,
        high=law.high,
        coefficient=law.factor,
        residual=law.residual,
        group=None,
        standing=None,
        reference=None,
        difference=None,
        difference_low=None,
        difference_high=None,
        rounds=0,
        holds_to=broken.holds_to,
        breaks_at=broken.breaks_at,
        breaks_because=broken.because,
        breaks_absent=broken.absent,
        rows=tuple(row.index for row in line),
    )


def _name(row: Row) -> str:
    cell = row.result.cell
    return joined(", ", subject(cell), cell.label or "", native_settings(cell))


def _line(row: Row, along: str) -> str:
    cell = row.result.cell
    others = f"{cell.topics} topics each" if along == "participants" else f"{cell.participants} participants"
    shared = f"{cell.participants_per_process} in a process" if cell.participants_per_process > 1 else ""
    return joined(", ", _name(row), others, f"to {cell.subscribe}", shared)
