"""Check whether the workers of a trial read the same clock. Pure."""

from collections.abc import Sequence

from middlemark.model.protocol import Clock
from middlemark.sites.channel import WorkerFailedError

APART = 0.001
"""The largest relative difference between two workers' calibrations of the same counter."""


def refuse_different(clocks: Sequence[tuple[str, Clock]]) -> None:
    """Raise WorkerFailedError if the workers read different clocks. ``clocks``: (worker, clock) for each worker."""
    apart = difference(clocks)
    if apart is not None:
        raise WorkerFailedError(
            "clock",
            apart,
            "measure again, as one-way times need one clock; otherwise use --pattern ping-pong, which needs"
            " only the clock of the ping",
        )


def difference(clocks: Sequence[tuple[str, Clock]]) -> str | None:
    """Return why times of different workers cannot be compared; None: all workers read the same counter."""
    if not clocks:
        return None
    first_who, first = clocks[0]
    for who, clock in clocks[1:]:
        apart = abs(clock.ticks_per_second - first.ticks_per_second) > APART * first.ticks_per_second
        if clock.source != first.source or apart:
            return (
                f"{first_who} reads {_described(first)} and {who} {_described(clock)}: the time between them cannot be"
                " measured"
            )
    return None


def _described(clock: Clock) -> str:
    return f"{clock.source} at {clock.ticks_per_second / 1e6:,.3f} MHz"
