"""What a count of so many out of so many says of the rate behind it. Exact: no normal approximation."""

import math


def at_least(found: int, of: int, rate: float) -> float:
    """Return the chance of ``found`` or more out of ``of`` independent draws with that rate."""
    return min(
        1.0, math.fsum(math.comb(of, each) * rate**each * (1 - rate) ** (of - each) for each in range(found, of + 1))
    )


def highest_rate(found: int, of: int, confidence: float = 0.95) -> float:
    """Return the one-sided upper limit of the rate by Clopper and Pearson (1934); 1 where all were found.

    The rate at which as few as ``found`` have the chance ``1 - confidence``, by bisection to an ulp or so.
    """
    if found >= of:
        return 1.0
    low, high = found / of, 1.0
    while low < (middle := (low + high) / 2) < high:
        if 1 - at_least(found + 1, of, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high
