"""Whether virtual processors halt when they are idle."""

from typing import NamedTuple

from middlemark.system.check import Check, Remedy, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root


class Halting(NamedTuple):
    """Whether a hypervisor is there, and the kernel never halts."""

    virtual: bool
    polls: bool


def is_virtual(root: Root) -> bool | None:
    """Whether the processor says that a hypervisor is there; None where it does not say."""
    flags = root.fields("proc/cpuinfo").get("flags")
    return "hypervisor" in flags.split() if flags else None


def _read(root: Root) -> Halting | None:
    virtual = is_virtual(root)
    return None if virtual is None else Halting(virtual, "idle=poll" in (root.text("proc/cmdline") or "").split())


def _sees(found: Halting, needs: Needs) -> Seen | None:
    if not found.virtual or found.polls or not needs.sleeping:
        return None
    return Seen("limits", "this is a virtual machine, whose processors halt when they are idle", needs.sleeping)


CHECK = Check(
    name="halt_polling",
    family="processors",
    looks="the flag `hypervisor`, and `idle=poll` on the kernel's command line",
    why="each wake-up then goes through the hypervisor: blocking round trips have several speeds, and take twice as "
    "long as they need",
    rows="all that do not poll",
    read=_read,
    sees=_sees,
    remedy=Remedy(
        command="middlemark run … --awake",
        persist="idle=poll on the guest's kernel command line; halt_poll_ns of the host's module kvm",
        risk="for telling middlewares apart: latencies are then those of a machine that never idles, and the p99 of "
        "middlewares with threads of their own may rise",
    ),
)
