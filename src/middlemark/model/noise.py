"""What the machine did while a trial ran, as the witness and the kernel's counters tell it. Kept with the outcome."""

import msgspec

from middlemark.model.protocol import Other, Still


class Switches(msgspec.Struct, frozen=True, kw_only=True):
    """The kernel's context switches on the roles' processors, as far as they gave these to others than the workers."""

    scope: str
    """``processors``: all of them; ``workers``: only where a worker's thread was pushed off, and not by whom."""
    complete: bool
    """No record was lost."""
    others_ns: tuple[tuple[int, int], ...]
    """(processor, ns that others had it)."""
    others: tuple[Other, ...]
    """Those that had the most."""
    own_ns: int = 0
    """Of it, the bench's own launcher and witness."""
    spells: tuple[tuple[int, int, int], ...] = ()
    """(begin in ns since ``from_ns``, length in ns, processor): the longest, in order of time."""
    shorter: int = 0
    """How many more there were."""
    longest_of_the_shorter_ns: int = 0


class Processor(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernel's counters of one processor moved by (/proc/stat, in steps of a clock tick, 10 ms as a rule)."""

    cpu: int
    steal_ns: int
    """The hypervisor ran somebody else."""
    irq_ns: int
    softirq_ns: int
    softirqs: dict[str, int] = {}
    """How many, by kind (/proc/softirqs); kinds that did not move are left out."""


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernel's counters moved by between the first message measured and the end."""

    seconds: float
    processors: tuple[Processor, ...]
    pressure_some_ns: int | None
    """Somebody on this machine waited for a processor (/proc/pressure/cpu)."""
    pressure_full_ns: int | None
    throttled: int | None
    """Periods in which this control group had used up its share."""
    throttled_ns: int | None
    group: str = ""
    """The folder of that group; empty: it is not known."""
    rt_runtime_us: int | None = None
    """Of every ``rt_period_us``, what real-time threads may have, by the tightest of the group's limits and the
    machine's; None: all, or it is not known."""
    rt_period_us: int | None = None
    rt_limit: str = ""
    """Which setting says so."""


class Witnessed(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the machine during one trial. What is None has its reason in ``absent``, by the field's name."""

    cpus: tuple[int, ...]
    """The roles' processors."""
    pinned: bool
    """Each role had one of them to itself by name; otherwise these are all that it may have used."""
    from_ns: int
    """CLOCK_MONOTONIC of the first message measured."""
    to_ns: int
    begins_ns: tuple[int, ...]
    """Of each ping or client: what ``begin_ns`` of its samples counts from. A stream's samples tell it themselves."""
    moved: Moved | None = None
    switches: Switches | None = None
    before: tuple[Still, ...] | None = None
    after: tuple[Still, ...] | None = None
    delay_ns: int | None = None
    """The roles' own threads could have run and another had the processor, all together (schedstat)."""
    middleware_delay_ns: int | None = None
    """Likewise the middleware's own threads, those that lived until the end."""
    voluntary: int | None = None
    """Times that a worker's thread went to sleep."""
    involuntary: int | None = None
    absent: dict[str, str] = {}
