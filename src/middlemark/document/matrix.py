"""Experiments as tables: a line for each middleware, a column for each size; figure, ratio and standing in each cell.

A cell of the table shows the middleware's best row in that experiment. If the best row differs along a line, each cell
names its row.
"""

from collections.abc import Iterator, Sequence

import msgspec

from middlemark.document.numbers import ABSENT, ratio
from middlemark.document.statements import bare_figure
from middlemark.document.table import Column, Line, Table, TableCell
from middlemark.model.cell import EXPERIMENT, FACTORS
from middlemark.model.units import format_size
from middlemark.verdicts.experiments import OF_MESSAGES, JudgedExperiment, JudgedRow, Standing
from middlemark.verdicts.names import ASKED, NOT_SHOWN, plain
from middlemark.verdicts.rows import Row, grouped, headline_figure

_ALWAYS = frozenset(("pattern", "rate", "receive", "processes", "link"))
"""Factors whose level is in the title, even if all experiments have the same level."""
_NAMES = {each.field: name for name, each in FACTORS.items()}
_WHAT = {"ping-pong": "round trip", "stream": "one way", "request-reply": "call", "crowd": "one way"}
MARKS = {
    Standing.BEST: "✓",
    Standing.EQUIVALENT: "=",
    Standing.UNDECIDED: "~",
    Standing.NO_COMMON_ROUNDS: "#",
    Standing.TOO_FEW_TRIALS: "?",
    Standing.ELIMINATED: "×",
}
_OF_FEW = (Standing.TOO_FEW_TRIALS, Standing.UNDECIDED)
"""Standings without a mark if every column has too few trials for a verdict."""
_DOUBTFUL = "!"
MEANS = {
    "✓": "significantly the fastest of its column",
    "=": "equivalent to the best",
    "~": "difference from the best undecided",
    "#": "fewer than six rounds in common with the best",
    "?": "too few trials for a verdict",
    "×": "eliminated from the race",
    _DOUBTFUL: "doubtful: see the warnings",
}
_ENDS = 99.0
"""The priority of the first and the last column: inner columns are left out before these two."""


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment at several sizes, or at several levels of another factor."""

    title: str
    """The levels of the experiment, in words."""
    differs: str
    """The part of ``title`` with the levels that differ between matrices."""
    factor: str
    """The factor whose levels are the columns, usually ``size``."""
    columns: tuple[JudgedExperiment, ...]
    titles: tuple[str, ...]


def matrices(experiments: Sequence[JudgedExperiment]) -> tuple[Matrix, ...]:
    """Return a matrix for each experiment, with its headline figure, in the order of the experiments."""
    shown = (each for each in experiments if not each.restricted and each.metric in OF_MESSAGES)
    groups = grouped((each for each in shown if each.ranked), lambda each: each.key)
    levels = [each[0].levels for each in groups.values()]
    varied = {factor for each in levels for factor, level in each.items() if level != levels[0].get(factor)}
    varied |= {factor for factor in levels[0] if any(factor not in each for each in levels)} if levels else set()
    return tuple(_matrix(field, members, varied) for field, members in _columns([*groups.values()]))


def _columns(groups: Sequence[Sequence[JudgedExperiment]]) -> Iterator[tuple[str, Sequence[JudgedExperiment]]]:
    """Yield the columns of each matrix: the sizes; with one size only, the factor in which most experiments differ."""
    left = [*groups]
    while left:
        first = left.pop(0)
        alike: dict[str, list[Sequence[JudgedExperiment]]] = {}
        for other in left:
            if field := _only_difference(first, other):
                alike.setdefault(field, []).append(other)
        if not alike:
            yield "size", first
            continue
        field, members = max(alike.items(), key=lambda item: len(item[1]))
        left = [each for each in left if each not in members]
        found = [each[0] for each in (first, *members)]
        if all(isinstance(getattr(each.cell, field), int | float) for each in found):
            found.sort(key=lambda each: getattr(each.cell, field))
        yield field, found


def _only_difference(first: Sequence[JudgedExperiment], other: Sequence[JudgedExperiment]) -> str | None:
    """Return the only field in which two experiments differ.

    None: other fields differ too, so one matrix cannot have both.
    """
    a, b = first[0], other[0]
    if len(first) > 1 or len(other) > 1 or a.size != b.size or a.run != b.run or a.metric != b.metric:
        return None
    apart = sum(one != another for one, another in zip(a.key, b.key, strict=True))
    fields = [each for each in EXPERIMENT if getattr(a.cell, each) != getattr(b.cell, each)]
    return fields[0] if apart == 1 and len(fields) == 1 and "pattern" not in fields else None


def _matrix(field: str, columns: Sequence[JudgedExperiment], varied: set[str]) -> Matrix:
    levels = {each: level for each, level in columns[0].levels.items() if each != field and level not in NOT_SHOWN}
    asked = frozenset(ASKED)
    show = FACTORS[_NAMES[field]].kind.show
    return Matrix(
        title=plain(", ".join(levels[each] for each in levels if each in (_ALWAYS | varied) - asked)),
        differs=plain(", ".join(levels[each] for each in levels if each in varied)),
        factor=_NAMES[field],
        columns=tuple(columns),
        titles=tuple(format_size(e.size) if field == "size" else show(getattr(e.cell, field)) for e in columns),
    )


def at(matrix: Matrix, members: Sequence[JudgedExperiment]) -> str:
    """Return the words that follow a name: `` at 64 B and 1 KiB``, or `` at every size`` for all columns."""
    if len(members) == len(matrix.columns) > 1:
        return f" at every {matrix.factor}"
    named = "" if matrix.factor == "size" else f"{matrix.factor} "
    titles = [title for title, each in zip(matrix.titles, matrix.columns, strict=True) if each in members]
    return f" at {named}{', '.join(titles[:-1])}{' and ' if len(titles) > 1 else ''}{titles[-1]}"


def table_of(matrix: Matrix) -> Table:
    """Return the matrix as a table."""
    columns = matrix.columns
    names: dict[str, list[JudgedRow | None]] = {}
    for number, column in enumerate(columns):
        for each in column.ranked:
            line = each.row.name if column.one_middleware else each.row.result.cell.middleware
            names.setdefault(line, [None] * len(columns))[number] = each
    lines = sorted(names.items(), key=lambda item: _mean_distance(item[1], columns))
    few = all(not each.is_judgeable and each.verdict != "only" for each in columns)
    shown = [row for _, rows in lines for row in rows if row]
    based = any(each.copying or each.handing_over for each in columns)
    made = [_line(name, rows, columns, few, based) for name, rows in lines]
    marks = {mark(each, column, few) for column in columns for each in column.ranked}
    last = len(columns) - 1
    what = "messages/s" if columns[0].by_rate else f"p50 in µs, {_WHAT.get(columns[0].cell.pattern, 'round trip')}"
    return Table(
        title=f"{what}, and {'× the baseline' if based else '× the best, without a baseline'}: {matrix.title}",
        head="" if matrix.factor == "size" else matrix.factor,
        columns=tuple(
            Column(title, _ENDS if number in (0, last) else _between(number, last))
            for number, title in enumerate(matrix.titles)
        ),
        lines=(*_baselines(columns), *made),
        legend=tuple(_legend(shown, marks, few, any(None in rows for _, rows in lines), based)),
    )


def _between(number: int, last: int) -> float:
    """Return the priority of an inner column, so that the columns which remain are evenly spread."""
    step, priority = 1, 90.0
    while number % step == 0 and step <= last:
        step *= 2
        priority += 1
    return priority - number / (last + 1)


def _mean_distance(rows: Sequence[JudgedRow | None], columns: Sequence[JudgedExperiment]) -> tuple[float, int]:
    """Return the sort key of a line: the mean of its ranks, and the number of columns in which it is absent."""
    places = [column.ranked.index(row) for row, column in zip(rows, columns, strict=True) if row]
    return sum(places) / len(places), len(columns) - len(places)


def _line(
    name: str, rows: Sequence[JudgedRow | None], columns: Sequence[JudgedExperiment], few: bool, based: bool
) -> Line:
    present = [each for each in rows if each]
    same = len({each.row.name for each in present}) == 1
    found = []
    for each, column in zip(rows, columns, strict=True):
        if each is None:
            found.append(TableCell(ABSENT, "dim"))
            continue
        symbol = mark(each, column, few)
        plain_style = "" if each.standing in (Standing.SLOWER, Standing.ELIMINATED) else "bold"
        style = "bold green" if symbol == MARKS[Standing.BEST] else plain_style
        own = "" if same else each.row.name.removeprefix(name).strip(" ,")
        times = each.ratio if based else each.times_first
        figure = f"{own} {bare_figure(columns[0], each.figure)}".strip()
        found.append(TableCell("\t".join((figure, ratio(times), symbol)), style))
    return Line(present[0].row.name if same else name, tuple(found))


def mark(row: JudgedRow, column: JudgedExperiment, few: bool = False) -> str:
    """Return the mark of a row's standing, one character. ``few``: every column has too few trials for a verdict.

    The best row is doubtful too if the figure of a rival is: the answer calls such a column undecided.
    """
    if row.doubt or (column.doubted and row.standing in (Standing.BEST, Standing.EQUIVALENT)):
        return _DOUBTFUL
    return "" if few and row.standing in _OF_FEW else MARKS.get(row.standing, "")


def _baselines(columns: Sequence[JudgedExperiment]) -> Iterator[Line]:
    """Yield a dimmed line for each baseline of the columns."""
    for how in ("copying", "handing over"):
        rows: list[Row | None] = [each.copying if how == "copying" else each.handing_over for each in columns]
        present = [each for each in rows if each]
        if not present:
            continue
        names = dict.fromkeys(each.name for each in present)
        name = f"baseline {next(iter(names))} ({how})" if len(names) == 1 else f"baseline ({how})"
        texts = []
        for each in rows:
            own = f"{each.name} " if each and len(names) > 1 else ""
            figure = bare_figure(columns[0], headline_figure(each.result)) if each else ""
            texts.append(TableCell(f"{own}{figure}\t{ratio(1.0)}" if each else ABSENT, "dim"))
        yield Line(name, tuple(texts), "dim")


def _legend(shown: Sequence[JudgedRow], marks: set[str], few: bool, absent: bool, based: bool) -> Iterator[str]:
    yield from (f"{each} {means}" for each, means in MEANS.items() if each in marks)
    if any(each.standing is Standing.SLOWER for each in shown):
        yield "unmarked: significantly slower"
    elif few and len(shown) > 1:
        yield "unmarked: no verdict"
    if any(each.row.hands_over for each in shown) and any(not each.row.hands_over for each in shown):
        yield "× baseline: the baseline that copies, or passes a pointer, like the row"
    if based and any(each.ratio is None for each in shown):
        yield f"{ABSENT} as a ratio: no baseline of that kind was measured"
    elif absent:
        yield f"{ABSENT} not measured"
