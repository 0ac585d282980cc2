"""Which rows stand against each other: what a reader can choose from for one experiment at one size.

First whatever carries it, the best of each middleware; then carrier by carrier, where there are several.
"""

import statistics
from collections.abc import Sequence

import msgspec

from middlemark.document.document import Row
from middlemark.document.rows import latency_of, per_message_ns
from middlemark.document.words import WORDS, is_contradicted
from middlemark.model.cell import EXPERIMENT, FACTORS
from middlemark.stats.floors import by_rate
from middlemark.stats.interval import FEWEST
from middlemark.stats.pairings import at_levels_of_others

MOST = 8
"""More sentences are no answer; the figures below have the rest."""

_EXPERIMENT = (*(each for each in EXPERIMENT if each != "size"), "label", "unknown")
_ALIKE = tuple(each.field for each in FACTORS.values() if each.of == "middleware")


class Contest(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment at one size.

    ``contenders`` by their median, the best first: one an adapter where there are several adapters, else every cell.
    """

    context: tuple[object, ...]
    """Carrier (None: any), run, and the levels that all of them share."""
    by: str
    """p50, which stands for the rate too where that is what trials are judged by; or p99."""
    size: int
    carrier: str | None
    """What all of them are carried by; None where that is what they differ in."""
    contenders: tuple[Row, ...]
    short: tuple[Row, ...]
    """Those with too few trials for a verdict, where others have enough."""
    gone: tuple[Row, ...]
    """Those that left the race as slower, with too few trials for a verdict, and of whose adapter nothing stayed."""
    failed: tuple[Row, ...]
    contradicted: tuple[Row, ...]
    """Carried by something else than their transport says: they stand in no order."""
    together: bool
    """There is one adapter, and it is its cells that stand against each other."""
    measured: tuple[Row, ...]
    """All that have a figure and were carried as they say, by their median: further transports of a contender too."""

    @property
    def levels(self) -> dict[str, str]:
        """What makes it another contest than others, in words, by factor: its experiment, and what was asked of all."""
        fields = _EXPERIMENT if self.together else (*_ALIKE, *_EXPERIMENT)
        common = dict(zip(fields, self.context[2:], strict=True))
        cell = msgspec.structs.replace(self.contenders[0].result.cell, **common)
        return {factor: tell(cell) for factor, tell in WORDS.items() if factor in common}

    @property
    def tellable(self) -> bool:
        """Whether there can be a verdict."""
        return len(self.contenders) + len(self.gone) > 1 and all(_enough(each) for each in self.contenders)

    @property
    def has_lower_unjudged(self) -> bool:
        """Whether one with too few trials for a verdict has a lower median than the best of those that have them."""
        return bool(self.short) and self.ranked[0] is not self.contenders[0]

    @property
    def ranked(self) -> tuple[Row, ...]:
        """All that were measured, also those with too few trials, the best first; of a middleware the best alone."""
        ordered = sorted((*self.contenders, *self.short), key=lambda row: (_held_ns(row, self.by), row.index))
        return tuple(_best_of_each(ordered, together=self.together))


def contests(rows: Sequence[Row]) -> tuple[Contest, ...]:
    """Return at most ``MOST`` contests, in the order they are told: what can be told first, sizes ascending."""
    chosen: list[Contest] = []
    for contest in every_contest(rows):
        chosen += _spread(contest, MOST - len(chosen))
    return tuple(chosen)


def every_contest(rows: Sequence[Row], by: str = "p50") -> list[list[Contest]]:
    """Return all of them, a list an experiment with its sizes ascending, in the same order."""
    middleware = [each for each in rows if not each.floor and not each.bench_only]
    subjects = middleware or [each for each in rows if not each.floor] or list(rows)
    together = len({each.result.cell.adapter for each in subjects}) == 1
    groups: dict[tuple[object, ...], dict[int, list[Row]]] = {}
    carriers: dict[tuple[object, ...], dict[object, None]] = {}
    stand = at_levels_of_others([each.result.cell for each in subjects])
    for row, (cell, *_) in zip(subjects, stand, strict=True):
        if "size" not in cell.unknown and cell.workload is None:
            alike = () if together else tuple(getattr(cell, each) for each in _ALIKE)
            experiment = (row.run, *alike, *(getattr(cell, each) for each in _EXPERIMENT))
            carrier = row.carrier or cell.transport
            carriers.setdefault(experiment, {})[carrier] = None
            for context in ((None, *experiment), (carrier, *experiment)):
                groups.setdefault(context, {}).setdefault(cell.size, []).append(row)
    found = [
        [_contest(context, by, size, members, together=together) for size, members in sorted(by_size.items())]
        for context, by_size in groups.items()
        if context[0] is None or (len(carriers[context[1:]]) > 1 and not together)
    ]
    return sorted(
        filter(None, (_worth_telling(contest) for contest in found)),
        key=lambda contest: (
            not any(each.tellable for each in contest),
            contest[0].context[0] is not None,
            max(len(each.contenders) + len(each.gone) for each in contest) < 2,
            -max(len(each.contenders) + len(each.gone) + len(each.short) for each in contest),
        ),
    )


def _worth_telling(contest: Sequence[Contest]) -> list[Contest]:
    """Return those with a figure; of one carrier, whose rows stand among all already, those with two or more."""
    fewest = 1 if contest[0].context[0] is None else 2
    return [each for each in contest if len(each.contenders) >= fewest]


def _contest(context: tuple[object, ...], by: str, size: int, members: Sequence[Row], *, together: bool) -> Contest:
    measured = [each for each in members if _is_known(each, by)]
    true = [each for each in measured if not is_contradicted(each.result)]
    everybody = sorted(true, key=lambda row: (_held_ns(row, by), row.index))
    left = [each for each in everybody if each.left == "slower" and not _enough(each)]
    ordered = [each for each in everybody if each not in left]
    if not any(each.left is None for each in ordered):  # none of them is what those who left were held against
        ordered, left = everybody, []
    enough = [each for each in ordered if _enough(each)]
    ranked = _best_of_each(enough if _several(enough, together=together) else ordered, together=together)
    ranks = {each.index for each in ranked}
    short = [each for each in _best_of_each(ordered, together=together) if each.index not in ranks]
    adapters = set() if together else {each.result.cell.adapter for each in ordered}
    gone = [each for each in _best_of_each(left, together=together) if each.result.cell.adapter not in adapters]
    carriers = {each.carrier for each in members}
    return Contest(
        context=context,
        by=by,
        size=size,
        carrier=carriers.pop() if len(carriers) == 1 else None,
        contenders=tuple(ranked),
        short=tuple(short),
        gone=tuple(gone),
        failed=tuple(each for each in members if each.result.failed is not None),
        contradicted=tuple(each for each in measured if is_contradicted(each.result)),
        together=together,
        measured=tuple(everybody),
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


def _is_known(row: Row, by: str) -> bool:
    if by == "p50":
        return per_message_ns(row.result) is not None
    latency = latency_of(row.result)
    return latency is not None and latency.p99 is not None and not by_rate(row.result.cell)


def _held_ns(row: Row, by: str) -> float:
    """Return the time a message takes by the trials' own figures: what the verdicts are made of."""
    if by != "p50":
        latency = latency_of(row.result)
        return (latency.p99 if latency else None) or 0.0
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
