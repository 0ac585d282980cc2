"""The figures of a cell and the columns of the table of rows, each declared once with its unit and its legend."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from middlemark.document.numbers import ABSENT, brief, exact, measured, megabytes, processors, ratio, share, us, whole
from middlemark.document.security import proof_in_short
from middlemark.document.table import NEVER_HIDDEN, Column
from middlemark.model.cell import ONE_WAY
from middlemark.model.times import NAMES
from middlemark.stats.baselines import by_rate
from middlemark.stats.metrics import METRICS
from middlemark.stats.result import CellResult
from middlemark.verdicts.rows import Row, is_counted, latency_of, loss_of

Of = Callable[[CellResult], float | None]

TIMES = (
    *("round_trip", "first_reply", "round_trip_from_intended", "one_way", "one_way_from_sent"),
    *("write", "take", "loan", "fill", "check"),
)
COUNTS = ("sent", "received", "lost", "late", "duplicated", "reordered", "damaged", "publish_failed")


class Figure(msgspec.Struct, frozen=True):
    """One figure; ``of`` returns None if the figure was not measured."""

    unit: str
    """ns, Hz, B, B/s, messages, or 1 for a fraction or a count."""
    of: Of
    write: Callable[[float | None], str]

    def text(self, result: CellResult) -> str:
        """Return the figure as tables write it."""
        return self.write(self.of(result))


def _time(time: str, quantile: str) -> Figure:
    return Figure("ns", lambda result: getattr(getattr(result, f"{time}_ns"), quantile, None), us)


def _own(name: str, unit: str, write: Callable[[float | None], str]) -> Figure:
    return Figure(unit, lambda result: getattr(result, name), write)


def _count(name: str) -> Figure:
    def of(result: CellResult) -> float | None:
        return getattr(result.counts, name) if is_counted(result, name) else None

    return Figure("messages", of, whole)


def _cost(name: str, unit: str, write: Callable[[float | None], str]) -> Figure:
    return Figure(unit, lambda result: getattr(result.resources, name, None), write)


def _metric(name: str) -> Figure:
    unit = METRICS[name].unit
    return Figure(unit, lambda result: result.median(name), lambda value: measured(value, unit))


FIGURES: dict[str, Figure] = {
    **{f"{time}_{name}": _time(time, each) for time in TIMES for each, name in NAMES.items()},
    "offered_hz": _own("offered_hz", "Hz", brief),
    "sent_hz": _own("sent_hz", "Hz", brief),
    "rate_hz": _own("rate_hz", "Hz", brief),
    "rate_total_hz": _own("rate_total_hz", "Hz", brief),
    "bytes_per_s": _own("bytes_per_s", "B/s", megabytes),
    "blocked_share": _own("blocked_share", "1", share),
    "link_share": _own("link_share", "1", share),
    "times_raw_transport": _own("times_raw_transport", "1", ratio),
    "discovery_ns": _own("discovery_ns", "ns", us),
    "handshake_ns": _own("handshake_ns", "ns", us),
    "loss": Figure("1", loss_of, share),
    **{name: _count(name) for name in COUNTS},
    "cpu": _cost("cpu", "1", processors),
    "ns_per_message": _cost("ns_per_message", "ns", whole),
    "rss_bytes": _cost("rss_bytes", "B", megabytes),
    "peak_rss_bytes": _cost("peak_rss_bytes", "B", megabytes),
    "bytes_per_subscriber": _cost("bytes_per_subscriber", "B", megabytes),
    "voluntary_hz": _cost("voluntary_hz", "Hz", brief),
    "involuntary_hz": _cost("involuntary_hz", "Hz", brief),
    **{name: _metric(name) for name, each in METRICS.items() if not each.of_cell},
}
"""Name of a figure in CSV → figure. The CSV column of a time also has the unit at the end of its name."""


def judged_figure(result: CellResult) -> str:
    """Return the name of the figure by which the cell's trials are compared."""
    if by_rate(result.cell):
        return "rate_hz"
    return "one_way_p50" if result.cell.pattern in ONE_WAY else "round_trip_p50"


_KEPT = 7
"""Columns with at least this priority are never left out: a p50 without its p99 and its losses would mislead."""

