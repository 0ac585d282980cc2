"""Comparisons as tables, with notes on the method."""

from collections import Counter
from collections.abc import Iterator, Sequence

from middlemark.document.numbers import ABSENT, measured, part, ratio
from middlemark.document.table import Column, Line, Table, cells, table_of
from middlemark.model.cell import Cell
from middlemark.stats.comparisons import Comparison, Side, mirrored, times_raw_transports
from middlemark.stats.metrics import METRICS
from middlemark.stats.verdict import CONFIDENCE, Judgement, Verdict
from middlemark.verdicts.names import (
    ASKED,
    NOT_SHOWN,
    WORDS,
    common,
    joined,
    plain,
    size_of,
    unusual,
    varied_factors,
    what,
    words,
)
from middlemark.verdicts.rows import grouped


def verdict_of(each: Comparison) -> str:
    """Return the verdict; if it is undecided, also how many trials would decide it."""
    decided = each.judged.verdict is not Verdict.UNDECIDED
    return each.word if decided else f"{each.word} ({trials_wanted(each.judged.trials_needed)} trials would decide)"


def trials_wanted(needed: int | None) -> str:
    """Return a number of trials in words; None: more than 10,000."""
    return "more than 10,000" if needed is None else f"about {needed:,}"


def interval_of(judged: Judgement) -> str:
    """Return the interval of the shift: ``-1.0 % … +3.0 %``."""
    return ABSENT if judged.low is None or judged.high is None else f"{part(judged.low)} … {part(judged.high)}"


def row_of(each: Comparison, what: str, mark: str) -> tuple[str, ...]:
    """Return a row's texts: the pair, the metric, both medians, the shift with its interval, the pairs, the verdict."""
    names = " → ".join(each.pairing.names) + (f" ({mark})" if mark else "")
    figures = (measured(median, METRICS[each.metric].unit) for median in each.medians)
    shift = (part(each.judged.shift), interval_of(each.judged), str(each.judged.pairs))
    return (plain(f"{what}: {names}" if what else names), each.metric, *figures, *shift, verdict_of(each))


_CANNOT, _EQUIVALENT = "~", "="
_MOST_NAME = 24
"""The longest name that heads a column. Longer names stand below the head, and the columns are A and B."""
_TITLES = ("what", "metric", "A", "B", "B over A", "interval", "pairs", "verdict")
_CARRIERS = ("A × raw transport", "B × raw transport")
_SHIFT = (Column("B over A"), Column("interval", 3), Column("pairs", 2))


def tables_of(comparisons: Sequence[Comparison], margin: float) -> Iterator[Table]:
    """Yield a table for each metric; the last table has the notes on the method."""
    by_metric = grouped(comparisons, lambda each: each.metric)
    legend = (
        f"{_CANNOT} undecided, with the number of trials that would decide; {_EQUIVALENT} equivalent, within "
        f"±{100 * margin:g} %. --format json has every pair."
    )
    for metric, members in by_metric.items():
        two = len({each.pairing.names for each in members}) == 1
        notes = () if metric != [*by_metric][-1] else (legend, *remarks(comparisons, margin, carriers=False))
        yield _two(members, notes) if two else _rivals(members, notes)


def whole_table(comparisons: Sequence[Comparison], margin: float) -> Table:
    """Return a row for each comparison.

    A and B are also divided by the raw transport of their carrier, if there is one.
    """
    factors = varied_factors(_cells(comparisons))
    sides = [times_raw_transports(each) for each in comparisons]
    with_raw_transports = any(each for both in sides for each in both)
    rows = []
    for each, both in zip(comparisons, sides, strict=True):
        *begin, verdict = row_of(each, what(each.pairing, factors), "!" if each.pairing.marks else "")
        times = [f"{ratio(raw.times)} × {raw.label}" if raw else ABSENT for raw in both if with_raw_transports]
        rows.append((*begin, *times, verdict))
    titles = (*_TITLES[:-1], *(_CARRIERS if with_raw_transports else ()), _TITLES[-1])
    return table_of(titles, rows, notes=tuple(remarks(comparisons, margin)))


def _two(members: Sequence[Comparison], notes: tuple[str, ...]) -> Table:
    """Return a table with A and B in two columns and a line for each configuration that both have, grouped by size."""
    factors = [each for each in varied_factors(_cells(members)) if each != "size"]
    a, b = members[0].pairing.names
    lines: list[Line] = []
    if max(len(a), len(b)) > _MOST_NAME:
        lines = [Line(f"A: {a}", ()), Line(f"B: {b}", ())]
        a, b = "A", "B"
    for size, of in grouped(members, lambda each: size_of(_cells([each]))).items():
        lines += [Line(size, ())] if size else []
        for each in of:
            name = (what(each.pairing, factors, size=False) or each.metric) + _marked(each)
            lines.append(
                Line(
                    f"  {name}",
                    cells(*(measured(median, METRICS[each.metric].unit) for median in each.medians), *_verdict(each)),
                )
            )
    head = f"{members[0].metric}, common rounds"
    return Table(head=head, columns=(Column(a), Column(b), *_SHIFT, _WORD), lines=tuple(lines), notes=notes)


_WORD = Column("", 1)
"""The column of the verdict in words. It is left out first, because the sign of the shift also shows the verdict."""


