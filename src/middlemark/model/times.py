"""Distributions of times, and the times that are measured of a message."""

import msgspec

from middlemark.model.cell import Cell


class Summary(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={
        "p99_9": "p99.9",
        "p99_99": "p99.99",
    },
):
    """A distribution in ns. A quantile with too few samples behind it is None."""

    min: float | None = None
    mean: float | None = None
    stdev: float | None = None
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    p99_99: float | None = None
    max: float | None = None


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
