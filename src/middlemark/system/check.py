"""One look at the machine: what was seen, what it means for which rows, and how it is mended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

import msgspec

from middlemark.model.setting import Setting
from middlemark.system.needs import GENERAL, ConfigurationNeeds, Needs, names_of
from middlemark.system.root import Root

Severity = Literal["falsifies", "limits", "note"]
"""``falsifies``: figures would be of something else than the middleware, or differ from trial to trial.
``limits``: they would be worse than this machine allows. ``note``: worth knowing."""
SEVERITIES = get_args(Severity)
"""The worst first."""
Family = Literal["sockets", "memory", "processors", "surroundings"]
SYSCTL_FILE = "/etc/sysctl.d/90-middlemark.conf"
R = TypeVar("R")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found. Every text is empty where there is nothing to say."""

    check: str
    severity: Severity
    seen: str
    why: str
    rows: str
    """For which it matters."""
    remedy: str = ""
    """A command, where there is one."""
    persist: str = ""
    """How it lasts over a restart of the machine."""
    risk: str = ""


class Remedy(NamedTuple):
    """How it is mended; where it is a :class:`Setting`, the command is that one's."""

    command: str = ""
    persist: str = ""
    risk: str = ""


NO_REMEDY = Remedy()


class Seen(NamedTuple):
    """Something to tell. What is empty is as the check declares it."""

    severity: Severity
    text: str
    rows: tuple[ConfigurationNeeds, ...] = ()
    """Those of the suite that it matters for; none: all of the check's kind."""
    remedy: Remedy = NO_REMEDY


def _no_change(_reading: object, _needs: Needs) -> tuple[Setting, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Check(Generic[R]):
    """One look. ``name`` is its file's."""

    name: str
    family: Family
    looks: str
    """What is looked at, for docs/machine.md."""
    why: str
    rows: str
    """For which it matters, in general."""
    read: Callable[[Root], R | None]
    """None: this machine does not have it, or does not tell."""
    sees: Callable[[R, Needs], Seen | None]
    """Pure."""
    remedy: Remedy = NO_REMEDY
    change: Callable[[R, Needs], tuple[Setting, ...]] = _no_change

    def look(self, root: Root) -> R | None:
        """Read; what is damaged or hidden says nothing."""
        try:
            return self.read(root)
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def judge(self, reading: R, needs: Needs = GENERAL) -> Finding | None:
        """Return what is wrong with that for those needs; None: nothing."""
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
            rows=self.rows if needs.general or not seen.rows else names_of(seen.rows),
            remedy=remedy.command or "; ".join(each.command for each in changes),
            persist=remedy.persist or lasting,
            risk=remedy.risk,
        )

    @property
    def reversible(self) -> bool:
        """Whether a program can do something about it, and take that back."""
        return self.change is not _no_change

    def changes(self, reading: R, needs: Needs = GENERAL) -> tuple[Setting, ...]:
        """Return what a program could do about it and take back; nothing where there is nothing wrong."""
        return self.change(reading, needs) if self.sees(reading, needs) else ()


def sysctl(name: str) -> Callable[[Root], int | None]:
    """Return a reader of a sysctl that is one number."""
    return lambda root: root.number(f"proc/sys/{name.replace('.', '/')}")


def too_low(name: str, value: int, least: int, rows: Sequence[ConfigurationNeeds]) -> Seen | None:
    """Return that a limit is lower than ``least``, which those rows want."""
    return Seen("limits", f"{name} is {value}; wanted: {least}", tuple(rows)) if rows and value < least else None
