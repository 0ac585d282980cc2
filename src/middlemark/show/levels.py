"""What each level of security costs: a line a level, beside the same at none."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from middlemark.document.document import Document
from middlemark.document.levels import NONE, Cost, CostLine, CostTable, headline, proven
from middlemark.document.matrix import Mark
from middlemark.document.numbers import ABSENT, brief, ratio, us
from middlemark.document.words import is_unprotected
from middlemark.model.units import format_size
from middlemark.show.lines import first_columns, measured_too, row_line, wrapped

_MARKS = {Mark.EQUIVALENT: "=", Mark.OPEN: "~", Mark.FEW: "?"}
_MEANS = {"=": f"as {NONE}", "~": f"not told apart from {NONE}", "?": "too few trials to tell", "!": "not in force"}
_HEAD_LINES = 4
"""Of a table, beside its lines: a blank one, its title, the sizes and the legend."""


def sentences(document: Document, width: int) -> list[Text]:
    """Return what the levels cost and whether they were in force; nothing where there is nothing to compare."""
    if not document.costs:
        return []
    answer = headline(document.costs)
    first = [Text(line, style="bold") for line in wrapped(answer, width)[:4]] if answer else []
    return [*first, *(Text(line) for line in wrapped(proven(document.rows), width)[:2])]


def lines(costs: Sequence[CostTable], width: int, room: int) -> list[Text]:
    """Return the tables that there is room for, the first one in any case."""
    shown: list[Text] = []
    named = []
    for each in costs:
        if not shown or len(shown) + len(each.lines) + _HEAD_LINES < room:
            shown += _table(each, width, max(room - len(shown) - _HEAD_LINES, 4))
        else:
            named.append(each.title)
    return [*shown, *measured_too(named, width)]


def _table(table: CostTable, width: int, most: int) -> Iterator[Text]:
    yield Text()
    yield from (Text(line, style="bold") for line in wrapped(title(table), width)[:2])
    names = [_name(each) for each in table.lines]
    texts = [[_entry(table, each) for each in line.costs] for line in table.lines]
    titles = [f"{format_size(each)}  " for each in table.sizes]
    first = max(map(cell_len, names))
    widths = [max(cell_len(title), *(cell_len(row[at]) for row in texts)) + 2 for at, title in enumerate(titles)]
    fits = first_columns(widths, width - first)
    yield row_line("", first, [(titles[at], "dim") for at in fits], [widths[at] for at in fits], "dim")
    for name, row in zip(names[:most], texts, strict=False):
        yield row_line(name, first, [(row[at], "") for at in fits], [widths[at] for at in fits])
    left_out = [
        f"lines left out: {len(names) - most}" if len(names) > most else "",
        f"columns left out: {len(widths) - len(fits)}" if len(fits) < len(widths) else "",
    ]
    yield from _legend(table, [each for each in left_out if each], width)


def _name(line: CostLine) -> str:
    return line.name if line.level == NONE else f"  {line.level}"


def _entry(table: CostTable, cost: Cost | None) -> str:
    if cost is None:
        return f"{ABSENT}{'':8}"
    return f"{figure(table, cost)} {ratio(cost.times):>5} {mark_of(cost)}"


def title(table: CostTable) -> str:
    """Return what its figures are, and of what."""
    return f"{'messages/s' if table.by_rate else 'p50 in µs'}, and times as long as at {NONE}: {table.title}"


def figure(table: CostTable, cost: Cost) -> str:
    """Return what it takes: µs, or messages a second."""
    return brief(1e9 / cost.ns) if table.by_rate else us(cost.ns)


def mark_of(cost: Cost) -> str:
    """Return the mark of its verdict, or a space."""
    return "!" if is_unprotected(cost.row.result) else _MARKS.get(cost.place, " ")


def legend(table: CostTable) -> list[str]:
    """Return what each mark in the table means."""
    costs = [cost for line in table.lines for cost in line.costs if cost]
    marks = {mark_of(each) for each in costs}
    told = [f"{mark} {means}" for mark, means in _MEANS.items() if mark in marks]
    if any(each.place is Mark.BEHIND for each in costs):
        told.append(f"unmarked: surely slower than {NONE}")
    return told


def _legend(table: CostTable, left_out: list[str], width: int) -> Iterator[Text]:
    if text := " · ".join((*legend(table), *left_out)):
        yield from (Text(line, style="dim") for line in wrapped(text, width)[:2])
