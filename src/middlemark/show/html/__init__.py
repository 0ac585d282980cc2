"""The report as one self-contained HTML file: data, scripts, libraries and styles are inside."""

from middlemark.document.document import Document
from middlemark.show import View
from middlemark.show.html.page import page_of, render_html

__all__ = ["page_of", "render", "render_html"]


def render(document: Document, _view: View) -> str:
    """Return the page. Raises MeasureError if its script is missing."""
    return render_html(document)
