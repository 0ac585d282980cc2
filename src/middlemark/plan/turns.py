"""Check the sweeps whose configurations run side by side, and give each of their trials its turn."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from middlemark.model.cell import Cell
from middlemark.model.link import is_apart
from middlemark.model.plan import Limits
from middlemark.model.spelling import listing
from middlemark.model.turns import Turn
from middlemark.model.units import format_count, format_seconds
from middlemark.problems import Problem

if TYPE_CHECKING:
    from middlemark.plan.make import Measuring


def seated(due: Iterable[int], limits: Sequence[Limits], seed: int, number: int) -> dict[int, Turn]:
    """Return the turn of each cell of a round whose trials run side by side. ``due``: the cells, by index, in order.

    The plan's other random numbers do not depend on it.
    """
    groups: dict[Limits, list[int]] = {}
    for index in due:
        if limits[index].turns_s is not None:
            groups.setdefault(limits[index], []).append(index)
    return {
        index: Turn(seat=seat, seats=len(members), seed=random.Random(f"turns/{seed}/{number}/{group}").getrandbits(32))
        for group, members in enumerate(groups.values())
        for seat, index in enumerate(members)
    }


def problems_of_turns(measured: "Mapping[Cell, Measuring]") -> Iterator[Problem]:
    """Yield why configurations with turns cannot run side by side. Configurations with equal limits are one group."""
    groups: dict[Limits, list[Cell]] = {}
    for cell, each in measured.items():
        if each.limits.turns_s is not None:
            groups.setdefault(each.limits, []).append(cell)
    for limits, cells in groups.items():
        for text in _wrong(cells, limits):
            yield Problem(f"{measured[cells[0]].place}: turns", text)


def _wrong(cells: Sequence[Cell], limits: Limits) -> Iterator[str]:
    assert limits.turns_s is not None
    if any(cell.pattern != "stream" or cell.workload or not _is_periodic(cell) for cell in cells):
        yield 'only streams with a periodic rate are sent in turns; set pattern = "stream" and a rate'
    if any(cell.link is not None or is_apart(cell.across) for cell in cells):
        yield "configurations over a link or across hosts do not run side by side; leave out link and across"
    if any(cell.security != "none" for cell in cells):
        yield "the proof of a protection needs the machine for itself; leave out security"
    adapters = [name for cell in cells for name in cell.sides[: 1 if cell.sides[0] == cell.sides[1] else 2]]
    if several := sorted({each for each in adapters if adapters.count(each) > 1}):
        yield (
            f"{listing(several)} {'is' if len(several) == 1 else 'are'} in several configurations, which would share "
            "segments and ports; name one transport and one size"
        )
    if limits.duration_s is None:
        yield "needs a duration instead of samples"
    elif limits.duration_s < len(cells) * limits.turns_s:
        whole = format_seconds(len(cells) * limits.turns_s)
        number = format_count(len(cells), "configuration")
        yield f"{number} with a turn of {format_seconds(limits.turns_s)} each need a duration of at least {whole}"


def _is_periodic(cell: Cell) -> bool:
    return isinstance(cell.rate, int | float) and cell.burst is None and cell.arrivals == "periodic"
