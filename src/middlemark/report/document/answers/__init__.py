"""The answer: who is fastest, by how much, how sure, how far from the floor. Sentences made of verdicts. Pure."""

from middlemark.report.document.answers.answer import answers

__all__ = ["answers"]
