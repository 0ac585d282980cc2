"""The report as one HTML file that needs nothing else: data, script, the figures' libraries and styles are inside."""

from middlemark.show.html.page import page_of, render_html

__all__ = ["page_of", "render_html"]