HEADS = {
    "ping-pong": "round trip in µs",
    "stream": "stream, times in µs",
    "request-reply": "call in µs",
    "crowd": "crowd, p50 and p99 in µs",
}
"""Pattern → title of the first column: the kind of the times, and their unit."""

_BOLD = ("p50", "msgs/s", "held/s", "× baseline")


class RowColumn(msgspec.Struct, frozen=True):
    """One column. If the table is too wide, the columns with the lowest priority are left out first."""

    title: str
    priority: int
    means: str
    """The meaning of the column, for the legend."""
    text: Callable[[Row], str]
    always: bool = False
    """True if the column is shown even if no row has a figure in it."""
    left: bool = False

    @property
    def column(self) -> Column:
        """The column for a table."""
        priority = NEVER_HIDDEN if self.priority >= _KEPT else self.priority
        return Column(self.title, priority, self.left, self.means)

    def style(self, row: Row) -> str:
        """Return the style of a row's text: bold yellow for a warning, dim for a raw transport."""
        codes = {each.code for each in row.result.warnings}
        if self.title == "actual" and codes & {"transport-contradicted", "actual-transport-varies"}:
            return "bold yellow"
        if self.title == "lost" and row.result.counts.lost:
            return "bold yellow"
        if self.title == "warnings":
            return "yellow"
        if row.is_raw_transport:
            return "dim"
        return "bold" if self.title in _BOLD else ""


def _figure(name: str, title: str, priority: int, means: str, *, always: bool = False) -> RowColumn:
    figure = FIGURES[name]
    return RowColumn(title, priority, means, lambda row: figure.text(row.result), always)


def _trip(name: str, priority: int, means: str) -> RowColumn:
    """Return the column of a round trip's latency: from the intended instant if there is a schedule."""

    def text(row: Row) -> str:
        return us(getattr(latency_of(row.result), name, None))

    return RowColumn(name.replace("_", "."), priority, means, text, always=name == "p50")


def _sent(name: str, priority: int) -> RowColumn:
    """Return the column of the round trip from the actual send. Only rows with a schedule have this figure."""

    def text(row: Row) -> str:
        return us(getattr(row.result.round_trip_ns, name, None)) if row.result.round_trip_from_intended_ns else ABSENT

    means = "round trip from the instant at which the message was actually sent"
    return RowColumn(f"sent {name}", priority, means, text)


def _mean(time: str) -> RowColumn:
    """Return the column of the mean. Only imported rows without a median have this figure."""
    mean, median = FIGURES[f"{time}_mean"], FIGURES[f"{time}_p50"]

    def text(row: Row) -> str:
        bare = row.result.imported is not None and median.of(row.result) is None
        return mean.text(row.result) if bare else ABSENT

    return RowColumn("mean", 9, "the mean, from a tool that reports no median", text)


def _range(row: Row) -> str:
    held = row.result.sustainable
    if held is None or brief(held.least_hz) == brief(held.most_hz):
        return ABSENT
    return f"{brief(held.least_hz)}–{brief(held.most_hz)}"


def _lost(row: Row) -> str:
    lost = row.result.counts.lost
    if row.result.imported is not None and row.result.imported.loss is not None:
        return FIGURES["loss"].text(row.result)
    return f"{brief(lost)} ({FIGURES['loss'].text(row.result)})" if lost else FIGURES["lost"].text(row.result)


def _costs(cpu: int, rss: int) -> tuple[RowColumn, ...]:
    """Return the columns of processors and memory: the workers' with these priorities, and the companions'."""
    others = "the companions (RouDi, a broker), not included in"
    rss_means = "resident memory of all workers at the end, in 10⁶ bytes; shared pages count in each worker"
    return (
        _figure("cpu", "cpu", cpu, "processors used, all workers together: 1.0 is one processor all the time"),
        _figure("rss_bytes", "rss MB", rss, rss_means),
        _figure("cpu.companion", "comp/msg", 0, f"processor time of {others} ns/msg, for each message received"),
        _figure("processors.companion", "comp cpu", 0, f"processors used by {others} cpu"),
        _figure("memory.companion", "comp MB", 0, f"resident memory of {others} rss"),
    )


