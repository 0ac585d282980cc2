"""Disturbances by the machine during a trial, from the witness and the kernel's counters.

The outcome of the trial contains these values.
"""

import msgspec

from middlemark.model.protocol import Other, Still


class Switches(msgspec.Struct, frozen=True, kw_only=True):
    """Switches of the roles' processors to threads of other processes, from the kernel's records."""

    scope: str
    """``processors``: every switch is recorded. ``workers``: only switches that preempted a worker's thread, without
    the name of the other thread."""
    complete: bool
    """True if no record was lost."""
    others_ns: tuple[tuple[int, int], ...]
    """(processor, ns in which threads of other processes ran on the processor)."""
    others: tuple[Other, ...]
    """The threads of other processes that ran longest."""
    own_ns: int = 0
    """The part of ``others_ns`` that the bench's own launcher and witness took."""
    spells: tuple[tuple[int, int, int], ...] = ()
    """(begin in ns since ``from_ns``, length in ns, processor) of the longest times of other threads, in order
    of time."""
    shorter: int = 0
    """Number of times of other threads that are not in ``spells``."""
    longest_of_the_shorter_ns: int = 0


class Processor(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of the kernel's counters of one processor (/proc/stat, in steps of a clock tick, usually 10 ms)."""

    cpu: int
    steal_ns: int
    """Time in which the hypervisor ran another guest."""
    irq_ns: int
    softirq_ns: int
    softirqs: dict[str, int] = {}
    """Number of softirqs by kind (/proc/softirqs); kinds without softirqs are left out."""


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of the kernel's counters between the first measured message and the end."""

    seconds: float
    processors: tuple[Processor, ...]
    pressure_some_ns: int | None
    """Time in which some process on this machine waited for a processor (/proc/pressure/cpu)."""
    pressure_full_ns: int | None
    throttled: int | None
    """Number of periods in which this control group had used up its share."""
    throttled_ns: int | None
    group: str = ""
    """Folder of the control group; empty: unknown."""
    rt_runtime_us: int | None = None
    """Time in each ``rt_period_us`` that real-time threads may run: the lower limit of the group and the machine. None:
    no limit, or unknown."""
    rt_period_us: int | None = None
    rt_limit: str = ""
    """The setting that imposes the limit."""


class Witnessed(msgspec.Struct, frozen=True, kw_only=True):
    """Disturbances by the machine during one trial. ``absent``: name of a field that is None → the reason."""

    cpus: tuple[int, ...]
    """Processors of the roles."""
    pinned: bool
    """True if each role was pinned to one of ``cpus``. Otherwise ``cpus`` are all processors that the roles may use."""
    from_ns: int
    """CLOCK_MONOTONIC of the first measured message."""
    to_ns: int
    begins_ns: tuple[int, ...]
    """An entry for each sender on this host, CLOCK_MONOTONIC; 0: the sender sent nothing. For a ping or a client: the
    instant at which the ``begin_ns`` of its samples is 0. For a publisher: its first message."""
    moved: Moved | None = None
    switches: Switches | None = None
    before: tuple[Still, ...] | None = None
    after: tuple[Still, ...] | None = None
    delay_ns: int | None = None
    """Time that the roles' threads were runnable but another thread had the processor; the sum over threads
    (schedstat)."""
    middleware_delay_ns: int | None = None
    """``delay_ns`` of the middleware's own threads that lived until the end."""
    voluntary: int | None = None
    """Number of times that a worker's thread went to sleep."""
    involuntary: int | None = None
    absent: dict[str, str] = {}
