"""The columns of the terminal's table, those of each pattern, and which of them fit."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from middlemark.document.document import Row
from middlemark.document.figures import FIGURES
from middlemark.document.numbers import ABSENT, brief, measured, ratio, whole
from middlemark.document.protection import proof_in_short
from middlemark.document.rows import times_base
from middlemark.stats.metrics import METRICS
from middlemark.stats.result import Best

NEVER_HIDDEN = 7
"""Columns that keep their place at least this much: a figure without its tail and its losses would mislead."""

HEADS = {"ping-pong": "round trip in µs", "stream": "stream, times in µs", "request-reply": "call in µs"}
"""What stands above the rows' names: what the times are, and their unit."""

Bases = Mapping[int, Best | None]
"""By a row's index: what its ratio is of."""

_BOLD = ("p50", "msgs/s", "held/s", "× alone")
"""What a row is read for."""


class Column(msgspec.Struct, frozen=True):
    """On a short line the column that ``keeps`` least goes first. ``means`` is its line of the legend."""

    title: str
    keeps: int
    means: str
    tell: Callable[[Row], str]
    always: bool = False
    """Shown even where no row has anything in it."""
    left: bool = False
    width: int = 0

    def style(self, row: Row) -> str:
        """Return the rich style of the cell of a row: what has a warning stands out, what is a floor steps back."""
        codes = {each.code for each in row.result.warnings}
        if self.title == "carried by" and codes & {"transport-contradicted", "carried-by-varies"}:
            return "bold yellow"
        if self.title == "lost" and row.result.counts.lost:
            return "bold yellow"
        if self.title == "warnings":
            return "yellow"
        if row.floor:
            return "dim"
        return "bold" if self.title in _BOLD else ""


def _figure(name: str, title: str, keeps: int, means: str, *, always: bool = False) -> Column:
    figure = FIGURES[name]
    return Column(title, keeps, means, lambda row: figure.text(row.result), always)


def _mean(time: str) -> Column:
    """Return the column of the mean, told only where another tool measured and kept no median."""
    mean, median = FIGURES[f"{time}_mean"], FIGURES[f"{time}_p50"]

    def tell(row: Row) -> str:
        bare = row.result.imported is not None and median.of(row.result) is None
        return mean.text(row.result) if bare else ABSENT

    return Column("mean", 9, "the mean, of a tool that keeps no median", tell)


def _held(row: Row) -> str:
    held = row.result.sustainable
    return brief(held.rate_hz) if held else ABSENT


def _range(row: Row) -> str:
    held = row.result.sustainable
    if held is None or brief(held.least_hz) == brief(held.most_hz):
        return ABSENT
    return f"{brief(held.least_hz)}–{brief(held.most_hz)}"


def _clocks(row: Row) -> str:
    uncertainty = row.result.clock_uncertainty_ns
    return measured(uncertainty, "ns") if uncertainty else ABSENT


def _lost(row: Row) -> str:
    lost = row.result.counts.lost
    return f"{brief(lost)} ({FIGURES['loss'].text(row.result)})" if lost else FIGURES["lost"].text(row.result)


def _carried_by(row: Row) -> str:
    varies = any(each.code == "carried-by-varies" for each in row.result.warnings)
    return "varies" if varies else row.result.carried_by or ABSENT


def _form(row: Row) -> str:
    return {True: "native", False: "two topics", None: ABSENT}[row.result.native_request_reply]


def _samples(row: Row) -> str:
    return whole(row.result.samples or (None if row.result.imported else 0))


def _cpu(keeps: int) -> Column:
    means = "processors used, all workers together: 1.0 is one processor all the time"
    return _figure("cpu", "cpu", keeps, means)


def _rss(keeps: int) -> Column:
    means = "resident memory of all workers at the end, in 10⁶ bytes; pages they share count in each"
    return _figure("rss_bytes", "rss MB", keeps, means)


def _companions(keeps: int) -> tuple[Column, Column]:
    """Return the columns of what no worker used."""
    what = "the companions (RouDi, a broker), which are not in"
    return (
        _figure("processors.companion", "comp cpu", keeps, f"processors used by {what} cpu"),
        _figure("memory.companion", "comp MB", keeps, f"resident memory of {what} rss"),
    )


def alone(bases: Bases, keeps: int) -> Column:
    """Return the column of ratios: every row of a group beside the one base that its heading names."""

    def tell(row: Row) -> str:
        return "alone" if row.floor else ratio(times_base(row.result, bases.get(row.index)))

    return Column("× alone", keeps, _ALONE, tell)


def of_metric(name: str) -> Column:
    """Return the column of a metric, its median over the trials."""
    metric = METRICS[name]
    return Column(name, 9, metric.means, lambda row: measured(row.result.median(name), metric.unit), always=True)


def _carrier(keeps: int) -> Column:
    means = "what moved the data, as the kernel's counters and the mapped segments show it"
    return Column("carried by", keeps, means, _carried_by, left=True)


_PROTECTION = (
    Column(
        "proof",
        -2,
        "what was tried, once a row, to see that the protection is in force; JSON has why what is not known is not",
        lambda row: proof_in_short(row.result),
        left=True,
    ),
    Column(
        "protected by",
        -3,
        "the algorithms in force, in the middleware's words",
        lambda row: row.result.protected_by or ABSENT,
        left=True,
    ),
)


