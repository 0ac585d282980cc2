"""What every pattern tells the launcher."""

import statistics
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Transport
from middlemark.model.outcome import Coding, Evidence, TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.protocol import AnyRoleRequest, AnyRoleResult, RoleRequest, RoleResult
from middlemark.model.workload import Workload
from middlemark.trial.worker_request import TrialRequest

Result = TypeVar("Result", bound=RoleResult)


class Roles(msgspec.Struct, frozen=True):
    """The roles of one trial. Receivers are started first and stopped last."""

    senders: tuple[AnyRoleRequest, ...]
    receivers: tuple[AnyRoleRequest, ...]


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What the roles of one trial said at their end, each in the order of its role."""

    cell: Cell
    limits: Limits
    transport: Transport
    senders: tuple[AnyRoleResult, ...]
    receivers: tuple[AnyRoleResult, ...]
    evidence: Evidence
    samples_stem: str
    """Relative to the run's folder."""
    graph: Workload | None = None
    """What the cell carries, as its transport has it."""

    @property
    def warmed_up(self) -> int:
        """Messages (or round trips) that the senders' warm-up took: the kernel has counted them too."""
        return sum(getattr(sender, "warmup_samples", 0) for sender in self.senders)


def results_of(kind: type[Result], results: Iterable[AnyRoleResult]) -> tuple[Result, ...]:
    """Return the results of that kind."""
    return tuple(each for each in results if isinstance(each, kind))


def coding(heard: Heard) -> Coding | None:
    """Return what (de)serialising took, where some role timed it."""

    def median(roles: Iterable[AnyRoleResult], field: str) -> float | None:
        known = [ns for each in roles if (ns := getattr(each, field, None)) is not None]
        return float(statistics.median(known)) if known else None

    found = Coding(
        serialize_ns=median(heard.senders, "serialize_p50_ns"),
        deserialize_ns=median(heard.receivers, "deserialize_p50_ns"),
        reply_serialize_ns=median(heard.receivers, "serialize_p50_ns"),
        reply_deserialize_ns=median(heard.senders, "deserialize_p50_ns"),
    )
    return None if found == Coding() else found


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """One pattern."""

    roles: Callable[[TrialRequest], Roles]
    conclude: Callable[[Heard, TrialOutcome], TrialOutcome]
    """The outcome as known so far → with what follows from what was heard."""
    drains: Callable[[Cell, RoleRequest], bool]
    """Whether that receiver goes on until it has what the senders sent; the others stop when they are told to."""
    one_clock: bool = False
    """Times of one worker are held against those of another."""
