"""Check which governor chooses the frequency of the processors."""

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

PATTERN = "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"
STEADY = ("performance", "userspace")


def governors(root: Root) -> dict[str, str]:
    """Return file → governor of its processor; empty: the kernel has no governors."""
    return {name: text for name in root.names(PATTERN) if (text := root.text(name))}


def _sees(found: dict[str, str], _: Needs) -> Seen | None:
    others = [each for each in found.values() if each not in STEADY]
    if not others:
        return None
    names = ", ".join(sorted(set(others)))
    return Seen("falsifies", f"{len(others)} of {len(found)} processors have the governor {names}")


CHECK = Check(
    name="governor",
    looks="`cpufreq/scaling_governor` of each processor",
    why="the frequency follows the load: a candidate that works more gets a higher clock, and a role that wakes up "
    "starts at the lowest frequency",
    rows="all; low rates most of all",
    read=lambda root: governors(root) or None,
    sees=_sees,
    command="echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    persist="echo 'GOVERNOR=performance' > /etc/default/cpufrequtils, or a unit that runs the command",
    risk="more heat and, on a battery, a shorter running time",
    change=lambda found, _: tuple(
        Setting(f"/{name}", "performance") for name, governor in found.items() if governor not in STEADY
    ),
)
