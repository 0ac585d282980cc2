"""The runs of a folder as series over time, with their change points."""

from middlemark.history.series import ChangePoint, History, Point, Series, history_of

__all__ = ["ChangePoint", "History", "Point", "Series", "history_of"]
