"""One cell under several labels, as trials of one interleaved run: what the selftest holds against each other. Pure."""

from collections.abc import Mapping, Sequence

import msgspec

from middlemark.plan.cell import Cell, Plan
from middlemark.plan.make import Measured, interleave


class Variant(msgspec.Struct, frozen=True):
    """What one label stands for: the cell as it is, or with these native settings laid over its own."""

    label: str
    native: Mapping[str, str] = {}

    def of(self, cell: Cell) -> Cell:
        """Return the cell under this label."""
        settings = tuple(sorted({**dict(cell.native), **self.native}.items()))
        return msgspec.structs.replace(cell, label=self.label, native=settings)


def labelled(plan: Plan, variants: Sequence[Sequence[Variant]]) -> Plan:
    """Return the plan with each cell i in as many variants as ``variants[i]`` has, each measured as the cell was to be.

    All trials are interleaved anew, by the plan's own seed. ValueError where two variants of a cell have one label, and
    of a plan with floors beside its cells: they would be measured as often as those.
    """
    if plan.floors:
        raise ValueError("a plan with floors cannot be labelled")
    cells: list[Cell] = []
    names: list[str] = []
    measured: list[Measured] = []
    for index, (cell, name, some) in enumerate(zip(plan.cells, plan.names, variants, strict=True)):
        if len({each.label for each in some}) < len(some):
            raise ValueError(f"two variants of {cell.adapter} have one label")
        trials = [each for each in plan.trials if each.cell == index]
        how = Measured(name, trials[0].limits, trials[0].domain, len(trials), name)
        for each in some:
            cells.append(each.of(cell))
            names.append(f"{name}: {each.label}")
            measured.append(how)
    return msgspec.structs.replace(
        plan, cells=tuple(cells), names=tuple(names), trials=tuple(interleave(measured, plan.seed))
    )


def first_rounds(plan: Plan, number: int) -> Plan:
    """Return the plan of the first ``number`` rounds alone."""
    return msgspec.structs.replace(plan, trials=tuple(each for each in plan.trials if each.number <= number))
