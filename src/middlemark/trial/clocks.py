"""Whether the workers of a trial read one clock. Pure."""

from collections.abc import Sequence

from middlemark.model.protocol import Clock
from middlemark.sites.channel import WorkerFailedError

APART = 0.001
"""Two calibrations of one counter lie closer together than this part of it."""


def refuse_different(clocks: Sequence[tuple[str, Clock]]) -> None:
    """Raise WorkerFailedError unless all of (who, clock) read the same counter at the same rate."""
    apart = difference(clocks)
    if apart is not None:
        raise WorkerFailedError(
            "clock",
            apart,
            "one-way times need one clock; measure again, and if it stays so use --pattern ping-pong, which needs"
            " only the ping's",
        )


def difference(clocks: Sequence[tuple[str, Clock]]) -> str | None:
    """Return why times of one cannot be held against times of another; None: all read one counter."""
    if not clocks:
        return None
    first_who, first = clocks[0]
    for who, clock in clocks[1:]:
        apart = abs(clock.ticks_per_second - first.ticks_per_second) > APART * first.ticks_per_second
        if clock.source != first.source or apart:
            reads = f"{first_who} reads {_clock_in_words(first)} and {who} {_clock_in_words(clock)}"
            return f"{reads}: the time from one to the other is unknown"
    return None


def _clock_in_words(clock: Clock) -> str:
    return f"{clock.source} at {clock.ticks_per_second / 1e6:,.3f} MHz"
