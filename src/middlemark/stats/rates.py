"""One trial of a stream: how fast messages were sent, and how fast they arrived intact. The two are never confused."""

from collections.abc import Sequence

import msgspec

from middlemark.launch.outcome import Counts, Sent, TrialOutcome
from middlemark.launch.received import received_hz
from middlemark.plan.cell import Cell

_NS = 1_000_000_000


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """One trial. ``by_subscriber`` is in the order of the outcome's subscribers."""

    rate_hz: float | None
    total_hz: float | None
    sent_hz: float | None
    by_subscriber: tuple[float | None, ...]
    blocked_ns: float | None
    blocked_share: float | None


def rates(outcome: TrialOutcome) -> Rates:
    """Return the rates of a trial of a stream."""
    each = tuple(received_hz(subscriber, outcome.publishers) for subscriber in outcome.subscribers)
    known = [rate for rate in each if rate is not None]
    sent = [rate for publisher in outcome.publishers if (rate := sent_hz(publisher)) is not None]
    blocked, share = _blocked(outcome.publishers)
    return Rates(
        rate_hz=sum(known) / len(known) if known else None,
        total_hz=sum(known) if known else None,
        sent_hz=sum(sent) if sent else None,
        by_subscriber=each,
        blocked_ns=blocked,
        blocked_share=share,
    )


def sent_hz(publisher: Sent) -> float | None:
    """Return messages a second between the first and the last that was sent; None with fewer than two."""
    between = publisher.last_sent_ns - publisher.first_sent_ns
    return (publisher.sent - 1) * _NS / between if publisher.sent > 1 and between > 0 else None


def replies_hz(outcome: TrialOutcome) -> float | None:
    """Return replies a second, of all clients of a trial together."""
    if outcome.counts is None or not outcome.measured_s:
        return None
    return outcome.counts.received / outcome.measured_s


def offered_hz(cell: Cell) -> float | None:
    """Return what a schedule asks of all senders of the cell together; None without one."""
    return cell.rate * cell.publishers if isinstance(cell.rate, int | float) else None


def counts(outcome: TrialOutcome) -> Counts | None:
    """Return what was counted: the launcher's word, else the sums over publishers and subscribers."""
    if outcome.counts is not None or not (outcome.publishers or outcome.subscribers):
        return outcome.counts
    return Counts(
        sent=sum(each.sent for each in outcome.publishers),
        received=sum(each.received for each in outcome.subscribers),
        lost=sum(each.lost for each in outcome.subscribers),
        duplicated=sum(each.duplicated for each in outcome.subscribers),
        reordered=sum(each.reordered for each in outcome.subscribers),
        damaged=sum(each.damaged for each in outcome.subscribers),
        publish_failed=sum(each.publish_failed for each in outcome.publishers),
    )


def _blocked(publishers: Sequence[Sent]) -> tuple[float | None, float | None]:
    known = [each for each in publishers if each.blocked_ns is not None]
    if not known or len(known) < len(publishers):
        return None, None
    blocked = sum(each.blocked_ns or 0 for each in known)
    # The last publish ends after it was sent, so one that blocks there may outlast the span.
    measured = sum(max(each.last_sent_ns - each.first_sent_ns, each.blocked_ns or 0) for each in known)
    return float(blocked), blocked / measured if measured else None
