"""The floors beside what is measured: the same experiment with no middleware in it, as cells of the same run. Pure.

Each cell of a middleware has one on every transport of every floor that can honour its factors, and the copying of
its size on its first processor by one process alone; an encrypted one the encrypting of it too. A floor follows as well
as it can: where it has no thread to listen on it blocks, where it cannot lend it copies, and its reliability is its
own; where it lacks a level of security nothing protects it, which its label says; its history is as deep as its buffers
are, and it carries octets. What differs only in these is one floor, shared by all the cells that it stands beside.

A rate that is searched for is measured a dozen times: there only the floor of the cell's own carrier stands beside it.
"""

import math
from collections.abc import Iterable, Iterator
from operator import attrgetter

import msgspec

from middlemark.model.cell import (
    EXPERIMENT,
    FACTORS,
    SEARCHES,
    Cell,
    cannot,
    carrier_due,
    carrying,
    experiment,
    level_of,
)
from middlemark.model.description import ANY, Description, Transport, floor_carrier
from middlemark.model.link import HERE, is_apart
from middlemark.model.plan import Limits
from middlemark.plan.estimate import copying_seconds
from middlemark.plan.targets import Context, own_depth
from middlemark.stats.floors import hands_over

same_floor = attrgetter("adapter", "transport", "loan", *EXPERIMENT)
"""What tells one floor from another."""

_TWO = ("shared-memory", "udp")
"""What carries the floors of a workload, whose trials take ten seconds and more, and of a search over a carrier that
nobody knows yet: two say enough."""

MOST_COPIES = 10_000
FEWEST_COPIES = 30
COPYING_S = 0.1
"""Nothing waits and nothing is scheduled where one process copies alone: a tenth of a second tells all there is."""

_NAMED = tuple(name for name, each in FACTORS.items() if each.of == "subject")
"""Factors of ``--only`` that a floor has levels of its own of; by all others it follows the cells that are left."""


def without_names(context: Context) -> Context:
    """Return the context without what ``--only`` says of names: the cells that floors stand beside, kept or not."""
    return msgspec.structs.replace(context, only=tuple(each for each in context.only if each.factor not in _NAMED))


def floors_beside(cells: Iterable[Cell], context: Context) -> Iterator[Cell]:
    """Yield the floors of those cells that ``--only`` leaves in, each once, in the order of the cells."""
    here = {each.name: each for each in context.descriptions}
    floors = [
        (each, transport)
        for each in context.descriptions
        if each.floor and not each.bench_only and context.wants("adapter", each.name)
        for transport in each.transports
        if context.wants("transport", transport.name)
    ]
    seen: set[tuple[object, ...]] = set()
    yielded: set[tuple[object, ...]] = set()
    for cell in cells:
        description = here[cell.adapter]
        if description.floor or description.bench_only:
            continue
        searched = floor_carrier(carrier_due(cell, description)) if cell.rate in SEARCHES else None
        key = (searched, hands_over(cell, here), *experiment(cell))
        if key in seen:
            continue
        seen.add(key)
        for adapter, transport in floors:
            if searched is not None and transport.carrier not in (_TWO if searched == ANY else (searched,)):
                continue
            if cell.workload is not None and transport.carrier not in _TWO:
                continue
            if transport.alone:
                floor = _copying(cell, adapter, transport)
            else:
                floor = _following(cell, adapter, transport, hands_over(cell, here))
            if floor is not None and (which := same_floor(floor)) not in yielded:
                yielded.add(which)
                yield floor


def copies(cell: Cell, limits: Limits) -> Limits:
    """Return the limits of a cell of one process alone: as many copies as take ``COPYING_S``, within bounds.

    ``limits``: those of the cells that it stands beside; it is measured with no more messages than they.
    """
    most = min(MOST_COPIES, max(FEWEST_COPIES, round(COPYING_S / copying_seconds(cell.size))))
    samples = most if limits.samples is None else min(most, limits.samples)
    return msgspec.structs.replace(limits, samples=samples, duration_s=None)


def copying_alone(adapter: Description, transport: Transport, cell: Cell) -> Cell:
    """Return that size on that processor as a process alone copies it: nobody receives, and it never waits."""
    return Cell(
        adapter=adapter.name,
        transport=transport.name,
        size=cell.size,
        receive=transport.receive[0],
        reliability=transport.reliability[0],
        loan=transport.loan[0],
        security=transport.security[0],
        payload=cell.payload,
        processes=transport.processes[0],
        across=HERE if is_apart(cell.across) else cell.across,
        subscribers=0,
        pin=None if cell.pin is None else cell.pin[:1],
        priority=cell.priority,
    )


def _copying(cell: Cell, adapter: Description, transport: Transport) -> Cell | None:
    far = is_apart(cell.across)  # where the link is what holds a message up, how fast one processor copies says nothing
    other = {"none", cell.security}.isdisjoint(transport.security)  # what encrypts stands beside what is encrypted
    return None if far or other or cell.size > transport.max_bytes else copying_alone(adapter, transport, cell)


def _following(cell: Cell, adapter: Description, transport: Transport, hands: bool) -> Cell | None:
    """Return the cell as that floor measures it; None where it would be another experiment.

    ``hands``: the cell hands over, and so does the floor where it can.
    """
    if any(cannot(transport, name, level_of(cell, name)) for name in ("size", "processes", "across")):
        return None
    if cell.workload is not None and cell.workload.varies and not transport.varying_sizes:
        return None
    receive = cell.receive
    handing = transport.loan_at(hands_over=True)
    loan = handing if hands and handing is not None else transport.loan_at(hands_over=False)
    if loan is None:
        return None
    if receive not in transport.receive:
        if receive != "listen" or "block" not in transport.receive:
            return None
        receive = "block"
    security = cell.security if cell.security in transport.security else transport.security[0]
    reliability = cell.reliability
    if reliability not in transport.reliability:
        reliability = transport.reliability[0]
    depth = own_depth(transport, cell.pattern, math.ceil(cell.publishers / cell.topics))
    floor = msgspec.structs.replace(
        cell,
        adapter=adapter.name,
        transport=transport.name,
        receive=receive,
        loan=loan,
        reliability=reliability,
        security=security,
        depth=None if depth is None else int(str(depth)),
        type="octets",
        native=(),
    )
    return floor if cell.workload is None else carrying(floor, cell.workload, transport)
