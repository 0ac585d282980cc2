"""The columns of figures: what each tells, how wide it is, and which give way first where a line is short."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from middlemark.report.numbers import ABSENT, count, ratio, us
from middlemark.report.run_facts import RunFacts
from middlemark.stats.result import CellResult

Tell = Callable[[CellResult, RunFacts, Mapping[str, int]], str]


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """On a short line the column that ``keeps`` least goes first. ``means`` is its line of the legend."""

    title: str
    means: str
    tell: Tell
    keeps: int
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
        return "bold" if self.title in ("p50", "× floor") else ""


def _quantile(times: str, field: str) -> Tell:
    return lambda result, _facts, _numbers: us(getattr(getattr(result, times), field, None))


def _times_floor(result: CellResult, facts: RunFacts, _: Mapping[str, int]) -> str:
    if facts.is_floor(result.cell.adapter):
        return "floor"
    return f"{ratio(result.times_floor)} × {result.floor}" if result.times_floor is not None else ABSENT


def _carried_by(result: CellResult, _facts: RunFacts, _numbers: Mapping[str, int]) -> str:
    varies = any(each.code == "carried-by-varies" for each in result.warnings)
    return "varies" if varies else result.carried_by or ABSENT


def _see(result: CellResult, _: RunFacts, numbers: Mapping[str, int]) -> str:
    return ",".join(str(each) for each in sorted({numbers[doubt.code] for doubt in result.warnings}))


_NEVER_HIDDEN = 7
"""Columns that keep their place at least this much: a median without its tail and its losses would mislead."""

COLUMNS = (
    Column(
        title="p50",
        means="half of the round trips took at most this long",
        tell=_quantile("round_trip_ns", "p50"),
        keeps=9,
    ),
    Column(
        title="first p50",
        means="the same for the first of several replies; a round trip ends with the last",
        tell=_quantile("first_reply_ns", "p50"),
        keeps=4,
    ),
    Column(
        title="p99",
        means="99 % of the round trips took at most this long",
        tell=_quantile("round_trip_ns", "p99"),
        keeps=8,
    ),
    Column(title="p99.9", means="99.9 % of them did", tell=_quantile("round_trip_ns", "p99_9"), keeps=0),
    Column(title="max", means="the longest round trip of all trials", tell=_quantile("round_trip_ns", "max"), keeps=3),
    Column(
        title="samples",
        means="round trips measured, all trials together",
        tell=lambda result, _facts, _numbers: count(result.samples),
        keeps=1,
    ),
    Column(
        title="lost",
        means="replies that never came",
        tell=lambda result, _facts, _numbers: count(result.counts.lost),
        keeps=7,
    ),
    Column(
        title="× floor",
        means="p50 divided by that of the floor named, the machine without a middleware; –: the run has no such floor",
        tell=_times_floor,
        keeps=6,
    ),
    Column(
        title="carried by",
        means="what moved the data, as the kernel's counters and the mapped segments show it",
        tell=_carried_by,
        keeps=2,
        left=True,
    ),
    Column(title="see", means="number of the doubt below", tell=_see, keeps=9, left=True),
)


def fitting(
    results: Sequence[CellResult], facts: RunFacts, numbers: Mapping[str, int], width: int
) -> tuple[list[Column], list[Column]]:
    """Return the columns that fit in ``width``, each as wide as its widest text, and those that had to give way.

    A column that no row has anything in is neither.
    """
    told = [each for each in results if each.failed is None]
    shown: list[Column] = []
    for column in COLUMNS:
        texts = [column.tell(each, facts, numbers) for each in told]
        if any(text not in ("", ABSENT) for text in texts) or column.title in ("p50", "lost"):
            widest = max([len(column.title), *map(len, texts)])
            shown.append(msgspec.structs.replace(column, width=widest))
    hidden: list[Column] = []
    while sum(each.width + 2 for each in shown) > width and any(each.keeps < _NEVER_HIDDEN for each in shown):
        gone = min(shown, key=lambda each: each.keeps)
        shown.remove(gone)
        hidden.append(gone)
    return shown, hidden
