"""Check whether and how well the time of day of this machine is synchronised."""

import ctypes
from typing import NamedTuple

from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

DAEMONS = ("chronyd", "ptp4l", "phc2sys", "ntpd", "ntpsec", "systemd-timesyn", "timemaster")
"""Names of the daemons' processes, cut off as the kernel does."""
TIME_ERROR = 5


class TimeOfDay(NamedTuple):
    """The result of adjtimex(2), and the daemons that synchronise the clock."""

    state: int
    error_us: int
    keepers: tuple[str, ...]


class _Timex(ctypes.Structure):
    """The first fields of the kernel's ``struct timex``, padded to the size of the struct."""

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
    """Return how well the time of day is synchronised, in words, and by which daemon.

    ``time``: None for this machine's.
    """
    time = time or _read(Root())
    keepers = " and ".join(time.keepers) or "no daemon was found that synchronises the clock"
    if time.state < 0:
        return f"unknown whether synchronised; {keepers}"
    if time.state == TIME_ERROR:
        return f"not synchronised; {keepers}"
    return f"synchronised within {time.error_us / 1e3:.1f} ms, as the kernel estimates; {keepers}"


def _sees(time: TimeOfDay, needs: Needs) -> Seen | None:
    rows = needs.where(lambda row: row.between_clocks)
    if not (rows or needs.general) or time.state != TIME_ERROR:
        return None
    return Seen("limits" if rows else "note", f"the time of day is {synchronised(time)}", rows)


CHECK = Check(
    name="time_sync",
    looks="what the kernel reports (adjtimex), and the daemons that synchronise the clock: chrony, ptp4l, ntpd, …",
    why="clocks that drift apart increase the uncertainty of one-way latencies; if a program compares the times of "
    "two hosts, its result is wrong by the difference of the clocks",
    rows="one-way latencies between hosts",
    read=_read,
    sees=_sees,
    command="systemctl start chrony",
    persist="systemctl enable chrony; ptp4l and phc2sys are 1000 times as exact, if the network cards support them",
    risk="the clock may step when the daemon starts: do not start it during a run",
)
