"""Terminal, JSON, CSV and the formats of other tools: one file each, pure functions from facts and results to text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.report.run_facts import RunFacts
from middlemark.stats.result import CellResult

__all__ = ["FORMATS", "View", "render"]


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What a format may need beyond facts and results.

    ``samples_of`` gives the samples of the measured trials of the result at that place, in order: of ping-pongs, for
    ``roundtrip`` and ``ddsperf``.
    """

    width: int = 100
    """Columns of the terminal; of a pipe, what reads well."""
    colour: bool = False
    breakdown: bool = False
    """Of the table: where the time of each row went."""
    samples_of: Callable[[int], Iterable[Any]] = lambda _: ()


def _table(facts: RunFacts, results: Sequence[CellResult], view: View) -> str:
    from middlemark.report import table

    return table.render(facts, results, width=view.width, colour=view.colour, breakdown=view.breakdown)


def _json(facts: RunFacts, results: Sequence[CellResult], _: View) -> str:
    from middlemark.report import json

    return json.render(facts, results)


def _csv(facts: RunFacts, results: Sequence[CellResult], _: View) -> str:
    from middlemark.report import csv

    return csv.render(facts, results)


def _latencytest(facts: RunFacts, results: Sequence[CellResult], _: View) -> str:
    from middlemark.report import latencytest

    return latencytest.render(facts, results)


def _roundtrip(facts: RunFacts, results: Sequence[CellResult], view: View) -> str:
    from middlemark.report import roundtrip

    return roundtrip.render(facts, results, view.samples_of)


def _ddsperf(facts: RunFacts, results: Sequence[CellResult], view: View) -> str:
    from middlemark.report import ddsperf

    return ddsperf.render(facts, results, view.samples_of)


# Each imports its own when it is used: rich and numpy cost more than a whole start of the command may.
FORMATS: Mapping[str, Callable[[RunFacts, Sequence[CellResult], View], str]] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "latencytest": _latencytest,
    "roundtrip": _roundtrip,
    "ddsperf": _ddsperf,
}
"""By the name ``--format`` takes."""

_NO_VIEW = View()


def render(name: str, facts: RunFacts, results: Sequence[CellResult], view: View = _NO_VIEW) -> str:
    """Return the report in that format, ending in a newline. KeyError when there is none of that name."""
    return FORMATS[name](facts, results, view)
