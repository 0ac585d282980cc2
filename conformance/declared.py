"""Reads each adapter's ``conformance.toml``: trials that are left out, and whether fewer trials are enough."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from middlemark.model.version import adapter_of

if TYPE_CHECKING:
    from candidate import Candidate

ADAPTERS = Path(__file__).resolve().parent.parent / "adapters"


class LeftOut(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Trials that are not measured: a ``leave_out`` in ``conformance.toml``. An absent key includes all levels."""

    because: str
    reproduce: str
    """Arguments of ``./middlemark`` with which the fault occurs; some need a busy machine (``scripts/busy 4``)."""
    refused: bool = False
    """True if the command is refused with a message that contains the reason."""
    transports: tuple[str, ...] = ()
    pattern: str | None = None
    reliability: str | None = None
    receive: str | None = None
    echo: str | None = None
    loan: bool | None = None
    processes: int | None = None
    security: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    larger_than: int | None = None
    """Leave out only messages of more than this number of bytes."""
    several_publishers: bool = False
    """True: leave out only streams with more than one publisher, and calls of more than one client."""
    more_than_two: bool = False
    """True: leave out only trials with more than two workers."""
    together_larger_than_max: bool = False
    """True: leave out only messages that are larger than the transport's maximum together with their replies."""

    def largest(self, who: "Candidate") -> int:
        """Return the size in bytes of the largest message that this entry allows.

        The result is the transport's maximum if the entry has no limit, or applies to other transports or to one
        ``echo`` only.
        """
        if (self.transports and who.transport.name not in self.transports) or self.echo is not None:
            return who.transport.max_bytes
        if self.together_larger_than_max:
            return who.transport.max_bytes // 2
        return who.transport.max_bytes if self.larger_than is None else self.larger_than

    def covers(self, who: "Candidate", factors: Mapping[str, Any]) -> bool:
        """Return true if a trial with these factors is left out."""
        publishers, subscribers = factors.get("publishers", 1), factors.get("subscribers", 1)
        together = factors["size"] * (1 + subscribers)
        return (
            (not self.transports or who.transport.name in self.transports)
            and self.pattern in (None, factors["pattern"])
            and self.reliability in (None, factors["reliability"])
            and self.receive in (None, factors.get("receive"))
            and self.echo in (None, factors.get("echo"))
            and self.loan in (None, factors.get("loan", False))
            and self.processes in (None, factors.get("processes"))
            and (not self.security or factors.get("security", "none") in self.security)
            and (not self.via or factors.get("via", who.transport.via[0]) in self.via)
            and (self.larger_than is None or factors["size"] > self.larger_than)
            and (not self.several_publishers or publishers > 1)
            and (not self.more_than_two or publishers + subscribers > 2)
            and (not self.together_larger_than_max or together > who.transport.max_bytes)
        )


class Conformance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An adapter's ``conformance.toml``."""

    leave_out: tuple[LeftOut, ...] = ()
    levels_once: str = ""
    """Why ``pairs`` measures each level once, and uses one transport in tests that vary few factors.

    Empty: it measures every pair, over every transport.
    """


@functools.cache
def declared(adapter: str) -> Conformance:
    """Return the adapter's ``conformance.toml``; an absent file declares nothing."""
    path = ADAPTERS / adapter_of(adapter) / "conformance.toml"
    found = msgspec.toml.decode(path.read_bytes(), type=Conformance) if path.is_file() else Conformance()
    if "@" not in adapter:
        return found
    return msgspec.structs.replace(found, levels_once="its adapter is the same code")


def left_out(adapter: str) -> tuple[LeftOut, ...]:
    """Return the ``leave_out`` entries of the adapter's ``conformance.toml``."""
    return declared(adapter).leave_out


def why_left_out(who: "Candidate", **factors: Any) -> str | None:
    """Return the reason why a trial with these factors (pattern, size, …) is left out; None if it is measured."""
    return next((each.because for each in left_out(who.worker.description.name) if each.covers(who, factors)), None)
