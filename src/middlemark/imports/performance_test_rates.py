"""Convert the rates that performance_test prints in place of counts back to counts.

The tool divides each count by a duration D in seconds and cuts off the fraction, for each subscriber. So a printed rate
is a range of counts. ``data_received`` is a rate too, but in bytes, so it gives the count of received messages exactly.
"""

import math
import re
from collections.abc import Callable, Sequence

import msgspec

from middlemark.imports.columns import Form, Over, PrintedColumn, summary_columns

_SOURCE = "analysis_result.cpp (columns), data_runner.hpp (division)"
_TIMES = {
    "latency_min (ms)": "min",
    "latency_max (ms)": "max",
    "latency_mean (ms)": "mean",
}
_VARIANCE_NOTE = "prints s² × 1,000"
_RATES = (
    PrintedColumn("received", "rate", "1/s", "interval", "received", "cut off, for each subscriber"),
    PrintedColumn("sent", "rate", "1/s", "interval", "sent", "cut off, for each publisher"),
    PrintedColumn("lost", "rate", "1/s", "interval", "lost", "cut off, for each subscriber"),
    PrintedColumn("data_received", "rate", "bytes/s", "interval", "received", "cut off; counts the type's sizeof"),
)


def _form(versions: str, known_by: str, source: str, t_loop: str, *, so_far: bool = False) -> Form:
    over: Over = "so far" if so_far else "interval"
    return Form(
        tool="performance_test",
        versions=versions,
        known_by=known_by,
        source=source,
        columns=(
            PrintedColumn("T_experiment", "duration", "s", "so far"),
            PrintedColumn("T_loop", "duration", "s", "interval", "", t_loop),
            *_RATES,
            *summary_columns("one way", "ms", over, "one_way_from_sent", _TIMES),
            PrintedColumn("latency_variance (ms)", "one way", "s", over, "one_way_from_sent.stdev", _VARIANCE_NOTE),
        ),
    )


UP_TO_1_1 = _form(
    "up to 1.1",
    "the columns pub_loop_res…",
    _SOURCE,
    "the length of this row; the row after it divides by it",
)
OF_1_3 = _form(
    "1.3",
    "Performance Test Version: 1.3",
    "subscriber_stats.hpp",
    "the divisor of this row; in the first row the time since the machine's start",
    so_far=True,
)
SINCE_2 = _form(
    "2",
    "no columns pub_loop_res…",
    "subscriber_stats.hpp",
    "the divisor of this row; in the first row the time since the machine's start",
)
JSON_FORM = Form(
    tool="performance_test",
    versions="JSON, 1.0",
    known_by="analysis_results",
    source="JsonLogger",
    columns=(
        PrintedColumn("experiment_start", "duration", "ns", "so far", "", "the time since the start"),
        PrintedColumn("loop_start", "duration", "ns", "interval", "", "the length of this row"),
        PrintedColumn("num_samples_…", "rate", "1/s", "interval", "received, sent, lost", "cut off"),
        PrintedColumn("latency_n", "count", "", "interval", "received"),
        *summary_columns(
            "one way", "s", "interval", "one_way_from_sent",
            {"latency_min": "min", "latency_max": "max", "latency_mean": "mean"},
        ),
        PrintedColumn("latency_variance", "one way", "s", "interval", "one_way_from_sent.stdev", "in s²"),
    ),
)  # fmt: skip
FORMS = (UP_TO_1_1, OF_1_3, SINCE_2, JSON_FORM)

