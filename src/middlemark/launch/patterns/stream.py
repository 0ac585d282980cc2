"""Streams: publishers and subscribers, dealt out over one or more topics."""

from collections.abc import Sequence
from typing import Any

from middlemark.launch import evidence
from middlemark.launch.outcome import Arrived, Counts, SamplesFile, Sent
from middlemark.launch.patterns.pattern import Heard, Pattern, Result, Roles
from middlemark.launch.request import Asked, Role, bounds_of, load_of
from middlemark.launch.stream_findings import doubts


def roles(asked: Asked) -> Roles:
    """Return the publishers and the subscribers."""
    cell = asked.cell

    def role(name: str, index: int, kept: int, cpu: int | None) -> Role:
        return {
            "role": name,
            "index": index,
            "topic": index % cell.topics,
            "payload": cell.payload,
            "samples_path": _path(asked.samples_stem, name, index),
            "kept": kept,
            "cpu": cpu,
        }

    publishers = [
        {
            **role("publisher", index, asked.kept[0], asked.cpus[index]),
            **bounds_of(asked.limits),
            "load": load_of(cell, asked.seed, index),
        }
        for index in range(cell.publishers)
    ]
    subscribers = [
        role("subscriber", index, asked.kept[1], asked.cpus[cell.publishers + index])
        for index in range(cell.subscribers)
    ]
    return Roles(tuple(publishers), tuple(subscribers))


def facts(heard: Heard) -> dict[str, Any]:
    """Return what was sent and what came of it."""
    published = tuple(sent(result) for result in heard.senders)
    taken = tuple(arrived(result, published) for result in heard.receivers)
    counts = counted(published, taken)
    return {
        "counts": counts,
        "samples": sum(int(result["samples"]) for result in heard.receivers),
        "warmup_samples": heard.warmed_up,
        "measured_s": max(float(result["measured_s"]) for result in heard.senders),
        "files": tuple(_file(heard.samples_stem, result) for result in (*heard.senders, *heard.receivers)),
        "publishers": published,
        "subscribers": taken,
        "carried_by": evidence.stream_carried_by(
            heard.evidence,
            heard.transport,
            messages=_moved(heard, counts, taken),
            size=heard.cell.size,
            processes=heard.cell.processes,
        ),
        "warnings": tuple(
            doubts(heard.cell, heard.limits, published, taken, senders=heard.senders, receivers=heard.receivers)
        ),
    }


def sent(result: Result) -> Sent:
    """Return what one publisher's result says."""
    return Sent(
        index=result["index"],
        topic=result["topic"],
        scheduled=result["scheduled"],
        sent=result["sent"],
        timed_out=result["timed_out"],
        publish_failed=result["publish_failed"],
        late_sends=result["late_sends"],
        unsent=result["unsent"],
        blocked_ns=result["blocked_ns"],
        pacing_ns=result["pacing_ns"],
        writing_ns=result["writing_ns"],
        first_sent_ns=result["first_sent_ns"],
        last_sent_ns=result["last_sent_ns"],
    )


def arrived(result: Result, publishers: Sequence[Sent]) -> Arrived:
    """Return what one subscriber's result says, held against what the publishers of its topic sent.

    A publish that timed out may arrive all the same; more than was sent is not a negative loss.
    """
    expected = sum(each.sent for each in publishers if each.topic == result["topic"])
    return Arrived(
        index=result["index"],
        topic=result["topic"],
        expected=expected,
        received=result["received"],
        lost=max(0, expected - int(result["received"])),
        duplicated=result["duplicated"],
        reordered=result["reordered"],
        damaged=result["damaged"],
        first_received_ns=result["first_received_ns"],
        last_received_ns=result["last_received_ns"],
    )


def counted(publishers: Sequence[Sent], subscribers: Sequence[Arrived]) -> Counts:
    """Add up both ends: what every subscriber received and lost, of what was sent once."""
    return Counts(
        sent=sum(each.sent for each in publishers),
        received=sum(each.received for each in subscribers),
        lost=sum(each.lost for each in subscribers),
        duplicated=sum(each.duplicated for each in subscribers),
        reordered=sum(each.reordered for each in subscribers),
        damaged=sum(each.damaged for each in subscribers),
        publish_failed=sum(each.publish_failed + each.timed_out for each in publishers),
    )


def _moved(heard: Heard, counts: Counts, taken: Sequence[Arrived]) -> int:
    """Return how many messages must have been moved: of those that may be lost before they are, what arrived."""
    sent = counts.sent + heard.warmed_up
    if heard.cell.reliability == "reliable":
        return sent
    return min(sent, max((each.received for each in taken), default=0))


def _file(stem: str, result: Result) -> SamplesFile:
    path = _path(stem, result["role"], result["index"])
    beyond = int(result["in_histogram"])
    return SamplesFile(
        role=result["role"],
        index=result["index"],
        path=path,
        samples=result["samples"],
        histogram_path=f"{path.removesuffix('.npy')}.histogram.npy" if beyond else None,
        in_histogram=beyond,
        stamped_every=result.get("stamped_every", 1),
    )


def _path(stem: str, role: str, index: int) -> str:
    return f"{stem}-{role}-{index}.npy"


STREAM = Pattern(roles=roles, facts=facts, drains=lambda _cell, _role: True, one_clock=True)
