"""Comparisons as tables, CSV, Markdown and HTML."""

from collections.abc import Iterable, Sequence

import msgspec
from rich.text import Text

from middlemark.document.compare import tables_of, whole_table
from middlemark.show import View
from middlemark.show.csv import field, written
from middlemark.show.html.page import render_tables
from middlemark.show.json.comparisons import ComparisonOutput, comparisons_output
from middlemark.show.json.output import builtins
from middlemark.show.markdown import table
from middlemark.show.terminal import paragraph, printed, terminal
from middlemark.stats.comparisons import Comparison


def render_table(comparisons: Sequence[Comparison], margin: float, width: int, edge: str | None = None) -> str:
    """Return a table for each metric within the width, with notes on the method at the end."""
    lines = [*paragraph(f"Edge {edge}", width), Text()] if edge else []
    for each in tables_of(comparisons, margin):
        lines += [*terminal(each, width, name=16), Text()]
    return printed(lines[:-1], View(width=width))


def render_csv(comparisons: Sequence[Comparison]) -> str:
    """Return a line for each comparison, with the columns of the JSON."""
    found = [builtins(each) for each in comparisons_output(comparisons)]
    return written(ComparisonOutput.__struct_fields__, ([field(each) for each in row.values()] for row in found))


def render_html(parts: Iterable[tuple[str, Sequence[Comparison], float, str | None]]) -> str:
    """Return one page. Each part has a title, its comparisons, the margin, and the edge that is compared (or None)."""
    tables = []
    for title, comparisons, margin, edge in parts:
        whole = whole_table(comparisons, margin)
        tables.append(msgspec.structs.replace(whole, title=f"{title}, edge {edge}" if edge else title))
    return render_tables("Comparisons", tables)


def render_markdown(comparisons: Sequence[Comparison], margin: float, edge: str | None = None) -> str:
    """Return one Markdown table of all comparisons."""
    title = [f"Edge {edge}", ""] if edge else []
    return "\n".join([*title, *table(whole_table(comparisons, margin))]) + "\n"
