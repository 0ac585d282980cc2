"""What was stamped on the second host of a trial, brought onto the clock of the first: the senders', of a stream."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from middlemark.model.outcome import Arrived, ClockOffset, SamplesFile, Sent, TrialOutcome
from middlemark.model.samples import KEPT, NOT_MEASURED, SATURATED, Stamps, publishers_of, records_of

CALIBRATION_PPM = 1.0
"""A worker's counter is held against CLOCK_MONOTONIC for 20 ms when it starts: at most so far off (0.5 was seen)."""
UNCOMPARED = "the datagrams that compare the clocks of two hosts did not come back: see whether UDP gets through"

Instants = npt.NDArray[np.int64]


class _AbsentError(Exception):
    """Why the instant of a message cannot be told."""


def on_one_clock(
    outcome: TrialOutcome, offset: ClockOffset | None, folder: str, far: Collection[tuple[str, int]], seconds: float
) -> TrialOutcome:
    """Write the one-way times of a stream anew; return it with the second host's instants by the clock of the first.

    ``offset``: None where the clocks could not be compared. ``far``: the roles on the second host, by what they are and
    their index. ``seconds``: since its workers were started. Where a message's instant is not known, all times stay
    absent, with the reason. Raises OSError.
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
        told = [
            _arrivals(folder, each, publishers, offset if ("subscriber", each.index) in far else None)
            for each in subscribers
        ]
    except _AbsentError as absent:
        return msgspec.structs.replace(outcome, stamps_absent=str(absent))
    for file, each in zip(subscribers, told, strict=True):
        kept = np.load(Path(folder, file.path), mmap_mode="r+")
        kept["received_ns"], kept["one_way_ns"] = each.received, each.one_way
        kept.flush()
    crossed = tuple(file.index for file, each in zip(subscribers, told, strict=True) if each.crossed)
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
    """When each of its messages was to be sent, by the clock of the first host."""

    def __init__(self, folder: str, file: SamplesFile, sent: Sent, offset: ClockOffset | None) -> None:
        """``offset``: it is on the second host."""
        raw = _raw(folder, file)
        who = f"publisher {file.index}"
        if len(raw) and raw["write_ns"][0] == NOT_MEASURED:
            raise _AbsentError(f"{who} could not send its first message, which its record is held against")
        if (raw["late_ns"] >= SATURATED).any():
            raise _AbsentError(f"{who} fell behind by more than the 4.29 s that its record holds")
        begins = raw["begin_ns"].astype(np.int64)
        instants = begins - (begins[0] if len(begins) else 0) + sent.first_sent_ns - raw["late_ns"]
        self.is_far = offset is not None
        self._instants: Instants = instants if offset is None else _by_the_first(instants, offset)
        self._every = file.stamped_every
        self._who = who

    def intended(self, stamps: Stamps) -> Instants:
        places = records_of(stamps, self._every)
        if len(places) and not 0 <= places.min() <= places.max() < len(self._instants):
            raise _AbsentError(f"{self._who} kept only the first {len(self._instants):,} of its sends")
        instants: Instants = self._instants[places]
        return instants


def _raw(folder: str, file: SamplesFile) -> npt.NDArray[np.void]:
    """Map what a role kept, which its host's own build has written."""
    damaged = _AbsentError(f"{file.path} is damaged, or of another build")
    try:
        raw: npt.NDArray[np.void] = np.load(Path(folder, file.path), mmap_mode="r")
    except (ValueError, EOFError):
        raise damaged from None
    if raw.dtype != KEPT[file.role] or len(raw) != file.samples:
        raise damaged
    return raw


class _Arrivals(NamedTuple):
    """When each message was received, for how long it had been under way, and whether one came from the other host."""

    received: Instants
    one_way: Instants
    crossed: bool


def _arrivals(
    folder: str, file: SamplesFile, publishers: Mapping[int, _Publisher], offset: ClockOffset | None
) -> _Arrivals:
    """Return what a subscriber received; ``offset``: it is on the second host."""
    if file.in_histogram:
        text = f"subscriber {file.index} outgrew its memory, and a histogram of two clocks tells nothing"
        raise _AbsentError(text)
    raw = _raw(folder, file)
    received = raw["received_ns"].astype(np.int64)
    if offset is not None:
        received = _by_the_first(received, offset)
    stamps = np.ascontiguousarray(raw["stamp"])
    sources = publishers_of(stamps)
    one_way = raw["one_way_ns"].astype(np.int64)
    crossed = False
    for index in map(int, np.unique(sources)):
        if index not in publishers:
            raise _AbsentError(f"publisher {index} kept no record of what it sent")
        if publishers[index].is_far == (offset is not None):
            continue  # both read one counter
        crossed = True
        mine = sources == index
        one_way[mine] = received[mine] - publishers[index].intended(stamps[mine])
    return _Arrivals(received, np.maximum(one_way, 0), crossed)  # within the uncertainty it may come before it was sent


def _by_the_first(instants: Instants, offset: ClockOffset) -> Instants:
    """Return instants of the second host's clock by that of the first."""
    drifted = (instants - offset.begin_ns) * (offset.drift_ppm * 1e-6)
    moved: Instants = instants + round(offset.offset_ns) + np.rint(drifted).astype(np.int64)
    return moved


_OF_SENT = ("first_sent_ns", "last_sent_ns")
_OF_ARRIVED = ("last_warm_up_ns", "first_received_ns", "last_received_ns")
Of = TypeVar("Of", Sent, Arrived)


def _moved(told: Of, names: Sequence[str], offset: ClockOffset) -> Of:
    """Return it with those instants, where they are known, by the clock of the first host."""
    known = {name: instant for name in names if (instant := getattr(told, name))}
    moved = _by_the_first(np.array(list(known.values()), dtype=np.int64), offset)
    return msgspec.structs.replace(told, **dict(zip(known, map(int, moved), strict=True)))
