"""A check of the machine: what it reads, what the reading means for which rows, and the remedy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

import msgspec

from middlemark.model.setting import Setting
from middlemark.system.needs import GENERAL, ConfigurationNeeds, Needs, list_rows
from middlemark.system.root import Root

Severity = Literal["falsifies", "limits", "note"]
"""``falsifies``: figures would measure something other than the middleware, or differ from trial to trial.
``limits``: figures would be worse than this machine allows. ``note``: worth knowing."""
SEVERITIES = get_args(Severity)
"""The worst first."""
Family = Literal["sockets", "memory", "processors", "surroundings"]
SYSCTL_FILE = "/etc/sysctl.d/90-middlemark.conf"
R = TypeVar("R")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check. A text is empty if there is nothing to say."""

    check: str
    severity: Severity
    seen: str
    why: str
    rows: str
    """The rows for which it matters."""
    remedy: str = ""
    """A command, where there is one."""
    persist: str = ""
    """How to make the remedy last over a restart of the machine."""
    risk: str = ""


class Remedy(NamedTuple):
    """How to fix a finding. Checks with :class:`Setting` changes get their command from these."""

    command: str = ""
    persist: str = ""
    risk: str = ""


NO_REMEDY = Remedy()


class Seen(NamedTuple):
    """A problem that a check sees in its reading. Empty fields default to those of the check."""

    severity: Severity
    text: str
    rows: tuple[ConfigurationNeeds, ...] = ()
    """The rows of the suite for which it matters; none: all rows that the check names in general."""
    remedy: Remedy = NO_REMEDY


def _no_change(_reading: object, _needs: Needs) -> tuple[Setting, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Check(Generic[R]):
    """One check. ``name`` is the name of its file."""

    name: str
    family: Family
    looks: str
    """The files or values that it looks at, for docs/machine.md."""
    why: str
    rows: str
    """The rows for which it matters, in general."""
    read: Callable[[Root], R | None]
    """Returns None if this machine does not have it, or does not show it."""
    sees: Callable[[R, Needs], Seen | None]
    """A pure function of the reading."""
    remedy: Remedy = NO_REMEDY
    change: Callable[[R, Needs], tuple[Setting, ...]] = _no_change

    def look(self, root: Root) -> R | None:
        """Read; return None if the files are damaged or hidden."""
        try:
            return self.read(root)
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def judge(self, reading: R, needs: Needs = GENERAL) -> Finding | None:
        """Return the finding for these needs; None: nothing is wrong."""
        seen = self.sees(reading, needs)
        if seen is None:
            return None
        changes = self.changes(reading, needs)
        remedy = Remedy(*(own or general for own, general in zip(seen.remedy, self.remedy, strict=True)))
        lasting = "; ".join(
            f"echo '{each.target} = {each.value}' >> {SYSCTL_FILE}" for each in changes if each.kind == "sysctl"
        )
        return Finding(
            check=self.name,
            severity=seen.severity,
            seen=seen.text,
            why=self.why,
            rows=self.rows if needs.general or not seen.rows else list_rows(seen.rows),
            remedy=remedy.command or "; ".join(each.command for each in changes),
            persist=remedy.persist or lasting,
            risk=remedy.risk,
        )

    @property
    def reversible(self) -> bool:
        """True if a program can fix it and undo the fix."""
        return self.change is not _no_change

    def changes(self, reading: R, needs: Needs = GENERAL) -> tuple[Setting, ...]:
        """Return the settings that a program could change and restore; none if nothing is wrong."""
        return self.change(reading, needs) if self.sees(reading, needs) else ()


def sysctl(name: str) -> Callable[[Root], int | None]:
    """Return a reader of a sysctl that holds one number."""
    return lambda root: root.number(f"proc/sys/{name.replace('.', '/')}")


def too_low(name: str, value: int, least: int, rows: Sequence[ConfigurationNeeds]) -> Seen | None:
    """Return a finding if a limit is below ``least``, the value that ``rows`` need."""
    return Seen("limits", f"{name} is {value}; needed: {least}", tuple(rows)) if rows and value < least else None
