"""Results and facts of runs → one document that every format is made from. Pure."""

from middlemark.document.document import Document
from middlemark.document.make import document_of, with_experiments, with_verdicts

__all__ = ["Document", "document_of", "with_experiments", "with_verdicts"]
