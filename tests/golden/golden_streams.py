"""Hand-made results of streams and of request and reply: losses, searches, curves, costs, a series."""

from conftest import PINNED, made, times
from middlemark.model.cell import Cell
from middlemark.model.outcome import Arrived, NetworkCost, RunWarning, Second, ThreadCost, TrialCounts
from middlemark.model.times import Summary
from middlemark.stats.result import (
    CellResources,
    CellResult,
    CurveStep,
    Delivery,
    Sustainable,
    ThreadResources,
    WorkerResources,
)

FLOODED = RunWarning(
    "flooded", "it was sent as fast as possible: its one-way latency is mostly time in queues", "--rate curve"
)
LOSS = RunWarning("loss", "71,000 of 1,000,000 messages never arrived (7.1 %)", "--reliability reliable")


def _cell(adapter: str, transport: str, **levels: object) -> Cell:
    factors = {"size": 1024, "pattern": "stream", "pin": PINNED} | levels
    return Cell(adapter=adapter, transport=transport, **factors)  # type: ignore[arg-type]


def _resources(cpu: float, rss: float) -> CellResources:
    def worker(who: str, share: float) -> WorkerResources:
        return WorkerResources(
            who=who,
            cpu=cpu * share,
            user=cpu * share * 0.4,
            system=cpu * share * 0.6,
            rss_bytes=rss * share,
            peak_rss_bytes=rss * share * 1.5,
            voluntary_hz=1200.0,
            involuntary_hz=3.5,
            minor_faults=12.0,
            major_faults=0.0,
            threads=(ThreadResources("recvUC", cpu * share * 0.75), ThreadResources("tev", cpu * share * 0.25)),
        )

    return CellResources(
        cpu=cpu,
        user=cpu * 0.4,
        system=cpu * 0.6,
        ns_per_message=cpu * 1e9 / 400_000,
        rss_bytes=rss,
        peak_rss_bytes=rss * 1.5,
        bytes_per_subscriber=rss / 2,
        voluntary_hz=2400.0,
        involuntary_hz=7.0,
        voluntary_per_message=0.006,
        involuntary_per_message=0.0000175,
        minor_faults=24.0,
        major_faults=0.0,
        workers=(worker("publisher 0", 0.5), worker("subscriber 0", 0.5)),
        network=NetworkCost(
            loopback_bytes=1_200_000_000,
            loopback_packets=1_100_000,
            udp_in_datagrams=1_000_000,
            udp_rcvbuf_errors=71_000,
            udp_sndbuf_errors=0,
            udp_in_errors=71_000,
            ip_reasm_fails=0,
            ip_in_discards=0,
            tcp_retransmitted=0,
        ),
    )


def _series(rate: int) -> tuple[Second, ...]:
    def second(at_s: float, who: str, seconds: float, **moved: int) -> Second:
        names = ("recvUC", "tev") if who.startswith("sub") else ("publisher", "tev")
        return Second(
            at_s=at_s,
            seconds=seconds,
            who=who,
            rss_bytes=17_800_000,
            user_ns=int(seconds * 250_000_000),
            system_ns=int(seconds * 500_000_000),
            voluntary_switches=int(seconds * 1200),
            involuntary_switches=3,
            threads=(
                ThreadCost(name=names[0], threads=1, cpu_ns=int(seconds * 744_000_000)),
                ThreadCost(name=names[1], threads=2, cpu_ns=int(seconds * 6_000_000)),
            ),
            **moved,  # type: ignore[arg-type]
        )

    steps = ((1.0, 1.0), (2.0, 1.0), (2.5, 0.5))
    return (
        *(second(at, "publisher 0", long, sent=int(rate * long), blocked_ns=0) for at, long in steps),
        *(second(at, "subscriber 0", long, received=int(rate * long), damaged=0) for at, long in steps),
    )


def stream(cell: Cell, rate_hz: float, p50: float, **given: object) -> CellResult:
    expected = 1_000_000
    lost = int(given.pop("lost", 0))  # type: ignore[call-overload]
    figures: dict[str, object] = {
        "samples": expected - lost,
        "counts": TrialCounts(sent=expected, received=expected - lost, lost=lost),
        "round_trip_ns": None,
        "take_ns": None,
        "fill_ns": None,
        "check_ns": None,
        "write_ns": times(2_100.0),
        "one_way_ns": times(p50),
        "one_way_from_sent_ns": times(p50 * 0.98),
        "sent_hz": rate_hz * 1.02,
        "rate_hz": rate_hz,
        "rate_total_hz": rate_hz * cell.subscribers,
        "bytes_per_s": rate_hz * cell.size,
        "blocked_ns": 400_000_000.0,
        "blocked_share": 0.2,
        "timed_out": 0,
        "per_subscriber": tuple(
            Delivery(
                index=index,
                topic=0,
                expected=expected,
                received=expected - lost,
                lost=lost,
                ratio=(expected - lost) / expected,
                rate_hz=rate_hz,
                p50_ns=p50,
                p99_ns=p50 * 2,
            )
            for index in range(cell.subscribers)
        ),
        "resources": _resources(1.34, 35_600_000.0),
        "series": _series(int(rate_hz)),
        "series_trial": 2,
        "series_subscribers": (
            Arrived(
                index=0,
                topic=0,
                expected=expected // 3,
                received=(expected - lost) // 3,
                lost=lost // 3,
                duplicated=0,
                reordered=0,
                damaged=0,
                first_received_ns=1,
                last_received_ns=2,
            ),
        ),
    }
    return made(cell, None, **(figures | given))


