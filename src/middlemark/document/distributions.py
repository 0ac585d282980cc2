"""Compute percentile curves from the samples of trials, and a heat map of the latencies of one trial over time."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from middlemark.document.document import Distribution, HeatMap, Number
from middlemark.document.numbers import four_digits as brief
from middlemark.stats.buckets import joined
from middlemark.stats.quantiles import Numbers, samples_needed
from middlemark.stats.result import CellResult
from middlemark.stats.samples import Samples, SamplesError
from middlemark.stats.trials import KeptOf, SamplesOf, TrialSummary, figures

PERCENTILES = tuple(
    Fraction(each)
    for each in (
        *("0.1", "1", "5", "10", "20", "25", "30", "40", "50", "55", "60", "65", "70", "75", "80", "85", "90"),
        *("92.5", "95", "96", "97", "98", "98.5", "99", "99.25", "99.5", "99.75", "99.9", "99.95", "99.975"),
        *("99.99", "99.995", "99.999", "99.9995", "99.9999"),
    )
)
"""The percentiles of a curve, denser towards 100 as in HdrHistogram's output ("percentile ticks per half distance")."""

_ASKED = tuple((float(each), each / 100, samples_needed(each / 100)) for each in PERCENTILES)

_FEW = frozenset((1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 99.9))
"""The percentiles of the short curve that each trial has."""
MOST_TRIALS = 2_000
"""A document with more trials than this has no short curves."""

TIMES = 24
LATENCIES = 16
_FEWEST = 100
"""The fewest samples for a heat map."""


Curve = tuple[tuple[Number, Number], ...]


def distribution(
    result: CellResult, trials: Sequence[TrialSummary], samples: SamplesOf, kept: KeptOf, *, every: bool = False
) -> Distribution:
    """Return the distribution of one trial: the trial whose figure is the median of the cell. Trials are never pooled.

    ``every``: also return a short curve of each trial.
    """
    trial = median_trial(result, trials)
    if trial is None:
        return Distribution()
    try:
        at_ns, values, histogram = _latencies(trial, samples, kept)
    except SamplesError:
        return Distribution()
    if histogram is not None:
        return Distribution(_curve_of_both(values, histogram), None, trial.outcome.number)
    if len(values) == 0:
        return Distribution()
    curves = tuple(_short_curves(trials, samples, kept)) if every and len(trials) > 1 else ()
    return Distribution(_curve(values), _heat(at_ns, values), trial.outcome.number, curves)


def _short_curves(trials: Sequence[TrialSummary], samples: SamplesOf, kept: KeptOf) -> Iterator[Curve]:
    """Yield a few percentiles of each trial, with minimum and maximum."""
    for each in trials:
        if each.outcome.failed is None and each.samples:
            try:
                _, values, histogram = _latencies(each, samples, kept)
            except SamplesError:
                continue
            if histogram is None and len(values):
                yield tuple(point for point in _curve(values) if point[0] in _FEW or point[0] in (0, 100))


def median_trial(result: CellResult, trials: Sequence[TrialSummary]) -> TrialSummary | None:
    """Return the trial whose samples are shown: the one with a series, or else the one with the median figure.

    With an even number of trials it is the lower of the middle two. None: no trial has samples.
    """
    measured = [each for each in trials if each.outcome.failed is None and each.samples]
    for each in measured:
        if each.outcome.number == result.series_trial:
            return each
    with_figure = [
        (figure, each.outcome.order, each)
        for figure, each in zip(figures(result.cell, measured), measured, strict=True)
        if figure is not None
    ]
    ranked = sorted(with_figure, key=lambda item: item[:2])
    return ranked[(len(ranked) - 1) // 2][2] if ranked else next(iter(measured), None)


def _latencies(trial: TrialSummary, samples: SamplesOf, kept: KeptOf) -> tuple[Numbers, Numbers, Samples | None]:
    """Return three values: each sample's time in ns since measuring began, its latency, and the histogram.

    The histogram has the samples that did not fit into the buffer; None: all fitted.
    """
    outcome = trial.outcome
    subscribers = [kept(each) for each in outcome.timed if each.role == "subscriber"]
    if subscribers:
        came = np.concatenate([each.raw["received_ns"] for each in subscribers])
        values = np.concatenate([each.raw["one_way_ns"] for each in subscribers])
        counted = joined([each.histogram for each in subscribers if each.histogram is not None])
        return came - came.min() if len(came) else came, values, counted
    clients = [kept(each).raw for each in outcome.files if each.role == "client"]
    own = samples(outcome) if outcome.samples_file else None
    trips = clients or ([own] if own is not None else [])
    if not trips:
        nothing: Numbers = np.empty(0, dtype=np.uint64)
        return nothing, nothing, None
    return (
        np.concatenate([each["begin_ns"] for each in trips]),
        np.concatenate([each["round_trip_ns"] for each in trips]),
        None,
    )


def _curve(values: Numbers) -> Curve:
    """Return the curve of the values: minimum, maximum, and each percentile that at least ten samples exceed."""
    asked = _ranks(len(values))
    ordered = np.array(values)
    ordered.partition(sorted({0, *(rank - 1 for _, rank in asked), len(values) - 1}))
    inner = [(percentile, brief(float(ordered[rank - 1]))) for percentile, rank in asked]
    return ((0, brief(float(ordered[0]))), *inner, (100, brief(float(ordered[-1]))))


def _curve_of_both(raw: Numbers, histogram: Samples) -> Curve:
    """Return the curve of raw samples and a histogram together.

    A sample of the histogram has the middle of its bucket.
    """
    middles = (histogram["lower_ns"].astype(np.float64) + histogram["upper_ns"] - 1) / 2
    values = np.concatenate([np.asarray(raw, dtype=np.float64), middles])
    weights = np.concatenate([np.ones(len(raw), dtype=np.int64), histogram["count"].astype(np.int64)])
    order = np.argsort(values, kind="stable")
    through = np.cumsum(weights[order])
    asked = _ranks(int(through[-1]))
    found = values[order][np.searchsorted(through, [rank for _, rank in asked])]
    inner = [(percentile, brief(float(value))) for (percentile, _), value in zip(asked, found, strict=True)]
    return ((0, brief(float(values[order[0]]))), *inner, (100, brief(float(values[order[-1]]))))


def _ranks(count: int) -> list[tuple[float, int]]:
    """Return (percentile, rank from 1) for each percentile for which ``count`` samples are enough."""
    return [
        (shown, max(1, -(-(part.numerator * count) // part.denominator)))
        for shown, part, needed in _ASKED
        if count >= needed
    ]


def _heat(at_ns: Numbers, values: Numbers) -> HeatMap | None:
    if len(values) < _FEWEST:
        return None
    begin, end = int(at_ns.min()), int(at_ns.max())
    least, most = max(float(values.min()), 1.0), float(values.max())
    if end <= begin or most <= least:
        return None
    # The edges are on a logarithmic scale up to the longest latency. So a stall is visible, and usual latencies get
    # most of the bins.
    edges = np.geomspace(least, most, LATENCIES + 1)
    width = (end - begin) / TIMES
    column = np.minimum(((at_ns - begin) / width).astype(np.int64), TIMES - 1)
    row = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, LATENCIES - 1)
    counts = np.bincount(column * LATENCIES + row, minlength=TIMES * LATENCIES).reshape(TIMES, LATENCIES)
    return HeatMap(
        t=tuple(brief((begin + width * (each + 0.5)) / 1e9) for each in range(TIMES)),
        edges_ns=tuple(brief(float(each)) for each in edges),
        n=tuple(tuple(map(int, line)) for line in counts),
    )
