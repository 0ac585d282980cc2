"""The questions of ``selftest`` and ``diagnose --try``.

A run stores its question, so that ``show`` can answer it again.
"""

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.setting import Setting, settings_level, settings_of


class Planted(msgspec.Struct, frozen=True):
    """The delay that is added to every round trip of setting A."""

    label: str
    part: float
    """The delay as a share of A's p50 in the pilot: 0.1 is a tenth."""
    delay_ns: float


class SelfTestCell(msgspec.Struct, frozen=True):
    """A setting A of the selftest: its cell without a label, and the labels under which it is measured."""

    cell: Cell
    pilot_ns: float
    """The p50 of ``cell`` in the pilot in ns. The planted delays are computed from it."""
    same: tuple[str, ...]
    planted: tuple[Planted, ...]


class Lift(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of the machine or of the middleware that lifts a limit, with its values before and after."""

    name: str
    before: str
    after: str
    command: str
    """The command or option that makes the change."""
    keep: str
    """The command or option that makes the change permanent."""
    change: Setting | None = None
    """The change of the machine; None: the setting is one of the middleware's own settings."""

    def sides(self, cell: Cell) -> tuple[Cell, Cell]:
        """Return the cell before and after the change. Only the changed setting differs."""
        if self.change is None:
            before, after = (dict(cell.native) | {self.name: each} for each in (self.before, self.after))
            pair = [tuple(sorted(each.items())) for each in (before, after)]
            return msgspec.structs.replace(cell, native=pair[0]), msgspec.structs.replace(cell, native=pair[1])
        others = {each.target: each.value for each in settings_of(cell.system)}
        was = others | ({self.name: self.before} if self.before else {})
        return (
            msgspec.structs.replace(cell, system=settings_level(was) if was else None),
            msgspec.structs.replace(cell, system=settings_level(others | {self.name: self.after})),
        )


class TriedLimit(msgspec.Struct, frozen=True):
    """A limit of the machine, and the setting that lifts it in every second cell of the run."""

    check: str
    lift: Lift
