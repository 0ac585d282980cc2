"""Which floor each cell is held against: the same experiment, carried by the same thing, with no middleware in it.

``times_floor`` says how many times slower than its floor a cell is, 1 and more as a rule. Round trips, and streams that
keep to a schedule or to bursts, are held by their median latency (this one's p50 over the floor's); streams that go as
fast as they can, or as fast as a search found, by their rate (the floor's over this one's): their latency is queueing.
"""

from collections.abc import Mapping, Sequence

import msgspec

from middlemark.plan.cell import Cell
from middlemark.workers.description import Description

COMPARABLE = (
    *("pattern", "size", "receive", "processes", "publishers", "subscribers", "topics", "echo", "payload"),
    *("rate", "arrivals", "burst", "recovery_s", "max_loss", "max_p99_s", "pin", "priority"),
)
"""The factors that a cell and its floor must share. Reliability, depth and mlock are for a middleware to honour."""


class Floor(msgspec.Struct, frozen=True):
    """``cell`` is an index into the cells; ``label`` also says what differs: ``shm (loan)``, ``udp, block``."""

    cell: int
    label: str


def by_rate(cell: Cell) -> bool:
    """Say whether the cell is held against its floor by its rate; otherwise by its median latency."""
    return cell.pattern == "stream" and isinstance(cell.rate, str) and cell.burst is None


def carrier_of(cell: Cell, descriptions: Mapping[str, Description]) -> str | None:
    """Return what the cell's transport must be carried by; None when nobody describes it."""
    description = descriptions.get(cell.adapter)
    transport = description.transport(cell.transport) if description else None
    return transport.carrier if transport else None


def floors(
    cells: Sequence[Cell], medians: Sequence[float | None], descriptions: Mapping[str, Description]
) -> tuple[Floor | None, ...]:
    """Return each cell's floor; a floor's own is itself. None where the run has none.

    ``medians`` are ns, by cell: p50s, or where ``by_rate`` the time a message takes (1e9 over its rate). Of several
    floors that are as near, the fastest is taken.
    """
    by_experiment: dict[tuple[object, ...], list[int]] = {}
    for index, cell in enumerate(cells):
        description = descriptions.get(cell.adapter)
        if description and description.floor and medians[index] is not None:
            by_experiment.setdefault((carrier_of(cell, descriptions), *_experiment(cell)), []).append(index)

    def nearest(index: int) -> Floor | None:
        cell = cells[index]
        description = descriptions.get(cell.adapter)
        if description and description.floor:
            return Floor(index, _label(cell, description)) if medians[index] is not None else None
        carrier = carrier_of(cell, descriptions)
        # Within one process the middleware hands memory over, and shared memory between threads is what does only that.
        held_to = "shared-memory" if carrier == "process-memory" else carrier
        for receive in (cell.receive, "block") if cell.receive == "listen" else (cell.receive,):
            experiment = (held_to, *_experiment(msgspec.structs.replace(cell, receive=receive)))
            candidates = by_experiment.get(experiment, [])
            for loan in (True, False) if cell.loan else (False,):
                alike = [each for each in candidates if cells[each].loan == loan]
                if alike:
                    best = min(alike, key=lambda each: (_distance(cell, cells[each]), medians[each]))
                    label = _label(cells[best], descriptions[cells[best].adapter])
                    return Floor(best, label if receive == cell.receive else f"{label}, {receive}")
        return None

    return tuple(nearest(index) for index in range(len(cells)))


def _experiment(cell: Cell) -> tuple[object, ...]:
    return tuple(getattr(cell, factor) for factor in COMPARABLE)


def _distance(cell: Cell, floor: Cell) -> int:
    return sum(getattr(cell, factor) != getattr(floor, factor) for factor in ("reliability", "depth", "mlock"))


def _label(cell: Cell, description: Description) -> str:
    several = len(description.transports) > 1 and cell.transport != cell.adapter
    name = f"{cell.adapter} {cell.transport}" if several else cell.adapter
    return f"{name} (loan)" if cell.loan else name
