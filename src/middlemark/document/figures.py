"""Every figure of a cell, declared once: its name, its unit, where it is found, and how tables write it."""

from collections.abc import Callable

import msgspec

from middlemark.document.numbers import brief, measured, megabytes, processors, ratio, share, us, whole
from middlemark.model.times import NAMES
from middlemark.stats.floors import by_rate
from middlemark.stats.metrics import METRICS
from middlemark.stats.result import CellResult
from middlemark.verdicts.rows import is_counted, loss_of

Of = Callable[[CellResult], float | None]

TIMES = (
    *("round_trip", "first_reply", "round_trip_from_intended", "one_way", "one_way_from_sent"),
    *("write", "take", "loan", "fill", "check"),
)
COUNTS = ("sent", "received", "lost", "late", "duplicated", "reordered", "damaged", "publish_failed")


class Figure(msgspec.Struct, frozen=True):
    """One figure; ``of`` gives None where it was not measured."""

    unit: str
    """ns, Hz, B, B/s, messages, or 1 for what is a part or a number."""
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
    "times_floor": _own("times_floor", "1", ratio),
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
"""By name: as in CSV, where a time's unit follows its name."""


def stands_for(result: CellResult) -> str:
    """Return the name of the figure that stands for the cell: what its trials are judged by."""
    if by_rate(result.cell):
        return "rate_hz"
    return "one_way_p50" if result.cell.pattern == "stream" else "round_trip_p50"
