"""What each level of security costs: the rows of an experiment by level, beside the same at ``none``."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

import msgspec

from middlemark.document.document import Row
from middlemark.document.judged import JudgedDocument
from middlemark.document.matrix import Mark
from middlemark.document.numbers import ratio
from middlemark.document.outcome import metric_of
from middlemark.document.rows import per_message_ns
from middlemark.document.words import plain, subject, words
from middlemark.model.cell import EXPERIMENT, Cell
from middlemark.model.outcome import ProtectionProof
from middlemark.model.protocol import Security
from middlemark.model.spelling import listing
from middlemark.model.units import format_size
from middlemark.stats.floors import by_rate
from middlemark.stats.verdict import Verdict

NONE: Security = "none"
_LEVELS: tuple[Security, ...] = get_args(Security)
_MARKS = {Verdict.WORSE: Mark.BEHIND, Verdict.EQUIVALENT: Mark.EQUIVALENT}
_BESIDE = sorted(frozenset(EXPERIMENT) - {"size", "security", "payload"})
_TOLD = ("pattern", "rate", "receive", "processes", "link")
_ASKED = ("type", "reliability", "depth", "loan", "mlock", "native")


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """One row. ``times``: of the time that the same takes at ``none``; None: it was not measured there."""

    row: Row
    ns: float
    times: float | None
    place: Mark
    """Beside the same at ``none``: behind, equivalent, open, or of too few trials."""


class CostLine(msgspec.Struct, frozen=True, kw_only=True):
    """A middleware over a transport at one level; ``costs`` by size, None where it has no figure."""

    name: str
    level: Security
    costs: tuple[Cost | None, ...]


class CostTable(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment. The lines of one middleware follow each other, by level."""

    title: str
    by_rate: bool
    sizes: tuple[int, ...]
    lines: tuple[CostLine, ...]


def cost_tables(rows: Sequence[Row], judged: JudgedDocument) -> tuple[CostTable, ...]:
    """Return one for each experiment in which something was measured at ``none`` and above, those of most first."""
    groups: dict[tuple[object, ...], dict[tuple[object, ...], list[Row]]] = {}
    for row in rows:
        if per_message_ns(row.result) and not row.result.cell.unknown and row.result.cell.subscribers:
            cell = row.result.cell
            group = groups.setdefault((row.run, *(getattr(cell, each) for each in _BESIDE)), {})
            group.setdefault(_same(cell), []).append(row)
    several = [
        {key: some for key, some in group.items() if {NONE} < {each.result.cell.security for each in some}}
        for group in groups.values()
    ]
    tables = [_table(group, judged) for group in several if group]
    return tuple(sorted(tables, key=lambda each: -len(each.lines)))


def headline(tables: Sequence[CostTable]) -> str:
    """Return what the strongest level costs, the least and the most; empty: nothing was measured at ``none``."""
    told: list[str] = []
    for level in reversed(_LEVELS[1:]):
        known = [
            (cost.times, f"{line.name} at {format_size(size)}")
            for line in tables[0].lines
            if line.level == level
            for size, cost in zip(tables[0].sizes, line.costs, strict=True)
            if cost and cost.times
        ]
        if not known:
            continue
        (least, where), (most, there) = min(known), max(known)
        if told:
            told.append(f"{level} {' to '.join(dict.fromkeys(map(ratio, (least, most))))}")
        elif len(known) == 1:
            told.append(f"{level} takes {ratio(most)} times as long as {NONE} ({there})")
        else:
            told.append(f"{level} takes {ratio(least)} ({where}) to {ratio(most)} times ({there}) as long as {NONE}")
    if not told:
        return ""
    costs = [cost for line in tables[0].lines for cost in line.costs if cost]
    few = [cost.row.result.trials for cost in costs if cost.place is Mark.FEW]
    unsure = f"Not sure with {min(few)} trial{'' if min(few) == 1 else 's'} each: " if few else ""
    return f"{unsure}{'; '.join(told)}."


