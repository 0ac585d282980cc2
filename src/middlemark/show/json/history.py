"""The output of ``history`` for programs."""

from collections.abc import Iterator

from middlemark.history import History
from middlemark.show.json.output import Number, Output, filled


class HistoryPoint(Output, frozen=True, kw_only=True):
    """The figure of one run in a series."""

    run: str
    started: str
    version: str
    """The version of the middleware."""
    value: Number
    low: Number | None
    """The lower end of the 95 % interval of the run's figure; null: fewer than six trials."""
    high: Number | None


class HistoryChange(Output, frozen=True, kw_only=True):
    """A change between two successive runs."""

    at: str
    """The time at which the first run after the change began."""
    before: str
    """The last run before the change."""
    after: str
    """The first run after the change."""
    shift: Number
    """The relative change: 0.1 is a tenth more. More is worse."""
    low: Number
    """The lower end of the 95 % interval of the change."""
    high: Number
    suspect: str | None
    """The difference between the records of the two runs (commit, version, library, kernel, …); null: no difference."""


class HistorySeries(Output, frozen=True, kw_only=True):
    """One configuration over the runs of a suite on a machine."""

    suite: str
    machine: str
    adapter: str
    transport: str
    size: int
    what: str
    """The levels that differ from the default, in words, without adapter, transport and size."""
    figure: str
    """p50, throughput (as the time of a message) or deadline; less is better."""
    unit: str
    """ratio: divided by the baseline of the same run. ns or deadlines: the run has no baseline for the row."""
    points: tuple[HistoryPoint, ...]
    changes: tuple[HistoryChange, ...]
    why: str
    """Why no change can be found; empty: the series has enough runs."""


class HistoryOutput(Output, frozen=True, kw_only=True):
    """All runs of a folder as series over time, with their change points."""

    folder: str
    runs: int
    """The number of runs in the series."""
    others: int
    """The number of runs that belong to no series."""
    series: tuple[HistorySeries, ...]
    notes: tuple[str, ...]


class HistoryRow(Output, frozen=True, kw_only=True):
    """A point as a row of CSV."""

    suite: str
    machine: str
    adapter: str
    transport: str
    size: int
    what: str
    figure: str
    unit: str
    run: str
    started: str
    version: str
    value: Number
    low: Number | None
    high: Number | None
    change: Number | None
    """The relative change, if a change begins with this run; null: no change begins."""


def history_output(history: History) -> HistoryOutput:
    """Return the output."""
    series = tuple(
        filled(
            HistorySeries,
            each,
            points=tuple(filled(HistoryPoint, point) for point in each.points),
            changes=tuple(filled(HistoryChange, change) for change in each.changes),
        )
        for each in history.series
    )
    return filled(HistoryOutput, history, series=series)


def history_rows(history: History) -> Iterator[HistoryRow]:
    """Yield a row for each point."""
    for series in history.series:
        changes = {each.after: each.shift for each in series.changes}
        for point in series.points:
            yield filled(HistoryRow, point, series, change=changes.get(point.run))
