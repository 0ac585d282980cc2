"""What the workers of one trial are told: settings, places and roles, a configure command each. Pure."""

from collections.abc import Sequence

import msgspec

from middlemark.launch.patterns import Pattern, Roles, pattern_of
from middlemark.launch.worker_request import Asked, settings_of
from middlemark.model.cell import Cell
from middlemark.model.plan import Limits
from middlemark.model.protocol import AnyRoleRequest, ConfigureCommand, Settings
from middlemark.places import place_roles
from middlemark.places.here import Place
from middlemark.plan.memory import kept

DRAIN_S = 12.0
"""A receiver that waits for what was sent ends by itself within 10 s of being told to stop."""


class Tasks(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of one trial's workers."""

    cell: Cell
    limits: Limits
    pattern: Pattern
    places: tuple[Place, ...]
    """Of each worker."""
    roles: Roles
    settings: Settings

    @property
    def by_worker(self) -> list[tuple[Place, tuple[AnyRoleRequest, ...]]]:
        """Each worker's place and roles; the first sender's is the first."""
        every = (*self.roles.senders, *self.roles.receivers)
        together = self.cell.processes == 1
        mine: Sequence[tuple[AnyRoleRequest, ...]] = [every] if together else [(each,) for each in every]
        return list(zip(self.places, mine, strict=True))

    def command(self, place: Place, roles: tuple[AnyRoleRequest, ...]) -> ConfigureCommand:
        """Return what the worker with these roles is told."""
        return ConfigureCommand(
            settings=self.settings,
            placement=place.placement,
            match_timeout_s=self.limits.match_timeout_s,
            roles=roles,
        )


def measuring_s(limits: Limits) -> float:
    """Return the longest the measuring may take."""
    return limits.duration_s if limits.duration_s is not None else limits.limit_s


def tasks_of(
    cell: Cell, limits: Limits, *, seed: int, samples_stem: str, domain: int, scope: str, scratch: str, interface: str
) -> Tasks:
    """Return the tasks of a trial. ``samples_stem``: absolute; the names of the trial's samples files begin so."""
    pattern = pattern_of(cell)
    places = place_roles(cell, spinning_s=limits.warmup_s + measuring_s(limits) + DRAIN_S)
    asked = Asked(
        cell=cell,
        limits=limits,
        cpus=tuple(cpu for place in places for cpu in place.role_cpus),
        samples_stem=samples_stem,
        seed=seed,
        kept=kept(cell, limits) if cell.pattern == "stream" else (0, 0),
    )
    return Tasks(
        cell=cell,
        limits=limits,
        pattern=pattern,
        places=places,
        roles=pattern.roles(asked),
        settings=settings_of(cell, domain=domain, scope=scope, scratch=scratch, interface=interface),
    )
