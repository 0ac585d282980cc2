"""Find the setting that lifts a limit on this machine, and all changes that doctor recommends."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from middlemark.model.asked import Lift
from middlemark.model.cell import Cell
from middlemark.model.description import Description, Worker
from middlemark.model.levels import Wrong
from middlemark.model.plan import Plan
from middlemark.model.setting import Setting, setting_of, settings_level, settings_of
from middlemark.model.units import UnitError, parse_size
from middlemark.plan.rounds import without
from middlemark.runs.needs import needs_of
from middlemark.stats.diagnosis import Limit
from middlemark.system import settings
from middlemark.system.needs import GENERAL, Needs
from middlemark.system.registry import CHECKS
from middlemark.system.root import Root
from middlemark.system.settings import CannotError

_BUFFERS = {"rmem_max": ("receive buffer",), "wmem_max": ("send buffer", "send and receive buffer")}
"""Kernel limit → words in the help of a native setting that show that the setting is about the same buffer."""


def lift_of(limit: Limit, plan: Plan, descriptions: Mapping[str, Description], interface: str = "lo") -> Lift | None:
    """Return the setting that lifts a limit on this machine; None: no setting lifts it."""
    cell = plan.cells[limit.cell]
    plan_of_cell = without(plan, [at for at in range(len(plan.cells)) if at != limit.cell], ())
    needs = needs_of(plan_of_cell, descriptions.values(), interface)
    return _of_middleware(limit.check, cell, needs, descriptions.get(cell.adapter)) or _of_machine(limit, needs)


def _of_machine(limit: Limit, needs: Needs) -> Lift | None:
    check = next((each for each in CHECKS if each.name == limit.check), None)
    reading = check.look(Root()) if check else None
    if check is None or reading is None:
        return None
    for change in check.change(reading, needs):
        try:
            setting = setting_of(change.target, change.value)
            before = settings.read(setting.target)
        except (Wrong, CannotError):
            continue
        if before == setting.value or _is_more(before, setting.value):
            continue
        return Lift(
            name=setting.target,
            before=before,
            after=setting.value,
            command=change.command,
            keep=f"middlemark tune apply {limit.check}",
            change=change,
        )
    return None


def _of_middleware(check: str, cell: Cell, needs: Needs, described: Description | None) -> Lift | None:
    """Return the native setting of a buffer that a cell sets below both the kernel's limit and its need; None: none."""
    if check not in _BUFFERS or described is None:
        return None
    try:
        most = settings.read(f"net.core.{check}")
    except CannotError:
        return None
    reading = next(each for each in CHECKS if each.name == check)
    wanted = min(int(most), *(int(each.value) for each in reading.change(int(most), needs)))
    asked = dict(cell.native)
    for key, setting in described.native.items():
        if key not in asked or not any(word in setting.help for word in _BUFFERS[check]):
            continue
        try:
            has = parse_size(asked[key])
        except UnitError:
            continue
        if 0 < has < wanted:
            option = f"--native {cell.adapter}.{key}={wanted}"
            return Lift(name=key, before=asked[key], after=str(wanted), command=option, keep=option)
    return None


def _is_more(before: str, wanted: str) -> bool:
    """Say whether the limit ``before`` is ``wanted`` or higher; -1 means unlimited."""
    try:
        return int(wanted) >= 0 and (int(before) < 0 or int(before) >= int(wanted))
    except ValueError:
        return False


def changes_here(needs: Needs = GENERAL, checks: Sequence[str] = ()) -> dict[str, tuple[Setting, ...]]:
    """Return check → the changes that doctor recommends.

    ``checks``: return only the changes of these checks, even if the checks find nothing wrong.
    """
    found: dict[str, tuple[Setting, ...]] = {}
    root = Root()
    for check in CHECKS:
        if checks and check.name not in checks:
            continue
        if (reading := check.look(root)) is not None:
            changes = check.change(reading, needs) if check.name in checks else check.changes(reading, needs)
            if changes:
                found[check.name] = changes
    return found


def tuned(plan: Plan, workers: Mapping[str, Worker], interface: str, warn: Callable[[str], None]) -> Plan:
    """Return the plan with the changes that ``middlemark doctor`` proposes here, added to each cell's system settings.

    A cell's own setting takes precedence. ``warn`` is called with the reason for each change that is impossible, and
    once with a summary.
    """
    needs = needs_of(plan, [each.description for each in workers.values()], interface)
    wanted: dict[str, str] = {}
    for check, changes in changes_here(needs).items():
        for change in changes:
            try:
                setting = setting_of(change.target, change.value)
            except Wrong as error:
                warn(f"{check} is not changed: {error}")
                continue
            if (reason := settings.why_not(setting)) is not None:
                warn(f"{check} is not changed: {reason}")
            else:
                wanted[setting.target] = setting.value
    if not wanted:
        warn("--tuned changes nothing: middlemark doctor finds nothing on this machine to change for a run")
        return plan
    warn(
        "set for each trial and restored after it: " + "; ".join(f"{name} = {value}" for name, value in wanted.items())
    )
    cells = tuple(_with(cell, wanted) for cell in plan.cells)
    return msgspec.structs.replace(plan, cells=cells)


def _with(cell: Cell, wanted: Mapping[str, str]) -> Cell:
    own = {each.target: each.value for each in settings_of(cell.system)}
    return msgspec.structs.replace(cell, system=settings_level({**wanted, **own}))


def as_settings(changes: Sequence[Setting]) -> list[Setting]:
    """Return the settings in the form of the journal. Raises CannotError if a setting must not be changed."""
    found = []
    for each in changes:
        try:
            found.append(setting_of(each.target, each.value))
        except Wrong as error:
            raise CannotError(each.target, str(error)) from None
    return found
