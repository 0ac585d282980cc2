"""Which rows stand against each other: the same experiment at one size, over the same carrier, asked for alike."""

import statistics
from collections.abc import Sequence

import msgspec

from middlemark.document.document import Row
from middlemark.document.rows import per_message_ns
from middlemark.document.words import is_contradicted
from middlemark.model.cell import EXPERIMENT, FACTORS
from middlemark.stats.floors import by_rate
from middlemark.stats.interval import FEWEST

MOST = 8
"""More sentences are no answer; the figures below have the rest."""

_EXPERIMENT = (*(each for each in EXPERIMENT if each != "size"), "label", "unknown")
_ALIKE = tuple(each.field for each in FACTORS.values() if each.of == "middleware")


class Contest(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment at one size.

    ``contenders`` by their median, the best first: one an adapter where there are several adapters, else every cell.
    """

    context: tuple[object, ...]
    size: int
    carrier: str | None
    """What all of them are carried by; None where that is what they differ in."""
    contenders: tuple[Row, ...]
    short: tuple[Row, ...]
    """Those with too few trials for a verdict, where others have enough."""
    failed: tuple[Row, ...]
    contradicted: tuple[Row, ...]
    """Carried by something else than their transport says: they stand in no order."""

    @property
    def tellable(self) -> bool:
        """Whether there can be a verdict."""
        return len(self.contenders) > 1 and all(_enough(each) for each in self.contenders)


def contests(rows: Sequence[Row]) -> tuple[Contest, ...]:
    """Return at most ``MOST`` contests, in the order they are told: what can be told first, sizes ascending."""
    middleware = [each for each in rows if not each.floor and not each.bench_only]
    subjects = middleware or [each for each in rows if not each.floor] or list(rows)
    together = len({each.result.cell.adapter for each in subjects}) == 1
    groups: dict[tuple[object, ...], dict[int, list[Row]]] = {}
    for row in (each for each in subjects if "size" not in each.result.cell.unknown):
        groups.setdefault(_context(row, together=together), {}).setdefault(row.result.cell.size, []).append(row)
    found = [
        [_contest(context, size, members, together=together) for size, members in sorted(by_size.items())]
        for context, by_size in groups.items()
    ]
    ranked = sorted(
        filter(None, ([each for each in contest if each.contenders] for contest in found)),
        key=lambda contest: (
            not any(each.tellable for each in contest),
            max(len(each.contenders) for each in contest) < 2,
            -max(len(each.contenders) for each in contest),
        ),
    )
    chosen: list[Contest] = []
    for contest in ranked:
        chosen += _spread(contest, MOST - len(chosen))
    return tuple(chosen)


def _context(row: Row, *, together: bool) -> tuple[object, ...]:
    """Return what contenders share but for the size. One adapter's own variants all stand together."""
    cell = row.result.cell
    own = () if together else (row.carrier or cell.transport, *(getattr(cell, each) for each in _ALIKE))
    return (row.run, *own, *(getattr(cell, each) for each in _EXPERIMENT))


def _contest(context: tuple[object, ...], size: int, members: Sequence[Row], *, together: bool) -> Contest:
    measured = [each for each in members if per_message_ns(each.result) is not None]
    true = [each for each in measured if not is_contradicted(each.result)]
    ordered = sorted(true, key=lambda row: (_median_ns(row), row.index))
    enough = [each for each in ordered if _enough(each)]
    ranked = _best_of_each(enough if _several(enough, together=together) else ordered, together=together)
    ranks = {each.index for each in ranked}
    taken = {each.result.cell.adapter for each in ranked}
    short = [
        each
        for each in _best_of_each(ordered, together=together)
        if each.index not in ranks and (together or each.result.cell.adapter not in taken)
    ]
    carriers = {each.carrier for each in members}
    return Contest(
        context=context,
        size=size,
        carrier=carriers.pop() if len(carriers) == 1 else None,
        contenders=tuple(ranked),
        short=tuple(short),
        failed=tuple(each for each in members if each.result.failed is not None),
        contradicted=tuple(each for each in measured if is_contradicted(each.result)),
    )


def _several(rows: Sequence[Row], *, together: bool) -> bool:
    return len(rows if together else {each.result.cell.adapter for each in rows}) > 1


def _best_of_each(ordered: Sequence[Row], *, together: bool) -> list[Row]:
    if together:
        return list(ordered)
    best: dict[str, Row] = {}
    for row in ordered:
        best.setdefault(row.result.cell.adapter, row)
    return list(best.values())


def _median_ns(row: Row) -> float:
    """Return the time a message takes by the trials' own figures: what the verdicts are made of."""
    values = row.result.trial_values
    ns = per_message_ns(row.result) or 0.0
    if not values:
        return ns
    median = statistics.median(values)
    return 1e9 / median if by_rate(row.result.cell) and median else median


def _enough(row: Row) -> bool:
    return row.result.trials >= FEWEST


def _spread(contest: Sequence[Contest], room: int) -> list[Contest]:
    """Return at most ``room`` of the sizes, the smallest and the largest among them, the others evenly between."""
    if len(contest) <= room:
        return list(contest)
    if room <= 1:
        return list(contest[:room])
    return [contest[round(at * (len(contest) - 1) / (room - 1))] for at in range(room)]
