"""Make one document from the results and facts of runs; every format is rendered from it. Pure functions."""

from middlemark.document.document import Document
from middlemark.document.make import document_of, with_experiments, with_verdicts

__all__ = ["Document", "document_of", "with_experiments", "with_verdicts"]
