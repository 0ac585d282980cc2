"""Warnings about a row, as values: what is doubtful, and the next step. Each file has one subject."""