def _step(part: float | None, top_hz: float, p50: float, **given: object) -> CurveStep:
    offered = None if part is None else part * top_hz
    figures: dict[str, object] = {
        "part": part,
        "offered_hz": offered,
        "sent_hz": offered or top_hz * 1.1,
        "received_hz": offered or top_hz * 1.02,
        "lost": 0.0,
        "p50_ns": p50,
        "p99_ns": p50 * 2,
        "held": True,
        "trials": 3,
    }
    return CurveStep(**(figures | given))  # type: ignore[arg-type]


def floods() -> tuple[CellResult, ...]:
    """A baseline, a middleware that loses messages, and one that does not."""
    return (
        stream(
            _cell("cyclonedds", "udp"),
            412_300.0,
            812_000.0,
            times_raw_transport=1.49,
            raw_transport="udp",
            warnings=(FLOODED,),
        ),
        stream(
            _cell("fastdds", "udp", reliability="best-effort"),
            298_700.0,
            1_912_000.0,
            lost=71_000,
            times_raw_transport=2.05,
            raw_transport="udp",
            warnings=(LOSS, FLOODED),
        ),
        stream(
            _cell("udp", "udp"), 612_400.0, 410_000.0, times_raw_transport=1.0, raw_transport="udp", warnings=(FLOODED,)
        ),
    )


def loads() -> tuple[CellResult, ...]:
    """Every kind of load and number of subscribers, a curve with its knee, a search, and a result without counts."""
    curve = (
        *(_step(part, 400_000.0, 31_000.0 * (1 + part)) for part in (0.1, 0.3, 0.5)),
        _step(0.8, 400_000.0, 60_000.0, knee=True),
        _step(1.0, 400_000.0, 512_000.0, lost=0.0000004),
        _step(None, 400_000.0, 2_512_000.0, lost=0.12, held=False),
    )
    return (
        stream(_cell("cyclonedds", "udp", subscribers=4, rate=10_000.0, arrivals="poisson"), 9_998.0, 38_000.0),
        stream(_cell("cyclonedds", "udp", subscribers=4, burst=100, recovery_s=0.09), 1_101.0, 55_000.0),
        stream(_cell("cyclonedds", "udp", rate="curve"), 408_000.0, 2_512_000.0, steps=curve),
        stream(
            _cell("cyclonedds", "udp", rate="sustainable", max_loss=0.001, max_p99_s=0.001),
            387_000.0,
            98_000.0,
            sustainable=Sustainable(rate_hz=387_200.0, least_hz=371_000.0, most_hz=391_000.0),
        ),
        stream(
            _cell("fastdds", "shm", publishers=4, subscribers=4, topics=2, processes=1),
            98_700.0,
            88_000.0,
            in_histogram=400_000,
            one_way_from_sent_ns=None,
            one_way_from_sent_absent="subscriber 0 outgrew its memory",
            blocked_ns=None,
            blocked_share=None,
            resources=None,
            series=(),
            series_trial=None,
        ),
    )


def calls() -> tuple[CellResult, ...]:
    """Request and reply: native, over two topics, and at a rate."""
    figures: dict[str, object] = {"rate_hz": 21_300.0, "rate_total_hz": 21_300.0, "bytes_per_s": 21_300.0 * 1024}
    cell = _cell("cyclonedds", "udp", pattern="request-reply")
    return (
        made(cell, 44_000.0, native_request_reply=False, resources=_resources(0.91, 31_000_000.0), **figures),
        made(
            _cell("fastdds", "udp", pattern="request-reply", publishers=2),
            61_000.0,
            native_request_reply=True,
            **figures,
        ),
        made(
            _cell("fastdds", "udp", pattern="request-reply", rate=1000.0),
            71_000.0,
            native_request_reply=True,
            round_trip_from_intended_ns=Summary(min=60_000.0, p50=72_000.0, p90=80_000.0, p99=155_000.0),
            offered_hz=1000.0,
            **(figures | {"rate_hz": 999.8}),
        ),
    )
