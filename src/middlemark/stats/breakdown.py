"""The parts of the time that a round trip, or a message of a stream, takes.

Both ends read instants from one counter. The instants divide each message's time into consecutive parts, which add up
to that time. The parts of a trial are means over the messages near the median: the stamped messages from the 40th to
the 60th percentile. Medians of the parts would not add up. Means over all messages would depend mostly on the slowest
few. If no stamp divides a section of the time, the section is one part, ``in between``.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.model.cell import Cell
from middlemark.model.outcome import Coding, SamplesFile, Started, TrialOutcome
from middlemark.model.samples import SATURATED, publishers_of, records_of, sequences_of
from middlemark.stats.quantiles import Numbers
from middlemark.stats.result import Part
from middlemark.stats.samples import Kept, Samples, SamplesError

NEEDED = 20
"""A breakdown needs at least this number of messages that were stamped at both ends, as a median does."""

BAND = (0.4, 0.6)
"""The parts are computed from the stamped messages between these shares of all stamped messages, ordered by their time.
"""

LACKING = 0.05
"""An instant may be missing for at most this share of the messages.

The messages without the instant are no random sample: they waited while another client was served, or the role did not
run when the kernel's clock was read. With at most this share missing, the messages in BAND shift by at most a fortieth.
"""

MOST_ARRIVALS = 200_000
"""At most this number of a stream's arrivals is read, evenly spread over its record."""

IN_BETWEEN = "in between"


Ns = npt.NDArray[np.float64]
"""One value for each message, in ns; NaN if the message has no value."""

Parts = Mapping[str, Ns]
"""Name of a part → its ns for each message, in the order of time. All parts of a message add up to its whole time."""


class Breakdown(msgspec.Struct, frozen=True):
    """The parts of a trial or a cell in the order of time. If there are no parts, ``absent`` says why."""

    parts: tuple[Part, ...]
    absent: str | None = None
    coding: Coding | None = None
    """Times of (de)serialising, which ``stats/coding.py`` separates from the parts that contain them."""

    @property
    def whole_ns(self) -> float:
        """The sum of the parts."""
        return math.fsum(each.ns for each in self.parts)


def why_no_breakdown(cell: Cell) -> str | None:
    """Return why a cell of this kind never has a breakdown; None: it can have one."""
    if cell.pattern == "ping-pong" and cell.echo == "all" and cell.subscribers > 1:
        return f"the last of {cell.subscribers} replies ends a round trip, and the sender of that reply is not recorded"
    return None


def of_trips(callers: Mapping[int, Samples], answers: Samples, starts: Sequence[Started]) -> Breakdown:
    """Return the breakdown of one trial's round trips. ``callers``: index of the ping or client → its samples."""
    known = {each.index: each for each in starts}
    # A message that arrived twice was answered twice. The first answer ended the round trip.
    _, first = np.unique(answers["stamp"], return_index=True)
    answers = np.asarray(answers[np.sort(first)])
    publisher_ids = publishers_of(answers["stamp"])
    legs = [
        _legs(trips, answers[publisher_ids == np.uint64(index)], known[index])
        for index, trips in callers.items()
        if index in known
    ]
    merged = _common(legs)
    return _near_the_median(merged) if merged else _too_few(0)