def proven(rows: Sequence[Row]) -> str:
    """Say in how many of the protected rows what protects was seen to be in force; one thread alone is not asked."""
    protected = [row for row in rows if row.result.cell.security != NONE and row.result.cell.subscribers]
    rows = [row for row in protected if row.result.failed is None]
    if not rows:
        return ""
    held = sum(map(_holds, (row.result.proof for row in rows)))
    if held == len(rows):
        every = f"all {held:,} protected rows" if held > 1 else "the protected row"
        return f"Protection is in force in {every}, by {'their' if held > 1 else 'its'} proofs."
    failed = [row.name for row in rows if row.result.proof and row.result.proof.failed]
    text = f"Protection is in force in {held:,} of {len(rows):,} protected rows, by their proofs"
    return f"{text}; not in {listing(list(dict.fromkeys(failed)))}." if failed else f"{text}."


def _holds(proof: ProtectionProof | None) -> bool:
    """Say whether what can be proven there was, and something could: nothing failed, and a stranger was refused."""
    return proof is not None and not proof.failed and proof.stranger_refused is True


def _same(cell: Cell) -> tuple[object, ...]:
    """Return what rows share that differ in size and level alone."""
    return tuple(getattr(cell, each) for each in Cell.__struct_fields__ if each not in ("size", "security"))


def _table(group: dict[tuple[object, ...], list[Row]], judged: JudgedDocument) -> CostTable:
    rows = [row for members in group.values() for row in members]
    sizes = tuple(sorted({row.result.cell.size for row in rows}))
    cell = rows[0].result.cell
    cells = [members[0].result.cell for members in group.values()]
    subjects = Counter(map(subject, cells))
    apart = {name: _apart([each for each in cells if subject(each) == name]) for name in subjects}
    lines: list[CostLine] = []
    for members in sorted(group.values(), key=_mean):
        first = members[0].result.cell
        name = subject(first)
        if subjects[name] > 1:
            name = f"{name}, {words(first, apart[name])}"
        lines += _lines(members, plain(name), sizes, judged)
    return CostTable(title=words(cell, _TOLD), by_rate=by_rate(cell), sizes=sizes, lines=tuple(lines))


def _apart(cells: Sequence[Cell]) -> list[str]:
    """Return in what of what was asked of a middleware these cells differ."""
    return [field for field in _ASKED if len({getattr(each, field) for each in cells}) > 1]


def _mean(members: Sequence[Row]) -> float:
    """Return the mean logarithm of what the rows at ``none`` take, for an order."""
    taken = [math.log(per_message_ns(row.result) or 1.0) for row in members if row.result.cell.security == NONE]
    return sum(taken) / len(taken)


def _lines(members: Sequence[Row], name: str, sizes: Sequence[int], judged: JudgedDocument) -> Iterator[CostLine]:
    at = {(row.result.cell.security, row.result.cell.size): row for row in members}
    for level in _LEVELS:
        found = [at.get((level, size)) for size in sizes]
        if any(found):
            costs = [_cost(row, at.get((NONE, size)), judged) for row, size in zip(found, sizes, strict=True)]
            yield CostLine(name=name, level=level, costs=tuple(costs))


def _cost(row: Row | None, plain_row: Row | None, judged: JudgedDocument) -> Cost | None:
    ns = per_message_ns(row.result) if row else None
    if row is None or ns is None:
        return None
    if plain_row is None or row is plain_row:
        return Cost(row=row, ns=ns, times=1.0 if plain_row else None, place=Mark.ALONE)
    found = judged.find(plain_row.index, row.index, metric_of(row))
    place = Mark.FEW
    if found is not None and found.judged.low is not None:
        place = _MARKS.get(found.judged.verdict, Mark.OPEN)
    base = per_message_ns(plain_row.result)
    return Cost(row=row, ns=ns, times=ns / base if base else None, place=place)
