"""Declarations of what other tools print: one ``Form`` for each output format of a tool, from the tool's source.

Readers take the factor of a time from its column. ``scripts/factors`` writes the tables of docs/reference/imports.md
from these declarations.
"""

from typing import Literal

import msgspec

Kind = Literal["half round trip", "whole round trip", "round trip", "one way", "duration", "count", "rate", "other"]
"""Kind of a figure. ``round trip``: the output does not show if it is half or whole. ``duration``: the time of
one call."""
Over = Literal["interval", "so far", "run"]
"""The messages that a figure covers: those since the line before, all up to this line, or all of the run."""
_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


class PrintedColumn(msgspec.Struct, frozen=True):
    """One printed figure. ``name``: as the tool prints it; ``becomes``: where the import stores it; empty: nowhere."""

    name: str
    kind: Kind
    unit: str
    over: Over
    becomes: str = ""
    note: str = ""

    @property
    def ns(self) -> float:
        """The factor that converts the figure to ns of a whole round trip, of one way or of a duration."""
        return _NS[self.unit] * (2 if self.kind == "half round trip" else 1)


class Form(msgspec.Struct, frozen=True):
    """One form of a tool's output.

    ``source``: the file of the tool that prints the form, and the tags or the commit whose text was read;
    ``known_by``: words that identify the form.
    """

    tool: str
    versions: str
    known_by: str
    source: str
    columns: tuple[PrintedColumn, ...]

    @property
    def halves(self) -> bool:
        """Say whether the form has half round trips."""
        return any(each.kind == "half round trip" for each in self.columns)

    def __getitem__(self, name: str) -> PrintedColumn:
        """Return the column with this name. Raises KeyError."""
        for each in self.columns:
            if each.name == name:
                return each
        raise KeyError(name)


def summary_columns(
    kind: Kind, unit: str, over: Over, becomes: str, names: dict[str, str]
) -> tuple[PrintedColumn, ...]:
    """Return a column for each figure of a distribution.

    ``names``: printed name → field of a Summary (empty: not used).
    """
    return tuple(
        PrintedColumn(name, kind, unit, over, f"{becomes}.{field}" if field else "") for name, field in names.items()
    )
