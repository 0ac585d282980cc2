"""The floor beside each side of a comparison: the same experiment of the same run with no middleware in it."""

import statistics
from collections.abc import Mapping, Sequence

import msgspec

from middlemark.stats.comparisons import METRICS, Comparison, FloorBeside, Side
from middlemark.stats.floors import by_rate, floors
from middlemark.workers.description import Description

_HELD = ("p50", "p99", "throughput")
"""Metrics of which a floor is the least, or the most, that can be: a floor's processor time or memory is neither."""


class AgainstFloor(msgspec.Struct, frozen=True):
    """One side's floor by one metric. ``times``: how many times slower than it the side is."""

    floor: str
    median: float
    times: float


def beside_floors(sides: Sequence[Side], descriptions: Mapping[str, Description]) -> tuple[Side, ...]:
    """Return the cells of one run, each with its floor as ``stats/floors.py`` finds it; a floor itself has none."""
    found = floors([each.cell for each in sides], [_held(each) for each in sides], descriptions)
    return tuple(
        side
        if floor is None or floor.cell == index
        else msgspec.structs.replace(side, floor=FloorBeside(floor.label, sides[floor.cell].figures))
        for index, (side, floor) in enumerate(zip(sides, found, strict=True))
    )


def against_floors(comparison: Comparison) -> tuple[AgainstFloor | None, AgainstFloor | None]:
    """Return A and B as times of their floors, medians over trials; None where there is none to be held against."""
    a, b = comparison.pairing.a, comparison.pairing.b
    return (
        _against(a, comparison.metric, comparison.medians[0]),
        _against(b, comparison.metric, comparison.medians[1]),
    )


def _against(side: Side, metric: str, median: float) -> AgainstFloor | None:
    if side.floor is None or metric not in _HELD or not side.floor.figures[metric]:
        return None
    floor = statistics.median(side.floor.figures[metric].values())
    times = floor / median if METRICS[metric].higher_is_better else median / floor
    return AgainstFloor(side.floor.label, floor, times)


def _held(side: Side) -> float | None:
    """Return the ns that are held against a floor's: the time a message takes where ``by_rate``, else p50."""
    rated = by_rate(side.cell)
    known = side.figures["throughput" if rated else "p50"].values()
    if not known:
        return None
    median = statistics.median(known)
    return 1e9 / median if rated else median
