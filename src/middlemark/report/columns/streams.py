"""The columns of a stream. What was sent is no throughput: rates are of what arrived intact."""

from middlemark.report.columns.column import SEE, Column, carried_by, lost, mean, of, quantile, times_floor
from middlemark.report.columns.costs import cpu, per_message, rss
from middlemark.report.numbers import ABSENT, brief, count, megabytes, share
from middlemark.stats.result import CellResult


def _held(result: CellResult) -> str:
    return brief(result.sustainable.rate_hz) if result.sustainable else ABSENT


def _range(result: CellResult) -> str:
    held = result.sustainable
    if held is None or brief(held.least_hz) == brief(held.most_hz):
        return ABSENT
    return f"{brief(held.least_hz)}–{brief(held.most_hz)}"


def _lost(result: CellResult) -> str:
    counts = result.counts
    if not counts.lost:
        return count(lost(result))
    return f"{brief(counts.lost)} ({share(counts.lost / (counts.received + counts.lost))})"


COLUMNS = (
    Column(
        title="held/s",
        means="highest rate of each publisher that kept loss and p99 within what was asked, the median of the trials",
        tell=of(_held),
        keeps=9,
    ),
    Column(title="range", means="from the trial that found the lowest to the highest", tell=of(_range), keeps=5),
    Column(
        title="msgs/s",
        means="messages a second that arrived intact at one subscriber (the mean over subscribers)",
        tell=of(lambda result: brief(result.rate_hz)),
        keeps=9,
        always=True,
    ),
    Column(
        title="MB/s",
        means="the same in 10⁶ bytes of payload a second, the 16 bytes of the header included",
        tell=of(lambda result: megabytes(result.bytes_per_s)),
        keeps=3,
    ),
    Column(
        title="lost",
        means="messages that never arrived at a subscriber they were sent to, and their share of those",
        tell=of(_lost),
        keeps=8,
        always=True,
    ),
    Column(
        title="p50",
        means="half of the messages took at most this long, one way, from the instant they were due to be sent; as "
        "fast as possible that is time in queues",
        tell=quantile("one_way_ns", "p50"),
        keeps=2,
    ),
    mean("one_way_from_sent_ns"),
    Column(title="p99", means="99 % of them did", tell=quantile("one_way_ns", "p99"), keeps=6),
    Column(
        title="blocked",
        means="share of their time that publishers slept within publish(): back-pressure",
        tell=of(lambda result: ABSENT if result.blocked_share is None else share(result.blocked_share)),
        keeps=-1,
    ),
    cpu(5),
    per_message("ns/msg", "processor time of all workers, the pacing excepted, for each message received", 0),
    rss(4),
    times_floor(
        "times slower than the floor named: its rate over this one's; at a rate or in bursts, p50 over its p50",
        1,
    ),
    carried_by(-2),
    SEE,
)
