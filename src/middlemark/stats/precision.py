"""Whether the cells of a run are known well enough, by the intervals of their medians. Pure."""

import statistics
from collections.abc import Mapping, Sequence

import msgspec

from middlemark.plan.cell import Precision
from middlemark.stats.interval import FEWEST, median_interval


class Known(msgspec.Struct, frozen=True):
    """Indices of the cells that are not known well enough, and of those that nothing is known of."""

    wide: tuple[int, ...]
    unmeasured: tuple[int, ...]


def reach(figures: Sequence[float]) -> float | None:
    """Return how far the interval of their median reaches from it, on its longer side, as a part of it.

    None where there is no interval: with fewer than six figures.
    """
    interval = median_interval(figures)
    if interval is None:
        return None
    median = statistics.median(figures)
    return max(median - interval[0], interval[1] - median) / median


def known(precision: Precision, figures: Mapping[int, Sequence[float]], rounds: int) -> Known:
    """Return what is not known well enough after so many rounds; ``figures``: of the measured trials, by cell."""
    wide = []
    unmeasured = []
    for cell in precision.focus:
        measured = figures.get(cell, ())
        if not measured and rounds >= FEWEST:
            unmeasured.append(cell)
            continue
        part = reach(measured)
        if part is None or part > precision.part:
            wide.append(cell)
    return Known(tuple(wide), tuple(unmeasured))
