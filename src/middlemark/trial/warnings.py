"""Warnings about a trial from the reports of its roles. Pure."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from middlemark.model import load
from middlemark.model.cell import Cell
from middlemark.model.outcome import Arrived, RunWarning, Sent, TrialCounts
from middlemark.model.plan import Limits
from middlemark.model.protocol import (
    AnyRoleResult,
    CallerResult,
    ClientResult,
    PingResult,
    PongResult,
    PublisherResult,
    ServerResult,
    SubscriberResult,
)
from middlemark.trial.round_trips import counted, found_by_both
from middlemark.trial.worker_request import echoes

NAMED = 4
"""A warning lists at most this number of roles. If more roles are concerned, it has only the first role and the number
of others."""

Concerned = TypeVar("Concerned")


def list_all(concerned: Sequence[Concerned], words: Callable[[Concerned], str]) -> str:
    """Return the roles ``concerned`` in words.

    If there are more than NAMED, return the first role (the worst, if the roles are sorted) and the number of others.
    """
    if len(concerned) <= NAMED:
        return "; ".join(words(each) for each in concerned)
    return f"{words(concerned[0])}; and {len(concerned) - 1} more"


def part(number: int, of: int) -> str:
    """Format the share of ``number`` in ``of`` in percent."""
    return f"{100 * number / of:.2g} %" if number * 2 < of else f"{100 * number / of:.3g} %"


LATE_SHARE = 0.02
"""A schedule was kept if at most this share of the messages is late by more than a period. At 1 MHz the gaps of a
virtual machine (1,250 of 8 µs per second) make 1 % of the messages late. If a publisher cannot keep up, nearly all
messages are late."""
UNSENT_SHARE = 0.001
"""A schedule was kept if at most this share of the messages is unsent.

A publisher that cannot keep up is behind at the end."""


class Schedule(msgspec.Struct, frozen=True):
    """The numbers that show how well a sender kept its schedule."""

    who: str
    scheduled: int
    late: int
    unsent: int

    @property
    def held(self) -> bool:
        """True if at most the shares LATE_SHARE and UNSENT_SHARE of the messages were late and unsent."""
        return self.late <= LATE_SHARE * self.scheduled and self.unsent <= UNSENT_SHARE * self.scheduled


def schedules(role: str, senders: Iterable[Sent | CallerResult]) -> tuple[Schedule, ...]:
    """Return the schedules of the senders. Senders without a schedule are left out."""
    return tuple(
        Schedule(
            role if role == "ping" else f"{role} {each.index}", each.scheduled, each.late_sends or 0, each.unsent or 0
        )
        for each in senders
        if each.scheduled
    )


def missed_instants(cell: Cell, found: Sequence[Schedule]) -> RunWarning | None:
    """Return the warning about a sender that did not keep the rate; None: all senders kept it."""
    missing = [each for each in found if not each.held]
    if not missing:
        return None

    def words(each: Schedule) -> str:
        parts = [f"{each.late:,} over a period late ({part(each.late, each.scheduled)})"] if each.late else []
        parts += [f"{each.unsent:,} not at all ({part(each.unsent, each.scheduled)})"] if each.unsent else []
        return f"{each.who} sent {' and '.join(parts)}, of {each.scheduled:,} due"

    rate = "" if isinstance(cell.rate, str) else f" of {cell.rate:,.6g} Hz"
    return RunWarning(
        "missed-instants",
        f"the rate{rate} was not reached: {list_all(missing, words)}; the latency counts from the intended instants",
        "use a lower --rate, or give the sender a processor of its own (--pin 0,1)"
        + ("" if cell.receive == "poll" else " and let the receiver poll (--receive poll)"),
    )


def ping_pong_warnings(cell: Cell, limits: Limits, ping: PingResult, pongs: Sequence[PongResult]) -> list[RunWarning]:
    """Return the warnings from the reports of the ping and of the pongs."""
    counts = counted([ping], pongs)
    found = []
    found += [each for each in (_in_histogram([ping]),) if each]
    if ping.ended == "limit":
        text = f"the limit of {limits.limit_s:g} s was reached after {counts.sent} messages"
        found.append(RunWarning("ended-early", text, "use fewer --samples, or a higher limit in the suite"))
    if counts.publish_failed:
        why = _last_errors([ping, *pongs]) or "no reason given"
        text = f"{counts.publish_failed} publishes failed and count as lost: {why}"
        found.append(RunWarning("publish-failed", text))
    if both := found_by_both([ping], pongs):
        of_pongs = sum(pong.damaged for pong in pongs)
        same = f"{both} of these may be counted twice, as pongs echo damaged messages unchanged"
        found.append(
            RunWarning("damaged", f"the ping found {ping.damaged} damaged messages and the pongs {of_pongs}; {same}")
        )
    # If a message was lost on the way to an echoing pong, the ping gets no reply, and counts it too.
    silent = [pong.index for pong in pongs if counts.sent and pong.received == 0]
    if silent:
        found.append(RunWarning("pong-received-nothing", f"pongs {silent} received none of {counts.sent} messages"))
    missed = sum(max(0, counts.sent - pong.received) for pong in pongs if not echoes(cell, pong.index))
    if missed:
        text = f"pongs that do not echo missed {missed} messages"
        found.append(RunWarning("loss", text, "use a deeper history, or reliable"))
    return found


def with_last_words(
    warnings: tuple[RunWarning, ...], counts: TrialCounts | None, results: Sequence[AnyRoleResult]
) -> tuple[RunWarning, ...]:
    """Return ``warnings``, with the middleware's last errors added to the warning about loss."""
    errors = _last_errors(results)
    if counts is None or not counts.lost or counts.publish_failed or not errors:
        return warnings
    lost = "".join(f"{each.text}; " for each in warnings if each.code == "loss")
    loss_warning = RunWarning(
        "loss",
        f"{lost}the last errors were: {errors}",
        "look for this error among the traps in the adapter's README.md",
    )
    return (*(each for each in warnings if each.code != "loss"), loss_warning)


