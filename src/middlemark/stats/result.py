"""What a cell came to over its trials: the values every report is made from."""

import msgspec

from middlemark.launch.outcome import Counts, Doubt, Failure
from middlemark.plan.cell import Cell


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


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """One row. ``trials`` counts those that were measured; the failed ones are in ``failed_trials``."""

    cell: Cell
    name: str
    version: str | None
    trials: int
    failed_trials: int
    samples: int
    counts: Counts
    carried_by: str | None
    round_trip_ns: Summary | None
    first_reply_ns: Summary | None
    """The first of several replies; None with one subscriber."""
    write_ns: Summary | None
    take_ns: Summary | None
    """None under ``listen``: the middleware takes there."""
    loan_ns: Summary | None
    fill_ns: Summary | None
    check_ns: Summary | None
    discovery_ns: float | None
    times_floor: float | None
    """p50 over the p50 of the floor it is held against; None without one in the run."""
    floor: str | None
    """Which floor: ``shm``, ``shm (loan)``, ``udp``, …"""
    warnings: tuple[Doubt, ...]
    failed: Failure | None
    """Set when no trial of the cell was measured: the first failure."""
