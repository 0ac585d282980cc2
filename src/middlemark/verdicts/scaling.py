"""How the figures of a crowd grow with its number of participants, or of topics: as a power law with an interval."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from middlemark.model.cell import FIELDS, subject
from middlemark.model.outcome import TrialOutcome
from middlemark.stats.power_law import power_law
from middlemark.verdicts.names import is_contradicted, joined
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


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """The power law of one figure of one configuration: the figure grows with the exponent-th power of ``along``."""

    adapter: str
    transport: str
    line: str
    """The label of the configuration."""
    along: str
    """The factor along which the crowds differ: participants or topics."""
    figure: str
    """The name of a metric. The figures ``idle_…`` are those of all participants together."""
    levels: tuple[int, ...]
    """The levels of ``along`` with a figure, ascending."""
    exponent: float
    low: float
    """The lower end of the 95 % interval of the exponent."""
    high: float
    residual: float
    """How far the level that fits worst is from the line: 1.2 is 20 %."""
    breaks_at: int | None
    """The lowest level at which a trial failed, a publisher was never heard or a message was lost; null: none."""
    rows: tuple[int, ...]


def scalings(rows: Sequence[Row]) -> tuple[Scaling, ...]:
    """Return the power law of each figure of each group of crowds that differ in one number only."""
    crowds = [row for row in rows if row.result.cell.pattern == "crowd" and not is_contradicted(row.result)]
    return tuple(found for along in ALONG for line in _lines(crowds, along) for found in _fitted(line, along))


def _lines(crowds: Sequence[Row], along: str) -> Iterator[list[Row]]:
    """Yield the crowds that differ in ``along`` only, by rising level."""
    fields = [field for field in FIELDS if field != along]
    lines: dict[tuple[object, ...], list[Row]] = {}
    for row in crowds:
        lines.setdefault((row.run, *(getattr(row.result.cell, field) for field in fields)), []).append(row)
    for line in lines.values():
        yield sorted(line, key=lambda row: _level(row, along))


def _level(row: Row, along: str) -> int:
    level: int = getattr(row.result.cell, along)
    return level


def _fitted(line: Sequence[Row], along: str) -> Iterator[Scaling]:
    breaks_at = next((_level(row, along) for row in line if any(map(_breaks, _outcomes(row)))), None)
    for metric, whole in OF_THE_CROWD.items():
        points = [
            (float(_level(row, along)), value * (row.result.cell.participants if whole else 1))
            for row in line
            for value in row.result.metrics.get(metric, ())
            if value is not None and value > 0
        ]
        law = power_law(points)
        if law is None:
            continue
        yield Scaling(
            adapter=line[0].result.cell.adapter,
            transport=line[0].result.cell.transport,
            line=_name(line[0], along),
            along=along,
            figure=metric,
            levels=tuple(sorted({int(at) for at, _ in points})),
            exponent=law.exponent,
            low=law.low,
            high=law.high,
            residual=law.residual,
            breaks_at=breaks_at,
            rows=tuple(row.index for row in line),
        )


def _name(row: Row, along: str) -> str:
    cell = row.result.cell
    others = f"{cell.topics} topics each" if along == "participants" else f"{cell.participants} participants"
    shared = f"{cell.participants_per_process} in a process" if cell.participants_per_process > 1 else ""
    return joined(", ", subject(cell), others, f"to {cell.subscribe}", shared)


def _outcomes(row: Row) -> Iterator[TrialOutcome]:
    yield from (each.outcome for each in row.trials)


def _breaks(outcome: TrialOutcome) -> bool:
    crowd, counts = outcome.crowd, outcome.counts
    if outcome.failed is not None or crowd is None or counts is None:
        return True
    return crowd.publishers_heard < crowd.publishers_due or counts.lost > 0
