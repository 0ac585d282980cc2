"""Convert the times of a stream on the second host to the clock of the first host."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.model.outcome import Arrived, ClockOffset, SamplesFile, Sent, TrialOutcome
from middlemark.model.samples import KEPT, NOT_MEASURED, SATURATED, Stamps, publishers_of, records_of

CALIBRATION_PPM = 1.0
"""The relative error in ppm of a worker's counter, which is calibrated for 20 ms at the start (0.5 was measured)."""
UNCOMPARED = "no answer came to the datagrams that compare the clocks of both hosts; check that UDP passes between them"

Instants = npt.NDArray[np.int64]


class _AbsentError(Exception):
    """Raised if the time of a message is unknown. The error's text is the reason."""


def on_one_clock(
    outcome: TrialOutcome, offset: ClockOffset | None, folder: str, far: Collection[tuple[str, int]], seconds: float
) -> TrialOutcome:
    """Rewrite the one-way times of a stream. Return the outcome with all times by the first host's clock.

    ``offset``: None if the clocks could not be compared. ``far``: the roles on the second host, as (role, index).
    ``seconds``: the time since the trial's workers started. If the time of one message is unknown, all one-way times
    stay absent, and the outcome has the reason. Raises OSError.
    """
    if not outcome.subscribers:
        return outcome
    if offset is None:
        return msgspec.structs.replace(outcome, stamps_absent=UNCOMPARED)
    try:
        publishers = {
            sent.index: _Publisher(folder, file, sent, offset if ("publisher", sent.index) in far else None)
            for sent in outcome.publishers
            for file in outcome.files
            if (file.role, file.index) == ("publisher", sent.index)
        }
        subscribers = [each for each in outcome.files if each.role == "subscriber"]
        kept_times = [
            _arrivals(folder, each, publishers, offset if ("subscriber", each.index) in far else None)
            for each in subscribers
        ]
    except _AbsentError as absent:
        return msgspec.structs.replace(outcome, stamps_absent=str(absent))
    for file, each in zip(subscribers, kept_times, strict=True):
        kept = np.load(Path(folder, file.path), mmap_mode="r+")
        kept["received_ns"], kept["one_way_ns"] = each.received, each.one_way
        kept.flush()
    crossed = tuple(file.index for file, each in zip(subscribers, kept_times, strict=True) if each.crossed)
    calibration_ns = 2 * CALIBRATION_PPM * 1e3 * seconds
    return msgspec.structs.replace(
        outcome,
        stamps_absent=None,
        clocks=msgspec.structs.replace(
            offset, uncertainty_ns=offset.uncertainty_ns + calibration_ns, subscribers=crossed
        ),
        publishers=tuple(
            _moved(each, _OF_SENT, offset) if ("publisher", each.index) in far else each for each in outcome.publishers
        ),
        subscribers=tuple(
            _moved(each, _OF_ARRIVED, offset) if ("subscriber", each.index) in far else each
            for each in outcome.subscribers
        ),
    )


class _Publisher:
    """The intended send times of a publisher's messages, by the first host's clock."""

    def __init__(self, folder: str, file: SamplesFile, sent: Sent, offset: ClockOffset | None) -> None:
        """Read the publisher's samples.

        ``offset``: the offset of the second host's clock; None if the publisher is on the first host.
        """
        raw = _raw(folder, file)
        who = f"publisher {file.index}"
        if len(raw) and raw["write_ns"][0] == NOT_MEASURED:
            raise _AbsentError(f"{who} could not send its first message, to which its other times are relative")
        if (raw["late_ns"] >= SATURATED).any():
            raise _AbsentError(f"{who} fell behind its schedule by more than the 4.29 s that its record can contain")
        begins = raw["begin_ns"].astype(np.int64)
        instants = begins - (begins[0] if len(begins) else 0) + sent.first_sent_ns - raw["late_ns"]
        self.is_far = offset is not None
        self._instants: Instants = instants if offset is None else _to_first_clock(instants, offset)
        self._every = file.stamped_every
        self._who = who

    def intended(self, stamps: Stamps) -> Instants:
        records = records_of(stamps, self._every)
        if len(records) and not 0 <= records.min() <= records.max() < len(self._instants):
            raise _AbsentError(f"{self._who} recorded only the first {len(self._instants):,} of its sends")
        instants: Instants = self._instants[records]
        return instants


def _raw(folder: str, file: SamplesFile) -> npt.NDArray[np.void]:
    """Map the samples file of a role into memory. A worker on another host may have written it."""
    damaged = _AbsentError(f"{file.path} is damaged, or from another build")
    try:
        raw: npt.NDArray[np.void] = np.load(Path(folder, file.path), mmap_mode="r")
    except (ValueError, EOFError):
        raise damaged from None
    if raw.dtype != KEPT[file.role] or len(raw) != file.samples:
        raise damaged
    return raw


class _OneWayTimes(NamedTuple):
    """The receive time and the one-way time of each message, and whether any message came from the other host."""

    received: Instants
    one_way: Instants
    crossed: bool


def _arrivals(
    folder: str, file: SamplesFile, publishers: Mapping[int, _Publisher], offset: ClockOffset | None
) -> _OneWayTimes:
    """Return the times of a subscriber's messages.

    ``offset``: None if the subscriber is on the first host.
    """
    if file.in_histogram:
        text = f"subscriber {file.index} outgrew its memory, and its histogram cannot be converted to one clock"
        raise _AbsentError(text)
    raw = _raw(folder, file)
    received = raw["received_ns"].astype(np.int64)
    if offset is not None:
        received = _to_first_clock(received, offset)
    stamps = np.ascontiguousarray(raw["stamp"])
    sources = publishers_of(stamps)
    one_way = raw["one_way_ns"].astype(np.int64)
    crossed = False
    for index in map(int, np.unique(sources)):
        if index not in publishers:
            raise _AbsentError(f"publisher {index} has no record of its messages")
        if publishers[index].is_far == (offset is not None):
            continue  # both are on the same host
        crossed = True
        mine = sources == index
        one_way[mine] = received[mine] - publishers[index].intended(stamps[mine])
    return _OneWayTimes(
        received, np.maximum(one_way, 0), crossed
    )  # within the clocks' uncertainty, a message may arrive before its send


def _to_first_clock(instants: Instants, offset: ClockOffset) -> Instants:
    """Convert times by the second host's clock to times by the first host's clock."""
    drifted = (instants - offset.begin_ns) * (offset.drift_ppm * 1e-6)
    moved: Instants = instants + round(offset.offset_ns) + np.rint(drifted).astype(np.int64)
    return moved


_OF_SENT = ("first_sent_ns", "last_sent_ns")
_OF_ARRIVED = ("last_warm_up_ns", "first_received_ns", "last_received_ns")
Of = TypeVar("Of", Sent, Arrived)


def _moved(kept_times: Of, names: Sequence[str], offset: ClockOffset) -> Of:
    """Return a copy in which the times in the fields ``names`` are by the first host's clock.

    Unknown times stay unknown.
    """
    known_times = {name: instant for name in names if (instant := getattr(kept_times, name))}
    moved = _to_first_clock(np.array(list(known_times.values()), dtype=np.int64), offset)
    return msgspec.structs.replace(kept_times, **dict(zip(known_times, map(int, moved), strict=True)))
