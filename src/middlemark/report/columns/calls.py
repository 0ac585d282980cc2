"""The columns of request and reply: those of a round trip, and whose form of it was measured."""

from middlemark.report.columns.column import SAMPLES, SEE, Column, carried_by, of, quantile, times_floor
from middlemark.report.columns.costs import cpu, per_message, rss
from middlemark.report.numbers import ABSENT, brief, count
from middlemark.stats.result import CellResult


def _form(result: CellResult) -> str:
    return {True: "native", False: "two topics", None: ABSENT}[result.native_request_reply]


COLUMNS = (
    Column(
        title="p50",
        means="half of the calls had their reply within this time",
        tell=quantile("round_trip_ns", "p50"),
        keeps=9,
        always=True,
    ),
    Column(
        title="p99", means="99 % of the calls had it within this time", tell=quantile("round_trip_ns", "p99"), keeps=8
    ),
    Column(title="p99.9", means="99.9 % of them did", tell=quantile("round_trip_ns", "p99_9"), keeps=0),
    Column(
        title="due p99",
        means="99 % had it this long after the instant the schedule had set for the call",
        tell=quantile("round_trip_from_intended_ns", "p99"),
        keeps=4,
    ),
    Column(title="max", means="the longest call of all trials", tell=quantile("round_trip_ns", "max"), keeps=1),
    Column(
        title="calls/s",
        means="replies a second, all clients together",
        tell=of(lambda result: brief(result.rate_hz)),
        keeps=5,
    ),
    SAMPLES,
    Column(
        title="lost",
        means="replies that never came",
        tell=of(lambda result: count(result.counts.lost)),
        keeps=7,
        always=True,
    ),
    cpu(3),
    per_message("ns/call", "processor time of all workers for each reply received", 0),
    rss(2),
    times_floor(
        "p50 divided by that of the floor named, the machine without a middleware; –: the run has no such floor", 6
    ),
    Column(
        title="form",
        means="native: the middleware's own request and reply; two topics: it has none, and topics stood in",
        tell=of(_form),
        keeps=6,
        left=True,
    ),
    carried_by(1),
    SEE,
)
