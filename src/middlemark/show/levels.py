"""What each level of security costs, on the terminal: a line a level, beside the same at none."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from middlemark.document.document import Document
from middlemark.document.judged import JudgedDocument
from middlemark.document.levels import NONE, Cost, CostLine, CostTable, are_several, cost_tables, headline, proven
from middlemark.document.matrix import Mark
from middlemark.document.numbers import ABSENT, brief, ratio, us
from middlemark.document.words import is_unprotected
from middlemark.model.units import format_size
from middlemark.show.lines import row_line, wrapped

_MARKS = {Mark.EQUIVALENT: "=", Mark.OPEN: "~", Mark.FEW: "?"}
_MEANS = {"=": f"as {NONE}", "~": f"not told apart from {NONE}", "?": "too few trials to tell", "!": "not in force"}
_HEAD_LINES = 4
"""Of a table, beside its lines: a blank one, its title, the sizes and the legend."""


def tables(document: Document) -> list[CostTable]:
    """Return the tables there are, none where nothing was measured at several levels."""
    return cost_tables(document, JudgedDocument(document)) if are_several(document) else []


def sentences(document: Document, costs: Sequence[CostTable], width: int) -> list[Text]:
    """Return what the levels cost and whether they were in force."""
    if not costs:
        return []
    first = [Text(line, style="bold") for line in wrapped(headline(costs), width)[:4]]
    told = proven(document)
    return [*first, *(Text(line) for line in wrapped(f"Protection is {told}." if told else "", width)[:2])]


def lines(costs: Sequence[CostTable], width: int, room: int) -> list[Text]:
    """Return the tables that there is room for, the first one in any case."""
    shown: list[Text] = []
    named = []
    for each in costs:
        if not shown or len(shown) + len(each.lines) + _HEAD_LINES < room:
            shown += _table(each, width, max(room - len(shown) - _HEAD_LINES, 4))
        else:
            named.append(each.title)
    if named:
        also = f"Measured too: {'; '.join(named[:2])}{f'; {len(named) - 2} more' if len(named) > 2 else ''}."
        shown += [Text(line, style="dim") for line in wrapped(also, width)[:2]]
    return shown


def _table(table: CostTable, width: int, most: int) -> Iterator[Text]:
    what = "messages/s" if table.by_rate else "p50 in µs"
    head = f"{what}, and times as long as at {NONE}: {table.title}"
    yield Text()
    yield from (Text(line, style="bold") for line in wrapped(head, width)[:2])
    names = [_name(each) for each in table.lines]
    texts = [[_entry(table, each) for each in line.costs] for line in table.lines]
    titles = [f"{format_size(each)}  " for each in table.sizes]
    first = max(map(cell_len, names))
    widths = [max(cell_len(title), *(cell_len(row[at]) for row in texts)) + 2 for at, title in enumerate(titles)]
    shown = len(widths)
    while shown > 1 and first + sum(widths[:shown]) > width:
        shown -= 1
    yield row_line("", first, [(each, "dim") for each in titles[:shown]], widths[:shown], "dim")
    for name, row in list(zip(names, texts, strict=True))[:most]:
        yield row_line(name, first, [(each, "") for each in row[:shown]], widths[:shown])
    yield from _legend(table, [*([f"lines left out: {len(names) - most}"] if len(names) > most else [])], width)


def _name(line: CostLine) -> str:
    return line.name if line.level == NONE else f"  {line.level}"


def _entry(table: CostTable, cost: Cost | None) -> str:
    if cost is None:
        return f"{ABSENT}{'':8}"
    figure = brief(1e9 / cost.ns) if table.by_rate else us(cost.ns)
    return f"{figure} {ratio(cost.times):>5} {_mark(cost)}"


def _mark(cost: Cost) -> str:
    return "!" if is_unprotected(cost.row.result) else _MARKS.get(cost.place, " ")


def _legend(table: CostTable, left_out: list[str], width: int) -> Iterator[Text]:
    costs = [cost for line in table.lines for cost in line.costs if cost]
    marks = {_mark(each) for each in costs}
    told = [f"{mark} {means}" for mark, means in _MEANS.items() if mark in marks]
    if any(each.place is Mark.BEHIND for each in costs):
        told.append(f"unmarked: surely slower than {NONE}")
    if text := " · ".join((*told, *left_out)):
        yield from (Text(line, style="dim") for line in wrapped(text, width)[:2])
