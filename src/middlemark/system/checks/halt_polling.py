"""Check whether idle virtual processors halt."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import NO_REMEDY, Check, Remedy, Seen
from middlemark.system.checks.cpuidle import LATENCY, held_us
from middlemark.system.needs import Needs
from middlemark.system.root import Root


class Halting(NamedTuple):
    """True if there is a hypervisor, whether idle processors already poll, and whether a setting can make them."""

    virtual: bool
    polls: bool
    can_poll: bool


def is_virtual(root: Root) -> bool | None:
    """True if the processor reports a hypervisor; None if it does not say."""
    flags = root.fields("proc/cpuinfo").get("flags")
    return "hypervisor" in flags.split() if flags else None


def _read(root: Root) -> Halting | None:
    virtual = is_virtual(root)
    if virtual is None:
        return None
    polls = "idle=poll" in (root.text("proc/cmdline") or "").split() or held_us(root) == 0
    return Halting(virtual, polls, root.text("sys/devices/system/cpu/cpu0/cpuidle/state0/name") == "POLL")


def _sees(found: Halting, needs: Needs) -> Seen | None:
    if not found.virtual or found.polls or not needs.sleeping:
        return None
    without = NO_REMEDY if found.can_poll else Remedy(command="middlemark run … --awake")
    return Seen(
        "limits", "this is a virtual machine, whose processors halt when they are idle", needs.sleeping, without
    )


def _change(found: Halting, _needs: Needs) -> tuple[Setting, ...]:
    return (Setting(LATENCY, "0"),) if found.can_poll else ()


CHECK = Check(
    name="halt_polling",
    family="processors",
    looks=f"the flag `hypervisor`, `idle=poll` on the kernel's command line, and `{LATENCY}`",
    why="each wake-up then goes through the hypervisor: blocking round trips are bimodal, and take several "
    "times as long as they need",
    rows="all that do not poll",
    read=_read,
    sees=_sees,
    remedy=Remedy(
        persist="idle=poll on the guest's kernel command line; halt_poll_ns of the host's module kvm",
        risk="idle processors spin: heat, and time that the host cannot give to others; latencies are then those of a "
        "machine that never idles",
    ),
    change=_change,
)
