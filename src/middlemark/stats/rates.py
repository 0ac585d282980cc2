"""Rates of sending and of arrival, in a trial and in each of its seconds."""

import statistics
from collections.abc import Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.link import parse_link, share_of
from middlemark.model.outcome import Arrived, Second, Sent, TrialCounts, TrialOutcome, received_hz

_NS = 1_000_000_000


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Rates of one trial. ``by_subscriber`` is in the order of the outcome's subscribers."""

    rate_hz: float | None
    total_hz: float | None
    sent_hz: float | None
    by_subscriber: tuple[float | None, ...]
    blocked_ns: float | None
    blocked_share: float | None


def rates(outcome: TrialOutcome, cell: Cell | None = None) -> Rates:
    """Return the rates of a trial of a stream. ``cell`` is needed if the stream may carry a workload."""
    if cell is not None and cell.workload is not None:
        each = tuple(edge_hz(subscriber, outcome) for subscriber in outcome.subscribers)
    elif outcome.stamps_absent:
        each = tuple(map(arrived_hz, outcome.subscribers))
    else:
        each = tuple(received_hz(subscriber, outcome.publishers) for subscriber in outcome.subscribers)
    present = [rate for rate in each if rate is not None]
    sent = [rate for publisher in outcome.publishers if (rate := sent_hz(publisher)) is not None]
    blocked, share = _blocked(outcome.publishers)
    return Rates(
        rate_hz=sum(present) / len(present) if present else None,
        total_hz=sum(present) if present else None,
        sent_hz=sum(sent) if sent else None,
        by_subscriber=each,
        blocked_ns=blocked,
        blocked_share=share,
    )


def edge_hz(subscriber: Arrived, outcome: TrialOutcome) -> float | None:
    """Return intact messages per second over the whole trial, because a slow topic has few messages.

    None: not timed.
    """
    return (subscriber.received - subscriber.damaged) / outcome.measured_s if outcome.measured_s else None


def arrived_hz(subscriber: Arrived) -> float | None:
    """Return messages per second from the first arrival to the last, by the subscriber's clock only; None: too few."""
    between = subscriber.last_received_ns - max(subscriber.first_received_ns, subscriber.last_warm_up_ns)
    intact = subscriber.received - subscriber.damaged
    if intact <= 0:
        return 0.0
    return (intact - 1) * _NS / between if intact > 1 and between > 0 else None


def sent_hz(publisher: Sent) -> float | None:
    """Return messages per second between the first and the last send; None with fewer than two sends."""
    between = publisher.last_sent_ns - publisher.first_sent_ns
    return (publisher.sent - 1) * _NS / between if publisher.sent > 1 and between > 0 else None


def replies_hz(outcome: TrialOutcome) -> float | None:
    """Return the replies per second that all clients of a trial together received."""
    if outcome.counts is None or not outcome.measured_s:
        return None
    return outcome.counts.received / outcome.measured_s


def offered_hz(cell: Cell) -> float | None:
    """Return the messages per second of all senders together by their schedule; None: there is no schedule."""
    senders = cell.participants * cell.topics if cell.pattern == "crowd" else cell.publishers
    return cell.rate * senders if isinstance(cell.rate, int | float) else None


def scheduled(outcome: TrialOutcome) -> int | None:
    """Return the messages of all publishers that were due by their schedules. None: one has no schedule."""
    found = [each.scheduled for each in outcome.publishers]
    known = [each for each in found if each is not None]
    return sum(known) if known and len(known) == len(found) else None


def pauses(cell: Cell, outcome: TrialOutcome) -> bool:
    """Say whether the schedule had pauses, as with turns: fewer messages were due than at the cell's rate."""
    due, offered = scheduled(outcome), offered_hz(cell)
    return due is not None and offered is not None and due < 0.9 * offered * (outcome.measured_s or 0.0)


def behind(cell: Cell, outcome: TrialOutcome) -> float:
    """Return the share of the scheduled messages that a trial did not send, 0 without a schedule.

    One missing message does not count.
    """
    offered = offered_hz(cell)
    counted = counts(outcome)
    if offered is None or counted is None or not outcome.measured_s:
        return 0.0
    by_schedule = scheduled(outcome)
    due = offered * outcome.measured_s if by_schedule is None else float(by_schedule)
    if not due:
        return 0.0
    return max(0.0, due - counted.sent - 1) / due


