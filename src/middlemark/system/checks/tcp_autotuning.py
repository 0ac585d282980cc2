"""Check whether the kernel may adapt the size of a TCP connection's buffers."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.checks.tcp_rmem import least_maximum
from middlemark.system.needs import Needs
from middlemark.system.root import Root

_USUAL = {"net.ipv4.tcp_rmem": (4096, 131_072), "net.ipv4.tcp_wmem": (4096, 16_384)}
"""Setting → the kernel's default minimum and initial size in bytes."""


class Fixed(NamedTuple):
    """A setting whose minimum equals its maximum."""

    name: str
    maximum: int


def _read(root: Root) -> tuple[Fixed, ...]:
    sizes = {name: root.three(f"proc/sys/{name.replace('.', '/')}") for name in _USUAL}
    return tuple(Fixed(name, each[2]) for name, each in sizes.items() if each is not None and each[0] >= each[2])


def _large_enough(found: tuple[Fixed, ...], needs: Needs) -> tuple[Fixed, ...]:
    """Return the settings with a large enough maximum. Other checks report the others."""
    return tuple(each for each in found if each.maximum >= least_maximum(needs))


def _sees(found: tuple[Fixed, ...], needs: Needs) -> Seen | None:
    rows, fixed = needs.over("tcp"), _large_enough(found, needs)
    if not rows or not fixed:
        return None
    names = " and ".join(each.name for each in fixed)
    have = "has a minimum equal to its maximum" if len(fixed) == 1 else "have a minimum equal to their maximum"
    sizes = " and ".join(dict.fromkeys(str(each.maximum) for each in fixed))
    return Seen("limits", f"{names} {have} ({sizes})", tuple(rows))


def _change(found: tuple[Fixed, ...], needs: Needs) -> tuple[Setting, ...]:
    return tuple(
        Setting(each.name, f"{min(_USUAL[each.name][0], each.maximum)} {min(_USUAL[each.name][1], each.maximum)}"
                f" {each.maximum}")
        for each in _large_enough(found, needs)
    )  # fmt: skip


CHECK = Check(
    name="tcp_autotuning",
    looks="the first and the third value of `net.ipv4.tcp_rmem` and `net.ipv4.tcp_wmem`, which may be equal",
    why="the kernel then cannot adapt the buffer to the connection: old messages wait in a send buffer that is too "
    "large, and a buffer that is too small limits the data in flight",
    rows="tcp: streams, and all messages over a link with delay",
    read=_read,
    sees=_sees,
    risk="a new connection begins with the smaller initial buffer",
    change=_change,
)
