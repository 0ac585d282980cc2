"""Warnings about a row, as values with the doubt about a figure and the next step. Each file has one subject."""
