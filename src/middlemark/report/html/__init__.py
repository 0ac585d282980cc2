"""The report as one HTML file that needs nothing else: data, the figures' libraries, script and styles are inside."""

from middlemark.report.html.page import LIBRARIES, render_html

__all__ = ["LIBRARIES", "render_html"]
