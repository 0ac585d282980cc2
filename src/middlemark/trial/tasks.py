"""Build the configure command of each worker of a trial: settings, placement and roles. Pure."""

from typing import cast

import msgspec

from middlemark.model.cell import Cell, graph_of
from middlemark.model.crowd import in_processes
from middlemark.model.description import Transport
from middlemark.model.link import is_apart, sites_of
from middlemark.model.plan import Limits
from middlemark.model.protocol import (
    AnyRoleRequest,
    ConfigureCommand,
    Identity,
    Placement,
    Policy,
    SenderRequest,
    Settings,
)
from middlemark.model.workload import Process, Workload
from middlemark.plan.memory import kept, kept_by_topic
from middlemark.plan.pinning import count_roles
from middlemark.trial.patterns import Pattern, Roles, pattern_of
from middlemark.trial.worker_request import TrialRequest, native_for, settings_of

DRAIN_S = 12.0
"""The time in s in which a receiver must end after the stop command. It stops by itself within 10 s."""


class WorkerPlacement(msgspec.Struct, frozen=True, kw_only=True):
    """The placement of one worker process, and the processor of each role (None: not pinned)."""

    placement: Placement
    role_cpus: tuple[int | None, ...]


class WorkerTask(msgspec.Struct, frozen=True):
    """The placement and the roles of one worker. ``who``: the worker's name in errors and costs."""

    who: str
    place: WorkerPlacement
    roles: tuple[AnyRoleRequest, ...]
    far: bool
    """True if the worker is on the second of two sites."""


