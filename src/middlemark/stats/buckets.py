"""Quantiles of samples, of which some are raw and the others are counted in the buckets of a histogram."""

import math

import numpy as np

from middlemark.model.times import QUANTILES, Summary
from middlemark.stats.quantiles import Numbers, chunked_sum, samples_needed
from middlemark.stats.samples import Samples
from middlemark.stats.tally import summary_of

WITHIN = 1 / 128
"""Largest relative error of a value taken from a bucket: buckets are log-linear, 128 per octave."""


def summarise_both(raw: Numbers, histogram: Samples | None) -> Summary:
    """Return the summary of the raw samples and the histogram together; without a histogram the summary is exact.

    A value in a bucket counts as the middle of the bucket, or for min and max as the outer end of the bucket. Quantiles
    are by nearest rank, as in ``exact``: a quantile that is a raw sample is exact.
    """
    if histogram is None or len(histogram) == 0:
        return summary_of(raw)
    lower, upper = (histogram[field].astype(np.float64) for field in ("lower_ns", "upper_ns"))
    counts = histogram["count"].astype(np.int64)
    middles = (lower + upper - 1) / 2
    total = len(raw) + int(counts.sum())
    ordered = np.sort(raw)
    mean = (chunked_sum(ordered, 0.0) + float(middles @ counts)) / total
    squares = chunked_sum(ordered, mean, squared=True) + float((middles - mean) ** 2 @ counts)
    quantiles = {
        name: _ranked(ordered, middles, counts, math.ceil(quantile * total))
        for name, quantile in QUANTILES.items()
        if total >= samples_needed(quantile)
    }
    return Summary(
        min=min([float(lower[0]), *map(float, ordered[:1])]),
        max=max([float(upper[-1]) - 1, *map(float, ordered[-1:])]),
        mean=mean,
        stdev=math.sqrt(squares / (total - 1)) if total > 1 else None,
        **quantiles,
    )


def joined(histograms: list[Samples]) -> Samples | None:
    """Merge histograms with the same kind of buckets; None: the list is empty."""
    if len(histograms) < 2:
        return histograms[0] if histograms else None
    every = np.concatenate(histograms)
    lowers, first, which = np.unique(every["lower_ns"], return_index=True, return_inverse=True)
    both = np.empty(len(lowers), dtype=every.dtype)
    both[:] = every[first]
    both["count"] = 0
    np.add.at(both["count"], which, every["count"])
    return both


def _ranked(ordered: Numbers, middles: Numbers, counts: Numbers, rank: int) -> float:
    """Return the value with this rank (from 1) among the raw samples and the buckets' middles, by their counts."""
    through = np.searchsorted(ordered, middles, side="right") + np.cumsum(counts)
    bucket = int(np.searchsorted(through, rank))
    before = int(np.cumsum(counts)[bucket - 1]) if bucket else 0
    own = rank - before - 1
    candidates = [float(middles[bucket])] if bucket < len(middles) else []
    if own < len(ordered):
        candidates.append(float(ordered[own]))
    return min(candidates)
