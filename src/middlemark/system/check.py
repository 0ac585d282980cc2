"""A check of the machine: its files, the rows that a finding affects, and the command that fixes the problem."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

import msgspec

from middlemark.model.setting import Setting
from middlemark.system.needs import GENERAL, ConfigurationNeeds, Needs, list_rows
from middlemark.system.root import Root

Severity = Literal["falsifies", "limits", "note"]
"""``falsifies``: figures would not measure the middleware, or would differ from trial to trial. ``limits``: figures
would be worse than this machine allows. ``note``: useful to know."""
SEVERITIES = get_args(Severity)
"""All severities of findings, the worst first."""
SYSCTL_FILE = "/etc/sysctl.d/90-middlemark.conf"
R = TypeVar("R")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A problem that a check found on this machine. Empty texts are not printed."""

    check: str
    severity: Severity
    seen: str
    why: str
    rows: str
    """The rows that the finding affects."""
    remedy: str = ""
    """The command that fixes the problem; empty: no command does."""
    persist: str = ""
    """How to make the remedy permanent."""
    risk: str = ""


class Seen(NamedTuple):
    """A problem that a check found in the values that it read. Empty fields have the check's default."""

    severity: Severity
    text: str
    rows: tuple[ConfigurationNeeds, ...] = ()
    """The affected rows of the suite; empty: all rows that the check names."""
    command: str = ""


def _no_change(_reading: object, _needs: Needs) -> tuple[Setting, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Check(Generic[R]):
    """One check of the machine. ``name`` is the name of its file."""

    name: str
    looks: str
    """The files or values that the check reads, as docs/reference/checks.md shows them."""
    why: str
    rows: str
    """The rows that the check usually affects."""
    read: Callable[[Root], R | None]
    """Reads the files. None: this machine does not have them, or hides them."""
    sees: Callable[[R, Needs], Seen | None]
    """Returns the problem in the values that were read, or None. A pure function."""
    command: str = ""
    """The command that fixes the problem. A check with changes (:class:`Setting`) gets its command from them."""
    persist: str = ""
    risk: str = ""
    change: Callable[[R, Needs], tuple[Setting, ...]] = _no_change

    def look(self, root: Root) -> R | None:
        """Return the values that the check reads; None: the files are missing, damaged or hidden."""
        try:
            return self.read(root)
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def judge(self, reading: R, needs: Needs = GENERAL) -> Finding | None:
        """Return the finding for these needs; None: there is no problem."""
        seen = self.sees(reading, needs)
        if seen is None:
            return None
        changes = self.changes(reading, needs)
        lasting = "; ".join(
            f"echo '{each.target} = {each.value}' >> {SYSCTL_FILE}" for each in changes if each.kind == "sysctl"
        )
        return Finding(
            check=self.name,
            severity=seen.severity,
            seen=seen.text,
            why=self.why,
            rows=self.rows if needs.general or not seen.rows else list_rows(seen.rows),
            remedy=seen.command or self.command or "; ".join(each.command for each in changes),
            persist=self.persist or lasting,
            risk=self.risk,
        )

    @property
    def reversible(self) -> bool:
        """True if a program can fix the finding and undo the fix."""
        return self.change is not _no_change

    def changes(self, reading: R, needs: Needs = GENERAL) -> tuple[Setting, ...]:
        """Return the settings that a program could change and restore; empty: nothing is wrong, or none can."""
        return self.change(reading, needs) if self.sees(reading, needs) else ()


def sysctl(name: str) -> Callable[[Root], int | None]:
    """Return a function that reads a sysctl with one number."""
    return lambda root: root.number(f"proc/sys/{name.replace('.', '/')}")


def too_low(name: str, value: int, least: int, rows: Sequence[ConfigurationNeeds]) -> Seen | None:
    """Return a problem if the limit ``value`` is below ``least``, which ``rows`` need; None: there is no problem."""
    return Seen("limits", f"{name} is {value}; needed: {least}", tuple(rows)) if rows and value < least else None