def _rivals(members: Sequence[Comparison], notes: tuple[str, ...]) -> Table:
    """Return a table with lines for each experiment and size: the reference or the best row, then its rivals."""
    factors = varied_factors(_cells(members))
    metric = members[0].metric
    sign = -1 if METRICS[metric].higher_is_better else 1
    lines: list[Line] = []
    for of in _groups(members):
        by_pair = {(id(each.pairing.a), id(each.pairing.b)): each for each in of}
        by_pair |= {(b, a): mirrored(each) for (a, b), each in by_pair.items() if (b, a) not in by_pair}
        medians = {a: each.medians[0] for (a, _), each in by_pair.items()}
        names = unique_names(of)
        firsts = {id(each.pairing.a) for each in of}
        base = firsts.pop() if len(firsts) == 1 else min(medians, key=lambda each: sign * medians[each])
        lines.append(Line(common(_cells(of), factors), ()))
        lines.append(Line(f"  {names[base]}", cells(measured(medians[base], METRICS[metric].unit), "", "", "", "")))
        found = [(b, each) for (a, b), each in by_pair.items() if a == base]
        for other, each in sorted(found, key=lambda item: sign * item[1].medians[1]):
            figures = cells(measured(each.medians[1], METRICS[metric].unit), *_verdict(each))
            lines.append(Line(f"  {names[other]}{_marked(each)}", figures))
    columns = (Column(""), Column("shift"), *_SHIFT[1:], _WORD)
    return Table(head=f"{metric}, common rounds", columns=columns, lines=tuple(lines), notes=notes)


def unique_names(members: Sequence[Comparison]) -> dict[int, str]:
    """Return the name of each side by its id, with the requested levels that are not the most common.

    Sides that still have the same name get all levels in which they differ.
    """
    sides = {id(side): side for each in members for side in _sides(each)}
    names = {id(side): name for each in members for side, name in zip(_sides(each), each.pairing.names, strict=True)}
    every = [side.cell for side in sides.values()]
    asked = [each for each in varied_factors(every) if each in ASKED]
    most = {each: Counter(WORDS[each](cell) for cell in every).most_common(1)[0][0] for each in asked}
    for key, name in names.items():
        levels = [each for each in unusual(sides[key].cell, most) if each not in (*NOT_SHOWN, *name.split(", "))]
        names[key] = joined(", ", name, *levels)
    for name, keys in grouped(sides, names.__getitem__).items():
        if len(keys) > 1:
            differing = [each for each in varied_factors([sides[key].cell for key in keys]) if each in ASKED]
            names |= {key: joined(", ", name, words(sides[key].cell, differing)) for key in keys}
    return names


def _marked(each: Comparison) -> str:
    return " (!)" if each.pairing.marks else ""


def _groups(members: Sequence[Comparison]) -> list[list[Comparison]]:
    """Return the comparisons in groups: two comparisons that have a side in common are in the same group."""
    parent: dict[int, int] = {}

    def root(side: int) -> int:
        while parent.setdefault(side, side) != side:
            parent[side] = side = parent[parent[side]]
        return side

    for each in members:
        a, b = map(id, _sides(each))
        parent[root(b)] = root(a)
    return list(grouped(members, lambda each: root(id(each.pairing.a))).values())


def _verdict(each: Comparison) -> tuple[str, ...]:
    """Return the shift, the interval, the pairs, and the verdict or the number of trials that would decide."""
    judged, shift, wanted = each.judged, part(each.judged.shift), each.word
    if each.is_undecided:
        shift, wanted = _CANNOT, f"{trials_wanted(judged.trials_needed)} trials"
    elif judged.verdict is Verdict.EQUIVALENT:
        shift = _EQUIVALENT
    return (shift, interval_of(judged).replace(" % …", " …"), str(judged.pairs), wanted)


def _sides(each: Comparison) -> tuple[Side, Side]:
    return each.pairing.a, each.pairing.b


def _cells(members: Sequence[Comparison]) -> list[Cell]:
    return [side.cell for each in members for side in _sides(each)]


def remarks(comparisons: Sequence[Comparison], margin: float, *, carriers: bool = True) -> Iterator[str]:
    """Yield sentences on the method of the verdicts and on the meaning of the marks."""
    families = sorted({each.family for each in comparisons})
    family = f"all {families[-1]:,} comparisons together" if families[-1] > 1 else "this comparison only"
    yield (
        "Trials are paired by round, one figure per trial. A and B are the medians of their common rounds. The shift "
        f"is the Hodges–Lehmann estimate with its exact {100 * CONFIDENCE:.0f} % interval. A and B differ if the "
        f"p-value over {family} is at most 5 % and the shift exceeds {100 * margin:g} %. They are equivalent if the "
        f"interval lies within ±{100 * margin:g} %."
    )
    without = [each for each in comparisons if each.judged.low is None]
    if any(each.eliminated is None for each in without):
        yield "–: with fewer than six pairs there is no interval and no verdict."
    if any(each.eliminated for each in comparisons):
        yield "eliminated: by the rule of the race, which uses the scatter of all candidates; the pair has no verdict."
    if carriers and any(raw for each in comparisons for raw in times_raw_transports(each)):
        yield "× raw transport: the figure divided by the figure of the named raw transport (same carrier, same run)."
    yield from (f"(!) {mark}" for mark in dict.fromkeys(mark for each in comparisons for mark in each.pairing.marks))
