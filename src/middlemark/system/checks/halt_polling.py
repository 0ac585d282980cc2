"""Check whether idle virtual processors halt."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.checks.cpuidle import LATENCY, held_us
from middlemark.system.needs import Needs
from middlemark.system.root import Root


class Halting(NamedTuple):
    """Three booleans: there is a hypervisor, idle processors already poll, and a setting can make them poll."""

    virtual: bool
    polls: bool
    can_poll: bool


def is_virtual(root: Root) -> bool | None:
    """Say whether the processor reports a hypervisor; None: it does not report its features."""
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
    command = "" if found.can_poll else "middlemark run … --awake"
    return Seen(
        "limits", "this is a virtual machine, whose processors halt when they are idle", needs.sleeping, command
    )


def _change(found: Halting, _needs: Needs) -> tuple[Setting, ...]:
    return (Setting(LATENCY, "0"),) if found.can_poll else ()


CHECK = Check(
    name="halt_polling",
    looks=f"the flag `hypervisor`, `idle=poll` on the kernel's command line, and `{LATENCY}`",
    why="each wake-up goes through the hypervisor: blocking round trips are bimodal and take several times as long as "
    "necessary",
    rows="all that do not poll",
    read=_read,
    sees=_sees,
    persist="idle=poll on the guest's kernel command line; halt_poll_ns of the host's module kvm",
    risk="idle processors spin: this causes heat and takes time from the host's other machines; the latencies are "
    "valid only for machines whose processors never sleep",
    change=_change,
)
