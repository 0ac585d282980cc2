"""Text on the terminal: wrapped paragraphs, and tables that leave out columns by priority."""

import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from middlemark.document.table import NEVER_HIDDEN, Column, Line, Table, TableCell
from middlemark.show import View
from middlemark.show.wrapping import as_typed, wrap
from middlemark.verdicts.names import plain

_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|\S)+""")
"""A word of a command, as a shell reads it."""


def wrapped(text: str, width: int) -> list[str]:
    """Return the text in lines of at most ``width`` columns, with control characters escaped."""
    return wrap(plain(text), width)


def cut(text: str, width: int) -> str:
    """Return the text in at most ``width`` columns of the terminal; a longer text ends in ``…``."""
    return text if cell_len(text) <= width else f"{chop_cells(text, width - 1)[0] if width > 1 else ''}…"


def printed(lines: Iterable[Text], view: View) -> str:
    """Return the lines as text, in at most ``view.width`` (at least 60) columns.

    With colour, only ANSI styles are added.
    """
    out = io.StringIO()
    console = Console(
        file=out,
        width=max(view.width, 60),
        force_terminal=view.colour,
        color_system="standard" if view.colour else None,
        no_color=not view.colour,
        legacy_windows=False,
        _environ={},
    )
    for line in lines:
        line.rstrip()
        console.print(line, soft_wrap=True, highlight=False)
    return out.getvalue()


def hanging(first: str, text: str, width: int) -> list[str]:
    """Return ``first`` and the wrapped text after it. Further lines are indented to the end of ``first``."""
    indent = cell_len(first)
    lines = wrapped(text, max(width - indent, 20))
    return [first + lines[0], *(" " * indent + line for line in lines[1:])]


def paragraph(text: str, width: int, style: str = "", *, first: str = "", most: int | None = None) -> list[Text]:
    """Return ``first`` and the wrapped text after it, in one style and at most ``most`` lines.

    No text gives no lines.
    """
    return [Text(line, style=style) for line in hanging(first, text, width)[:most]] if text else []


def command_lines(first: str, command: str, width: int) -> list[str]:
    """Return ``first`` and a command as the user types it, wrapped with backslashes so that a shell reads one line.

    No word is broken.
    """
    indent = cell_len(first)
    lines = [""]
    for word in _WORD.findall(as_typed(command)):
        if lines[-1] and cell_len(f"{lines[-1]} {word}") > width - indent - 2:
            lines[-1] += " \\"
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return [first + lines[0], *(" " * indent + line for line in lines[1:])]


_GAP = 2
_LEAST_NAME = 16
"""The least width of the first column. If it would be narrower, columns of figures are left out."""


def fitting(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int]:
    """Return the indices of the columns that fit. The lowest priority is left out first, and of equal ones the last."""
    shown = [*range(len(columns))]
    while sum(widths[at] + _GAP for at in shown) > room:
        least = min((columns[at].priority, -at) for at in shown) if shown else (NEVER_HIDDEN, 0)
        if least[0] >= NEVER_HIDDEN or len(shown) == 1:
            break
        shown.remove(-least[1])
    return shown


class Layout(msgspec.Struct, frozen=True):
    """The layout of tables with the same columns: width of the names, width of each column, shown columns."""

    first: int
    widths: Sequence[int]
    shown: Sequence[int]


def aligned(table: Table) -> Table:
    """Return the table with the parts of its cells (separated by tabs) aligned."""
    rows = [[each.text.split("\t") for each in line.cells] for line in table.lines]
    columns = [[cells[at] for cells in rows if cells] for at in range(len(table.columns))]
    widths = [[max(map(cell_len, parts)) for parts in itertools.zip_longest(*each, fillvalue="")] for each in columns]

    def placed(cell: TableCell, at: int) -> TableCell:
        parts = zip([*cell.text.split("\t"), *[""] * len(widths[at])], widths[at], strict=False)
        text = "  ".join(_padded(part, width, left=False) for part, width in parts if width)
        return replace(cell, text=text) if len(widths[at]) > 1 else cell

    lines = (replace(line, cells=tuple(placed(each, at) for at, each in enumerate(line.cells))) for line in table.lines)
    return replace(table, lines=tuple(lines))


def laid_out(tables: Sequence[Table], width: int, least_name: int) -> Layout:
    """Return one layout for all these tables. Columns are left out until the column of names is ``least_name`` wide."""
    columns = next((each.columns for each in tables if each.columns), ())
    lines = [line for each in tables for line in each.lines if line.cells]
    widths = [
        max(cell_len(column.title), *(cell_len(each.cells[at].text) for each in lines), 0)
        for at, column in enumerate(columns)
    ]
    named = [line.name for each in tables for line in each.lines if line.cells or line.span]
    names = [*(each.head for each in tables), *named]
    longest = max(map(cell_len, names), default=0)
    shown = fitting(columns, widths, width - min(longest, least_name))
    taken = sum(widths[at] + _GAP for at in shown) or width - least_name
    return Layout(min(longest, max(width - taken, min(least_name, _LEAST_NAME))), widths, shown)


def terminal(
    table: Table,
    width: int,
    most: int | None = None,
    *,
    layout: Layout | None = None,
    wraps: bool = False,
    name: int = 0,
) -> Iterator[Text]:
    """Yield the table in lines of at most ``width`` columns, with at most ``most`` rows.

    ``layout``: the layout that several tables share; the caller then lists the hidden columns. ``wraps``: wrap long
    names instead of cutting them. ``name``: leave out columns before names get narrower than this width.
    """
    table = aligned(table)
    yield from paragraph(table.title, width, "bold", most=2)
    says_more, layout = layout is None, layout or laid_out([table], width, name or width // 2)
    if table.columns and (table.head or any(table.columns[at].title for at in layout.shown)):
        heads = [TableCell(table.columns[at].title, table.columns[at].style) for at in range(len(table.columns))]
        yield from _row(Line(table.head, tuple(heads), "dim"), table, layout, width, wraps=False)
    kept = table.lines if most is None else table.lines[:most]
    for each in kept:
        yield from _row(each, table, layout, width, wraps=wraps)
        if each.below is not None:
            yield from terminal(each.below, width)
    left_out = [f"lines left out: {len(table.lines) - len(kept)}"] if len(kept) < len(table.lines) else []
    if says_more and len(layout.shown) < len(layout.widths):
        left_out.append(f"columns left out: {len(layout.widths) - len(layout.shown)}")
    yield from paragraph(" · ".join((*table.legend, *left_out)), width, "dim", most=3)
    yield from (Text() for _ in table.notes[:1])
    for note in table.notes:
        yield from paragraph(note, width, "dim")


def _row(line: Line, table: Table, layout: Layout, width: int, *, wraps: bool) -> Iterator[Text]:
    """Yield the lines of one row: its name, and its cells or the paragraphs in place of cells."""
    if not line.cells and not line.span:
        yield Text(cut(line.name, width), style=line.style)
        return
    first = layout.first
    indent = len(line.name) - len(line.name.lstrip())
    names = [cut(line.name, first)]
    if wraps and cell_len(line.name) > first:
        begin, *_ = wrapped(line.name.strip(), first - indent)
        rest = line.name.strip()[len(begin) :].strip()
        names = [
            " " * indent + begin,
            *(" " * (indent + 2) + each for each in wrapped(rest, first - indent - 2) if rest),
        ]
    paragraphs = [each for paragraph in line.span for each in wrapped(paragraph, width - first - _GAP)]
    for at in range(max(len(names), len(paragraphs))):
        text = Text(_padded(names[at] if at < len(names) else "", first), style="" if line.span else line.style)
        if paragraphs:
            text.append(" " * _GAP + paragraphs[at] if at < len(paragraphs) else "", style=line.style)
        elif at == 0:
            for column in layout.shown:
                cell = line.cells[column]
                placed = _padded(cell.text, layout.widths[column], left=table.columns[column].left)
                text.append(" " * _GAP + placed, style=cell.style or line.style)
        if cell_len(text.plain.rstrip()) > width:  # the columns that must be shown are too wide
            text.truncate(width, overflow="ellipsis")
        yield text


def _padded(text: str, width: int, *, left: bool = True) -> str:
    blanks = " " * max(0, width - cell_len(text))
    return text + blanks if left else blanks + text
