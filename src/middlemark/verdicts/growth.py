"""Growth along a numeric factor: a configuration's figure divided by its figure at the factor's lowest level.

The ratio is the Hodges-Lehmann estimate of the trials paired by round, with its exact interval, as in verdicts.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from middlemark.model.cell import FACTORS, FIELDS, subject
from middlemark.model.factors import Factor
from middlemark.model.levels import Level
from middlemark.stats.metrics import METRICS
from middlemark.stats.signed_rank import signed_rank
from middlemark.verdicts.names import is_contradicted, joined, plain, varying, words
from middlemark.verdicts.rows import Row

METRICS_SHOWN = ("p50", "throughput", "cpu", "memory")
MOST = 400
"""The most lines that are computed, because nobody reads a longer table."""


class Grown(msgspec.Struct, frozen=True, kw_only=True):
    """A metric at one level. ``times``: its value divided by the value at the lowest level, paired by round."""

    row: int
    at: float
    level: str
    """The level as it is shown: ``64 KiB``."""
    median: float
    times: float
    low: float | None
    """The lower end of the 95 % interval of ``times``; None: fewer than six common rounds, or the lowest level."""
    high: float | None


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """How one metric grows along a factor while all other factors stay the same."""

    factor: str
    line: str
    """The label of the configuration, without the factor's level."""
    is_raw_transport: bool
    metric: str
    unit: str
    points: tuple[Grown, ...]
    """The points of the line, at least two, by rising level."""


def growths(rows: Sequence[Row]) -> tuple[Growth, ...]:
    """Return a line for each metric and each group of rows that differ in one numeric factor only.

    Lines along the size come first.
    """
    usable = [row for row in rows if row.result.failed is None and not is_contradicted(row.result)]
    factors = [each for each in FACTORS.values() if len({*_numbers(usable, each.field)}) > 1]
    found: list[Growth] = []
    for factor in sorted(factors, key=lambda each: each.name != "size"):
        fields = [field for field in FIELDS if field != factor.field]
        lines: dict[tuple[object, ...], dict[float, Row]] = {}
        for row, number in zip(usable, _numbers(usable, factor.field), strict=True):
            if number is not None:
                key = (row.run, *(getattr(row.result.cell, field) for field in fields))
                lines.setdefault(key, {})[number] = row
        varied = varying([row.result for row in usable]) - {factor.field}
        for line in (each for each in lines.values() if len(each) > 1):
            ordered = [line[number] for number in sorted(line)]
            found += (
                Growth(
                    factor=factor.name,
                    line=_name(ordered[0], factor.field, varied),
                    is_raw_transport=ordered[0].is_raw_transport,
                    metric=metric,
                    unit=METRICS[metric].unit,
                    points=points,
                )
                for metric in METRICS_SHOWN
                if len(points := tuple(_points(ordered, metric, factor))) > 1
            )
    return tuple(found[:MOST])


def _numbers(rows: Sequence[Row], field: str) -> list[float | None]:
    """Return the level of each row; None: the level is unknown or not a number (``max``, all)."""
    levels: list[Level] = [
        None if field in row.result.cell.unknown else getattr(row.result.cell, field) for row in rows
    ]
    return [each if isinstance(each, int | float) and not isinstance(each, bool) else None for each in levels]


def _name(row: Row, field: str, varied: frozenset[str]) -> str:
    if field == "size":
        return row.series
    cell = row.result.cell
    return joined(" · ", subject(cell), "" if cell.workload else FACTORS["size"].show(cell.size), words(cell, varied))


def _points(rows: Sequence[Row], metric: str, factor: Factor) -> Iterator[Grown]:
    """Yield the levels at which the metric has a value, in rising order."""
    first: Mapping[int, float] | None = None
    for row in rows:
        median, of = row.result.median(metric), by_round(row, metric)
        if not median or not of:
            continue
        first = of if first is None else first
        rounds = sorted(first.keys() & of.keys())
        if not rounds:
            continue
        times, low, high = signed_rank([math.log(of[each] / first[each]) for each in rounds]).ratio
        yield Grown(
            row=row.index,
            at=float(getattr(row.result.cell, factor.field)),
            level=plain(factor.show(getattr(row.result.cell, factor.field))),
            median=median,
            times=times,
            low=None if of is first else low,
            high=None if of is first else high,
        )


def by_round(row: Row, metric: str) -> dict[int, float]:
    """Return round → the metric's figure. Only figures above 0 are included."""
    numbers = [each.outcome.number for each in row.trials if each.outcome.failed is None]
    values = row.result.metrics.get(metric, ())
    return {at: value for at, value in zip(numbers, values, strict=False) if value}
