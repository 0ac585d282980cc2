"""One trial's records → where its time went, or why that cannot be told."""

from collections.abc import Callable, Mapping, Sequence

from middlemark.launch.outcome import SamplesFile, TrialOutcome
from middlemark.plan.cell import Cell
from middlemark.stats.breakdown import Breakdown, not_of, of_stream, of_trips
from middlemark.stats.samples import Kept, Samples, SamplesError


def stream_breakdown(records: Sequence[Kept], absent: str | None) -> Breakdown:
    """Return the parts of a stream's messages. ``absent``: why what was sent cannot be joined to what arrived."""
    if absent is not None:
        return Breakdown((), absent)
    publishers = {each.index: each for each in records if each.role == "publisher"}
    return of_stream([each for each in records if each.role == "subscriber"], publishers)


def round_trip_breakdown(
    cell: Cell, outcome: TrialOutcome, callers: Mapping[int, Samples], kept: Callable[[SamplesFile], Kept]
) -> Breakdown:
    """Return the parts of the round trips. ``callers``: by index, the samples of the ping or of the clients.

    Stamps that cannot be read cost the breakdown only: the trial has all its other figures.
    """
    absent = not_of(cell) or outcome.stamps_absent
    if absent is not None:
        return Breakdown((), absent)
    if not outcome.stamps:
        return Breakdown((), "who answered kept no stamps")
    try:
        [answers] = [kept(each).raw for each in outcome.stamps]
    except SamplesError as error:
        return Breakdown((), str(error))
    return of_trips(callers, answers, outcome.starts)