def _ratio(priority: int) -> RowColumn:
    means = (
        "the figure divided by the baseline's figure. The baseline is the fastest raw transport of the "
        "experiment that works like the row: both copy, or both pass a pointer; –: not measured"
    )
    return RowColumn("× baseline", priority, means, lambda row: ratio(row.ratio))


def of_metric(name: str) -> RowColumn:
    """Return a column with a metric's median over the trials."""
    unit, means = METRICS[name].unit, METRICS[name].means
    return RowColumn(name, 9, means, lambda row: measured(exact(row.result.median(name)), unit), always=True)


def _carrier(priority: int) -> RowColumn:
    means = "the actual transport: what moved the data, by the kernel's counters and the mapped segments"

    def text(row: Row) -> str:
        varies = any(each.code == "actual-transport-varies" for each in row.result.warnings)
        return "varies" if varies else row.result.actual_transport or ABSENT

    return RowColumn("actual", priority, means, text, left=True)


_PROOF = "the checks, made once per row, that the protection is in force; JSON says why a check was not made"
_BY = "the algorithms in force, in the middleware's words"
_PROTECTION = (
    RowColumn("proof", -2, _PROOF, lambda row: proof_in_short(row.result), left=True),
    RowColumn("protected by", -3, _BY, lambda row: row.result.protected_by or ABSENT, left=True),
)


def numbered(numbers: Mapping[str, int]) -> RowColumn:
    """Return the column with the numbers of a row's warnings. Each number is explained below the table."""

    def text(row: Row) -> str:
        return ",".join(str(each) for each in sorted({numbers[warning.code] for warning in row.result.warnings}))

    return RowColumn("warnings", 9, "the numbers of the row's warnings below the table", text, left=True)


_P99_9 = _trip("p99_9", 0, "99.9 % took at most this long")
_SAMPLES = RowColumn(
    "samples",
    1,
    "round trips measured, all trials together",
    lambda row: whole(row.result.samples or (None if row.result.imported else 0)),
)
_REPLIES_LOST = _figure("lost", "lost", 7, "replies that were lost", always=True)
_FIRST = (
    "in half of the round trips the first of several replies arrived within this time; a round trip ends with "
    "the last reply"
)
_HELD = "highest rate of each publisher with loss and p99 within the limits, the median over the trials"
_RATE = "messages per second that arrived intact at one subscriber (the mean over subscribers)"
_BYTES = "payload received at one subscriber in 10⁶ bytes per second, with the 16 bytes of the header"
_OF_LINK = (
    "messages received as a share of the messages that the link can transmit if each has its own frames; above 100 %: "
    "several messages shared a frame"
)
_LOST = "messages that never arrived at a subscriber they were sent to, and their share of the messages sent"
_ONE_WAY = (
    "half of the messages took at most this long, one way, from the instant they were due to be sent; if sent as "
    "fast as possible, this is mostly time in queues"
)
_BLOCKED = "share of their time that publishers slept within publish(): back-pressure"
_PER_MESSAGE = "processor time of all workers for each message received, without the time spent pacing"
_CLOCKS = "the largest error of these times, because the clocks of two hosts differ"
_FORMS = {True: "native", False: "two topics", None: ABSENT}
_FORM = "native: the middleware's own request and reply; two topics: the middleware has none"

