"""Figures of a log in bounded memory, however long the log is."""

import math
from collections import Counter

from middlemark.model.times import QUANTILES, Summary
from middlemark.stats.quantiles import rank_of, samples_needed

MOST = 200_000
"""With more different values than this, all values are rounded to fewer digits. A value takes about 100 bytes."""
_DIGITS = 6


class Values:
    """Printed figures, and how often each occurs. The memory grows with the different values, not with the lines.

    Quantiles are exact up to ``MOST`` different values. With more values they have six digits or fewer.
    """

    def __init__(self) -> None:
        """Create the values, none so far."""
        self._often: Counter[float] = Counter()
        self._digits: int | None = None
        self.number = 0
        """The number of values."""

    def add(self, value: float, times: int = 1) -> None:
        """Add a value that occurred this number of times."""
        if times <= 0:
            return
        self.number += times
        self._often[self._short(value)] += times
        while len(self._often) > MOST:
            self._digits = _DIGITS if self._digits is None else self._digits - 1
            often: Counter[float] = Counter()
            for each, count in self._often.items():
                often[self._short(each)] += count
            self._often = often

    def _short(self, value: float) -> float:
        return value if self._digits is None else float(f"{value:.{self._digits}g}")

    @property
    def median(self) -> float | None:
        """The median; the mean of the middle two for an even number; None: there are no values."""
        if not self.number:
            return None
        lower, upper = self._ranked((self.number + 1) // 2, self.number // 2 + 1)
        return (lower + upper) / 2

    @property
    def least(self) -> float | None:
        """The smallest value; None: there are no values."""
        return min(self._often, default=None)

    @property
    def most(self) -> float | None:
        """The largest value; None: there are no values."""
        return max(self._often, default=None)

    def summary(self, scale: float) -> Summary:
        """Return the summary of the values times ``scale``.

        Quantiles are by nearest rank, as for Middlemark's samples.
        """
        total = self.number
        if not total:
            return Summary()
        mean = math.fsum(value * count for value, count in self._often.items()) / total
        squares = math.fsum((value - mean) ** 2 * count for value, count in self._often.items())
        known = {field: share for field, share in QUANTILES.items() if total >= samples_needed(share)}
        found = self._ranked(*(rank_of(share, total) for share in known.values()))
        return Summary(
            min=scale * min(self._often),
            max=scale * max(self._often),
            mean=scale * mean,
            stdev=scale * math.sqrt(squares / (total - 1)) if total > 1 else None,
            **{field: scale * value for field, value in zip(known, found, strict=True)},
        )

    def _ranked(self, *ranks: int) -> list[float]:
        """Return the values with these ranks. The first rank is 1, and the ranks must ascend."""
        found: list[float] = []
        before = 0
        for value in sorted(self._often):
            before += self._often[value]
            while len(found) < len(ranks) and before >= ranks[len(found)]:
                found.append(value)
        return found
