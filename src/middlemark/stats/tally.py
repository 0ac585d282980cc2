"""Summarise many samples by counting each nanosecond in one pass, instead of sorting a copy of all samples.

The result is exact: times are whole ns, and most are within a short range. A table of counts for that range replaces
the samples. Only the few samples outside the range are kept. Counting is several times faster than a partition.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from middlemark.model.samples import NOT_MEASURED
from middlemark.model.times import QUANTILES, Summary
from middlemark.stats.quantiles import Numbers, chunked_sum, rank_of, samples_needed, summarise
from middlemark.stats.samples import Samples

MANY = 1 << 17
"""From this number of samples on, a table is faster than a partition."""

_CHUNK = 1 << 17
_BLOCK = 1 << 11
"""The number of records that are split into fields at a time. This number of round trips takes 128 KiB, which fits into
a core's own cache."""

_LEAST_RANGE, _MOST_RANGE = 1 << 10, 1 << 20
_BEYOND = 1 / 8
"""A table is of no use if a larger share of the values is not in it."""


class Tally:
    """Counts of one field's values, added chunk by chunk. The table ends at ``limit`` ns.

    Values equal to ``absent`` are skipped.
    """

    def __init__(self, limit: int, absent: int | None = None) -> None:
        """Create an empty table. ``limit`` is from :func:`limit_of`."""
        self.limit = limit
        self.absent = absent
        self.counts = np.zeros(limit + 1, dtype=np.int64)
        self._beyond: list[Numbers] = []

    def add(self, values: Numbers) -> None:
        """Count values of an unsigned type."""
        clipped = np.minimum(values, values.dtype.type(self.limit)).astype(np.intp, copy=False)
        self.counts += np.bincount(clipped, minlength=self.limit + 1)
        if clipped.max(initial=0) == self.limit:
            far = values[clipped == self.limit]
            self._beyond.append(far if self.absent is None else far[far != self.absent])

    def beyond(self) -> Numbers:
        """Return the values at or above the limit, in the order in which they were added."""
        return np.concatenate(self._beyond) if self._beyond else np.empty(0, dtype=np.uint64)

    def summary(self) -> Summary | None:
        """Return the summary (empty without values); None: too many values are not in the table."""
        far = self.beyond()
        near = self.counts[:-1]
        total = int(near.sum()) + len(far)
        if total == 0:
            return Summary()
        if len(far) > max(1.0, _BEYOND * total):
            return None
        far = np.sort(far)
        present = np.flatnonzero(near)
        lowest = float(present[0]) if len(present) else float(far[0])
        highest = float(far[-1]) if len(far) else float(present[-1])
        values = np.arange(self.limit, dtype=np.int64)
        mean = (int(values @ near) + chunked_sum(far, 0.0)) / total
        squares = float(((values - mean) ** 2) @ near) + chunked_sum(far, mean, squared=True)
        through = np.cumsum(near)
        return Summary(
            min=lowest,
            mean=min(max(mean, lowest), highest),
            stdev=math.sqrt(squares / (total - 1)) if total > 1 else None,
            max=highest,
            **{name: _ranked(through, far, total, quantile) for name, quantile in QUANTILES.items()},
        )


def _ranked(through: Numbers, far: Numbers, total: int, quantile: Fraction) -> float | None:
    """Return the value of the nearest rank, as ``quantiles.exact`` does; None: too few values."""
    if total < samples_needed(quantile):
        return None
    rank = rank_of(quantile, total)
    near = int(through[-1])
    return float(np.searchsorted(through, rank)) if rank <= near else float(far[rank - near - 1])


def limit_of(values: Numbers, absent: int | None = None) -> int:
    """Return the limit of a table: twice the 99th percentile of 4,096 of the values, from 1 µs to 1 ms."""
    looked_at = values[:: max(1, len(values) // 4096)]
    if absent is not None:
        looked_at = looked_at[looked_at != absent]
    if len(looked_at) == 0:
        return _LEAST_RANGE
    most = 2 * int(np.partition(looked_at, int(0.99 * len(looked_at)))[int(0.99 * len(looked_at))])
    return min(max(most, _LEAST_RANGE), _MOST_RANGE)


def summary_of(values: Numbers) -> Summary:
    """Return the summary of a one-dimensional array in ns, by a table or by a partition, whichever is faster."""
    if len(values) < MANY or values.dtype.kind != "u":
        return summarise(values)
    tally = Tally(limit_of(values))
    for begin in range(0, len(values), _CHUNK):
        tally.add(np.ascontiguousarray(values[begin : begin + _CHUNK]))
    return tally.summary() or summarise(values)


def tallied_fields(samples: Samples, fields: Sequence[str]) -> Mapping[str, Summary | None]:
    """Return field → summary from one pass over the records. None: see ``Tally.summary``.

    Values ``NOT_MEASURED`` are left out.
    """
    tallies = {}
    for field in fields:
        absent = NOT_MEASURED if samples.dtype[field].itemsize == 4 else None
        tallies[field] = Tally(limit_of(samples[field], absent), absent)
    dense = {field: np.empty(_CHUNK, dtype=samples.dtype[field]) for field in fields}
    for begin in range(0, len(samples), _CHUNK):
        chunk = samples[begin : begin + _CHUNK]
        for at in range(0, len(chunk), _BLOCK):
            block = chunk[at : at + _BLOCK]
            for field, values in dense.items():
                values[at : at + len(block)] = block[field]
        for field, tally in tallies.items():
            tally.add(dense[field][: len(chunk)])
    return {field: tally.summary() for field, tally in tallies.items()}