COLUMNS: Mapping[str, Sequence[RowColumn]] = {
    "ping-pong": (
        _trip("p50", 9, "half of the round trips took at most this long, from the scheduled instant if there is one"),
        _sent("p50", 5),
        _mean("round_trip"),
        _figure("first_reply_p50", "first p50", 4, _FIRST),
        _trip("p99", 8, "99 % of the round trips took at most this long"),
        _P99_9,
        _sent("p99", 5),
        _trip("max", 3, "the longest round trip of all trials"),
        _SAMPLES,
        _REPLIES_LOST,
        *_costs(cpu=-1, rss=-2),
        _carrier(2),
    ),
    "stream": (
        RowColumn("held/s", 9, _HELD, lambda row: brief(getattr(row.result.sustainable, "rate_hz", None))),
        RowColumn("range", 5, "the lowest and the highest of these rates over the trials", _range),
        _figure("rate_hz", "msgs/s", 9, _RATE, always=True),
        _figure("bytes_per_s", "MB/s", 3, _BYTES),
        _figure("link_share", "of link", 7, _OF_LINK),
        RowColumn("lost", 8, _LOST, _lost, always=True),
        _figure("one_way_p50", "p50", 2, _ONE_WAY),
        _mean("one_way_from_sent"),
        _figure("one_way_p99", "p99", 6, "99 % of the messages took at most this long"),
        RowColumn("clocks ±", 8, _CLOCKS, lambda row: measured(row.result.clock_uncertainty_ns or None, "ns")),
        _figure("blocked_share", "blocked", -1, _BLOCKED),
        _figure("ns_per_message", "ns/msg", 0, _PER_MESSAGE),
        *_costs(cpu=5, rss=4),
        _carrier(-2),
    ),
    "request-reply": (
        _trip(
            "p50", 9, "half of the calls had their reply within this time, from the scheduled instant if there is one"
        ),
        _sent("p50", 4),
        _trip("p99", 8, "99 % of the calls had their reply within this time"),
        _P99_9,
        _sent("p99", 4),
        _trip("max", 1, "the longest call of all trials"),
        _figure("rate_hz", "calls/s", 5, "replies per second, all clients together"),
        _SAMPLES,
        _REPLIES_LOST,
        _figure("ns_per_message", "ns/call", 0, "processor time of all workers for each reply received"),
        *_costs(cpu=3, rss=2),
        RowColumn("form", 6, _FORM, lambda row: _FORMS[row.result.native_request_reply], left=True),
        _carrier(1),
    ),
    "crowd": (
        _figure("complete", "complete", 9, "time until half of the participants had heard all their publishers"),
        _figure("complete_max", "all", 8, "time until the last participant had heard all its publishers"),
        _figure("never_matched", "never", 8, "share of the publishers that were never heard"),
        _figure("idle_cpu", "idle cpu", 8, "processors that a participant uses while nothing is sent"),
        _figure("idle_packets", "pkt", 5, "packets per second and participant while nothing is sent"),
        _figure("idle_bytes", "bytes", 4, "bytes per second and participant while nothing is sent"),
        _figure("idle_switches", "switches", 3, "context switches per second and participant while nothing is sent"),
        _figure(
            "idle_memory", "memory", 7, "resident memory of a participant; in a shared process, an equal part of it"
        ),
        _figure("idle_threads", "threads", 0, "threads of a participant, including the bench's own"),
        _figure("join", "join", 5, "time until one more participant had heard all its publishers"),
        _figure("leave", "leave", 5, "time until all others noticed that a tenth of the participants was killed"),
        _figure("left_behind", "left", 2, "segments, sockets and files that the killed participants left behind"),
        _figure("storm", "storm", 5, "time until all participants had found each other after a pause of the network"),
        _figure("one_way_p50", "p50", 6, _ONE_WAY),
        _figure("one_way_p99", "p99", 6, "99 % of the messages took at most this long"),
        RowColumn("lost", 7, _LOST, _lost, always=True),
        _carrier(-2),
    ),
}
"""Pattern → its columns. ``columns_of`` adds the ratio to the baseline before the last column, and protection and
warnings at the end."""
_RATIO_PRIORITY = {"ping-pong": 6, "stream": 1, "request-reply": 6, "crowd": 1}


def columns_of(rows: Sequence[Row], numbers: Mapping[str, int], metrics: Sequence[str] = ()) -> list[RowColumn]:
    """Return the columns for these rows, without columns that no row has a figure for. All rows have one pattern.

    ``metrics``: show these instead of the usual columns; ``numbers``: code of a warning → its number.
    """
    measured = [each for each in rows if each.result.failed is None]
    *columns, last = COLUMNS[pattern := rows[0].result.cell.pattern]
    usual = (*columns, _ratio(_RATIO_PRIORITY[pattern]), last, *_PROTECTION)
    return [
        column
        for column in (*(map(of_metric, metrics) if metrics else usual), numbered(numbers))
        if column.always or any(column.text(each) not in ("", ABSENT) for each in measured)
    ]
