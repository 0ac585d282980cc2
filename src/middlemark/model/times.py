"""Distributions of times, and the times that are measured for a message."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, get_args, get_type_hints

import msgspec

from middlemark.model.cell import ONE_WAY, Cell


def _name_of(field: str) -> str:
    return field.replace("_", ".")


class Summary(msgspec.Struct, frozen=True, kw_only=True, rename=_name_of):
    """A distribution in ns. A quantile is None if there are too few samples.

    The fields of this struct are the only declaration of the quantiles. Quantiles are fractions, because 1000 * (1 -
    0.99) is not 10 in floating point.
    """

    min: float | None = None
    mean: float | None = None
    stdev: float | None = None
    p50: Annotated[float | None, Fraction(1, 2)] = None
    p90: Annotated[float | None, Fraction(9, 10)] = None
    p99: Annotated[float | None, Fraction(99, 100)] = None
    p99_9: Annotated[float | None, Fraction(999, 1000)] = None
    p99_99: Annotated[float | None, Fraction(9999, 10_000)] = None
    max: float | None = None


NAMES: Mapping[str, str] = {each: _name_of(each) for each in Summary.__struct_fields__}
"""Field of a Summary → the name in outputs (``p99.9``)."""
QUANTILES: Mapping[str, Fraction] = {
    field: quantile
    for field, hint in get_type_hints(Summary, include_extras=True).items()
    for quantile in get_args(hint)
    if isinstance(quantile, Fraction)
}
"""Field of a Summary → the quantile as a fraction."""


class Times(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One distribution in ns for each kind of time. None: not measured, or missing in an imported log."""

    round_trip_ns: Summary | None = None
    first_reply_ns: Summary | None = None
    """Time until the first of several replies; None: there is one subscriber."""
    write_ns: Summary | None = None
    take_ns: Summary | None = None
    """Time of take(). None under ``listen``, where the middleware takes the message."""
    loan_ns: Summary | None = None
    fill_ns: Summary | None = None
    check_ns: Summary | None = None
    round_trip_from_intended_ns: Summary | None = None
    """Round trip from the intended instant; None: the cell has no rate."""
    one_way_ns: Summary | None = None
    """From the intended instant to the application's hands, over all subscribers of a trial."""
    one_way_from_sent_ns: Summary | None = None
    """One-way time, counted from the beginning of publish()."""

    def latency_of(self, cell: Cell) -> Summary | None:
        """Return the latency that represents the cell. With a schedule it begins at the intended instant."""
        if cell.pattern in ONE_WAY:
            return self.one_way_ns
        return self.round_trip_from_intended_ns or self.round_trip_ns
