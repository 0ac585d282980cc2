"""What moved in each second of a trial: which trial stands for its cell, and whether its rate held."""

import statistics
from collections.abc import Sequence

from middlemark.launch.outcome import Second, TrialOutcome

WHOLE = 0.5
"""A last step shorter than this part of a second says little about a rate."""


def representative(outcomes: Sequence[TrialOutcome], figures: Sequence[float | None]) -> TrialOutcome | None:
    """Return the trial whose figure is the median (of two in the middle the lower), among those with a series.

    Seconds of several trials are never averaged: a stall in one of them would vanish. Trials without a figure stand in
    only where none has one.
    """
    known = [(each, figure) for each, figure in zip(outcomes, figures, strict=True) if each.series]
    ranked = sorted((pair for pair in known if pair[1] is not None), key=lambda pair: (pair[1] or 0.0, pair[0].order))
    if ranked:
        return ranked[(len(ranked) - 1) // 2][0]
    return known[0][0] if known else None


def received_by_second(series: Sequence[Second]) -> list[float]:
    """Return messages a second in each whole second, all receiving workers together.

    Seconds of workers belong together by their place; a worker that began later or ended earlier shortens the list.
    """
    of_worker: dict[str, list[float]] = {}
    for each in series:
        if each.received is not None and each.seconds >= WHOLE:
            of_worker.setdefault(each.who, []).append(each.received / each.seconds)
    return [sum(rates) for rates in zip(*of_worker.values(), strict=False)]


def falls(by_second: Sequence[float]) -> tuple[float, float] | None:
    """Return the mean rates of the first and of the last third when it has fallen by a fifth; None with under six s."""
    third = len(by_second) // 3
    if third < 2:
        return None
    first, last = statistics.mean(by_second[:third]), statistics.mean(by_second[-third:])
    return (first, last) if last < 0.8 * first else None


def varies(by_second: Sequence[float]) -> tuple[float, float] | None:
    """Return the lowest and the highest second when they lie further apart than 1.5 times; None with under three s."""
    if len(by_second) < 3:
        return None
    least, most = min(by_second), max(by_second)
    return (least, most) if most > 1.5 * least else None
