"""Check how deep idle processors sleep."""

from typing import NamedTuple

from middlemark.model.setting import Setting
from middlemark.system.check import Check, Seen
from middlemark.system.needs import Needs
from middlemark.system.root import Root

LATENCY = "/dev/cpu_dma_latency"
NOT_HELD_US = 2_000_000_000
LONG_US = 10


class Idle(NamedTuple):
    """The deepest enabled idle state, and the longest wake-up latency in µs that other processes allow."""

    name: str
    latency_us: int
    held_us: int


def held_us(root: Root) -> int:
    """Return the longest wake-up latency that other processes allow, in µs."""
    raw = root.bytes(LATENCY[1:])
    return int.from_bytes(raw[:4], "little", signed=True) if raw else NOT_HELD_US


def _read(root: Root) -> Idle | None:
    held = held_us(root)
    states = [
        Idle(root.text(f"{each}/name") or "", latency, held)
        for each in root.names("sys/devices/system/cpu/cpu0/cpuidle/state[0-9]*")
        if not root.number(f"{each}/disable") and (latency := root.number(f"{each}/latency")) is not None
    ]
    return max(states, key=lambda each: each.latency_us, default=None)


def _sees(idle: Idle, needs: Needs) -> Seen | None:
    if not needs.sleeping or idle.latency_us <= LONG_US or idle.held_us <= LONG_US:
        return None
    text = f"idle processors may enter the state {idle.name}, from which a wake-up takes {idle.latency_us} µs"
    return Seen("limits", text, needs.sleeping)


CHECK = Check(
    name="cpuidle",
    looks=f"the states of `cpuidle`, and `{LATENCY}`",
    why="a message for a sleeping processor waits until the processor is awake; the rarer the messages are, the "
    "deeper the processor sleeps",
    rows="all that do not poll; low rates most of all",
    read=_read,
    sees=_sees,
    persist="processor.max_cstate=1 intel_idle.max_cstate=1 on the kernel's command line",
    risk="more heat while idle, and less turbo",
    change=lambda _, __: (Setting(LATENCY, "0"),),
)
