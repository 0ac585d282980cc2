"""The records of the samples files, declared once: times are ns.

``scripts/protocol`` writes the core's half of it, ``core/records.hpp``, and the tables of ``docs/protocol.md``.
"""

from typing import Annotated, get_type_hints

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

NOT_MEASURED = 0xFFFF_FFFF
"""What stands in a field of four bytes where there was nothing to measure."""

SATURATED = 0xFFFF_FFFE
"""What stands in a duration of four bytes when it was that or more (4.29 s)."""

SEQUENCE_BITS = 48
"""A stamp is ``publisher id << 48 | sequence``; sequences begin at 1."""

U4 = Annotated[int, Meta(ge=0, extra={"npy": "<u4", "cpp": "std::uint32_t"})]
U8 = Annotated[int, Meta(ge=0, extra={"npy": "<u8", "cpp": "std::uint64_t"})]


class Sample(Struct, frozen=True):
    """One completed round trip of a ping or a client, in order of sending."""

    sequence: U8
    """From 1."""
    begin_ns: U8
    """Publish began, since the start of the measuring."""
    round_trip_ns: U8
    """Publish began → the last expected reply is in the application's hands."""
    first_reply_ns: U8
    """The same for the first reply."""
    write_ns: U4 = NOT_MEASURED
    """Publish began → publish returned."""
    take_ns: U4 = NOT_MEASURED
    """The take that brought the last reply began → the reply is in hand; absent under ``listen``."""
    loan_ns: U4 = NOT_MEASURED
    """Obtaining the memory. This and the next two are outside the round trip, and absent where it was not done."""
    fill_ns: U4 = NOT_MEASURED
    """Writing the payload."""
    check_ns: U4 = NOT_MEASURED
    """Checking the reply."""
    replies: U4 = 0
    """Replies that ended it: the number of echoing pongs."""
    late_ns: U4 = 0
    """From the intended instant to when publish began; 0 under rate max."""
    arrived_ns: U4 = NOT_MEASURED
    """The kernel received the last reply → it is in hand; absent where it does not say."""


class Answer(Struct, frozen=True):
    """One message that a pong or a server stamped while it answered it, in order.

    ``received_ticks`` less the sender's ``start_ticks``, divided by its ``ticks_per_second``, is the time since the
    sender's measuring began, from which ``begin_ns`` counts too.
    """

    stamp: U8
    """publisher id << 48 | sequence of the message: 0 or the client's index, and its own count from 1."""
    received_ticks: U8
    """The message is in the application's hands, by the raw counter."""
    take_ns: U4 = NOT_MEASURED
    """The take that brought it began → in hand; absent under ``listen``, and of all but the first of one take."""
    copy_ns: U4 = NOT_MEASURED
    """In hand → publish of the reply began: memory obtained, payload copied."""
    write_ns: U4 = NOT_MEASURED
    """Publish of the reply began → returned."""
    arrived_ns: U4 = NOT_MEASURED
    """The kernel received it → in hand; absent where it does not say."""


class Sending(Struct, frozen=True):
    """One attempt of a publisher to publish that was stamped, in order.

    Record i (from 0) is of sequence 1 + i × ``stamped_every``.
    """

    begin_ns: U8
    """Publish began, since this publisher's measuring began."""
    late_ns: U4
    """From the intended instant to when publish began; 0 under rate max."""
    write_ns: U4 = NOT_MEASURED
    """Publish began → returned; absent when nothing was sent."""


class Arrival(Struct, frozen=True):
    """One message that was stamped when it was sent and arrived at a subscriber for the first time and intact.

    In order of arrival.
    """

    stamp: U8
    """publisher id << 48 | sequence: the publisher's index and its own count from 1."""
    received_ns: U8
    """CLOCK_MONOTONIC."""
    one_way_ns: U8
    """From the intended instant. From sent: less ``late_ns`` of that publisher's record of the sequence."""


class Bucket(Struct, frozen=True):
    """One bucket of a histogram that is not empty, ascending: the values v with lower_ns <= v < upper_ns."""

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
    """Return for each stamp which record of its publisher's is of it, from 0; -1 for the stamp of no message."""
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
"""By role: the dtype of its file."""
