"""One-way latencies of one trial of a stream, from the intended instant and from the send, and the times of writing.

A one-way latency is the difference of two readings of one clock. Either both ends read the same clock, or the times of
another host were converted to it (``TrialOutcome.clocks``).
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from middlemark.model.outcome import ClockOffset
from middlemark.model.samples import NOT_MEASURED, SATURATED, publishers_of, records_of
from middlemark.model.times import QUANTILES, Summary
from middlemark.model.units import format_count
from middlemark.stats.buckets import joined, summarise_both
from middlemark.stats.quantiles import Numbers, samples_needed
from middlemark.stats.samples import Kept, Samples
from middlemark.stats.tally import summary_of

_CHUNK = 1 << 20
TIMES_UNCERTAINTY = 10
"""A latency is left out if it is less than this many times the uncertainty of the clocks."""


class OneWay(msgspec.Struct, frozen=True, kw_only=True):
    """Summaries of one trial.

    ``absent``: the reason why ``from_sent`` is None. ``in_histogram``: the number of latencies in a histogram, which
    are accurate to 0.8 %.
    """

    all: Summary | None
    all_absent: str | None = None
    """The reason why ``all``, or some of its figures, are None."""
    by_subscriber: Mapping[int, Summary]
    absent_of: Mapping[int, str] = {}
    """Index of a subscriber → the reason why it has no median, or why some of its figures were left out."""
    from_sent: Summary | None
    absent: str | None
    write: Summary | None
    samples: int
    in_histogram: int


def one_way(kept: Sequence[Kept]) -> OneWay:
    """Return the summaries of the samples that the publishers and subscribers of one trial kept."""
    subscribers = [each for each in kept if each.role == "subscriber"]
    publishers = {each.index: each for each in kept if each.role == "publisher"}
    latencies = [each.raw["one_way_ns"] for each in subscribers]
    counted = [each.histogram for each in subscribers if each.histogram is not None]
    raw = _together(latencies)
    histogram = joined(counted)
    in_histogram = sum(int(each["count"].sum()) for each in counted)
    samples = len(raw) + in_histogram
    received = {
        each.index: len(values) + (0 if each.histogram is None else int(each.histogram["count"].sum()))
        for each, values in zip(subscribers, latencies, strict=True)
    }
    sent, absent = _from_sent(subscribers, publishers)
    return OneWay(
        all=summarise_both(raw, histogram) if samples else None,
        all_absent=too_few(samples),
        by_subscriber={
            each.index: summarise_both(values, each.histogram)
            for each, values in zip(subscribers, latencies, strict=True)
        },
        absent_of={index: text for index, count in received.items() if (text := too_few(count))},
        from_sent=summary_of(sent) if sent is not None and len(sent) else None,
        absent=absent,
        write=_write(list(publishers.values())),
        samples=samples,
        in_histogram=in_histogram,
    )


def too_few(messages: int) -> str | None:
    """Return why this number of messages is too few for a median; None: it is enough."""
    needed = samples_needed(QUANTILES["p50"])
    if messages >= needed:
        return None
    return f"{format_count(messages, 'message')} arrived, and a median needs {needed}"


def without_times(found: OneWay, absent: str) -> OneWay:
    """Return the summaries without the figures that need the clocks of both ends."""
    return msgspec.structs.replace(
        found,
        all=None,
        all_absent=absent,
        by_subscriber={},
        absent_of=dict.fromkeys(found.by_subscriber, absent),
        from_sent=None,
        absent=absent,
        in_histogram=0,
    )


def certain_times(found: OneWay, clocks: ClockOffset) -> OneWay:
    """Return the summaries. Times between two hosts are left out below ten times the uncertainty of their clocks."""
    least = TIMES_UNCERTAINTY * clocks.uncertainty_ns

    def certain(summary: Summary) -> Summary:
        figures = {name: getattr(summary, name) for name in Summary.__struct_fields__ if name != "stdev"}
        small = [name for name, figure in figures.items() if figure is not None and figure < least]
        return msgspec.structs.replace(summary, **dict.fromkeys(small))

    by_subscriber = {
        index: certain(each) if index in clocks.subscribers else each for index, each in found.by_subscriber.items()
    }
    kept = msgspec.structs.replace(
        found,
        all=found.all and certain(found.all),
        by_subscriber=by_subscriber,
        from_sent=found.from_sent and certain(found.from_sent),
    )
    agreement = f"the clocks of the hosts agree to within ± {clocks.uncertainty_ns / 1e3:,.1f} µs"
    text = f"{agreement}: figures below {TIMES_UNCERTAINTY} times this uncertainty are left out"
    uncertain = {index: text for index, each in by_subscriber.items() if each != found.by_subscriber[index]}
    left_out = uncertain or (kept.all, kept.from_sent) != (found.all, found.from_sent)
    return msgspec.structs.replace(
        kept, all_absent=text if left_out else found.all_absent, absent_of={**uncertain, **found.absent_of}
    )


def _from_sent(subscribers: Sequence[Kept], publishers: Mapping[int, Kept]) -> tuple[Numbers | None, str | None]:
    """Return (``one_way_ns`` minus the lateness of each send, None), or if a send is unknown (None, the reason)."""
    outgrown = [each.index for each in subscribers if each.histogram is not None]
    if outgrown:
        return None, f"the memory of subscriber {outgrown[0]} was full: later messages are counted in a histogram"
    parts: list[Numbers] = []
    for subscriber in subscribers:
        times = np.empty(len(subscriber.raw), dtype=np.uint64)
        for begin in range(0, len(times), _CHUNK):
            absent = _since_sent(subscriber.raw[begin : begin + _CHUNK], publishers, times[begin : begin + _CHUNK])
            if absent is not None:
                return None, absent
        parts.append(times)
    if not any(map(len, parts)):
        return None, "nothing arrived"
    return _together(parts), None


def _since_sent(arrivals: Samples, publishers: Mapping[int, Kept], times: Numbers) -> str | None:
    """Write to ``times`` for each of ``arrivals`` the time since its send.

    Return why the send of an arrival is unknown; None: every send is known.
    """
    stamps = np.ascontiguousarray(arrivals["stamp"])
    publisher_ids = publishers_of(stamps)
    present = np.flatnonzero(np.bincount(publisher_ids))
    for publisher_id in present:
        publisher = publishers.get(int(publisher_id))
        if publisher is None:
            return f"publisher {int(publisher_id)} kept no record of its sends"
        chosen = publisher_ids == publisher_id if len(present) > 1 else slice(None)
        places = records_of(stamps[chosen], publisher.stamped_every)
        if places.min() < 0 or places.max() >= len(publisher.raw):
            return f"publisher {int(publisher_id)} kept only the first {len(publisher.raw):,} of its sends"
        late = publisher.raw["late_ns"][places]
        if (late >= SATURATED).any():
            return f"publisher {int(publisher_id)} fell behind by more than the 4.29 s that its record can contain"
        # The receiver's reading may be earlier than the sender's by the resolution of the clock; the time is then 0.
        times[chosen] = np.maximum(arrivals["one_way_ns"][chosen].astype(np.int64) - late.astype(np.int64), 0)
    return None


def _write(publishers: Sequence[Kept]) -> Summary | None:
    times = _together([each.raw["write_ns"] for each in publishers])
    times = times[times != NOT_MEASURED]
    histogram = joined([each.histogram for each in publishers if each.histogram is not None])
    return summarise_both(times, histogram) if len(times) or histogram is not None else None


def _together(parts: Sequence[Numbers]) -> Numbers:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)


def round_trips(kept: Sequence[Kept]) -> Samples | None:
    """Return the round trips of all clients of one trial, client by client; None: there is no client."""
    clients = [each.raw for each in kept if each.role == "client"]
    return _together(clients) if clients else None