def _last_errors(results: Iterable[AnyRoleResult]) -> str:
    return "; ".join(dict.fromkeys(f"{each.role}: {each.last_error}" for each in results if each.last_error))


def call_warnings(
    limits: Limits, clients: Sequence[ClientResult], server: ServerResult, counts: TrialCounts
) -> list[RunWarning]:
    """Return the warnings about early ends, rejected messages and a server that received nothing.

    The package ``middlemark.stats`` adds the warnings about latencies and rates.
    """
    found: list[RunWarning] = []
    cut = [client for client in clients if client.ended == "limit"]
    if cut:
        who = ", ".join(f"client {client.index} after {client.sent:,} requests" for client in cut)
        text = f"the limit of {limits.limit_s:g} s was reached: {who}"
        found.append(RunWarning("ended-early", text, "use fewer --samples or a higher limit in the suite"))
    found += [each for each in (_in_histogram(clients),) if each]
    if counts.publish_failed:
        why = _last_errors((*clients, server)) or "no reason given"
        text = f"the middleware rejected {counts.publish_failed:,} requests or replies, which count as lost: {why}"
        found.append(RunWarning("publish-failed", text))
    if counts.sent and not server.received:
        text = f"the server received none of {counts.sent:,} requests"
        found.append(RunWarning("received-nothing", text, "look at the server's last error"))
    return found


def stream_warnings(
    cell: Cell,
    limits: Limits,
    publishers: Sequence[Sent],
    subscribers: Sequence[Arrived],
    *,
    senders: Sequence[PublisherResult],
    receivers: Sequence[SubscriberResult],
) -> list[RunWarning]:
    """Return the warnings about a stream, at most one for each code. ``senders``, ``receivers``: the roles' results."""
    found = (
        _received_nothing(cell, subscribers),
        _history_missed(subscribers),
        _loss(cell, subscribers),
        _wrong("damaged", "arrived with wrong content", subscribers, "report it to the middleware's authors"),
        _wrong(
            "duplicated",
            "arrived more than once",
            subscribers,
            "check that no other run uses the same domain: leave out --domain",
        ),
        _wrong(
            "reordered",
            "arrived after a later one",
            subscribers,
            "the figures are valid, but an application would see the wrong order",
        ),
        _unexplained(cell, publishers, subscribers),
        missed_instants(cell, schedules("publisher", publishers)),
        _back_pressure(cell, publishers),
        _publish_failed(senders),
        _in_histogram((*senders, *receivers)),
        _stamped_in_part(senders),
        _limit(limits, senders),
        _drain_cut(receivers),
    )
    return [each for each in found if each]


def _about(
    code: str, concerned: Sequence[Concerned], words: Callable[[Concerned], str], advice: str, frame: str = "{}"
) -> RunWarning | None:
    """Return the warning about the roles ``concerned``; None: the list is empty.

    ``frame``: the text of the warning, with {} for the list of roles.
    """
    return RunWarning(code, frame.format(list_all(concerned, words)), advice) if concerned else None


def _received_nothing(cell: Cell, subscribers: Sequence[Arrived]) -> RunWarning | None:
    return _about(
        "received-nothing",
        [each for each in subscribers if each.expected and not each.received],
        lambda each: f"subscriber {each.index} received none of {each.expected:,} messages",
        "the message may be larger than the transport accepts without a deeper history; "
        + ("with --reliability reliable it is sent again" if cell.reliability == "best-effort" else "try --depth all"),
    )


def _history_missed(subscribers: Sequence[Arrived]) -> RunWarning | None:
    return _about(
        "history-missed",
        [each for each in subscribers if each.history_received < each.history_due],
        lambda each: (
            f"subscriber {each.index} joined late and got {each.history_received:,} of the {each.history_due:,}"
            " messages that were published before it joined"
        ),
        "use a shallower depth, or another transport",
    )


