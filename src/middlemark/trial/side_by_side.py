"""Trials that run side by side: they start to measure together, and none is stopped before all have ended."""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from middlemark.model.cell import Cell
from middlemark.model.plan import Limits
from middlemark.model.turns import Turn, instants_of


class Gate:
    """A point at which trials wait for each other. A trial that fails leaves, and the others do not wait for it."""

    def __init__(self, orders: Iterable[int]) -> None:
        """Create it closed. ``orders``: the trials, by their positions in the run."""
        self._awaited = set(orders)
        self._open = asyncio.Event()

    async def arrive(self, order: int) -> None:
        """Wait until all other trials have arrived or left."""
        self.leave(order)
        await self._open.wait()

    def leave(self, order: int) -> None:
        """Do not wait for this trial any more."""
        self._awaited.discard(order)
        if not self._awaited:
            self._open.set()


class Group:
    """The gates of a group of trials."""

    def __init__(self, orders: Iterable[int]) -> None:
        """Create it before the first trial of the group begins."""
        every = tuple(orders)
        self.start = Gate(every)
        self.end = Gate(every)

    def leave(self, order: int) -> None:
        """Do not wait for a trial that has failed or was cancelled."""
        self.start.leave(order)
        self.end.leave(order)


def turns_path(scratch: str) -> str:
    """Return the path of the file with the instants of a trial's turns."""
    return os.path.join(scratch, "turns")


def write_turns(scratch: str, cell: Cell, limits: Limits, turn: Turn) -> None:
    """Write the instants of the trial's turns. Raises OSError."""
    assert limits.turns_s is not None
    assert limits.duration_s is not None
    assert isinstance(cell.rate, int | float), "the plan checked it"
    instants = instants_of(turn, limits.turns_s, limits.duration_s, cell.rate)
    Path(turns_path(scratch)).write_bytes(instants.tobytes())
