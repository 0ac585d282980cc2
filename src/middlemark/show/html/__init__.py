"""The report as one self-contained HTML file: data, scripts, libraries and styles are inside."""

from middlemark.show.html.page import page_of, render_html

__all__ = ["page_of", "render_html"]
