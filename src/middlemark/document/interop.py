"""Tables of senders and receivers, one for each load, and sentences on the pairs that exchange no messages."""

from collections.abc import Sequence

from middlemark.document.matrix import MARKS, MEANS
from middlemark.document.numbers import ABSENT, brief, us
from middlemark.document.table import Column, Line, Table, TableCell
from middlemark.model.cell import Cell
from middlemark.model.pairs import SAME
from middlemark.model.spelling import listing
from middlemark.model.units import format_size
from middlemark.stats.baselines import by_rate
from middlemark.verdicts.experiments import Standing
from middlemark.verdicts.interop import InteropTable, PairedRow
from middlemark.verdicts.names import plain, words
from middlemark.verdicts.rows import per_message_ns

_FACTORS = ("pattern", "rate", "receive", "reliability", "link", "security")
_MEANS = MEANS | {MARKS[Standing.BEST]: "significantly the fastest"}
_NO = "no"
_LOST = "failed"
_UNMARKED = "unmarked: significantly slower"


def headline(tables: Sequence[InteropTable]) -> str:
    """Return how many pairs of different adapters exchange messages, and which do not."""
    unlike = [each for table in tables for each in table.rows if each.row.result.cell.pair != SAME]
    by_pair: dict[str, list[PairedRow]] = {}
    for each in unlike:
        by_pair.setdefault(each.row.result.cell.pair, []).append(each)
    lost = [pair for pair, some in by_pair.items() if not all(each.is_decided for each in some)]
    decided = {pair: some for pair, some in by_pair.items() if pair not in lost}
    always = [pair for pair, some in decided.items() if all(each.interoperates for each in some)]
    never = [pair for pair, some in decided.items() if not any(each.interoperates for each in some)]
    sometimes = [pair for pair in decided if pair not in always and pair not in never]
    text = f"{len(always)} of {len(by_pair)} pairs of different adapters exchange messages under every load"
    states = ((sometimes, "under some loads"), (never, "never"), (lost, "not decided, as trials were lost"))
    parts = [f"{listing(some)} {how}" for some, how in states if some]
    return plain(f"{'; '.join((text, *parts))}.")


def sentences(tables: Sequence[InteropTable]) -> tuple[str, ...]:
    """Return a sentence for each pair that exchanges no messages, with the reason and all loads with this reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for table in tables:
        for each in table.rows:
            if each.why is not None:
                name = f"{each.senders} to {each.receivers}"
                found.setdefault((name, each.why), []).append(_load(each.row.result.cell))
    return tuple(plain(f"{name}: {why} ({'; '.join(loads)})") for (name, why), loads in found.items())


def title_of(table: InteropTable) -> str:
    """Return the load of the table in words: transport, size and the levels of further factors."""
    return f"{table.cell.transport}, {format_size(table.cell.size)}, {words(table.cell, _FACTORS)}"


def table_of(table: InteropTable) -> Table:
    """Return a table with senders as lines and receivers as columns. A cell has a figure and its mark, or ``no``."""
    at = {(each.senders, each.receivers): each for each in table.rows}
    shown = {_mark(each) for each in table.rows if each.interoperates}
    legend = [f"{mark} {means}" for mark, means in _MEANS.items() if mark in shown]
    if any(each.standing is Standing.SLOWER for each in table.rows):
        legend.append(_UNMARKED)
    if any(not each.interoperates and each.is_decided for each in table.rows):
        legend.append(f"{_NO}: no messages are exchanged")
    return Table(
        title=f"{'messages/s' if by_rate(table.cell) else 'p50 in µs'}, senders → receivers: {title_of(table)}",
        head="senders",
        columns=tuple(Column(name) for name in table.adapters),
        lines=tuple(
            Line(senders, tuple(TableCell(_text(at.get((senders, receivers)))) for receivers in table.adapters))
            for senders in table.adapters
        ),
        legend=tuple(legend),
    )


def _load(cell: Cell) -> str:
    return f"{format_size(cell.size)}, {cell.reliability}, {cell.pattern}"


def _text(paired: PairedRow | None) -> str:
    if paired is None:
        return ABSENT
    if not paired.interoperates:
        return _NO if paired.is_decided else _LOST
    ns = per_message_ns(paired.row.result)
    figure = ABSENT if ns is None else brief(1e9 / ns) if by_rate(paired.row.result.cell) else us(ns)
    return f"{figure}\t{_mark(paired)}"


def _mark(paired: PairedRow) -> str:
    return MARKS.get(paired.standing, "")
