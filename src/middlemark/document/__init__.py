"""Results and facts of runs → one document from which every format is rendered. Pure functions."""

from middlemark.document.document import Document
from middlemark.document.make import document_of, with_experiments, with_verdicts

__all__ = ["Document", "document_of", "with_experiments", "with_verdicts"]
