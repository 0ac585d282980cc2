"""Check whether a cap limits the frequency of the processors."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root


class Cap(NamedTuple):
    """The highest allowed frequency of one processor in kHz, and the file with it."""

    file: str
    allowed: int
    possible: int


def _read(root: Root) -> tuple[Cap, ...]:
    found = []
    for name in root.names("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_max_freq"):
        allowed, possible = root.number(name), root.number(name.replace("scaling_max", "cpuinfo_max"))
        if allowed and possible and allowed < possible:
            found.append(Cap(name, allowed, possible))
    return tuple(found)


def _sees(caps: tuple[Cap, ...], _: Needs) -> Seen | None:
    if not caps:
        return None
    text = f"{len(caps)} processors are capped at {caps[0].allowed // 1000} of {caps[0].possible // 1000} MHz"
    return Seen("limits", text)


CHECK = Check(
    name="max_freq",
    looks="`cpufreq/scaling_max_freq`, compared with `cpuinfo_max_freq`",
    why="everything takes longer than the processor needs at its full frequency",
    rows="all",
    read=_read,
    sees=_sees,
    persist="remove the cap where it was set: a power profile, tlp, thermald",
    risk="more heat",
    change=lambda caps, _: tuple(Setting(f"/{each.file}", str(each.possible)) for each in caps),
)
