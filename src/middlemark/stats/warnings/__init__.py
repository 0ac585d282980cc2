"""Warnings about a row, as values: the doubt about a figure, and the next step. Each file has one subject."""
