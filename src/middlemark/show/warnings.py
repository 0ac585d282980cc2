"""Every warning of the rows, by its kind, in each row's own words."""

from collections.abc import Iterator

from rich.text import Text

from middlemark.document.document import Document
from middlemark.document.screen import disturbed
from middlemark.show import View
from middlemark.show.lines import paragraph, printed
from middlemark.show.notes import footnotes, machine_lines, numbers_of
from middlemark.verdicts.names import varying


def render(document: Document, view: View) -> str:
    """Return them, or that there are none."""
    return printed(_lines(document, max(view.width, 60)), view)


def _lines(document: Document, width: int) -> Iterator[Text]:
    rows = document.rows
    yield from paragraph(disturbed(rows), width, "bold yellow")
    yield from machine_lines(rows, width)
    if not document.warnings:
        yield Text("No row has a warning.")
    varied = varying([row.result for row in rows])
    yield from footnotes(rows, varied, numbers_of(rows), width, whole=True)
