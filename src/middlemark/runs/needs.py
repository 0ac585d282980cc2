"""Compute what the trials of a plan need from the machine."""

from collections.abc import Iterable

from middlemark.model.cell import Cell
from middlemark.model.description import ANY, Description
from middlemark.model.link import HERE
from middlemark.model.plan import Plan
from middlemark.model.units import MIB
from middlemark.plan.memory import KEEP_ALL_BYTES, memory_needed
from middlemark.plan.pinning import count_roles
from middlemark.system.needs import ConfigurationNeeds, Needs


def needs_of(plan: Plan, described: Iterable[Description], interface: str) -> Needs:
    """Return the needs of a plan. ``described``: the descriptions of all its adapters."""
    descriptions = {each.name: each for each in described}
    rows = tuple(dict.fromkeys(_row(cell, descriptions[cell.adapter]) for cell in plan.cells))
    shared = [row for row in rows if "shared-memory" in row.carriers]
    return Needs(
        rows=rows,
        interfaces=(interface,),
        memory_bytes=max((memory_needed(plan.cells[each.cell], each.limits) for each in plan.trials), default=0),
        shm_bytes=max((16 * MIB + row.roles * (row.waiting + 4) * row.size for row in shared), default=0),
        adapters=tuple(dict.fromkeys(name for cell in plan.cells for name in cell.sides)),
        domains=tuple(sorted({each.domain for each in plan.trials if each.domain is not None})),
    )


def _row(cell: Cell, about: Description) -> ConfigurationNeeds:
    transport = about.transport(cell.transport)
    carrier = transport.carrier if transport else ANY
    if transport and transport.best_effort_carrier and cell.reliability == "best-effort":
        carrier = transport.best_effort_carrier
    most = KEEP_ALL_BYTES // cell.size
    apart = cell.across != HERE and "-" in cell.across
    return ConfigurationNeeds(
        name=cell.adapter,
        carriers=("shared-memory", "udp") if carrier == ANY else (carrier,),
        size=cell.size,
        rate_hz=cell.rate if isinstance(cell.rate, float) else None,
        receive=cell.receive,
        priority=int(cell.priority.partition(":")[2] or 0),
        roles=cell.participants
        if cell.pattern == "crowd"
        else count_roles(cell.pattern, cell.publishers, cell.subscribers),
        cpus=cell.pin or (),
        waiting=max(1, min(most if cell.depth is None else cell.depth, most)),
        mlock=cell.mlock,
        awake=cell.awake,
        across=apart,
        between_clocks=apart and cell.link is None and cell.pattern == "stream",
    )
