"""Pairs of adapters that exchange messages, and the same adapters with themselves on both sides."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.pairs import NO_INTEROP, SAME
from middlemark.model.units import format_size
from middlemark.verdicts.experiments import HEADLINE, JudgedExperiment, Standing
from middlemark.verdicts.rows import Row, grouped

_OF_A_PAIR = ("adapter", "pair", "native", "depth", "label", "unknown")
"""Fields in which the rows of one table may differ. A transport without keep-all history has a depth of its own."""
_KEY = tuple(each for each in Cell.__struct_fields__ if each not in _OF_A_PAIR)


class PairedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a table: whether the receivers get the senders' messages."""

    row: Row
    senders: str
    receivers: str
    interoperates: bool
    why: str | None
    """Why the two adapters exchange no messages; None: they exchange messages."""
    standing: Standing
    """The row's standing in its experiment, which also contains the pairs with one adapter on both sides."""

    @property
    def is_decided(self) -> bool:
        """False if the trials failed for another reason, such as a crash of one side."""
        failed = self.row.result.failed
        return failed is None or failed.code == NO_INTEROP


class InteropTable(msgspec.Struct, frozen=True, kw_only=True):
    """The exchanges under one load. ``cell``: one of its cells."""

    cell: Cell
    adapters: tuple[str, ...]
    rows: tuple[PairedRow, ...]


def interop_tables(rows: Sequence[Row], experiments: Sequence[JudgedExperiment]) -> tuple[InteropTable, ...]:
    """Return a table for each load with pairs of different adapters, in the order of the rows."""
    decisive = [each for each in experiments if not each.restricted and each.metric in HEADLINE]
    standings = {each.row.index: each.standing for of in decisive for each in of.rows}
    paired = {(row.run, name) for row in rows if row.result.cell.pair != SAME for name in row.result.cell.sides}
    taking_part = [row for row in rows if {(row.run, name) for name in row.result.cell.sides} <= paired]
    works = {_place(row.result.cell, row.run): row.result.failed is None for row in taking_part}
    tables = []
    for group in grouped(
        taking_part, lambda row: (row.run, *(getattr(row.result.cell, each) for each in _KEY))
    ).values():
        if all(row.result.cell.pair == SAME for row in group):
            continue
        names = dict.fromkeys(name for row in group for name in row.result.cell.sides)
        tables.append(
            InteropTable(
                cell=group[0].result.cell,
                adapters=tuple(names),
                rows=tuple(
                    PairedRow(
                        row=row,
                        senders=row.result.cell.sides[0],
                        receivers=row.result.cell.sides[1],
                        interoperates=row.result.failed is None,
                        why=_why(row, works),
                        standing=standings.get(
                            row.index, Standing.ONLY if row.result.failed is None else Standing.FAILED
                        ),
                    )
                    for row in group
                ),
            )
        )
    return tuple(tables)


def _place(cell: Cell, run: int, **other: object) -> tuple[object, ...]:
    levels = {each: getattr(cell, each) for each in (*_KEY, "adapter", "pair")} | other
    return (run, *levels.values())


def _why(row: Row, works: Mapping[tuple[object, ...], bool]) -> str | None:
    """Return why the row's pair exchanges no messages, and under which other load it does.

    None: the pair exchanges messages.
    """
    failed, cell = row.result.failed, row.result.cell
    if failed is None:
        return None
    return "; ".join((*_limits(row, works), failed.text)) if cell.pair != SAME else failed.text


def _limits(row: Row, works: Mapping[tuple[object, ...], bool]) -> Iterator[str]:
    cell = row.result.cell
    if cell.reliability == "reliable" and works.get(_place(cell, row.run, reliability="best-effort")):
        yield "only best effort"
    sizes = {size for size in _sizes(works) if size < cell.size and works.get(_place(cell, row.run, size=size))}
    if sizes:
        yield f"only up to {format_size(max(sizes))}"


def _sizes(works: Mapping[tuple[object, ...], bool]) -> set[int]:
    at = 1 + _KEY.index("size")
    return {int(str(place[at])) for place in works}
