"""What is doubtful about a stream, from what its roles reported. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from middlemark.launch.outcome import Arrived, Doubt, Sent
from middlemark.launch.schedule import missed_instants, schedules
from middlemark.launch.wording import each_of, lower_rate, part
from middlemark.plan.cell import Cell, Limits

Result = Mapping[str, Any]


def doubts(
    cell: Cell,
    limits: Limits,
    publishers: Sequence[Sent],
    subscribers: Sequence[Arrived],
    *,
    senders: Sequence[Result],
    receivers: Sequence[Result],
) -> list[Doubt]:
    """Return at most one doubt a code. ``senders`` and ``receivers`` are the results behind the other two."""
    found = (
        _received_nothing(cell, subscribers),
        _loss(cell, subscribers),
        _wrong("damaged", "arrived with wrong content", subscribers, "report it to the middleware's authors"),
        _wrong(
            "duplicated",
            "arrived more than once",
            subscribers,
            "see whether another run shares the domain: leave --domain out",
        ),
        _wrong(
            "reordered",
            "arrived after a later one",
            subscribers,
            "the figures are right all the same; an application would see the order",
        ),
        _unexplained(cell, publishers, subscribers),
        missed_instants(cell, schedules("publisher", publishers)),
        _back_pressure(cell, publishers),
        _publish_failed(senders),
        _in_histogram(senders, receivers),
        _stamped_in_part(senders),
        _limit(limits, senders),
        _drain_cut(receivers),
    )
    return [each for each in found if each]


def _received_nothing(cell: Cell, subscribers: Sequence[Arrived]) -> Doubt | None:
    silent = [each for each in subscribers if each.expected and not each.received]
    if not silent:
        return None
    return Doubt(
        "received-nothing",
        each_of(silent, lambda each: f"subscriber {each.index} received none of {each.expected:,} messages"),
        "the message may be larger than what the transport takes without a deeper history; "
        + ("--reliability reliable would ask for it again" if cell.reliability == "best-effort" else "try --depth all"),
    )


def _loss(cell: Cell, subscribers: Sequence[Arrived]) -> Doubt | None:
    losing = sorted((each for each in subscribers if each.lost), key=lambda each: -each.lost)
    if not losing:
        return None
    text = each_of(
        losing,
        lambda each: (
            f"subscriber {each.index} lost {each.lost:,} of {each.expected:,} messages"
            f" ({part(each.lost, each.expected)})"
        ),
    )
    return Doubt("loss", text, _against_loss(cell))


def _against_loss(cell: Cell) -> str:
    if cell.reliability == "best-effort":
        first = "--reliability reliable asks the middleware to send again what was lost"
    elif cell.depth is not None:
        first = (
            f"a history of {cell.depth:,} is overwritten before a subscriber that is behind has taken it: --depth all"
            " (keep-all) makes the publisher wait instead, and a deeper one loses later"
        )
    else:
        first = (
            "reliable and keep-all should lose nothing: see in the adapter's README which resource limits it sets,"
            " and give the kernel's socket buffers room (sysctl net.core.rmem_max)"
        )
    return f"{first}; {lower_rate(cell)}"


def _wrong(code: str, words: str, subscribers: Sequence[Arrived], advice: str) -> Doubt | None:
    concerned = sorted(
        (each for each in subscribers if getattr(each, code)), key=lambda each: -int(getattr(each, code))
    )
    if not concerned:
        return None
    text = each_of(
        concerned,
        lambda each: f"{getattr(each, code):,} of {each.received:,} messages {words} at subscriber {each.index}",
    )
    return Doubt(code, text, advice)


def _unexplained(cell: Cell, publishers: Sequence[Sent], subscribers: Sequence[Arrived]) -> Doubt | None:
    more = [each for each in subscribers if each.received > each.expected]
    if not more:
        return None
    text = each_of(
        more,
        lambda each: f"subscriber {each.index} received {each.received:,} different messages of {each.expected:,} sent",
    )
    if sum(each.timed_out + each.publish_failed for each in publishers):
        return Doubt("more-than-sent", text, "publishes that timed out or failed arrived all the same; a lower --rate")
    return Doubt(
        "more-than-sent",
        text,
        f"another run shares its topics: leave --domain out; otherwise it is a fault of the adapter {cell.adapter}",
    )


def _back_pressure(cell: Cell, publishers: Sequence[Sent]) -> Doubt | None:
    held_up = [each for each in publishers if each.timed_out]
    if not held_up:
        return None
    text = each_of(
        held_up,
        lambda each: f"publisher {each.index} gave up {each.timed_out:,} of {_attempts(each):,} publishes",
    )
    return Doubt(
        "back-pressure",
        f"held for longer than the write timeout: {text}; they are neither sent nor lost",
        f"a deeper history gives the publisher room (--depth); {lower_rate(cell)}",
    )


def _attempts(publisher: Sent) -> int:
    return publisher.sent + publisher.timed_out + publisher.publish_failed


def _publish_failed(senders: Sequence[Result]) -> Doubt | None:
    failing = [each for each in senders if each["publish_failed"]]
    if not failing:
        return None
    text = each_of(
        failing,
        lambda each: (
            f"{each['publish_failed']:,} publishes of publisher {each['index']} failed:"
            f" {each['last_error'] or 'no reason given'}"
        ),
    )
    return Doubt("publish-failed", text, "they are neither sent nor lost; --depth all, or fewer subscribers")


def _in_histogram(senders: Sequence[Result], receivers: Sequence[Result]) -> Doubt | None:
    outgrown = [each for each in (*senders, *receivers) if each["in_histogram"]]
    if not outgrown:
        return None
    text = each_of(
        outgrown,
        lambda each: (
            f"{each['in_histogram']:,} of {each['samples'] + each['in_histogram']:,} of {each['role']} {each['index']}"
        ),
    )
    return Doubt(
        "histogram",
        f"the memory for samples was full and the histogram took over: {text} are known to within 0.8 %",
        "a shorter --duration or a lower --rate keeps each of them",
    )


def _stamped_in_part(senders: Sequence[Result]) -> Doubt | None:
    parts = [each for each in senders if each["stamped_every"] > 1]
    if not parts:
        return None
    text = each_of(parts, lambda each: f"one in {each['stamped_every']} of publisher {each['index']}")
    return Doubt(
        "stamped-in-part",
        f"a reading of the clock would take a good part of what a message takes: {text} is timed, all are counted",
        "--samples or a --rate in Hz times every message",
    )


def _limit(limits: Limits, senders: Sequence[Result]) -> Doubt | None:
    cut = [each for each in senders if each["ended"] == "limit"]
    if not cut:
        return None
    text = each_of(cut, lambda each: f"publisher {each['index']} after {each['sent']:,} messages")
    return Doubt(
        "ended-early",
        f"the limit of {limits.limit_s:g} s came: {text}",
        "fewer --samples, or a higher limit in the suite",
    )


def _drain_cut(receivers: Sequence[Result]) -> Doubt | None:
    cut = [each for each in receivers if each["ended"] == "limit"]
    if not cut:
        return None
    text = each_of(cut, lambda each: f"subscriber {each['index']}")
    return Doubt(
        "still-receiving",
        f"long after the last message was sent, messages still came: {text}; what had not come by then counts as lost",
        "the queues between are long: a shallower history (--depth) or a lower --rate",
    )
