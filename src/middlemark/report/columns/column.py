"""A column of figures: what it tells, and how it gives way where a line is short."""

from collections.abc import Callable, Mapping

import msgspec

from middlemark.report.numbers import ABSENT, count, ratio, us
from middlemark.report.run_facts import RunFacts
from middlemark.stats.result import CellResult, Resources, Summary

Tell = Callable[[CellResult, RunFacts, Mapping[str, int]], str]

NEVER_HIDDEN = 7
"""Columns that keep their place at least this much: a figure without its tail and its losses would mislead."""

_BOLD = ("p50", "msgs/s", "held/s", "× floor")
"""What a row is read for."""


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """On a short line the column that ``keeps`` least goes first. ``means`` is its line of the legend."""

    title: str
    means: str
    tell: Tell
    keeps: int
    always: bool = False
    """Shown even where no row has anything in it."""
    left: bool = False
    width: int = 0

    def style(self, result: CellResult, facts: RunFacts) -> str:
        """Return the rich style of the cell of a row: what is doubtful stands out, what is a floor steps back."""
        codes = {each.code for each in result.warnings}
        if self.title == "carried by" and codes & {"transport-contradicted", "carried-by-varies"}:
            return "bold yellow"
        if self.title == "lost" and result.counts.lost:
            return "bold yellow"
        if self.title == "see":
            return "yellow"
        if facts.is_floor(result.cell.adapter):
            return "dim"
        return "bold" if self.title in _BOLD else ""


def of(figure: Callable[[CellResult], str]) -> Tell:
    """Return a column's word that needs the result alone."""
    return lambda result, _facts, _numbers: figure(result)


def quantile(times: str, field: str) -> Tell:
    """Return a column's word for one figure of one of the result's summaries, in µs."""
    return of(lambda result: us(getattr(getattr(result, times), field, None)))


def lost(result: CellResult) -> int | None:
    """Return the messages that never came; None where another tool measured and did not count them."""
    uncounted = result.imported is not None and "lost" in result.imported.not_counted
    return None if uncounted else result.counts.lost


def mean(times: str) -> Column:
    """Return the column of the mean, told only where another tool measured and kept no median."""

    def told(result: CellResult) -> str:
        summary: Summary | None = getattr(result, times)
        bare = result.imported is not None and summary is not None and summary.p50 is None
        return us(summary.mean if summary and bare else None)

    return Column(title="mean", means="the mean, of a tool that keeps no median", tell=of(told), keeps=9)


def cost(figure: Callable[[Resources], str]) -> Tell:
    """Return a column's word for something of what the cell cost."""
    return of(lambda result: figure(result.resources) if result.resources else ABSENT)


def _times_floor(result: CellResult, facts: RunFacts, _: Mapping[str, int]) -> str:
    if facts.is_floor(result.cell.adapter):
        return "floor"
    return f"{ratio(result.times_floor)} × {result.floor}" if result.times_floor is not None else ABSENT


def _carried_by(result: CellResult) -> str:
    varies = any(each.code == "carried-by-varies" for each in result.warnings)
    return "varies" if varies else result.carried_by or ABSENT


def _see(result: CellResult, _: RunFacts, numbers: Mapping[str, int]) -> str:
    return ",".join(str(each) for each in sorted({numbers[doubt.code] for doubt in result.warnings}))


def times_floor(means: str, keeps: int) -> Column:
    """Return the column of how many times slower than the floor."""
    return Column(title="× floor", means=means, tell=_times_floor, keeps=keeps)


def carried_by(keeps: int) -> Column:
    """Return the column of what moved the data."""
    means = "what moved the data, as the kernel's counters and the mapped segments show it"
    return Column(title="carried by", means=means, tell=of(_carried_by), keeps=keeps, left=True)


SEE = Column(title="see", means="number of the doubt below", tell=_see, keeps=9, left=True)

SAMPLES = Column(
    title="samples",
    means="round trips measured, all trials together",
    tell=of(lambda result: count(result.samples or (None if result.imported else 0))),
    keeps=1,
)
