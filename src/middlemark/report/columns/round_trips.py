"""The columns of a ping-pong."""

from middlemark.report.columns.column import SAMPLES, SEE, Column, carried_by, lost, mean, of, quantile, times_floor
from middlemark.report.columns.costs import cpu, rss
from middlemark.report.numbers import count

COLUMNS = (
    Column(
        title="p50",
        means="half of the round trips took at most this long",
        tell=quantile("round_trip_ns", "p50"),
        keeps=9,
        always=True,
    ),
    mean("round_trip_ns"),
    Column(
        title="first p50",
        means="the same for the first of several replies; a round trip ends with the last",
        tell=quantile("first_reply_ns", "p50"),
        keeps=4,
    ),
    Column(
        title="p99",
        means="99 % of the round trips took at most this long",
        tell=quantile("round_trip_ns", "p99"),
        keeps=8,
    ),
    Column(title="p99.9", means="99.9 % of them did", tell=quantile("round_trip_ns", "p99_9"), keeps=0),
    Column(
        title="due p99",
        means="99 % of the round trips had ended this long after the instant their schedule had set for them",
        tell=quantile("round_trip_from_intended_ns", "p99"),
        keeps=5,
    ),
    Column(title="max", means="the longest round trip of all trials", tell=quantile("round_trip_ns", "max"), keeps=3),
    SAMPLES,
    Column(
        title="lost",
        means="replies that never came",
        tell=of(lambda result: count(lost(result))),
        keeps=7,
        always=True,
    ),
    cpu(-1),
    rss(-2),
    times_floor(
        "p50 divided by that of the floor named, the machine without a middleware; –: the run has no such floor", 6
    ),
    carried_by(2),
    SEE,
)
