"""Which rows of the table stand together, and what is said above them."""

from collections.abc import Sequence

from middlemark.plan.cell import Cell
from middlemark.report.factors import EXPERIMENT, copies_alone, size, words
from middlemark.report.numbers import brief, us
from middlemark.report.run_facts import RunFacts
from middlemark.stats.floors import by_rate
from middlemark.stats.result import CellResult

BEST_HERE = "best here:"
_ALONE = ("payload", "pin", "priority")
"""Factors that what copies alone has in common with the others."""


def groups(facts: RunFacts, results: Sequence[CellResult], varied: frozenset[str]) -> list[tuple[str, list[int]]]:
    """Return titles with indices of results: sizes ascend; what else makes a group keeps the order of the plan.

    Within a group the floors come first, then what is the less the better. What copies alone receives in no way that
    could be mixed up with another: it stands with the first round trips of its size, payload, processor and priority.
    """
    told = varied & frozenset(EXPERIMENT)
    found: dict[tuple[int, str], list[int]] = {}
    homes: dict[tuple[object, ...], tuple[int, str]] = {}
    for index, result in enumerate(results):
        cell = result.cell
        if not copies_alone(cell):
            key = (cell.size, words(cell, told))
            found.setdefault(key, []).append(index)
            if cell.pattern == "ping-pong":
                homes.setdefault(_home(cell), key)
    for index, result in enumerate(results):
        cell = result.cell
        if copies_alone(cell):
            apart = (cell.size, ", ".join(filter(None, ("one process alone", words(cell, told & frozenset(_ALONE))))))
            found.setdefault(homes.get(_home(cell), apart), []).append(index)

    def place(index: int) -> tuple[bool, bool, bool, float]:
        result = results[index]
        figure = _orders_by(result)
        return (result.failed is not None, not facts.is_floor(result.cell.adapter), figure is None, figure or 0.0)

    return [
        (_title(facts, told_words, [results[each] for each in members]), sorted(members, key=place))
        for (_, told_words), members in sorted(found.items(), key=lambda item: item[0][0])
    ]


def _home(cell: Cell) -> tuple[object, ...]:
    return (cell.size, cell.payload, None if cell.pin is None else cell.pin[:1], cell.priority)


def _title(facts: RunFacts, told: str, members: Sequence[CellResult]) -> str:
    """Return size, experiment and the best that this machine could do: for those that lend it may be another."""
    best = dict.fromkeys(
        f"{each.best.floor} {_figure(each)}"
        for each in members
        if each.best is not None and not facts.is_floor(each.cell.adapter)
    )
    title = ", ".join(filter(None, (size(members[0].cell), told)))
    return f"{title}; {BEST_HERE} {', '.join(best)}" if best else title


def _figure(result: CellResult) -> str:
    if result.best is None:
        return ""
    return f"{us(result.best.p50_ns)} µs" if result.best.rate_hz is None else f"{brief(result.best.rate_hz)}/s"


def _orders_by(result: CellResult) -> float | None:
    """Return what is the less the better: what is held against the floor."""
    if by_rate(result.cell):
        return -result.rate_hz if result.rate_hz is not None else None
    latency = result.one_way_ns if result.cell.pattern == "stream" else result.round_trip_ns
    return latency.p50 if latency else None
