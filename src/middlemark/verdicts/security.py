"""The cost of each security level: the rows of an experiment compared with the same cells at ``none``."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

import msgspec

from middlemark.model.cell import EXPERIMENT, Cell, subject
from middlemark.model.protocol import Security
from middlemark.stats.baselines import by_rate
from middlemark.stats.interval import FEWEST
from middlemark.stats.verdict import Verdict
from middlemark.verdicts.comparisons import Comparisons
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.names import ASKED, plain, words
from middlemark.verdicts.rows import Row, grouped, per_message_ns

NONE: Security = "none"
LEVELS: tuple[Security, ...] = get_args(Security)
_STANDINGS = {Verdict.WORSE: Standing.SLOWER, Verdict.EQUIVALENT: Standing.EQUIVALENT}
_FACTORS_OF_A_TABLE = sorted(frozenset(EXPERIMENT) - {"size", "security", "payload"})
_TITLE_FACTORS = ("pattern", "rate", "receive", "processes", "link")


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one row.

    ``times``: the row's time divided by the time at ``none``; None: ``none`` was not measured.
    """

    row: Row
    ns: float
    times: float | None
    standing: Standing
    """The verdict on the row compared with the same cell at ``none``. ``ONLY``: the row is at ``none``, or ``none`` was
    not measured."""


class CostLine(msgspec.Struct, frozen=True, kw_only=True):
    """A middleware over a transport at one level of security. ``costs``: for each size, or None without a figure."""

    name: str
    level: Security
    costs: tuple[Cost | None, ...]


class CostTable(msgspec.Struct, frozen=True, kw_only=True):
    """The costs in one experiment. The lines are grouped by middleware and sorted by level."""

    title: str
    by_rate: bool
    sizes: tuple[int, ...]
    lines: tuple[CostLine, ...]


def cost_tables(rows: Sequence[Row], comparisons: Comparisons) -> tuple[CostTable, ...]:
    """Return a table for each experiment with rows at ``none`` and at another level, the longest table first."""
    with_figure = [row for row in rows if per_message_ns(row.result) and not row.result.cell.unknown]
    received = [row for row in with_figure if row.result.cell.subscribers]
    groups = grouped(received, lambda row: (row.run, *(getattr(row.result.cell, each) for each in _FACTORS_OF_A_TABLE)))
    tables = []
    for group in groups.values():
        by_row = grouped(group, lambda row: _same(row.result.cell)).values()
        several = [some for some in by_row if {NONE} < {each.result.cell.security for each in some}]
        if several:
            tables.append(_table(several, comparisons))
    return tuple(sorted(tables, key=lambda each: -len(each.lines)))


def _same(cell: Cell) -> tuple[object, ...]:
    """Return a key that is equal for cells that differ only in size and level of security."""
    return tuple(getattr(cell, each) for each in Cell.__struct_fields__ if each not in ("size", "security"))


def _table(group: Sequence[Sequence[Row]], comparisons: Comparisons) -> CostTable:
    rows = [row for members in group for row in members]
    sizes = tuple(sorted({row.result.cell.size for row in rows}))
    cell = rows[0].result.cell
    cells = [members[0].result.cell for members in group]
    subjects = Counter(map(subject, cells))
    apart = {name: _apart([each for each in cells if subject(each) == name]) for name in subjects}
    lines: list[CostLine] = []
    for members in sorted(group, key=_mean):
        first = members[0].result.cell
        name = subject(first)
        if subjects[name] > 1:
            name = f"{name}, {words(first, apart[name])}"
        lines += _lines(members, plain(name), sizes, comparisons)
    return CostTable(title=words(cell, _TITLE_FACTORS), by_rate=by_rate(cell), sizes=sizes, lines=tuple(lines))


def _apart(cells: Sequence[Cell]) -> list[str]:
    """Return the factors of a middleware whose levels differ between these cells."""
    return [field for field in ASKED if len({getattr(each, field) for each in cells}) > 1]


def _mean(members: Sequence[Row]) -> float:
    """Return the mean logarithm of the times at ``none``, by which lines are sorted."""
    taken = [math.log(per_message_ns(row.result) or 1.0) for row in members if row.result.cell.security == NONE]
    return sum(taken) / len(taken)


def _lines(members: Sequence[Row], name: str, sizes: Sequence[int], comparisons: Comparisons) -> Iterator[CostLine]:
    at = {(row.result.cell.security, row.result.cell.size): row for row in members}
    for level in LEVELS:
        found = [at.get((level, size)) for size in sizes]
        if any(found):
            costs = [_cost(row, at.get((NONE, size)), comparisons) for row, size in zip(found, sizes, strict=True)]
            yield CostLine(name=name, level=level, costs=tuple(costs))


def _cost(row: Row | None, plain_row: Row | None, comparisons: Comparisons) -> Cost | None:
    ns = per_message_ns(row.result) if row else None
    if row is None or ns is None:
        return None
    if plain_row is None or row is plain_row:
        return Cost(row=row, ns=ns, times=1.0 if plain_row else None, standing=Standing.ONLY)
    found = comparisons.find(plain_row.index, row.index, "throughput" if by_rate(row.result.cell) else "p50")
    if found is not None and found.judged.low is not None:
        standing = _STANDINGS.get(found.judged.verdict, Standing.UNDECIDED)
    else:
        few = min(row.result.trials, plain_row.result.trials) < FEWEST
        standing = Standing.TOO_FEW_TRIALS if few else Standing.NO_COMMON_ROUNDS
    base = per_message_ns(plain_row.result)
    return Cost(row=row, ns=ns, times=ns / base if base else None, standing=standing)
