"""The interface between a pattern and the launcher."""

import statistics
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.crowd import IdleUse
from middlemark.model.description import Transport
from middlemark.model.outcome import Coding, Evidence, TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.protocol import AnyRoleRequest, AnyRoleResult, RoleRequest, RoleResult
from middlemark.model.workload import Workload
from middlemark.trial.worker_request import TrialRequest

Result = TypeVar("Result", bound=RoleResult)


class Roles(msgspec.Struct, frozen=True):
    """The roles of one trial. Receivers start first and stop last."""

    senders: tuple[AnyRoleRequest, ...]
    receivers: tuple[AnyRoleRequest, ...]


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a trial's roles, in the order of the roles."""

    cell: Cell
    limits: Limits
    transport: Transport
    senders: tuple[AnyRoleResult, ...]
    receivers: tuple[AnyRoleResult, ...]
    evidence: Evidence
    samples_stem: str
    """The first part of the names of the samples files, relative to the run's folder."""
    graph: Workload | None = None
    """The workload with the levels that its transport honours; None: no workload."""
    idle: IdleUse | None = None
    """The use of resources while a crowd was idle; None: for the reason in ``idle_absent``."""
    idle_absent: str | None = None

    @property
    def warmed_up(self) -> int:
        """The number of messages or round trips in the senders' warm-up.

        The kernel's counters include them.
        """
        return sum(getattr(sender, "warmup_samples", 0) for sender in self.senders)


def results_of(kind: type[Result], results: Iterable[AnyRoleResult]) -> tuple[Result, ...]:
    """Return those of ``results`` that are of the type ``kind``."""
    return tuple(each for each in results if isinstance(each, kind))


def coding(heard: Heard) -> Coding | None:
    """Return the median times of serialising and deserialising; None: no role measured them."""

    def median(roles: Iterable[AnyRoleResult], field: str) -> float | None:
        times_ns = [ns for each in roles if (ns := getattr(each, field, None)) is not None]
        return float(statistics.median(times_ns)) if times_ns else None

    found = Coding(
        serialize_ns=median(heard.senders, "serialize_p50_ns"),
        deserialize_ns=median(heard.receivers, "deserialize_p50_ns"),
        reply_serialize_ns=median(heard.receivers, "serialize_p50_ns"),
        reply_deserialize_ns=median(heard.senders, "deserialize_p50_ns"),
    )
    return None if found == Coding() else found


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """The functions and properties that a pattern gives to the launcher."""

    roles: Callable[[TrialRequest], Roles]
    conclude: Callable[[Heard, TrialOutcome], TrialOutcome]
    """Returns the complete outcome from the results."""
    drains: Callable[[Cell, RoleRequest], bool]
    """Returns True if a receiver waits for all messages that were sent, and False if it stops at the stop command."""
    one_clock: bool = False
    """True if the pattern compares times of different workers."""