_NAMED = re.compile(r"(?:Array|Struct)(\d+)([km]?)(?:Bounded|Unbounded)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20}
_HEADER_BYTES = 16
"""The time and the number in each message, which the name of its type does not count."""


class PrintedSecond(msgspec.Struct, frozen=True, kw_only=True):
    """One row: rates over about a second, and latencies in ns (None: no message was received)."""

    at_s: float
    seconds: float
    sent: int
    received: int
    lost: int
    bytes: int
    messages: int | None = None
    """The exact count of received messages, if the log has it."""
    low: float | None
    high: float | None
    mean: float | None
    variance: float | None
    """In ns²."""


class Range(msgspec.Struct, frozen=True):
    """The least and the greatest count that a printed rate allows."""

    low: int
    high: int

    def __add__(self, other: "Range") -> "Range":
        """Return the range of the sum."""
        return Range(self.low + other.low, self.high + other.high)

    def __str__(self) -> str:
        """Return the range as text: ``3 to 9``, or one number."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"

    @property
    def narrow(self) -> bool:
        """Say whether the greatest count is at most 1 % above the least count, or one message a row."""
        return self.high - self.low <= max(0.01 * self.low, 1)


ZERO = Range(0, 0)


class CountsBack(msgspec.Struct, frozen=True):
    """The counts of a log. ``rows``: the range of received messages of each row."""

    rows: tuple[Range, ...]
    received: Range
    sent: Range
    sent_nearest: int
    """The count in the range ``sent`` that fits best to the messages that arrived."""
    lost: Range
    since_boot: bool
    """The divisor of the first row is the time since the machine's start."""


def size_of(message: str) -> int:
    """Return the bytes that the name of a type states (``Array1m``); 0: the name states none."""
    named = _NAMED.fullmatch(message.strip())
    return int(named[1]) * _UNITS[named[2].lower()] if named and len(named[1]) < 10 else 0


def counts_of(rows: Sequence[PrintedSecond], form: Form, size: int, publishers: int, subscribers: int) -> CountsBack:
    """Return the counts. ``size``: bytes by the name of the type, 0 if unknown."""
    divisors = _divisors(rows, form)
    since_boot = form in (OF_1_3, SINCE_2) and bool(rows) and rows[0].seconds > rows[0].at_s + 2
    sizeof = size + _HEADER_BYTES if size else 0
    # In version 1.3 the bytes of a row without messages are the bytes of the row before.
    full = [row for row in rows if row.received or form is not OF_1_3]
    if any(not _fits(row, sizeof, subscribers) for row in full):
        sizeof = 0
    received: list[Range] = []
    sent, lost, nearest, before = ZERO, ZERO, 0, -1
    for at, (row, (low, high)) in enumerate(zip(rows, divisors, strict=True)):
        arrived = _received(row, low, high, sizeof, subscribers, repeats=form is OF_1_3 and row.bytes == before)
        before = row.bytes
        received.append(arrived)
        missing = _range(row.lost, low, high, subscribers)
        if not (at == 0 and since_boot):  # divided by hours, any loss is cut to zero
            lost += missing
        of_row = _range(row.sent, low, high, publishers)
        sent += of_row
        expected = round((arrived.high + missing.low) / subscribers)
        nearest += min(max(expected, of_row.low), of_row.high)
    return CountsBack(tuple(received), sum(received, ZERO), sent, nearest, lost, since_boot)


def _divisors(rows: Sequence[PrintedSecond], form: Form) -> list[tuple[float, float]]:
    """Return the least and the greatest divisor of each row.

    Up to version 1.1 the divisor of the first row is not in the log.
    """
    lengths = [row.seconds or 1.0 for row in rows]
    if form in (OF_1_3, SINCE_2):
        return [(each, each) for each in lengths]
    return [(min(lengths), max(lengths)) if at == 0 else (lengths[at - 1],) * 2 for at in range(len(rows))]


def _range(rate: int, low_s: float, high_s: float, parts: int) -> Range:
    """Return the counts that ``parts`` rates with this sum can have been."""
    low = math.ceil(rate * low_s - 1e-6)
    return Range(low, max(low, math.ceil((rate + parts) * high_s - 1e-6) - 1))


def _fits(row: PrintedSecond, sizeof: int, subscribers: int) -> bool:
    """Say whether the row's bytes and rate allow messages of this size."""
    if not sizeof:
        return False
    return row.bytes <= (row.received + subscribers) * sizeof and row.bytes + subscribers >= row.received * sizeof


def _received(
    row: PrintedSecond, low_s: float, high_s: float, sizeof: int, subscribers: int, *, repeats: bool
) -> Range:
    if row.messages is not None:
        return Range(row.messages, row.messages)
    if not row.received and (row.mean is None or repeats or not row.bytes):
        return ZERO
    if not sizeof:
        return _range(row.received, low_s, high_s, subscribers)
    low = math.ceil(row.bytes * low_s / sizeof - 1e-3)
    high = math.floor((row.bytes + subscribers) * high_s / sizeof + 1e-3)
    nearest = round(row.bytes * (low_s + high_s) / 2 / sizeof)
    return Range(low, high) if low <= high else Range(nearest, nearest)


def rate_hz(rows: Sequence[PrintedSecond], received: Sequence[Range], count: Callable[[Range], float]) -> float | None:
    """Return the messages per second of all subscribers, over the rows with messages except the first of these.

    The first row is left out because the messages began within it, or because its length is unknown.
    """
    busy = [index for index, each in enumerate(received) if each.high]
    if not busy:
        return None
    begin = busy[0] + 1 if len(busy) > 1 else busy[0]
    part = range(begin, busy[-1] + 1)
    lengths = [rows[at].seconds for at in part]
    if min(lengths) <= 0:  # a row without a length lasts since the row before
        lengths = [rows[at].at_s - rows[at - 1].at_s for at in part if at]
    span = sum(lengths)
    return sum(count(received[at]) for at in part) / span if span > 0 else None
