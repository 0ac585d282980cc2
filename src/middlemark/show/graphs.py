"""Workloads on the terminal: who holds, at which scale, and at what cost."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from middlemark.document.document import Document, Row
from middlemark.document.graphs import cheapest, conclusion, failing, graph_tables, histories
from middlemark.document.headline import Told
from middlemark.document.judged import JudgedDocument
from middlemark.document.numbers import ABSENT, megabytes, processors, ratio
from middlemark.show.lines import first_columns, row_line, wrapped

MOST_LINES = 24
HOLDS = {True: "✓", False: "✗", None: "?"}
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
        fits = first_columns(widths, width - first)
        yield row_line("", first, [(table.columns[at], "dim") for at in fits], [widths[at] for at in fits])
        for line, row in zip(shown, entries, strict=True):
            shown_cells = [(row[at][0], "dim" if line.floor else row[at][1]) for at in fits]
            yield row_line(line.name, first, shown_cells, [widths[at] for at in fits], "dim" if line.floor else "")
        legend = ["✓ holds its deadlines · ✗ does not · ? too few messages to say"]
        if len(table.lines) > len(shown):
            legend.append(f"lines left out: {len(table.lines) - len(shown)}")
        if len(fits) < len(widths):
            legend.append(f"columns left out: {len(widths) - len(fits)}")
        yield Text(" · ".join(legend), style="dim")


def conclusions(document: Document) -> Iterator[tuple[str, Told, str]]:
    """Yield what is sure, what is not, and which edges fail, each with its name and its style."""
    tables = graph_tables(document.rows)
    if not tables:
        return
    judged = JudgedDocument(document)
    told = [each for table in tables for each in cheapest(table, judged)]
    yield "Sure", Told(texts=tuple(text for text, sure in told if sure)), "green"
    yield "Not sure", Told(texts=tuple(text for text, sure in told if not sure)), "yellow"
    for name, told_of, style in (("Late", histories, ""), ("Fails", failing, "red")):
        texts = [each for table in tables for each in told_of(table)]
        if len(texts) > _MOST_TOLD:
            texts[_MOST_TOLD:] = [f"{len(texts) - _MOST_TOLD} more: --format json has every edge"]
        for at, each in enumerate(texts):
            yield "" if at else name, Told(texts=(each,)), style


def _entry(row: Row | None) -> tuple[str, str]:
    found = row.result.workload if row else None
    if row is None or found is None:
        return ("failed" if row else ABSENT), "red" if row else "dim"
    style = {True: "green", False: "red", None: ""}[found.holds]
    figures = f"{ratio(found.worst_share):>5}  {processors(found.cpu):>4}  {megabytes(found.rss_bytes):>5}"
    return f"{HOLDS[found.holds]} {figures}", style