def counts(outcome: TrialOutcome) -> TrialCounts | None:
    """Return the launcher's counts. If the outcome has no counts, return the sums over publishers and subscribers."""
    if outcome.counts is not None or not (outcome.publishers or outcome.subscribers):
        return outcome.counts
    return TrialCounts(
        sent=sum(each.sent for each in outcome.publishers),
        received=sum(each.received for each in outcome.subscribers),
        lost=sum(each.lost for each in outcome.subscribers),
        duplicated=sum(each.duplicated for each in outcome.subscribers),
        reordered=sum(each.reordered for each in outcome.subscribers),
        damaged=sum(each.damaged for each in outcome.subscribers),
        publish_failed=sum(each.publish_failed for each in outcome.publishers),
    )


def _blocked(publishers: Sequence[Sent]) -> tuple[float | None, float | None]:
    present = [each for each in publishers if each.blocked_ns is not None]
    if not present or len(present) < len(publishers):
        return None, None
    blocked = sum(each.blocked_ns or 0 for each in present)
    # The last publish may end after the last send was counted, so the time that it blocked may exceed the span.
    measured = sum(max(each.last_sent_ns - each.first_sent_ns, each.blocked_ns or 0) for each in present)
    return float(blocked), blocked / measured if measured else None


WHOLE = 0.5
"""The last step of a series counts as a second if it lasts at least this long, in s."""


def representative(outcomes: Sequence[TrialOutcome], figures: Sequence[float | None]) -> TrialOutcome | None:
    """Return the trial with a series whose figure is the median (the lower of the middle two).

    Seconds of several trials are never averaged, because a stall in one trial would vanish. If no trial has a figure,
    return the first trial with a series.
    """
    present = [(each, figure) for each, figure in zip(outcomes, figures, strict=True) if each.series]
    ranked = sorted((pair for pair in present if pair[1] is not None), key=lambda pair: (pair[1] or 0.0, pair[0].order))
    if ranked:
        return ranked[(len(ranked) - 1) // 2][0]
    return present[0][0] if present else None


def received_by_second(series: Sequence[Second]) -> list[float]:
    """Return messages per second in each whole second, for all receiving workers together.

    The n-th seconds of the workers are added. If a worker began later or ended earlier, the list is shorter.
    """
    of_worker: dict[str, list[float]] = {}
    for each in series:
        if each.received is not None and each.seconds >= WHOLE:
            of_worker.setdefault(each.who, []).append(each.received / each.seconds)
    return [sum(rates) for rates in zip(*of_worker.values(), strict=False)]


def spread_of_seconds(series: Sequence[Second]) -> float | None:
    """Return (highest second - lowest second) divided by the median; None: fewer than three seconds."""
    by_second = received_by_second(series)
    median = statistics.median(by_second) if len(by_second) >= 3 else 0
    return (max(by_second) - min(by_second)) / median if median else None


def falls(by_second: Sequence[float]) -> tuple[float, float] | None:
    """Return the mean rates of the first and last third, if the rate fell by a fifth.

    None: no such fall, or too few seconds.
    """
    third = len(by_second) // 3
    if third < 2:
        return None
    first, last = statistics.mean(by_second[:third]), statistics.mean(by_second[-third:])
    return (first, last) if last < 0.8 * first else None


def varies(by_second: Sequence[float]) -> tuple[float, float] | None:
    """Return the rates of the lowest and the highest second, if their ratio exceeds 1.5.

    None: a lower ratio, or too few seconds.
    """
    if len(by_second) < 3:
        return None
    least, most = min(by_second), max(by_second)
    return (least, most) if most > 1.5 * least else None


def link_share(cell: Cell, rate_hz: float) -> float | None:
    """Return the share of the line's rate that one subscriber's messages of every topic use, one datagram each.

    None: no link.
    """
    if cell.link is None or cell.pattern != "stream":
        return None
    return share_of(parse_link(cell.link), cell.size, rate_hz * cell.topics)


def payload_share(cell: Cell, rate_hz: float) -> float | None:
    """Return the share of the line's rate that the messages use, without any header. None: no link."""
    if cell.link is None or cell.pattern != "stream":
        return None
    return rate_hz * cell.topics * cell.size * 8 / parse_link(cell.link).rate_bps
