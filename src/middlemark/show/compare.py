"""Comparisons as a table and as Markdown."""

from collections.abc import Sequence

from rich.text import Text

from middlemark.document.compare import tables_of, whole_table
from middlemark.show import View
from middlemark.show.markdown import table
from middlemark.show.terminal import paragraph, printed, terminal
from middlemark.stats.comparisons import Comparison


def render_table(comparisons: Sequence[Comparison], margin: float, width: int, edge: str | None = None) -> str:
    """Return a table for each metric within the width, with notes on the method at the end."""
    lines = [*paragraph(f"Edge {edge}", width), Text()] if edge else []
    for each in tables_of(comparisons, margin):
        lines += [*terminal(each, width, name=16), Text()]
    return printed(lines[:-1], View(width=width))


def render_markdown(comparisons: Sequence[Comparison], margin: float, edge: str | None = None) -> str:
    """Return one Markdown table of all comparisons."""
    title = [f"Edge {edge}", ""] if edge else []
    return "\n".join([*title, *table(whole_table(comparisons, margin))]) + "\n"
