"""This machine: pinned or not, under a priority or not."""

from typing import cast

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.protocol import Placement, Policy
from middlemark.plan.pinning import count_roles


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One worker process: the argv prefix (empty here), its placement, and each role's processor (None: not pinned)."""

    prefix: tuple[str, ...] = ()
    placement: Placement
    role_cpus: tuple[int | None, ...]


def place_roles(cell: Cell, *, spinning_s: float) -> tuple[Place, ...]:
    """Place every role, senders before receivers, one process each (or all in one).

    The order is that of ``Cell.pin``: ping, pongs; publishers, subscribers; clients, server.

    ``spinning_s`` is the longest a role may legitimately spin; RLIMIT_RTTIME is a margin above it.
    """
    policy, _, priority = cell.priority.partition(":")
    roles = count_roles(cell.pattern, cell.publishers, cell.subscribers)
    cpus = [_cpu(cell, role) for role in range(roles)]

    def placement(mine: list[int | None]) -> Placement:
        known = sorted({cpu for cpu in mine if cpu is not None})
        return Placement(
            cpus=tuple(known),
            policy=cast(Policy, policy),
            priority=int(priority or 0),
            mlock=cell.mlock,
            rt_limit_s=spinning_s + 10,
        )

    if cell.processes == 1:
        return (Place(placement=placement(cpus), role_cpus=tuple(cpus)),)
    return tuple(Place(placement=placement([cpu]), role_cpus=(cpu,)) for cpu in cpus)


def _cpu(cell: Cell, role: int) -> int | None:
    return cell.pin[role % len(cell.pin)] if cell.pin else None
