"""On which processors the workers of a trial run, and under which priority. Pure."""

from typing import cast

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.protocol import Placement, Policy
from middlemark.plan.pinning import count_roles


class WorkerPlacement(msgspec.Struct, frozen=True, kw_only=True):
    """One worker process: its placement, and each role's processor (None: not pinned)."""

    placement: Placement
    role_cpus: tuple[int | None, ...]


def place_roles(cell: Cell, *, spinning_s: float) -> tuple[WorkerPlacement, ...]:
    """Place every role, senders before receivers, one process each (or all in one).

    The order is that of ``Cell.pin``: ping, pongs; publishers, subscribers; clients, server.

    ``spinning_s`` is the longest a role may legitimately spin; RLIMIT_RTTIME is a margin above it.
    """
    roles = count_roles(cell.pattern, cell.publishers, cell.subscribers)
    cpus = [_cpu(cell, role) for role in range(roles)]
    if cell.processes == 1:
        return (_place(cell, cpus, spinning_s),)
    return tuple(_place(cell, [cpu], spinning_s) for cpu in cpus)


def place_processes(cell: Cell, processes: int, *, spinning_s: float) -> tuple[WorkerPlacement, ...]:
    """Place so many processes of a workload: each on one of the processors, in turn, where these are named."""
    return tuple(_place(cell, [_cpu(cell, process)], spinning_s) for process in range(processes))


def _place(cell: Cell, cpus: list[int | None], spinning_s: float) -> WorkerPlacement:
    policy, _, priority = cell.priority.partition(":")
    placement = Placement(
        cpus=tuple(sorted({cpu for cpu in cpus if cpu is not None})),
        policy=cast(Policy, policy),
        priority=int(priority or 0),
        mlock=cell.mlock,
        rt_limit_s=spinning_s + 10,
    )
    return WorkerPlacement(placement=placement, role_cpus=tuple(cpus))


def _cpu(cell: Cell, role: int) -> int | None:
    return cell.pin[role % len(cell.pin)] if cell.pin else None
