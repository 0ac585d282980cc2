"""Results and facts of runs → one document that every format is made from. Pure."""

from middlemark.document.document import Document, MeasuredRun, Row
from middlemark.document.make import document_of, with_matrices, with_verdicts

__all__ = ["Document", "MeasuredRun", "Row", "document_of", "with_matrices", "with_verdicts"]
