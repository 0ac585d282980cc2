"""Judged experiments as programs read them: in the JSON of a run, each with its verdict and every row's standing."""

import msgspec

from middlemark.document.document import Document, Number
from middlemark.document.numbers import exact
from middlemark.document.statements import reason
from middlemark.verdicts.experiments import JudgedExperiment, JudgedRow, Standing, figure_of
from middlemark.verdicts.rows import Row


class PublishedBaseline(msgspec.Struct, frozen=True, kw_only=True):
    """A raw transport that rows are compared with. ``figure``: as in the rows."""

    cell: int
    name: str
    figure: Number | None


class PublishedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row in its experiment. ``cell``: its place among the cells of the run."""

    cell: int
    name: str
    standing: Standing
    reason: str
    figure: Number | None
    """ns; messages a second where the metric is throughput; the part of its deadline where it is deadline."""
    ratio: Number | None
    """Of the time it takes to its baseline's."""
    candidate: bool
    """Whether it stands for its middleware."""
    hands_over: bool
    doubt: str | None


class PublishedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment at one size by one metric."""

    size: int
    metric: str
    carrier: str | None
    """What it is restricted to; null: any."""
    levels: dict[str, str]
    verdict: str
    sure: bool
    within: float | None
    """Those that tie differ by less than this part."""
    winner: int | None
    """The cell that is first in the ranking."""
    copying: PublishedBaseline | None
    handing_over: PublishedBaseline | None
    rows: tuple[PublishedRow, ...]


def published(document: Document) -> tuple[PublishedExperiment, ...]:
    """Return every experiment of the document."""
    return tuple(map(_experiment, document.experiments))


def _experiment(experiment: JudgedExperiment) -> PublishedExperiment:
    winner = experiment.winner
    return PublishedExperiment(
        **{name: getattr(experiment, name) for name in ("size", "metric", "levels", "verdict", "sure")},
        carrier=experiment.carrier if experiment.restricted else None,
        within=experiment.within if experiment.verdict == "tie" else None,
        winner=None if winner is None else winner.row.index,
        copying=_baseline(experiment, experiment.copying),
        handing_over=_baseline(experiment, experiment.handing_over),
        rows=tuple(_row(experiment, each) for each in experiment.rows),
    )


def _row(experiment: JudgedExperiment, row: JudgedRow) -> PublishedRow:
    return PublishedRow(
        cell=row.row.index,
        name=row.row.name,
        standing=row.standing,
        reason=reason(experiment, row),
        figure=exact(experiment.shown(row.figure)),
        ratio=exact(row.ratio),
        candidate=row.is_candidate,
        hands_over=row.row.hands_over,
        doubt=row.doubt or None,
    )


def _baseline(experiment: JudgedExperiment, row: Row | None) -> PublishedBaseline | None:
    if row is None:
        return None
    figure = exact(experiment.shown(figure_of(row, experiment.metric)))
    return PublishedBaseline(cell=row.index, name=row.name, figure=figure)