def of_stream(subscribers: Sequence[Kept], publishers: Mapping[int, Kept]) -> Breakdown:
    """Return the breakdown of one trial's one-way times from the intended instant.

    All samples must be in ``publishers``.
    """
    every = max(1, -(-sum(len(each.raw) for each in subscribers) // MOST_ARRIVALS))
    found = []
    for subscriber in subscribers:
        arrivals = np.asarray(subscriber.raw[::every])
        publisher_ids = publishers_of(arrivals["stamp"])
        for index, publisher in publishers.items():
            mine = arrivals[publisher_ids == np.uint64(index)]
            sent = np.asarray(publisher.raw[records_of(mine["stamp"], publisher.stamped_every)])
            timed = (sent["write_ns"] < SATURATED) & (sent["late_ns"] < SATURATED)
            found.append(_one_way(mine[timed], sent[timed]))
    merged = _common(found)
    return _near_the_median(merged) if merged else _too_few(0)


def over_trials(trials: Sequence[Breakdown]) -> Breakdown:
    """Return the breakdown of the trial whose whole time is the median, or the mean of the middle two.

    The parts of one trial add up. Medians of each part over several trials would not.
    """
    with_parts = sorted((each for each in trials if each.parts), key=lambda each: each.whole_ns)
    if not with_parts:
        return Breakdown((), next((each.absent for each in trials if each.absent), "no trial was measured"))
    middle = with_parts[(len(with_parts) - 1) // 2 : len(with_parts) // 2 + 1]
    names = _in_order([[part.part for part in each.parts] for each in middle])
    sums = {
        name: math.fsum(part.ns for each in middle for part in each.parts if part.part == name) / len(middle)
        for name in names
    }
    return Breakdown(shares(sums), coding=_mean([each.coding for each in middle if each.coding]))


def _mean(codings: Sequence[Coding]) -> Coding | None:
    known = {
        name: [ns for each in codings if (ns := getattr(each, name)) is not None] for name in Coding.__struct_fields__
    }
    means = {name: math.fsum(values) / len(values) for name, values in known.items() if values}
    return Coding(**means) if means else None


def _one_way(arrivals: Samples, sent: Samples) -> Parts:
    whole = _float(arrivals["one_way_ns"])
    late = np.minimum(_float(sent["late_ns"]), whole)
    write = np.minimum(_float(sent["write_ns"]), whole - late)
    return {"wait for its turn": late, "write": write, IN_BETWEEN: whole - late - write}


def _legs(trips: Samples, answers: Samples, start: Started) -> Parts:
    """Return the parts of the round trips that were stamped at both ends."""
    sequences = np.ascontiguousarray(trips["sequence"])
    wanted = sequences_of(answers["stamp"])
    places = np.searchsorted(sequences, wanted)
    known = places < len(sequences)
    known[known] = sequences[places[known]] == wanted[known]
    whole = trips[places[known]]
    answers = answers[known]
    brief = (whole["write_ns"] < SATURATED) & (answers["copy_ns"] < SATURATED) & (answers["write_ns"] < SATURATED)
    trip, answer = np.asarray(whole[brief]), np.asarray(answers[brief])
    end = _float(trip["round_trip_ns"])
    since_start = (answer["received_ticks"] - np.uint64(start.ticks)).astype(np.int64)
    # By the clock's resolution, an instant may seem to precede the instant before it. Both are then taken as equal.
    in_hand = np.clip(since_start * (1e9 / start.ticks_per_second) - _float(trip["begin_ns"]), 0, end)
    replies = np.minimum(in_hand + _float(answer["copy_ns"]), end)
    out = _way(np.zeros_like(end), _float(trip["write_ns"]), in_hand, answer)
    back = _way(replies, replies + _float(answer["write_ns"]), end, trip)
    return {**out, "copy": replies - in_hand, **{f"reply {name}": ns for name, ns in back.items()}}


def _way(begins: Ns, written: Ns, in_hand: Ns, receiver: Samples) -> dict[str, Ns]:
    """Return the parts of one direction of the messages: name of the part → its length in ns, by message.

    ``begins``: when the sender begins to write. ``written``: when the sender's call to the middleware ends.
    ``in_hand``: when the receiver has the message. ``receiver``: the receiver's samples; ``take_ns`` and ``arrived_ns``
    count back from ``in_hand`` to the start of the take and to the message's arrival in the kernel.

    The receiver may begin to take a message before the writing ends. That overlap is a part of its own. Writing after
    ``in_hand`` is not counted. If the arrival in the kernel is known, the writing ends at the arrival at the latest.
    The part "transport" then ends at the arrival, and the part "wake-up" lasts from the arrival to the take.
    """
    written = np.clip(written, begins, in_hand)
    takes = np.clip(in_hand - _known(receiver["take_ns"]), begins, in_hand)
    arrived = in_hand - _known(receiver["arrived_ns"])
    arrived[~((arrived >= begins) & (arrived <= in_hand))] = np.nan
    if not _all_known(takes):
        return {"write": written - begins, IN_BETWEEN: in_hand - written}
    if not _all_known(arrived):
        later = np.maximum(written, takes)
        return {
            "write": np.minimum(written, takes) - begins,
            "write and take together": np.maximum(written - takes, 0),
            "transport and wake-up": np.maximum(takes - written, 0),
            "take": in_hand - later,
        }
    written = np.minimum(written, arrived)
    takes = np.maximum(takes, arrived)
    return {
        "write": written - begins,
        "transport": arrived - written,
        "wake-up": takes - arrived,
        "take": in_hand - takes,
    }


def _all_known(instants: Ns) -> bool:
    """Say whether at most the share ``LACKING`` of the messages lack this instant.

    The caller leaves these messages out.
    """
    return len(instants) > 0 and bool(np.count_nonzero(np.isnan(instants)) <= LACKING * len(instants))


def _common(found: Sequence[Parts]) -> Parts:
    """Return the parts of the messages of all roles.

    If the names of a role's parts differ from those of most messages, the role is left out.
    """
    sized = [(len(next(iter(each.values()))), each) for each in found]
    lengths: dict[tuple[str, ...], int] = {}
    for length, each in sized:
        lengths[tuple(each)] = lengths.get(tuple(each), 0) + length
    if not any(lengths.values()):
        return {}
    names = max(lengths, key=lambda key: lengths[key])
    alike = [each for _, each in sized if tuple(each) == names]
    return {name: np.concatenate([each[name] for each in alike]) for name in names}


def _near_the_median(parts: Parts) -> Breakdown:
    matrix = np.stack(list(parts.values()))
    matrix = matrix[:, ~np.isnan(matrix).any(axis=0)]
    count = matrix.shape[1]
    if count < NEEDED:
        return _too_few(count)
    order = np.argsort(matrix.sum(axis=0), kind="stable")
    band = order[math.floor(BAND[0] * count) : math.ceil(BAND[1] * count)]
    means = matrix[:, band].mean(axis=1)
    return Breakdown(shares(_without_traces(dict(zip(parts, means.tolist(), strict=True)))))


TOGETHER = {"write": "write and take together", "reply write": "reply write and take together"}

# Parts that are left out if they took no time. For all other parts, zero is a result: the kernel had the message before
# the write returned, or polling did not wait.
_OPTIONAL = ("wait for its turn", *TOGETHER.values())


def _without_traces(sums: dict[str, float]) -> dict[str, float]:
    """Return ``sums``. An overlap of less than a hundredth of the whole is added to the time of writing."""
    whole = math.fsum(sums.values())
    for write, together in TOGETHER.items():
        if 0 < sums.get(together, 0) < 0.01 * whole:
            sums[write] += sums.pop(together)
    return sums


def shares(sums: Mapping[str, float]) -> tuple[Part, ...]:
    """Return the parts with their shares, in the order of ``sums``, without ``_OPTIONAL`` parts that took no time."""
    shown = {name: ns for name, ns in sums.items() if ns > 0 or name not in _OPTIONAL}
    whole = math.fsum(shown.values())
    return tuple(Part(part=name, ns=ns, share=ns / whole if whole else 0.0) for name, ns in shown.items())


def _in_order(names: Sequence[Sequence[str]]) -> list[str]:
    """Merge lists of names into one list that keeps the order of every list."""
    merged = list(names[0])
    for others in names[1:]:
        at = 0
        for name in others:
            if name in merged:
                at = merged.index(name) + 1
            else:
                merged.insert(at, name)
                at += 1
    return merged


def _too_few(count: int) -> Breakdown:
    return Breakdown((), f"{count} messages were stamped at both ends, and a breakdown needs {NEEDED}")


def _known(values: Numbers) -> Ns:
    return np.where(values < SATURATED, values.astype(np.float64), np.nan)


def _float(values: Numbers) -> Ns:
    return values.astype(np.float64)


def stream_breakdown(outcome: TrialOutcome, records: Sequence[Kept], absent: str | None) -> Breakdown:
    """Return the parts of a stream's messages.

    ``absent`` is the reason why arrivals cannot be matched with sends; None: arrivals can be matched.
    """
    if absent is not None:
        return Breakdown((), absent)
    publishers = {each.index: each for each in records if each.role == "publisher"}
    found = of_stream([each for each in records if each.role == "subscriber"], publishers)
    return msgspec.structs.replace(found, coding=outcome.coding)


def round_trip_breakdown(
    cell: Cell, outcome: TrialOutcome, callers: Mapping[int, Samples], kept: Callable[[SamplesFile], Kept]
) -> Breakdown:
    """Return the parts of the round trips. ``callers``: index of the ping or client → its samples.

    If the stamps cannot be read, only the breakdown is missing: the trial keeps all its other figures.
    """
    absent = why_no_breakdown(cell) or outcome.stamps_absent
    if absent is not None:
        return Breakdown((), absent)
    if not outcome.stamps:
        return Breakdown((), "the answering role kept no stamps")
    try:
        [answers] = [kept(each).raw for each in outcome.stamps]
    except SamplesError as error:
        return Breakdown((), str(error))
    return msgspec.structs.replace(of_trips(callers, answers, outcome.starts), coding=outcome.coding)
