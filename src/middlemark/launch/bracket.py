"""Which rates a search tries next. Pure: the trials are somebody else's."""

from collections.abc import Generator

PRECISION = 1.02
"""The search ends when the rate that held and the one that did not lie within this factor."""
MOST_HALVINGS = 12
UP = 1.25
MOST_UP = 4
"""A flood may arrive slower than a schedule does: when even the bound holds, so many steps go up from it."""
DOWN = (0.5, 0.1, 0.01, 0.001)
"""Parts of the bound, tried downwards; when not even the last holds there is nothing to search."""
CONFIRMATIONS = (1.0, 0.95, 0.85, 0.7, 0.5)
"""Parts of the rate found, tried over the full duration until one holds there too."""
CURVE = (0.01, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.1)
"""Offered loads of a curve, in parts of the saturation."""

Search = Generator[float, bool, float | None]
"""Yields rates to try and is sent whether they held; returns the highest that held, None when none did."""


def highest_held(bound: float) -> Search:
    """Search for the highest rate that holds, from ``bound``, what arrived at rate max."""
    low: float | None = None
    high: float | None = None
    if (yield bound):
        low = bound
        for _ in range(MOST_UP):
            if not (yield low * UP):
                high = low * UP
                break
            low *= UP
    else:
        high = bound
        for part in DOWN:
            if (yield bound * part):
                low = bound * part
                break
            high = bound * part
    if low is None or high is None:
        return low
    for _ in range(MOST_HALVINGS):
        if high <= low * PRECISION:
            break
        middle = (low * high) ** 0.5
        if (yield middle):
            low = middle
        else:
            high = middle
    return low


def first_confirmed(rate: float) -> Search:
    """Try ``rate`` and then lower ones until one holds."""
    for part in CONFIRMATIONS:
        if (yield rate * part):
            return rate * part
    return None
