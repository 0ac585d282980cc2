"""What was compared, as a table and as Markdown."""

from collections.abc import Sequence

from middlemark.document.compare import tables_of, whole_table
from middlemark.show.layout import terminal
from middlemark.show.lines import hanging
from middlemark.show.markdown import table
from middlemark.stats.comparisons import Comparison


def render_table(comparisons: Sequence[Comparison], margin: float, width: int, edge: str | None = None) -> str:
    """Return a table for each metric, every name once, within the width; what is to be known stands beneath."""
    lines: list[str] = [*hanging("", f"Edge {edge}", width), ""] if edge else []
    for each in tables_of(comparisons, margin):
        lines += [line.plain.rstrip() for line in terminal(each, width, name=16)] + [""]
    return "\n".join(lines[:-1]) + "\n"


def render_markdown(comparisons: Sequence[Comparison], margin: float, edge: str | None = None) -> str:
    """Return a table as pull requests and wikis show it."""
    title = [f"Edge {edge}", ""] if edge else []
    return "\n".join([*title, *table(whole_table(comparisons, margin))]) + "\n"
