"""What every pattern tells the launcher."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from middlemark.launch.outcome import Evidence
from middlemark.launch.request import Asked, Role
from middlemark.plan.cell import Cell, Limits
from middlemark.workers.description import Transport

Result = Mapping[str, Any]
"""A ``result`` event of docs/protocol.md."""


class Roles(msgspec.Struct, frozen=True):
    """The roles of one trial. Receivers are started first and stopped last."""

    senders: tuple[Role, ...]
    receivers: tuple[Role, ...]


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What the roles of one trial said at their end, each in the order of its role."""

    cell: Cell
    limits: Limits
    transport: Transport
    senders: tuple[Result, ...]
    receivers: tuple[Result, ...]
    evidence: Evidence
    samples_stem: str
    """Relative to the run's folder."""

    @property
    def warmed_up(self) -> int:
        """Messages (or round trips) that the senders' warm-up took: the kernel has counted them too."""
        return sum(int(sender["warmup_samples"]) for sender in self.senders)


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """One pattern."""

    roles: Callable[[Asked], Roles]
    facts: Callable[[Heard], dict[str, Any]]
    """The fields of ``TrialOutcome`` that follow from what was heard; doubts are ``warnings``, remarks ``notes``."""
    drains: Callable[[Cell, Role], bool]
    """Whether that receiver goes on until it has what the senders sent; the others stop when they are told to."""
    one_clock: bool = False
    """Times of one worker are held against those of another."""
