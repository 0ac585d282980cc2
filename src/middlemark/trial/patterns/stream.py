"""Streams: publishers and subscribers on one or more topics."""

from collections.abc import Sequence

import msgspec

from middlemark.model.load import request_of
from middlemark.model.outcome import Arrived, SamplesFile, Sent, TrialCounts, TrialOutcome
from middlemark.model.protocol import Load, PublisherRequest, PublisherResult, SubscriberRequest, SubscriberResult
from middlemark.trial.carrier import stream_actual_transport
from middlemark.trial.patterns.pattern import Heard, Pattern, Roles, coding, results_of
from middlemark.trial.warnings import stream_warnings
from middlemark.trial.worker_request import TrialRequest, bounds_of


def roles(asked: TrialRequest) -> Roles:
    """Return the publishers and the subscribers."""
    cell = asked.cell
    publishers = [
        PublisherRequest(
            index=index,
            topic=index % cell.topics,
            **bounds_of(asked.limits),
            load=_load(asked, index),
            payload=cell.payload,
            samples_path=path_of(asked.samples_stem, "publisher", index),
            kept=asked.kept[0],
            cpu=asked.cpus[index],
        )
        for index in range(cell.publishers)
    ]
    subscribers = [
        SubscriberRequest(
            index=index,
            topic=index % cell.topics,
            payload=cell.payload,
            samples_path=path_of(asked.samples_stem, "subscriber", index),
            kept=asked.kept[1],
            cpu=asked.cpus[cell.publishers + index],
        )
        for index in range(cell.subscribers)
    ]
    return Roles(tuple(publishers), tuple(subscribers))


def _load(asked: TrialRequest, sender: int) -> Load:
    load = request_of(asked.cell, asked.seed, sender)
    if not asked.turns_path:
        return load
    lap_ns = round((asked.limits.warmup_s + (asked.limits.duration_s or 0.0)) * 2e9)  # the instants do not repeat
    return msgspec.structs.replace(load, instants_path=asked.turns_path, lap_ns=lap_ns, sleeps=True)


def conclude(heard: Heard, outcome: TrialOutcome) -> TrialOutcome:
    """Return the outcome with everything that is computed from the results."""
    found = with_counts(heard, outcome)
    return msgspec.structs.replace(
        found,
        coding=coding(heard),
        actual_transport=stream_actual_transport(
            heard.evidence,
            heard.transport,
            messages=_moved(heard, found),
            size=heard.cell.size,
            processes=heard.cell.processes,
        ),
    )


def with_counts(heard: Heard, outcome: TrialOutcome) -> TrialOutcome:
    """Return the outcome with the counts of sent and received messages, and with the warnings."""
    senders, receivers = results_of(PublisherResult, heard.senders), results_of(SubscriberResult, heard.receivers)
    published = tuple(map(sent, senders))
    taken = tuple(arrived(result, published) for result in receivers)
    return msgspec.structs.replace(
        outcome,
        counts=counted(published, taken),
        samples=sum(result.samples for result in receivers),
        warmup_samples=heard.warmed_up,
        measured_s=max(result.measured_s for result in senders),
        files=(
            *(file_of(heard.samples_stem, result) for result in senders),
            *(file_of(heard.samples_stem, result) for result in receivers),
        ),
        publishers=published,
        subscribers=taken,
        warnings=tuple(
            stream_warnings(heard.cell, heard.limits, published, taken, senders=senders, receivers=receivers)
        ),
    )


def sent(result: PublisherResult) -> Sent:
    """Return the fields of a publisher's result that the outcome keeps."""
    return Sent(**{name: getattr(result, name) for name in Sent.__struct_fields__})


def arrived(result: SubscriberResult, publishers: Sequence[Sent]) -> Arrived:
    """Return the fields of a subscriber's result that the outcome keeps, and the subscriber's loss.

    If the subscriber received more messages than were sent (a publish that timed out may still arrive), the loss is 0.
    """
    expected = sum(each.sent for each in publishers if each.topic == result.topic)
    fields = {name: getattr(result, name) for name in Arrived.__struct_fields__ if hasattr(result, name)}
    return Arrived(**fields, expected=expected, lost=max(0, expected - result.received))


def counted(publishers: Sequence[Sent], subscribers: Sequence[Arrived]) -> TrialCounts:
    """Return the sums over publishers and subscribers.

    ``received`` and ``lost`` count every subscriber, ``sent`` does not.
    """
    return TrialCounts(
        sent=sum(each.sent for each in publishers),
        received=sum(each.received for each in subscribers),
        lost=sum(each.lost for each in subscribers),
        duplicated=sum(each.duplicated for each in subscribers),
        reordered=sum(each.reordered for each in subscribers),
        damaged=sum(each.damaged for each in subscribers),
        publish_failed=sum(each.publish_failed + each.timed_out for each in publishers),
    )


def _moved(heard: Heard, outcome: TrialOutcome) -> int:
    """Return the least number of messages that the transport moved.

    A best-effort message may be lost before the transport moves it.
    """
    sent = sum(each.sent for each in outcome.publishers) + heard.warmed_up
    if heard.cell.reliability == "reliable":
        return sent
    return min(sent, max((each.received for each in outcome.subscribers), default=0))


def file_of(stem: str, result: PublisherResult | SubscriberResult) -> SamplesFile:
    """Return the description of the samples file that a role wrote."""
    path = path_of(stem, result.role, result.index)
    return SamplesFile(
        role=result.role,
        index=result.index,
        path=path,
        samples=result.samples,
        histogram_path=f"{path.removesuffix('.npy')}.histogram.npy" if result.in_histogram else None,
        in_histogram=result.in_histogram,
        stamped_every=result.stamped_every if isinstance(result, PublisherResult) else 1,
    )


def path_of(stem: str, role: str, index: int) -> str:
    """Return the name of a role's samples file."""
    return f"{stem}-{role}-{index}.npy"


STREAM = Pattern(roles=roles, conclude=conclude, drains=lambda _cell, _role: True, one_clock=True)
