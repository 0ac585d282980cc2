"""Scorecards: the middlewares of each experiment ranked by the weights of the suite, with confidence intervals."""

import statistics
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from middlemark.model.cell import EXPERIMENT as FIELDS_OF_EXPERIMENT
from middlemark.model.run import Run
from middlemark.stats.metrics import METRICS
from middlemark.stats.scorecard import scores
from middlemark.verdicts.growth import by_round
from middlemark.verdicts.names import EXPERIMENT, is_contradicted, plain, varying, words
from middlemark.verdicts.rows import Row

_SAME = tuple(field for field in FIELDS_OF_EXPERIMENT if field != "size")
Sizes = Mapping[int, Row]
"""Size → the candidate's row."""


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate of a scorecard. ``stats/scorecard.py`` computes the figures."""

    name: str
    cells: tuple[int, ...]
    """The candidate's rows, by rising size."""
    score: float
    low: float | None
    high: float | None
    first: float | None
    """The share of the bootstrap draws in which the candidate is first; None: fewer than six rounds."""
    parts: tuple[float, ...]
    """For each metric of ``Scorecard.weights``: the candidate's figure divided by the best candidate's figure, as the
    geometric mean over the sizes."""


class Scorecard(msgspec.Struct, frozen=True, kw_only=True):
    """The ranking of one experiment by the weights of the suite."""

    experiment: str
    """The levels that differ from those of other experiments, in words."""
    weights: tuple[tuple[str, float], ...]
    """(metric, weight) for the metrics that all candidates have."""
    rounds: int
    rows: tuple[Scored, ...]
    """The candidates, the best first."""
    left_out: tuple[str, ...]
    """Metrics and candidates that are left out, each with the reason."""


def scorecards(rows: Sequence[Row], runs: Sequence[Run]) -> tuple[Scorecard, ...]:
    """Return a scorecard for each experiment of the runs with weights. All sizes have the same weight.

    Raw transports have no scorecard.
    """
    varied = varying([row.result for row in rows]) & frozenset(EXPERIMENT)
    groups: dict[tuple[object, ...], dict[str, dict[int, Row]]] = {}
    for row in rows:
        cell = row.result.cell
        if (
            row.is_raw_transport
            or row.result.failed
            or is_contradicted(row.result)
            or not runs[row.run].file.plan.scorecard
        ):
            continue
        key = (row.run, *(getattr(cell, field) for field in _SAME))
        groups.setdefault(key, {}).setdefault(plain(f"{row.name} {cell.label or ''}".strip()), {})[cell.size] = row
    found = (_scorecard(group, runs, varied) for group in groups.values())
    return tuple(each for each in found if each is not None)


def _scorecard(group: Mapping[str, Sizes], runs: Sequence[Run], varied: frozenset[str]) -> Scorecard | None:
    """Return the scorecard of one experiment; None: fewer than two candidates, or no common metric."""
    sizes = sorted({size for of in group.values() for size in of})
    whole = {name: of for name, of in group.items() if len(of) == len(sizes)}
    left_out = [
        f"{name}: a result over its named transport is missing at some sizes" for name in group if name not in whole
    ]
    if len(whole) < 2:
        return None
    any_row = next(iter(next(iter(whole.values())).values()))
    base = _common(_rounds(row) for of in whole.values() for row in of.values())
    figures: dict[str, dict[str, list[dict[int, float]]]] = {}
    weights: list[tuple[str, float]] = []
    for metric, weight in runs[any_row.run].file.plan.scorecard:
        of_metric = {name: [by_round(of[size], metric) for size in sizes] for name, of in whole.items()}
        lacking = next((name for name, each in of_metric.items() if not all(each)), None)
        kept = _common({*known} for each in of_metric.values() for known in each)
        if lacking is None and 2 * len(kept) > len(base):
            weights.append((metric, weight))
            figures[metric] = of_metric
        else:
            left_out.append(f"{metric}: {lacking or 'too few trials'} {'has none above 0' if lacking else 'have it'}")
    if not weights:
        return None
    rounds = _common({*each} for of_metric in figures.values() for of in of_metric.values() for each in of)
    found = scores(
        [[each for metric, _ in weights for each in figures[metric][name]] for name in whole],
        [weight / len(sizes) for _, weight in weights for _ in sizes],
        [METRICS[metric].higher_is_better for metric, _ in weights for _ in sizes],
    )
    rows = [
        Scored(
            name=name,
            cells=tuple(of[size].index for size in sizes),
            **msgspec.structs.asdict(score)
            | {"parts": tuple(map(statistics.geometric_mean, _by(len(sizes), score.parts)))},
        )
        for (name, of), score in zip(whole.items(), found, strict=True)
    ]
    return Scorecard(
        experiment=plain(words(any_row.result.cell, varied)),
        weights=tuple(weights),
        rounds=len(rounds),
        rows=tuple(sorted(rows, key=lambda each: each.score)),
        left_out=tuple(left_out),
    )


def _by(number: int, parts: Sequence[float]) -> list[Sequence[float]]:
    return [parts[at : at + number] for at in range(0, len(parts), number)]


def _rounds(row: Row) -> set[int]:
    return {each.outcome.number for each in row.trials if each.outcome.failed is None}


def _common(rounds: Iterable[set[int]]) -> set[int]:
    found = list(rounds)
    return set.intersection(*found) if found else set()
