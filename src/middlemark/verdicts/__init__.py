"""Verdicts: which candidate wins, by how much, and whether the difference is significant. Pure functions."""
