"""An experiment as a matrix: a line for each middleware, a column for each size, the figure and how sure its place is.

Every ratio of a column has one base: the fastest that the machine alone did there, or without one the best of the
column. Places come from the verdicts that every other part of a document has.
"""

import math
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from middlemark.document.contests import Contest, every_contest
from middlemark.document.document import Row
from middlemark.document.judged import JudgedDocument
from middlemark.document.outcome import Outcome, doubt_of, metric_of, outcome_of
from middlemark.document.rows import base_of, per_message_ns
from middlemark.document.words import ASKED, UNTOLD, plain
from middlemark.model.cell import EXPERIMENT, FACTORS
from middlemark.model.units import format_size
from middlemark.stats.floors import by_rate
from middlemark.stats.result import Best
from middlemark.stats.verdict import Verdict

_ALWAYS = frozenset(("pattern", "rate", "receive", "processes", "link"))
"""Told of an experiment even where it is the same everywhere."""
_NAMES = {each.field: name for name, each in FACTORS.items()}


class Mark(StrEnum):
    """Where a figure stands in its column. What is not marked is surely slower than the best."""

    FASTEST = "fastest"
    BEHIND = "behind"
    EQUIVALENT = "equivalent"
    OPEN = "open"
    """It cannot be told from the best of the column; of that one itself, from some other."""
    FEW = "few"
    """Too few trials for a verdict."""
    ALONE = "alone"
    """Nothing stands beside it."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One configuration. ``figure``: p50 in ns, or messages a second."""

    row: int
    figure: float
    times: float
    """How many times slower than the base of its column."""
    place: Mark
    doubtful: bool


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One contest."""

    title: str
    base: str | None
    """Which of the machine alone its ratios are of; None: they are of the best of the column."""
    base_figure: float
    contest: Contest
    outcome: Outcome
    """Of those that have the trials for a verdict, where several have them."""
    few: int | None
    """How many trials there are, where those of the best or of all are too few for verdicts."""

    @property
    def best(self) -> Row:
        """Of the lowest median, judged or not."""
        return self.contest.ranked[0]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One middleware over one transport. ``entries`` are by column; None where it was not measured."""

    name: str
    entries: tuple[Entry | None, ...]


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment, the best line first."""

    title: str
    """How it was measured."""
    differs: str
    """What of that, and of what was asked of the middleware, is not the same in all of them."""
    by_rate: bool
    pattern: str
    factor: str
    """Whose levels the columns are: ``size``."""
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]


def matrices(rows: Sequence[Row], judged: JudgedDocument) -> tuple[Matrix, ...]:
    """Return a matrix for each experiment, those first in which most can be told."""
    groups = [each for each in every_contest(rows) if each[0].context[0] is None]
    levels = [each[0].levels for each in groups]
    varied = {factor for each in levels for factor, level in each.items() if level != levels[0].get(factor)}
    return tuple(_matrix(factor, contests, varied, judged) for factor, contests in _columns(groups))


def _columns(groups: Sequence[Sequence[Contest]]) -> Iterator[tuple[str, Sequence[Contest]]]:
    """Yield what each matrix has as columns: the sizes, or of one size the factor in which most experiments differ."""
    left = [*groups]
    while left:
        first = left.pop(0)
        alike: dict[str, list[Sequence[Contest]]] = {}
        for other in left:
            if field := _only_difference(first, other):
                alike.setdefault(field, []).append(other)
        if not alike:
            yield "size", first
            continue
        field, members = max(alike.items(), key=lambda item: len(item[1]))
        left = [each for each in left if each not in members]
        contests = [each[0] for each in (first, *members)]
        level_of = {id(each): getattr(each.ranked[0].result.cell, field) for each in contests}
        if all(isinstance(each, int | float) for each in level_of.values()):
            contests.sort(key=lambda each: level_of[id(each)])
        yield field, contests


def _only_difference(first: Sequence[Contest], other: Sequence[Contest]) -> str | None:
    """Return the field of the experiment in which two contests alone differ; None where they cannot be columns."""
    if len(first) > 1 or len(other) > 1 or first[0].size != other[0].size or first[0].context[1] != other[0].context[1]:
        return None
    apart = sum(a != b for a, b in zip(first[0].context, other[0].context, strict=True))
    cells = [each[0].ranked[0].result.cell for each in (first, other)]
    fields = [each for each in EXPERIMENT if getattr(cells[0], each) != getattr(cells[1], each)]
    if apart != 1 or len(fields) != 1 or "pattern" in fields or by_rate(cells[0]) != by_rate(cells[1]):
        return None
    return fields[0]


def _matrix(field: str, contests: Sequence[Contest], varied: set[str], judged: JudgedDocument) -> Matrix:
    columns = tuple(_column(field, each, judged) for each in contests)
    levels = {each: level for each, level in contests[0].levels.items() if each != field and level not in UNTOLD}
    asked = frozenset(ASKED)
    cell = contests[0].contenders[0].result.cell
    return Matrix(
        title=plain(", ".join(levels[each] for each in levels if each in (_ALWAYS | varied) - asked)),
        differs=plain(", ".join(levels[each] for each in levels if each in varied)),
        by_rate=by_rate(cell),
        pattern=cell.pattern,
        factor=_NAMES.get(field, field),
        columns=columns,
        lines=_lines(contests, columns, judged),
    )


def _column(field: str, contest: Contest, judged: JudgedDocument) -> Column:
    best = contest.ranked[0]
    base = base_of([row for row in contest.measured if not row.floor])
    few = (
        None
        if contest.tellable or len(contest.ranked) + len(contest.gone) == 1
        else min(each.result.trials for each in contest.ranked)
    )
    level = None if field == "size" else getattr(best.result.cell, field)
    return Column(
        title=format_size(contest.size) if field == "size" else FACTORS[_NAMES[field]].kind.show(level),
        base=base.floor if base else None,
        base_figure=_figure_of(base) if base else _figure(best),
        contest=contest,
        outcome=outcome_of(contest, judged),
        few=best.result.trials if contest.has_lower_unjudged else few,
    )


def _figure_of(best: Best) -> float:
    return best.rate_hz or best.p50_ns or math.inf


def _figure(row: Row) -> float:
    ns = per_message_ns(row.result) or math.inf
    return 1e9 / ns if by_rate(row.result.cell) else ns


def _lines(contests: Sequence[Contest], columns: Sequence[Column], judged: JudgedDocument) -> tuple[Line, ...]:
    """Return each middleware over the transport that is its best over all columns, and whoever is the best of one."""
    found: dict[tuple[object, ...], list[Row | None]] = {}
    for at, contest in enumerate(contests):
        for row in sorted(contest.measured, key=lambda each: -each.result.trials):
            of = found.setdefault(_series(row), [None] * len(contests))
            of[at] = of[at] or row

    def worse(series: tuple[object, ...]) -> tuple[int, float]:
        """Missing columns, then the mean ratio to the best of each column."""
        logs = [
            math.log(_ratio(row, _figure(column.best)))
            for row, column in zip(found[series], columns, strict=True)
            if row is not None
        ]
        return len(columns) - len(logs), sum(logs) / len(logs)

    wanted = {_series(column.best) for column in columns}
    together = len({row.result.cell.adapter for of in found.values() for row in of if row}) == 1
    taken = set()
    for series in sorted(found, key=worse):
        adapter = series[0]
        if together or adapter not in taken:
            wanted.add(series)
            taken.add(adapter)
    lines = []
    for series in sorted(wanted, key=lambda each: worse(each)[1]):
        entries = [
            None if row is None else _entry(row, column, contest, judged)
            for row, column, contest in zip(found[series], columns, contests, strict=True)
        ]
        lines.append(Line(name=next(row.name for row in found[series] if row), entries=tuple(entries)))
    return tuple(lines)


def _series(row: Row) -> tuple[object, ...]:
    """Return what makes a line, the adapter first: who is measured, and what is asked of it."""
    cell = row.result.cell
    return (cell.adapter, cell.transport, cell.native, cell.label, *(getattr(cell, each) for each in ASKED))


def _ratio(row: Row, base: float) -> float:
    return base / _figure(row) if by_rate(row.result.cell) else _figure(row) / base


def _entry(row: Row, column: Column, contest: Contest, judged: JudgedDocument) -> Entry:
    return Entry(
        row=row.index,
        figure=_figure(row),
        times=_ratio(row, column.base_figure),
        place=_place(row, column, contest, judged),
        doubtful=bool(doubt_of(row)),
    )


def _place(row: Row, column: Column, contest: Contest, judged: JudgedDocument) -> Mark:
    if len(contest.measured) == 1:
        return Mark.ALONE
    if row.index == column.best.index:
        told = {"best": Mark.FASTEST, "tie": Mark.EQUIVALENT, "alone": Mark.ALONE}
        return Mark.FEW if column.few is not None else told.get(column.outcome.verdict, Mark.OPEN)
    if row.index in {each.index for each in column.outcome.level}:
        return Mark.EQUIVALENT
    found = judged.find(column.best.index, row.index, metric_of(row))
    if found is None or found.judged.low is None:
        return Mark.BEHIND if row.left == "slower" and column.best.left is None else Mark.FEW
    told = {Verdict.WORSE: Mark.BEHIND, Verdict.EQUIVALENT: Mark.EQUIVALENT}
    return told.get(found.judged.verdict, Mark.OPEN)
