"""The records of the samples files, declared once. Times are in ns.

``scripts/protocol`` generates ``core/records.hpp`` and the tables of ``docs/reference/protocol.md`` from these records.
"""

from typing import Annotated, get_type_hints

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

NOT_MEASURED = 0xFFFF_FFFF
"""Value of a field of four bytes if nothing was measured."""

SATURATED = 0xFFFF_FFFE
"""Value of a duration in four bytes that is too long for them: 4.29 s or longer."""

SEQUENCE_BITS = 48
"""A stamp is ``publisher id << 48 | sequence``; sequences begin at 1."""

U4 = Annotated[int, Meta(ge=0, extra={"npy": "<u4", "cpp": "std::uint32_t"})]
U8 = Annotated[int, Meta(ge=0, extra={"npy": "<u8", "cpp": "std::uint64_t"})]


class Sample(Struct, frozen=True):
    """One completed round trip of a ping or a client, in order of sending."""

    sequence: U8
    """The number of the round trip, from 1."""
    begin_ns: U8
    """Publish began, counted from the start of the measuring."""
    round_trip_ns: U8
    """Publish began → the last expected reply is in the application's hands."""
    first_reply_ns: U8
    """Publish began → the first expected reply is in the application's hands."""
    write_ns: U4 = NOT_MEASURED
    """Publish began → publish returned."""
    take_ns: U4 = NOT_MEASURED
    """The take that brought the last reply began → the reply is in hand; absent under ``listen``."""
    loan_ns: U4 = NOT_MEASURED
    """Obtaining the memory; absent if the step was not done. This and the next two fields are not part of the
    round trip."""
    fill_ns: U4 = NOT_MEASURED
    """Writing the payload."""
    check_ns: U4 = NOT_MEASURED
    """Checking the reply."""
    replies: U4 = 0
    """Replies that ended the round trip: the number of echoing pongs."""
    late_ns: U4 = 0
    """Intended instant → publish began; 0 under rate max."""
    arrived_ns: U4 = NOT_MEASURED
    """The kernel received the last reply → the reply is in hand; absent if the kernel does not report it."""


class Answer(Struct, frozen=True):
    """One message that a pong or a server stamped while answering the message, in order.

    ``received_ticks`` minus the sender's ``start_ticks``, divided by the sender's ``ticks_per_second``, is the time
    since the sender's measuring began. ``begin_ns`` counts from the same instant.
    """

    stamp: U8
    """publisher id << 48 | sequence of the message. The id is 0 or the client's index; the sequence is the sender's own
    count from 1."""
    received_ticks: U8
    """Value of the raw counter when the message is in the application's hands."""
    take_ns: U4 = NOT_MEASURED
    """The take that brought the message began → the message is in hand. Absent under ``listen``. If a take brings
    several messages, only the first has this time."""
    copy_ns: U4 = NOT_MEASURED
    """The message is in hand → publish of the reply began: memory obtained, payload copied."""
    write_ns: U4 = NOT_MEASURED
    """Publish of the reply began → publish returned."""
    arrived_ns: U4 = NOT_MEASURED
    """The kernel received the message → the message is in hand; absent if the kernel does not report it."""


class Sending(Struct, frozen=True):
    """One stamped attempt of a publisher to publish, in order.

    Record i (from 0) belongs to sequence 1 + i × ``stamped_every``.
    """

    begin_ns: U8
    """Publish began, counted from the start of this publisher's measuring."""
    late_ns: U4
    """Intended instant → publish began; 0 under rate max."""
    write_ns: U4 = NOT_MEASURED
    """Publish began → publish returned; absent if nothing was sent."""


class Arrival(Struct, frozen=True):
    """One message that was stamped when sent and arrived intact at a subscriber for the first time.

    Records are in order of arrival.
    """

    stamp: U8
    """publisher id << 48 | sequence. The id is the publisher's index; the sequence is its own count from 1."""
    received_ns: U8
    """CLOCK_MONOTONIC of the arrival."""
    one_way_ns: U8
    """Intended instant → the message is in the application's hands. Subtract ``late_ns`` of the publisher's record to
    count from the actual send."""


class Bucket(Struct, frozen=True):
    """A bucket that is not empty: ``count`` values v with lower_ns <= v < upper_ns. Buckets are in ascending order."""

    lower_ns: U8
    upper_ns: U8
    count: U8


_BITS = np.uint64(SEQUENCE_BITS)
_SEQUENCE = np.uint64((1 << SEQUENCE_BITS) - 1)
Stamps = npt.NDArray[np.uint64]


def publishers_of(stamps: Stamps) -> npt.NDArray[np.uint16]:
    """Return the publisher's id of each stamp."""
    return (stamps >> _BITS).astype(np.uint16)


def sequences_of(stamps: Stamps) -> Stamps:
    """Return the sequence of each stamp, from 1."""
    sequences: Stamps = stamps & _SEQUENCE
    return sequences


def records_of(stamps: Stamps, stamped_every: int = 1) -> npt.NDArray[np.int64]:
    """Return the number of the publisher's record for each stamp, from 0. It is -1 for the stamp 0 of no message."""
    return (sequences_of(stamps).astype(np.int64) - 1) // stamped_every


def dtype_of(record: type[Struct]) -> np.dtype[np.void]:
    """Return the dtype of a file of these records."""
    hints = get_type_hints(record, include_extras=True)
    return np.dtype([(name, hints[name].__metadata__[0].extra["npy"]) for name in record.__struct_fields__])


SAMPLE = dtype_of(Sample)
ANSWER = dtype_of(Answer)
SENDING = dtype_of(Sending)
ARRIVAL = dtype_of(Arrival)
HISTOGRAM = dtype_of(Bucket)

KEPT = {
    "ping": SAMPLE,
    "client": SAMPLE,
    "publisher": SENDING,
    "subscriber": ARRIVAL,
    "pong": ANSWER,
    "server": ANSWER,
}
"""Role → the dtype of its samples file."""
