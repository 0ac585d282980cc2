"""Convert the rates that performance_test prints in place of counts back to counts.

For each subscriber, the tool divides the count by a duration D in seconds and cuts off the fraction. So a printed rate
stands for a range of counts. ``data_received`` is also a rate, but in bytes, and gives the exact count of received
messages.
"""

import math
import re

import msgspec

from middlemark.imports.columns import Form, Over, PrintedColumn, summary_columns
from middlemark.imports.plausible import between, near
from middlemark.model.times import Summary

_SOURCE = (
    "performance_test/src/experiment_execution/analysis_result.cpp (columns) and "
    "performance_test/src/data_running/data_runner.hpp (division) at release-crystal-20190820 to "
    "release-dashing-20191031"
)
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
    "performance_test/src/experiment_metrics/subscriber_stats.hpp at 0e79f362",
    "the divisor of this row; in the first row the time since the machine's start",
    so_far=True,
)
SINCE_2 = _form(
    "2",
    "no columns pub_loop_res…",
    "performance_test/include/performance_test/experiment_metrics/subscriber_stats.hpp at b0d5ff91",
    "the divisor of this row; in the first row the time since the machine's start",
)
JSON_FORM = Form(
    tool="performance_test",
    versions="JSON, 1.0",
    known_by="analysis_results",
    source="performance_test/src/utilities/json_logger.hpp at 006d1678",
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
"""The time and the number in each message. The size in the name of a message type does not include these bytes."""


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
    """The counts, the rate and the latencies of a log."""

    received: Range
    sent: Range
    sent_nearest: int
    """The count in the range ``sent`` that agrees best with the number of messages that arrived."""
    lost: Range
    since_boot: bool
    """True if the tool divided the first row by the time since the machine's start."""
    hz: float | None
    """Messages per second of all subscribers; None: no message arrived."""
    latency: Summary | None


def size_of(message: str) -> int:
    """Return the bytes in the name of a message type (``Array1m``); 0: the name has no size."""
    named = _NAMED.fullmatch(message.strip())
    return int(named[1]) * _UNITS[named[2].lower()] if named and len(named[1]) < 10 else 0


class _Span:
    """The messages and the time of some rows: after the first of them, up to the last row with messages.

    The first row is left out because the messages began within it, or because its length is unknown.
    """

    def __init__(self, *, begun: bool) -> None:
        """Create the span. ``begun``: messages arrived in an earlier row."""
        self.begun = begun
        self._first = self._whole = self._open = _NOTHING
        self._unknown = False
        """True if a row has no length. Then the time since the row before is used for all rows."""

    def add(self, messages: int, seconds: float, since_s: float, *, busy: bool) -> None:
        """Add a row that lasted ``seconds`` (0: unknown). ``since_s``: the time since the row before."""
        row = (messages, seconds, since_s)
        if not self.begun:
            self.begun = busy
            self._first = row
            return
        self._open = _sum(self._open, row)
        self._unknown |= seconds <= 0
        if busy:
            self._whole, self._open = _sum(self._whole, self._open), _NOTHING

    @property
    def hz(self) -> float | None:
        """The messages per second; None: no message, or no time."""
        messages, seconds, since_s = self._whole if self._whole[0] else self._first
        span = since_s if self._unknown or seconds <= 0 else seconds
        return messages / span if messages and span > 0 else None


_Rows = tuple[int, float, float]
"""(number of messages, sum of the rows' lengths in s, time in s from the row before the first to the last row)."""
_NOTHING: _Rows = (0, 0.0, 0.0)


def _sum(some: _Rows, others: _Rows) -> _Rows:
    return some[0] + others[0], some[1] + others[1], some[2] + others[2]


class _RowSums:
    """The sums over the rows, if a message has ``sizeof`` bytes.

    With 0 the size is unknown, and the sums use the rates.
    """

    def __init__(self, sizeof: int, *, so_far: bool) -> None:
        """Create the sums. ``so_far``: the latencies of a row cover all rows up to this row."""
        self.sizeof = sizeof
        self.received = ZERO
        self.sent_nearest = 0
        self._so_far = so_far
        self._weight = self._mean = self._squares = 0.0
        self._variances = True
        self._low: float | None = None
        self._high: float | None = None

    def add(self, row: PrintedSecond, arrived: Range, sent: Range, expected: int) -> None:
        """Add a row. ``expected``: the number of messages that must have been sent."""
        self.received += arrived
        self.sent_nearest += min(max(expected, sent.low), sent.high)
        if row.mean is None or not arrived.high:
            return
        if self._so_far:
            self._weight = self._mean = self._squares = 0.0
            self._low = self._high = None
        weight = (arrived.low + arrived.high) / 2
        self._weight += weight
        self._mean += row.mean * weight
        self._squares += ((row.variance or 0.0) + row.mean**2) * weight
        self._variances &= row.variance is not None
        self._low = min((each for each in (self._low, row.low) if each is not None), default=None)
        self._high = max((each for each in (self._high, row.high) if each is not None), default=None)

    @property
    def latency(self) -> Summary | None:
        """The latency of all messages. Its minimum, maximum, mean and variance are computed from those of the rows."""
        if not self._weight:
            return None
        mean = self._mean / self._weight
        variance = self._squares / self._weight - mean**2 if self._variances else -1.0
        return Summary(min=self._low, max=self._high, mean=mean, stdev=math.sqrt(variance) if variance >= 0 else None)


class CountsTally:
    """Adds up the rows of a log one by one. ``size``: the bytes in the name of the message type; 0: unknown."""

    def __init__(self, form: Form, size: int, publishers: int, subscribers: int) -> None:
        """Create the tally. ``form`` decides by which duration the tool divided a row."""
        self._form = form
        self._publishers, self._subscribers = publishers, subscribers
        so_far = any(each.over == "so far" for each in form.columns if each.becomes.startswith("one_way"))
        self._readings = [_RowSums(size + _HEADER_BYTES if size else 0, so_far=so_far), _RowSums(0, so_far=so_far)]
        self._spans = [(_Span(begun=True), _Span(begun=False)) for _ in self._readings]
        """For each of ``_readings`` two spans of the rows after the first: the first span is used if messages arrived
        within the first row."""
        self._fits = size > 0
        self._sent = self._lost = ZERO
        self._first: PrintedSecond | None = None
        self._first_arrived: list[Range] = []
        self._before: PrintedSecond | None = None
        self._shortest, self._longest = math.inf, 0.0
        self._own_divisor = form in (OF_1_3, SINCE_2)
        self.repeated = False
        """True if the time in the rows goes backwards."""
        self.rows = self.wrong = self.miscounted = 0
        """The number of rows, of rows whose mean latency is not between minimum and maximum, and of rows whose number
        of latencies is not the printed rate × the length of the row."""
        self.sized = size > 0

    @property
    def size_differs(self) -> bool:
        """True if the received bytes do not fit the size in the name of the type."""
        return self.sized and not self._fits

    @property
    def since_boot(self) -> bool:
        """True if the tool divided the first row by the time since the machine's start."""
        first = self._first
        return self._own_divisor and first is not None and first.seconds > first.at_s + 2

    def add(self, row: PrintedSecond) -> None:
        """Add a row, in the order of the log."""
        self.rows += 1
        self.wrong += not between(row.low, row.mean, row.high)
        length = row.seconds or 1.0
        self._shortest, self._longest = min(self._shortest, length), max(self._longest, length)
        if row.received or self._form is not OF_1_3:  # in 1.3, a row without messages repeats earlier bytes
            self._fits = self._fits and _fits(row, self._readings[0].sizeof, self._subscribers)
        before, self._before = self._before, row
        if before is None:
            self._first = row
            if self._own_divisor:
                self._add_first(row, length, length)
            return
        self.repeated |= row.at_s <= before.at_s
        divisor = length if self._own_divisor else before.seconds or 1.0
        if row.messages is not None:
            by_rate = _range(row.received, min(divisor, length), max(divisor, length), self._subscribers)
            self.miscounted += not (
                by_rate.low <= row.messages <= by_rate.high
                or near(row.messages, by_rate.low, self._subscribers)
                or near(row.messages, by_rate.high, self._subscribers)
            )
        repeats = self._form is OF_1_3 and row.bytes == before.bytes
        for arrived, spans in zip(self._add(row, divisor, divisor, repeats=repeats), self._spans, strict=True):
            for span in spans:
                span.add(arrived.low, row.seconds, row.at_s - before.at_s, busy=arrived.high > 0)
        self._lost += _range(row.lost, divisor, divisor, self._subscribers)

    def _add(self, row: PrintedSecond, low_s: float, high_s: float, *, repeats: bool = False) -> list[Range]:
        """Add a row that was divided by ``low_s`` to ``high_s``.

        Return the received messages for each of ``_readings``.
        """
        missing = _range(row.lost, low_s, high_s, self._subscribers)
        sent = _range(row.sent, low_s, high_s, self._publishers)
        self._sent += sent
        found = []
        for reading in self._readings:
            arrived = _received(row, low_s, high_s, reading.sizeof, self._subscribers, repeats=repeats)
            reading.add(row, arrived, sent, round((arrived.high + missing.low) / self._subscribers))
            found.append(arrived)
        return found

    def _add_first(self, row: PrintedSecond, low_s: float, high_s: float) -> None:
        self._first_arrived = self._add(row, low_s, high_s)
        if not self.since_boot:  # a division by hours cuts any loss to zero
            self._lost += _range(row.lost, low_s, high_s, self._subscribers)

    def counts(self) -> CountsBack:
        """Return the counts of all rows. Needs at least one row. Call it once."""
        first = self._first
        assert first is not None
        chosen = 0 if self._fits else 1
        reading, (after_first, later) = self._readings[chosen], self._spans[chosen]
        if not self._own_divisor:  # the log lacks the divisor of the first row, which is about that of the others
            self._add_first(first, self._shortest, self._longest)
        arrived = self._first_arrived[chosen]
        hz = later.hz
        if arrived.high:
            alone = arrived.low / first.seconds if first.seconds > 0 else None
            hz = alone if after_first.hz is None else after_first.hz
        return CountsBack(
            received=reading.received,
            sent=self._sent,
            sent_nearest=reading.sent_nearest,
            lost=self._lost,
            since_boot=self.since_boot,
            hz=hz,
            latency=reading.latency,
        )


def _range(rate: int, low_s: float, high_s: float, parts: int) -> Range:
    """Return the least and the greatest count that ``parts`` cut-off rates with the sum ``rate`` can have."""
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