def numbered(numbers: Mapping[str, int]) -> Column:
    """Return the column of the numbers that a row's warnings have below the table."""

    def tell(row: Row) -> str:
        return ",".join(str(each) for each in sorted({numbers[warning.code] for warning in row.result.warnings}))

    return Column("warnings", 9, "their numbers below", tell, left=True)


_P99_9 = _figure("round_trip_p99.9", "p99.9", 0, "99.9 % of them did")
_SAMPLES = Column("samples", 1, "round trips measured, all trials together", _samples)
_LOST = _figure("lost", "lost", 7, "replies that never came", always=True)
_ALONE = "times slower than the machine alone that the heading names; –: the run did not measure that"

COLUMNS: Mapping[str, Sequence[Column]] = {
    "ping-pong": (
        _figure("round_trip_p50", "p50", 9, "half of the round trips took at most this long", always=True),
        _mean("round_trip"),
        _figure(
            "first_reply_p50",
            "first p50",
            4,
            "the same for the first of several replies; a round trip ends with the last",
        ),
        _figure("round_trip_p99", "p99", 8, "99 % of the round trips took at most this long"),
        _P99_9,
        _figure(
            "round_trip_from_intended_p99",
            "due p99",
            5,
            "99 % of the round trips had ended this long after the instant their schedule had set for them",
        ),
        _figure("round_trip_max", "max", 3, "the longest round trip of all trials"),
        _SAMPLES,
        _LOST,
        _cpu(-1),
        _rss(-2),
        *_companions(0),
        _carrier(2),
    ),
    "stream": (
        Column(
            "held/s",
            9,
            "highest rate of each publisher that kept loss and p99 within what was asked, the median of the trials",
            _held,
        ),
        Column("range", 5, "from the trial that found the lowest to the highest", _range),
        _figure(
            "rate_hz",
            "msgs/s",
            9,
            "messages a second that arrived intact at one subscriber (the mean over subscribers)",
            always=True,
        ),
        _figure(
            "bytes_per_s",
            "MB/s",
            3,
            "the same in 10⁶ bytes of payload a second, the 16 bytes of the header included",
        ),
        _figure(
            "link_share",
            "of link",
            7,
            "the same as a share of the messages that the line can carry, each in frames of its own; above 100 % they "
            "shared frames",
        ),
        Column(
            "lost",
            8,
            "messages that never arrived at a subscriber they were sent to, and their share of those",
            _lost,
            always=True,
        ),
        _figure(
            "one_way_p50",
            "p50",
            2,
            "half of the messages took at most this long, one way, from the instant they were due to be sent; as "
            "fast as possible that is time in queues",
        ),
        _mean("one_way_from_sent"),
        _figure("one_way_p99", "p99", 6, "99 % of them did"),
        Column("clocks ±", 8, "so far off, at most, these are for the clocks of two hosts", _clocks),
        _figure(
            "blocked_share",
            "blocked",
            -1,
            "share of their time that publishers slept within publish(): back-pressure",
        ),
        _cpu(5),
        _figure(
            "ns_per_message",
            "ns/msg",
            0,
            "processor time of all workers, the pacing excepted, for each message received",
        ),
        _rss(4),
        *_companions(0),
        _carrier(-2),
    ),
    "request-reply": (
        _figure("round_trip_p50", "p50", 9, "half of the calls had their reply within this time", always=True),
        _figure("round_trip_p99", "p99", 8, "99 % of the calls had it within this time"),
        _P99_9,
        _figure(
            "round_trip_from_intended_p99",
            "due p99",
            4,
            "99 % had it this long after the instant the schedule had set for the call",
        ),
        _figure("round_trip_max", "max", 1, "the longest call of all trials"),
        _figure("rate_hz", "calls/s", 5, "replies a second, all clients together"),
        _SAMPLES,
        _LOST,
        _cpu(3),
        _figure("ns_per_message", "ns/call", 0, "processor time of all workers for each reply received"),
        _rss(2),
        *_companions(0),
        Column(
            "form",
            6,
            "native: the middleware's own request and reply; two topics: it has none, and topics stood in",
            _form,
            left=True,
        ),
        _carrier(1),
    ),
}
"""By pattern; the ratio stands before the last, what protects the messages and the numbers of the warnings after it."""
_RATIO_KEEPS = {"ping-pong": 6, "stream": 1, "request-reply": 6}


def fitting(
    rows: Sequence[Row], numbers: Mapping[str, int], bases: Bases, width: int, metrics: Sequence[str] = ()
) -> tuple[list[Column], list[Column]]:
    """Return the columns that fit in ``width``, each as wide as its widest text, and those that had to give way.

    The rows are of one pattern. ``metrics``: these instead of what is usual. A column that no row has anything in is
    neither.
    """
    told = [each for each in rows if each.result.failed is None]
    shown: list[Column] = []
    *columns, last = COLUMNS[pattern := rows[0].result.cell.pattern]
    usual = (*columns, alone(bases, _RATIO_KEEPS[pattern]), last, *_PROTECTION)
    for column in (*(map(of_metric, metrics) if metrics else usual), numbered(numbers)):
        texts = [column.tell(each) for each in told]
        if column.always or any(text not in ("", ABSENT) for text in texts):
            widest = max([len(column.title), *map(len, texts)])
            shown.append(msgspec.structs.replace(column, width=widest))
    hidden: list[Column] = []
    while sum(each.width + 2 for each in shown) > width and any(each.keeps < NEVER_HIDDEN for each in shown):
        gone = min(shown, key=lambda each: each.keeps)
        shown.remove(gone)
        hidden.append(gone)
    return shown, hidden
