"""Warnings about a stream from its figures."""

from collections.abc import Sequence

from middlemark.model.cell import Cell
from middlemark.model.outcome import RunWarning, TrialCounts, TrialOutcome
from middlemark.model.times import Summary
from middlemark.stats.rates import falls, pauses, rates, received_by_second, varies
from middlemark.stats.warnings.cells import DISAGREE

LOSS = 0.01
"""With at least this share of lost messages, a latency describes only the messages that got through."""


def stream_trial_warnings(cell: Cell, outcome: TrialOutcome) -> tuple[RunWarning, ...]:
    """Return the warnings about one measured trial of a stream."""
    by_second = received_by_second(outcome.series)
    steady = cell.burst is None and cell.pattern != "crowd" and not pauses(cell, outcome)  # a crowd sends too few
    found = (
        _rate_falls(by_second) if steady else None,
        _rate_varies(by_second) if steady else None,
        _subscribers_differ(outcome),
    )
    return tuple(each for each in found if each)


def stream_cell_warnings(cell: Cell, counts: TrialCounts, latency: Summary | None) -> tuple[RunWarning, ...]:
    """Return the warnings about all measured trials of a stream together. ``latency``: the stream's one-way latency.

    The package ``trial`` makes the warnings that the roles report (missed instants, back-pressure, the histogram).
    """
    found = (_flooded(cell, latency), _loss_behind_latency(counts, latency))
    return tuple(each for each in found if each)


def _flooded(cell: Cell, latency: Summary | None) -> RunWarning | None:
    if cell.rate != "max" or cell.burst is not None or latency is None:
        return None
    return RunWarning(
        "flooded",
        "it was sent as fast as possible: its one-way latency is mostly time in queues, not the time a message takes",
        "use --rate 1k for the latency under a load of your own, --rate curve for latency against load",
    )


def _loss_behind_latency(counts: TrialCounts, latency: Summary | None) -> RunWarning | None:
    expected = counts.received + counts.lost
    if latency is None or not expected or counts.lost <= LOSS * expected:
        return None
    arrived = 100 * counts.received / expected
    return RunWarning(
        "loss-behind-latency",
        f"its latency includes only the {arrived:.3g} % of the messages that arrived",
        "quote it with its loss, or find the highest rate without loss: --rate sustainable",
    )


def _rate_falls(by_second: Sequence[float]) -> RunWarning | None:
    found = falls(by_second)
    if found is None:
        return None
    return RunWarning(
        "rate-falls",
        f"received {found[0]:,.0f} messages/s in the first third of its seconds and {found[1]:,.0f} in the last",
        "a queue fills or a processor throttles: measure longer, and look at the series in --format json",
    )


def _rate_varies(by_second: Sequence[float]) -> RunWarning | None:
    found = varies(by_second)
    if found is None:
        return None
    return RunWarning(
        "rate-varies",
        f"received between {found[0]:,.0f} and {found[1]:,.0f} messages in a second",
        "quote the range with the rate; look at the series in --format json for what else changed then",
    )


def _subscribers_differ(outcome: TrialOutcome) -> RunWarning | None:
    """Return the warning about subscribers with different rates, because their mean describes none of them."""
    expected = {each.expected for each in outcome.subscribers}
    hertz = [rate for rate in rates(outcome).by_subscriber if rate is not None]
    if len(expected) != 1 or len(hertz) < 2 or max(hertz) <= DISAGREE * min(hertz):
        return None
    return RunWarning(
        "subscribers-differ",
        f"its {len(hertz)} subscribers received from {min(hertz):,.0f} to {max(hertz):,.0f} messages/s",
        "the rate is the mean of the subscribers; per_subscriber in --format json contains the rate of each subscriber",
    )
