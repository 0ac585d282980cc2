"""Distributions of times, and the times that are measured of a message."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, get_args, get_type_hints

import msgspec

from middlemark.model.cell import Cell


def _name_of(field: str) -> str:
    return field.replace("_", ".")


class Summary(msgspec.Struct, frozen=True, kw_only=True, rename=_name_of):
    """A distribution in ns. A quantile with too few samples behind it is None.

    A quantile is declared here alone. Fractions, because 1000 times (1 - 0.99) is not 10 in floating point.
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
"""By field: what outputs call it (``p99.9``)."""
QUANTILES: Mapping[str, Fraction] = {
    field: said
    for field, hint in get_type_hints(Summary, include_extras=True).items()
    for said in get_args(hint)
    if isinstance(said, Fraction)
}
"""By field of a Summary."""


class Times(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A distribution each, in ns. None: it was not measured, or not told."""

    round_trip_ns: Summary | None = None
    first_reply_ns: Summary | None = None
    """The first of several replies; None with one subscriber."""
    write_ns: Summary | None = None
    take_ns: Summary | None = None
    """None under ``listen``: the middleware takes there."""
    loan_ns: Summary | None = None
    fill_ns: Summary | None = None
    check_ns: Summary | None = None
    round_trip_from_intended_ns: Summary | None = None
    """From the intended instant; None without a rate."""
    one_way_ns: Summary | None = None
    """From the intended instant to the application's hands, all subscribers of a trial together."""
    one_way_from_sent_ns: Summary | None = None
    """From the beginning of publish()."""

    def latency_of(self, cell: Cell) -> Summary | None:
        """Return the latency that stands for the cell: of what has a schedule, from the intended instant."""
        if cell.pattern == "stream":
            return self.one_way_ns
        return self.round_trip_from_intended_ns or self.round_trip_ns