def _loss(cell: Cell, subscribers: Sequence[Arrived]) -> RunWarning | None:
    return _about(
        "loss",
        sorted((each for each in subscribers if each.lost), key=lambda each: -each.lost),
        lambda each: (
            f"subscriber {each.index} lost {each.lost:,} of {each.expected:,} messages"
            f" ({part(each.lost, each.expected)})"
        ),
        _against_loss(cell),
    )


def _against_loss(cell: Cell) -> str:
    if cell.reliability == "best-effort":
        first = "--reliability reliable makes the middleware resend lost messages"
    elif cell.depth is not None:
        first = (
            f"a history of {cell.depth:,} overwrites messages that a slow subscriber has not taken yet; with --depth "
            "all (keep-all) the publisher waits instead, and with a deeper history fewer are lost"
        )
    else:
        first = (
            "with reliable and keep-all nothing should be lost: see the resource limits in the adapter's README,"
            " and enlarge the kernel's socket buffers (sysctl net.core.rmem_max)"
        )
    return f"{first}; {load.lower(cell)}"


def _wrong(code: str, words: str, subscribers: Sequence[Arrived], advice: str) -> RunWarning | None:
    return _about(
        code,
        sorted((each for each in subscribers if getattr(each, code)), key=lambda each: -int(getattr(each, code))),
        lambda each: f"{getattr(each, code):,} of {each.received:,} messages {words} at subscriber {each.index}",
        advice,
    )


def _unexplained(cell: Cell, publishers: Sequence[Sent], subscribers: Sequence[Arrived]) -> RunWarning | None:
    return _about(
        "more-than-sent",
        [each for each in subscribers if each.received > each.expected],
        lambda each: f"subscriber {each.index} received {each.received:,} different messages of {each.expected:,} sent",
        "publishes that timed out or failed still arrived; use a lower --rate"
        if sum(each.timed_out + each.publish_failed for each in publishers)
        else f"another run shares its topics (leave out --domain), or the adapter {cell.adapter} has a bug",
    )


def _back_pressure(cell: Cell, publishers: Sequence[Sent]) -> RunWarning | None:
    return _about(
        "back-pressure",
        [each for each in publishers if each.timed_out],
        lambda each: f"publisher {each.index} gave up {each.timed_out:,} of {_attempts(each):,} publishes",
        f"a deeper history (--depth) blocks the publisher less; {load.lower(cell)}",
        "publishing took longer than the write timeout: {}; these messages count as neither sent nor lost",
    )


def _attempts(publisher: Sent) -> int:
    return publisher.sent + publisher.timed_out + publisher.publish_failed


def _publish_failed(senders: Sequence[PublisherResult]) -> RunWarning | None:
    return _about(
        "publish-failed",
        [each for each in senders if each.publish_failed],
        lambda each: (
            f"{each.publish_failed:,} publishes of publisher {each.index} failed:"
            f" {each.last_error or 'no reason given'}"
        ),
        "they count as neither sent nor lost; use --depth all, or fewer subscribers",
    )


def _in_histogram(results: Sequence[PublisherResult | SubscriberResult | CallerResult]) -> RunWarning | None:
    return _about(
        "histogram",
        [each for each in results if each.in_histogram],
        lambda each: f"{each.in_histogram:,} of {each.samples + each.in_histogram:,} of {each.role} {each.index}",
        "to keep every sample, use a shorter --duration or a lower --rate",
        "the memory for samples was full, and further times are in a histogram: {} are known to within 0.8 %",
    )


def _stamped_in_part(senders: Sequence[PublisherResult]) -> RunWarning | None:
    return _about(
        "stamped-in-part",
        [each for each in senders if each.stamped_every > 1],
        lambda each: f"one message in {each.stamped_every} of publisher {each.index}",
        "to time every message, use --samples or a --rate in Hz",
        "reading the clock would add much to the time of a message, so only {} is timed; all are counted",
    )


def _limit(limits: Limits, senders: Sequence[PublisherResult]) -> RunWarning | None:
    return _about(
        "ended-early",
        [each for each in senders if each.ended == "limit"],
        lambda each: f"publisher {each.index} after {each.sent:,} messages",
        "use fewer --samples, or a higher limit in the suite",
        f"the limit of {limits.limit_s:g} s was reached: {{}}",
    )


def _drain_cut(receivers: Sequence[SubscriberResult]) -> RunWarning | None:
    return _about(
        "still-receiving",
        [each for each in receivers if each.ended == "limit"],
        lambda each: f"subscriber {each.index}",
        "the queues are long: use a shallower history (--depth) or a lower --rate",
        "messages still arrived long after the last one was sent: {}; messages that arrive later count as lost",
    )
