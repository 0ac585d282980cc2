"""The report as one HTML file that needs nothing else: the data, the figures' libraries, our script and our styles inside."""

from middlemark.report.html.page import LIBRARIES, render_html

__all__ = ["LIBRARIES", "render_html"]
