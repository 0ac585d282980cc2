"""The cells of raw transports that a plan adds: the same experiments without a middleware.

Each cell of a middleware gets a baseline on every raw transport that can honour its factors. It also gets a cell that
copies a message of the same size within one process, on the first processor of the middleware's cell. An encrypted cell
also gets a cell that encrypts a message of the same size.

A raw transport has the cell's levels if it can honour them. If it cannot, it blocks instead of listening, copies
instead of lending, and has its own reliability. The history of a raw transport is as deep as its buffers. Its messages
are octets, and pass through no router. A raw transport that does not support the level of security runs without
security, and its label shows this. Cells that differ only in these factors share one baseline.

A search measures a dozen rates. So the cell of a search gets only the raw transport of its own carrier.
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
from middlemark.model.description import ANY, Description, Transport, raw_transport_carrier
from middlemark.model.link import HERE, is_apart
from middlemark.model.pairs import SAME
from middlemark.model.plan import Limits
from middlemark.plan.estimate import copying_seconds
from middlemark.plan.targets import Context, own_depth
from middlemark.stats.baselines import hands_over

same_baseline = attrgetter("adapter", "transport", "loan", *EXPERIMENT)
"""Return the fields that identify a baseline. Baselines with equal fields are planned only once."""

_TWO = ("shared-memory", "udp")
"""Carriers of baselines for workloads (whose trials take ten seconds or more), and for searches with unknown
carrier."""

MOST_COPIES = 10_000
FEWEST_COPIES = 30
COPYING_S = 0.1
"""Duration of copying within one process in s. Nothing waits during copying, so a tenth of a second is enough."""

_NAMED = tuple(name for name, each in FACTORS.items() if each.of == "subject")
"""Factors by which ``--only`` selects baselines too. By other factors ``--only`` selects cells, and keeps their
baselines."""


def without_names(context: Context) -> Context:
    """Return the context without the conditions of ``--only`` that exclude cells, but not the baselines of cells."""
    return msgspec.structs.replace(context, only=tuple(each for each in context.only if each.factor not in _NAMED))


def baselines_of(cells: Iterable[Cell], context: Context) -> Iterator[Cell]:
    """Yield each baseline of the cells that ``--only`` selects, once, in the order of the cells."""
    by_name = {each.name: each for each in context.descriptions}
    baselines = [
        (each, transport)
        for each in context.descriptions
        if each.is_raw_transport and not each.bench_only and context.selects("adapter", each.name)
        for transport in each.transports
        if context.selects("transport", transport.name)
    ]
    seen: set[tuple[object, ...]] = set()
    yielded: set[tuple[object, ...]] = set()
    for cell in cells:
        description = by_name[cell.adapter]
        if description.is_raw_transport or description.bench_only:
            continue
        searched = raw_transport_carrier(carrier_due(cell, description)) if cell.rate in SEARCHES else None
        key = (searched, hands_over(cell, by_name), *experiment(cell))
        if key in seen:
            continue
        seen.add(key)
        for adapter, transport in baselines:
            if adapter.language not in ("C++", description.language):  # a raw transport in another language
                continue
            if searched is not None and transport.carrier not in (_TWO if searched == ANY else (searched,)):
                continue
            if cell.workload is not None and transport.carrier not in _TWO:
                continue
            if transport.alone:
                baseline = _copying(cell, adapter, transport)
            else:
                baseline = _following(cell, adapter, transport, hands_over(cell, by_name))
            if baseline is not None and (which := same_baseline(baseline)) not in yielded:
                yielded.add(which)
                yield baseline


def copies(cell: Cell, limits: Limits) -> Limits:
    """Return the limits of a cell that copies within one process: a number of copies that takes about ``COPYING_S``.

    The number of copies is from ``FEWEST_COPIES`` to ``MOST_COPIES``. It is at most the number of messages in
    ``limits``, which are the limits of the cells that are compared with the copies.
    """
    most = min(MOST_COPIES, max(FEWEST_COPIES, round(COPYING_S / copying_seconds(cell.size))))
    samples = most if limits.samples is None else min(most, limits.samples)
    return msgspec.structs.replace(limits, samples=samples, duration_s=None)


def copying_cell(adapter: Description, transport: Transport, cell: Cell) -> Cell:
    """Return the cell that copies a message of this size within one process, on this processor, without receiver."""
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
    far = is_apart(cell.across)  # over a link, copying is no lower bound
    other = {"none", cell.security}.isdisjoint(transport.security)  # only encrypted cells get a copy with encryption
    alone = cell.pattern == "crowd"  # copying is no lower bound of a crowd's figures
    return None if far or other or alone or cell.size > transport.max_bytes else copying_cell(adapter, transport, cell)


def _following(cell: Cell, adapter: Description, transport: Transport, hands: bool) -> Cell | None:
    """Return ``cell`` on the raw transport ``transport``; None: the raw transport would measure another experiment.

    ``hands``: the cell hands over a pointer, so the baseline also hands over if it can.
    """
    needed = ("pattern", "participants_per_process", "size", "processes", "across")
    if any(cannot(transport, name, level_of(cell, name)) for name in needed):
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
    baseline = msgspec.structs.replace(
        cell,
        adapter=adapter.name,
        transport=transport.name,
        pair=SAME,
        receive=receive,
        loan=loan,
        reliability=reliability,
        security=security,
        via=transport.via[0],
        depth=None if depth is None else int(str(depth)),
        type="octets",
        native=(),
    )
    return baseline if cell.workload is None else carrying(baseline, cell.workload, transport)
