"""Check what keeps this machine's time of day, and how well."""

import ctypes
from typing import NamedTuple

from middlemark.system.check import Check, Remedy, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

DAEMONS = ("chronyd", "ptp4l", "phc2sys", "ntpd", "ntpsec", "systemd-timesyn", "timemaster")
"""Process names, as the kernel truncates them."""
TIME_ERROR = 5


class TimeOfDay(NamedTuple):
    """The result of adjtimex(2), and the daemons that keep the time."""

    state: int
    error_us: int
    keepers: tuple[str, ...]


class _Timex(ctypes.Structure):
    """The beginning of the kernel's ``struct timex``, padded to its size."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        *((name, ctypes.c_long) for name in ("offset", "freq", "maxerror", "esterror")),
        ("rest", ctypes.c_char * 256),
    )


def _read(root: Root) -> TimeOfDay:
    timex = _Timex()
    state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex))
    keepers = {name for _, name in root.processes()} & set(DAEMONS)
    return TimeOfDay(state, timex.maxerror, tuple(sorted(keepers)))


def synchronised(time: TimeOfDay | None = None) -> str:
    """Describe how well the time of day is synchronised, and by what. Default: this machine's."""
    time = time or _read(Root())
    keepers = " and ".join(time.keepers) or "no daemon found that keeps it"
    if time.state < 0:
        return f"not known whether synchronised; {keepers}"
    if time.state == TIME_ERROR:
        return f"not synchronised; {keepers}"
    return f"synchronised within {time.error_us / 1e3:.1f} ms by its own account; {keepers}"


def _sees(time: TimeOfDay, needs: Needs) -> Seen | None:
    rows = needs.where(lambda row: row.between_clocks)
    if not (rows or needs.general) or time.state != TIME_ERROR:
        return None
    return Seen("limits" if rows else "note", f"the time of day is {synchronised(time)}", rows)


CHECK = Check(
    name="time_sync",
    family="surroundings",
    looks="what the kernel says (adjtimex) and the processes that keep the time: chrony, ptp4l, ntpd, …",
    why="clocks that drift apart widen the uncertainty of one-way latencies; programs that compare the time of day of "
    "two hosts are wrong by their difference",
    rows="one way between hosts",
    read=_read,
    sees=_sees,
    remedy=Remedy(
        command="systemctl start chrony",
        persist="systemctl enable chrony; ptp4l and phc2sys are 1000 times as exact, if the network cards support them",
        risk="the clock may step when it starts: do not start it during a run",
    ),
)
