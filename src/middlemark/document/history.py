"""A history as tables and sentences."""

import shlex
from collections.abc import Sequence

from middlemark.document.numbers import ABSENT, measured, part, ratio
from middlemark.document.statements import some
from middlemark.document.table import Column, Table, table_of
from middlemark.history import ChangePoint, History, Point, Series
from middlemark.model.units import format_count

MOST_NAMED = 3
MOST_SERIES = 40
"""The most series without a change that a table lists."""


def changes_table(history: History) -> Table | None:
    """Return a table of all changes, the newest first; None: there is no change."""
    found = [(series, change) for series in history.changed for change in series.changes]
    found.sort(key=lambda each: each[1].at, reverse=True)
    if not found:
        return None
    several = len({(each.suite, each.machine) for each in history.series}) > 1
    columns = (
        "what",
        Column("since", left=True),
        Column("change"),
        Column("95 % interval", 3),
        Column("suspect", 1, left=True),
    )
    rows = [
        (
            f"{series.suite}: {series.name}" if several else series.name,
            change.at[:16].replace("T", " "),
            word_of(change),
            f"{part(change.low)} … {part(change.high)}",
            change.suspect or "the runs record no difference",
        )
        for series, change in found
    ]
    return table_of(columns, rows, title="Changes")


def series_table(history: History) -> Table:
    """Return a table of the first and the newest figure of each series; series with a change come first."""
    ordered = sorted(history.series, key=lambda each: not each.changes)
    shown = ordered[: max(MOST_SERIES, len(history.changed))]
    rows = [
        (
            each.name,
            str(len(each.points)),
            figure_of(each, each.points[0]),
            figure_of(each, each.points[-1]),
            str(len(each.changes)) if each.changes else each.why or ABSENT,
        )
        for each in shown
    ]
    more = len(ordered) - len(shown)
    notes = (f"{more} more series without a change: --format csv prints every point",) if more else ()
    columns = ("what", Column("runs"), Column("first"), Column("newest"), Column("changes", left=True))
    return table_of(columns, rows, title="Series", notes=notes)


def figure_of(series: Series, point: Point) -> str:
    """Return the figure of one run with its unit: ``1.85 × baseline``, ``50.0 µs``."""
    return f"{ratio(point.value)} ×" if series.unit == "ratio" else measured(point.value, series.unit)


def word_of(change: ChangePoint) -> str:
    """Return the change in words: ``+12.0 % slower``."""
    return f"{part(change.shift)} {'slower' if change.is_worse else 'faster'}"


def commands_of(history: History) -> list[str]:
    """Return the command that compares the two runs of each change, each pair of runs once."""
    pairs = {(each.before, each.after): None for series in history.changed for each in series.changes}
    root = "" if history.paths or history.folder == "." else f"{history.folder.rstrip('/')}/"
    return [shlex.join(["middlemark", "compare", f"{root}{before}", f"{root}{after}"]) for before, after in pairs]


def sentence_of(series: Series, change: ChangePoint) -> str:
    """Return one change as a sentence without a full stop."""
    since = change.at[:10]
    suspect = f" (suspect: {change.suspect})" if change.suspect else ""
    return f"{series.name} {word_of(change)} since {since}{suspect}"


def line(history: History | None) -> str:
    """Return the newest changes in one sentence; empty: the history is too short."""
    if history is None or not history.series or all(each.why for each in history.series):
        return ""
    begin = f"History ({format_count(history.runs, 'run')})"
    newest = sorted(history.changed, key=lambda each: each.changes[-1].at, reverse=True)
    said = [sentence_of(each, each.changes[-1]) for each in newest]
    return f"{begin}: {some(said, MOST_NAMED) if said else 'no change'}."


def method(history: History) -> Sequence[str]:
    """Return the notes on the method, and on the runs that are left out or that have an uncertain date."""
    others = f"{history.others} runs belong to no suite and are left out" if history.others else ""
    return tuple(
        filter(
            None,
            (
                "A ratio is the figure divided by the baseline of the same run; less is better. If nothing "
                "changed, at most one series in 200 shows a change."
                if history.series
                else "",
                others,
                *history.notes,
            ),
        )
    )
