"""What the machine did when it was tried."""

import msgspec


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of a few seconds, by the raw transports and the witness. None: not measured here; ``absent`` says why."""

    line_ns: float | None = None
    """A line of memory between two processors, there and back."""
    wake_up_polled_ns: float | None = None
    """From one role to another that polls, at 100 messages a second."""
    wake_up_asleep_ns: float | None = None
    """Likewise, to one that sleeps."""
    loopback_udp_ns: float | None = None
    """A round trip of 64 bytes, the roles asleep."""
    loopback_tcp_ns: float | None = None
    memory_bytes_per_s: float | None = None
    """Copied by one processor, 16 MiB at a time: from memory to memory."""
    gaps_hz: float | None = None
    """How often a second a spinning thread stands still for 1 µs or more: interrupts, hypervisor, other threads."""
    longest_gap_ns: float | None = None
    timer_late_ns: float | None = None
    """How much later than asked a sleep of 0.2 ms ends, on average."""
    clock_ns: float | None = None
    """What one reading of the clock costs."""
    absent: tuple[str, ...] = ()
