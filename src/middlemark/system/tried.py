"""Results of a short test of the machine."""

import msgspec


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """Results of a short test with the raw transports and the witness. None: not measured, as ``absent`` explains."""

    line_ns: float | None = None
    """The round trip of a cache line between two processors."""
    wake_up_polled_ns: float | None = None
    """The time to wake a role that polls, at 100 messages a second."""
    wake_up_asleep_ns: float | None = None
    """The time to wake a role that sleeps, at 100 messages a second."""
    loopback_udp_ns: float | None = None
    """The time of a round trip of 64 bytes between roles that sleep."""
    loopback_tcp_ns: float | None = None
    memory_bytes_per_s: float | None = None
    """The rate in bytes per second at which one processor copies 16 MiB from memory to memory."""
    gaps_hz: float | None = None
    """How often per second interrupts, the hypervisor or other threads stop a spinning thread for 1 µs or more."""
    longest_gap_ns: float | None = None
    timer_late_ns: float | None = None
    """How much later than requested a sleep of 0.2 ms ends, on average."""
    clock_ns: float | None = None
    """The cost of one clock reading."""
    absent: tuple[str, ...] = ()
