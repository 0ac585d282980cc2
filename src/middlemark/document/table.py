"""A table as a value: other modules fill in its rows and columns, and renderers lay it out."""

from collections.abc import Iterable, Sequence

import msgspec

NEVER_HIDDEN = 100
"""A column of this priority is always shown, because the other columns would mislead without this column."""

_OF_WORDS = (
    *("warnings", "metric", "verdict", "why", "what happened", "next", "claimed"),
    *("protected by", "proof", "claim", "its figure", "here", "with awake processors"),
)
"""Titles of columns that are aligned to the left."""


class Column(msgspec.Struct, frozen=True):
    """One column. If the table is too wide, the columns with the lowest priority are left out first."""

    title: str
    priority: float = NEVER_HIDDEN
    left: bool = False
    """True if the column contains words, which are aligned to the left."""
    means: str = ""
    """The meaning of the column, for the legend."""
    style: str = "dim"
    """The style of the column's title."""


class TableCell(msgspec.Struct, frozen=True):
    """One text and its style, if colours are used. Tabs separate parts of the text that a renderer aligns."""

    text: str
    style: str = ""

    @property
    def on_one_line(self) -> str:
        """The text with blanks between its parts, for renderers that do not align parts."""
        return " ".join(self.text.split("\t")).strip()


class Line(msgspec.Struct, frozen=True):
    """One row: its name, and a cell for each column."""

    name: str
    cells: tuple[TableCell, ...]
    style: str = ""
    span: tuple[str, ...] = ()
    """Paragraphs across all columns, in place of figures: the reason why there are none."""
    below: "Table | None" = None
    """A table with columns of its own that belongs to the row."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table as a value. Texts are plain: each renderer escapes the marks of its format."""

    title: str = ""
    head: str = ""
    """The title of the first column, which contains the names."""
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    legend: tuple[str, ...] = ()
    """The meaning of each mark in the table, in a few words."""
    notes: tuple[str, ...] = ()
    """Sentences below the table."""


def cells(*texts: str) -> tuple[TableCell, ...]:
    """Return plain cells."""
    return tuple(map(TableCell, texts))


def facts(*pairs: tuple[str, str], style: str = "") -> Table:
    """Return a table without columns: names with a paragraph each. A name with an empty paragraph is left out."""
    return Table(columns=(), lines=tuple(Line(name, (), style, (text,)) for name, text in pairs if text))


def table_of(
    titles: Sequence[str | Column], rows: Iterable[Sequence[str]], title: str = "", notes: tuple[str, ...] = ()
) -> Table:
    """Return a table of texts; the first text of each row is its name. Columns of words are aligned to the left."""
    head, *others = titles
    columns = tuple(Column(each, left=each in _OF_WORDS) if isinstance(each, str) else each for each in others)
    lines = tuple(Line(name, cells(*texts)) for name, *texts in rows)
    return Table(title=title, head=str(head), columns=columns, lines=lines, notes=notes)
