"""Results of a short test of the machine."""

import msgspec


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """Results of a short test with the raw transports and the witness.

    None: not measured, for the reason in ``absent``.
    """

    line_ns: float | None = None
    """The round trip of a cache line between two processors, in ns."""
    wake_up_polled_ns: float | None = None
    """The time in ns until a role that polls gets a message, at 100 messages a second."""
    wake_up_asleep_ns: float | None = None
    """The time in ns until a role that sleeps gets a message, at 100 messages a second."""
    loopback_udp_ns: float | None = None
    """The round trip of 64 bytes between roles that sleep, in ns."""
    loopback_tcp_ns: float | None = None
    memory_bytes_per_s: float | None = None
    """The rate in bytes per second at which one processor copies 16 MiB from memory to memory."""
    gaps_hz: float | None = None
    """How often per second a spinning thread is stopped for 1 µs or more: by interrupts, the hypervisor or
    other threads."""
    longest_gap_ns: float | None = None
    timer_late_ns: float | None = None
    """The mean time in ns by which a sleep of 0.2 ms ends too late."""
    clock_ns: float | None = None
    """The cost of reading the clock, in ns."""
    absent: tuple[str, ...] = ()
