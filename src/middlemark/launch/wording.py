"""How doubts name roles and shares. Pure."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from middlemark.plan.cell import Cell

NAMED = 4
"""As many roles are named one by one; of more, the first and how many others."""

Concerned = TypeVar("Concerned")


def each_of(concerned: Sequence[Concerned], words: Callable[[Concerned], str]) -> str:
    """Name each; of many the first (the worst, where they are sorted) and how many more."""
    if len(concerned) <= NAMED:
        return "; ".join(words(each) for each in concerned)
    return f"{words(concerned[0])}; and {len(concerned) - 1} more"


def part(number: int, of: int) -> str:
    """Return ``number`` of ``of`` in percent."""
    return f"{100 * number / of:.2g} %" if number * 2 < of else f"{100 * number / of:.3g} %"


def lower_rate(cell: Cell) -> str:
    """Return how to ask for less at a time."""
    if cell.burst is not None:
        return "or a smaller --burst, or a longer --recovery"
    if cell.pattern != "stream":
        return "or a lower --rate"
    return "or a lower --rate: --rate sustainable finds the highest that is within --max-loss"
