"""Workloads on the terminal: who holds, at which scale, and at what cost."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from middlemark.document.document import Document, Row
from middlemark.document.graphs import cheapest, conclusion, failing, graph_tables, result_of
from middlemark.document.judged import JudgedDocument
from middlemark.document.numbers import ABSENT, megabytes, processors, ratio
from middlemark.show.lines import hanging, wrapped

MOST_LINES = 24
_MARKS = {True: "✓", False: "✗", None: "?"}
_HEAD = 11
_MOST_TOLD = 4


def carries(document: Document) -> bool:
    """Say whether any of it is a workload."""
    return any(row.result.cell.workload is not None for row in document.rows)


def headlines(document: Document, width: int) -> list[Text]:
    """Return a sentence or two for each workload."""
    tables = graph_tables(document.rows)
    told = [conclusion(each) + (f" ({each.title})" if len(tables) > 1 else "") for each in tables]
    return [Text(line, style="bold") for each in told for line in wrapped(each, width)[:3]]


def lines(document: Document, width: int) -> Iterator[Text]:
    """Yield the tables."""
    for table in graph_tables(document.rows):
        yield Text()
        head = f"{table.name}: the worst edge's p99 as part of its deadline, processors, MB: {table.title}"
        yield from (Text(line, style="bold") for line in wrapped(head, width)[:2])
        shown = table.lines[:MOST_LINES]
        entries = [[_entry(row) for row in line.rows] for line in shown]
        first = max(cell_len(line.name) for line in shown) + 1
        widths = [
            max(map(cell_len, (column, *(row[at][0] for row in entries)))) + 2
            for at, column in enumerate(table.columns)
        ]
        fits = _fitting(widths, width - first)
        yield _line("", first, [(table.columns[at], "dim") for at in fits], [widths[at] for at in fits])
        for line, row in zip(shown, entries, strict=True):
            style = "dim" if line.floor else ""
            yield _line(line.name, first, [row[at] for at in fits], [widths[at] for at in fits], style)
        legend = ["✓ holds its deadlines · ✗ does not · ? too few messages to say"]
        if len(table.lines) > len(shown):
            legend.append(f"lines left out: {len(table.lines) - len(shown)}")
        if len(fits) < len(widths):
            legend.append(f"columns left out: {len(widths) - len(fits)}")
        yield Text(" · ".join(legend), style="dim")


def conclusions(document: Document, width: int) -> Iterator[Text]:
    """Yield what is sure, what is not, and which edge fails first."""
    tables = graph_tables(document.rows)
    judged = JudgedDocument(document)
    told = [each for table in tables for each in cheapest(table, judged)]
    for name, texts, style in (
        ("Sure", [text for text, sure in told if sure], "green"),
        ("Not sure", [text for text, sure in told if not sure], "yellow"),
    ):
        if texts:
            yield from _told(name, "; ".join(texts), style, width)
    fails = [each for table in tables for each in failing(table)]
    for at, each in enumerate(fails[:_MOST_TOLD]):
        yield from _told("Fails" if at == 0 else "", each, "red", width)
    if len(fails) > _MOST_TOLD:
        yield from _told("", f"{len(fails) - _MOST_TOLD} more: --format json has every edge", "red", width)


def _told(name: str, text: str, style: str, width: int) -> Iterator[Text]:
    first, *rest = hanging(f"{name:<{_HEAD}}", text, width)
    line = Text(first)
    line.stylize(style, 0, len(name))
    yield line
    yield from map(Text, rest[:1])


def _entry(row: Row | None) -> tuple[str, str]:
    found = result_of(row) if row else None
    if row is None or found is None:
        return ("failed" if row else ABSENT), "red" if row else "dim"
    style = {True: "green", False: "red", None: ""}[found.holds]
    figures = f"{ratio(found.worst_share):>5}  {processors(found.cpu):>4}  {megabytes(found.rss_bytes):>5}"
    return f"{_MARKS[found.holds]} {figures}", style


def _fitting(widths: Sequence[int], room: int) -> list[int]:
    shown: list[int] = []
    for at, width in enumerate(widths):
        room -= width
        if room >= 0 or not shown:
            shown.append(at)
    return shown


def _line(name: str, first: int, cells: Sequence[tuple[str, str]], widths: Sequence[int], style: str = "") -> Text:
    line = Text(name + " " * (first - cell_len(name)), style=style)
    for (text, of), width in zip(cells, widths, strict=True):
        line.append(" " * (width - cell_len(text)) + text, style=style or of)
    return line