class Tasks(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of one trial's workers."""

    limits: Limits
    pattern: Pattern
    workers: tuple[WorkerTask, ...]
    """The tasks of all workers. The worker of the first sender is first."""
    roles: Roles
    settings: Settings
    graph: Workload | None
    """The workload with the levels that its transport honours; None: no workload."""
    receivers_native: dict[str, str]
    """The native settings of the receivers. If the sides have different adapters, ``settings`` has only the senders'
    native settings."""
    receiver: Identity = "receiver"
    """The identity of the workers that only receive, whose certificate and key they use."""

    def cpus(self, *, far: bool) -> tuple[int | None, ...]:
        """Return the processor of each role on the second site (``far``), or on the first."""
        return tuple(cpu for each in self.workers if each.far == far for cpu in each.place.role_cpus)

    @property
    def far(self) -> frozenset[tuple[str, int]]:
        """The roles on the second site, as (role, index). The publishers of forwarded topics are included."""
        found: set[tuple[str, int]] = set()
        for role in (role for each in self.workers if each.far for role in each.roles):
            found.add((role.role, role.index))
            found |= {("publisher", each.index) for each in getattr(role, "forwards", ())}
        return frozenset(found)

    def command(self, task: WorkerTask) -> ConfigureCommand:
        """Return the configure command of a worker."""
        return ConfigureCommand(
            settings=msgspec.structs.replace(
                self.settings,
                identity=self.identity_of(task),
                native=self.receivers_native if task.far else self.settings.native,
            ),
            placement=task.place.placement,
            match_timeout_s=self.limits.match_timeout_s,
            tells_ends=self.graph is not None,
            latencies=self.limits.recording_s is not None,
            roles=task.roles,
        )

    def identity_of(self, task: WorkerTask) -> Identity:
        """Return the identity of a worker: the sender's if one of its roles sends messages on its own."""
        return "sender" if any(isinstance(each, SenderRequest) for each in task.roles) else self.receiver


def measuring_s(limits: Limits) -> float:
    """Return the maximum duration of the measurement, in s."""
    return limits.duration_s if limits.duration_s is not None else limits.limit_s


def tasks_of(
    cell: Cell,
    limits: Limits,
    transport: Transport,
    *,
    seed: int,
    samples_stem: str,
    domain: int,
    scope: str,
    scratch: str,
    interface: str,
    certs: str = "",
    receiver: Identity = "receiver",
    folder: str = "",
    turns_path: str = "",
) -> Tasks:
    """Return the tasks of a trial. ``samples_stem``: the first part of the paths of its samples files, absolute.

    ``turns_path``: as in ``TrialRequest``.
    """
    pattern, graph = pattern_of(cell), graph_of(cell, transport)
    spinning_s = limits.warmup_s + measuring_s(limits) + DRAIN_S
    processes = _processes(cell, graph) if graph else ()
    places = (
        place_processes(cell, len(processes), spinning_s=spinning_s)
        if processes
        else place_crowd(cell, spinning_s=spinning_s)
        if cell.pattern == "crowd"
        else place_roles(cell, spinning_s=spinning_s)
    )
    asked = TrialRequest(
        cell=cell,
        limits=limits,
        cpus=tuple(cpu for place in places for cpu in place.role_cpus),
        samples_stem=samples_stem,
        seed=seed,
        kept=kept(cell, limits) if cell.pattern == "stream" and graph is None else (0, 0),
        graph=graph,
        kept_by_topic=kept_by_topic(graph, limits) if graph else (),
        scratch=scratch,
        turns_path=turns_path,
    )
    roles = pattern.roles(asked)
    far = graph.on(sites_of(cell.across)[-1]) if graph and is_apart(cell.across) else ()
    workers = (
        _tasks_of_nodes(roles, graph, processes, places, far)
        if graph
        else _tasks_of_crowd(roles, cell, places)
        if cell.pattern == "crowd"
        else _tasks_of_roles(roles, cell, places)
    )
    return Tasks(
        limits=limits,
        pattern=pattern,
        workers=workers,
        roles=roles,
        settings=settings_of(
            cell,
            domain=domain,
            scope=scope,
            scratch=scratch,
            interface=interface,
            certs=certs,
            folder=folder,
            graph=graph,
        ),
        graph=graph,
        receivers_native=native_for(cell, cell.sides[1], folder),
        receiver=receiver,
    )


def _tasks_of_roles(roles: Roles, cell: Cell, places: tuple[WorkerPlacement, ...]) -> tuple[WorkerTask, ...]:
    """Return the task of one worker for each role, or of one worker with all roles."""
    every = (*roles.senders, *roles.receivers)
    mine: list[tuple[AnyRoleRequest, ...]] = [every] if cell.processes == 1 else [(each,) for each in every]
    return tuple(
        WorkerTask(" and ".join(role.name for role in some), place, some, far=some[0] in roles.receivers)
        for place, some in zip(places, mine, strict=True)
    )


def _tasks_of_crowd(roles: Roles, cell: Cell, places: tuple[WorkerPlacement, ...]) -> tuple[WorkerTask, ...]:
    """Return the task of each process of a crowd."""
    groups = list(in_processes(cell.participants, cell.participants_per_process))
    return tuple(
        WorkerTask(
            f"participants {some[0]} to {some[-1]}" if len(some) > 1 else f"participant {some[0]}",
            place,
            tuple(roles.senders[each] for each in some),
            far=False,
        )
        for some, place in zip(groups, places, strict=True)
    )


def _processes(cell: Cell, graph: Workload) -> tuple[Process, ...]:
    return graph.processes if cell.processes != 1 else (Process(graph.name, graph.nodes),)


def _tasks_of_nodes(
    roles: Roles,
    graph: Workload,
    processes: tuple[Process, ...],
    places: tuple[WorkerPlacement, ...],
    far: tuple[str, ...],
) -> tuple[WorkerTask, ...]:
    """Return the task of one worker for each process, with the roles of the process's nodes.

    ``far``: nodes on the second site.
    """
    of_node: dict[str, list[AnyRoleRequest]] = {}
    for sender in roles.senders:
        of_node.setdefault(graph.topics[sender.index].source, []).append(sender)
    for receiver, (_, node) in zip(roles.receivers, graph.edges, strict=True):
        of_node.setdefault(node, []).append(receiver)
    return tuple(
        WorkerTask(
            each.name,
            place,
            tuple(role for node in each.nodes for role in of_node.get(node, ())),
            far=not set(far).isdisjoint(each.nodes),
        )
        for each, place in zip(processes, places, strict=True)
    )


def place_roles(cell: Cell, *, spinning_s: float) -> tuple[WorkerPlacement, ...]:
    """Place every role in a process of its own, or all roles in one process. Senders come before receivers.

    The order is the order of ``Cell.pin``: ping, pongs; publishers, subscribers; clients, server.

    ``spinning_s``: the longest time for which a role may have to spin. The limit RLIMIT_RTTIME of the processes is set
    somewhat higher.
    """
    roles = count_roles(cell.pattern, cell.publishers, cell.subscribers)
    cpus = [_cpu(cell, role) for role in range(roles)]
    if cell.processes == 1:
        return (_place(cell, cpus, spinning_s),)
    return tuple(_place(cell, [cpu], spinning_s) for cpu in cpus)


def place_processes(cell: Cell, processes: int, *, spinning_s: float) -> tuple[WorkerPlacement, ...]:
    """Place the processes of a workload.

    If the user names processors, the processes get them in turn.
    """
    return tuple(_place(cell, [_cpu(cell, process)], spinning_s) for process in range(processes))


def place_crowd(cell: Cell, *, spinning_s: float) -> tuple[WorkerPlacement, ...]:
    """Place the processes of a crowd. Each may use all processors in ``Cell.pin``, and no participant is pinned."""
    placed = _place(cell, list(cell.pin or ()), spinning_s)
    groups = in_processes(cell.participants, cell.participants_per_process)
    return tuple(msgspec.structs.replace(placed, role_cpus=(None,) * len(each)) for each in groups)


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
