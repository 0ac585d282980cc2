"""Check whether the processor's clock rises above its nominal rate while it is cool."""

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

INTEL, OTHERS = "sys/devices/system/cpu/intel_pstate/no_turbo", "sys/devices/system/cpu/cpufreq/boost"


def _read(root: Root) -> tuple[bool, str] | None:
    """Return whether turbo is on, and the file with the setting; None: there is no such setting."""
    for file, on in ((INTEL, 0), (OTHERS, 1)):
        if (value := root.number(file)) is not None:
            return value == on, file
    return None


def _sees(turbo: tuple[bool, str], _: Needs) -> Seen | None:
    return Seen("note", "turbo is on") if turbo[0] else None


CHECK = Check(
    name="turbo",
    looks=f"`/{INTEL}`, or `/{OTHERS}`",
    why="how long turbo lasts depends on the temperature and on other programs: long runs are slower than short runs",
    rows="all; comparisons over hours, and polling",
    read=_read,
    sees=_sees,
    risk="everything is slower without turbo: switch turbo off for comparisons, not on the robot",
    change=lambda turbo, _: (Setting(f"/{turbo[1]}", "1" if turbo[1] == INTEL else "0"),),
)
