"""Results and facts of runs → one document that the HTML and the Markdown report are made from. Pure."""

from middlemark.report.document.make import make_document
from middlemark.report.document.measured import MeasuredRun
from middlemark.report.document.model import Document

__all__ = ["Document", "MeasuredRun", "make_document"]
