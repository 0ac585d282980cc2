"""The records of a long trial: one line of ``records.jsonl`` for each worker and interval."""

from typing import Annotated

import msgspec
from msgspec import Meta

from middlemark.model.protocol import Count, Index, RoleKind

PEAK_NS = 1_000_000
"""The longest latency of a report is a peak if it is at least this long, and ``PEAK_TIMES`` times the median."""
PEAK_TIMES = 10


class Peak(msgspec.Struct, frozen=True, array_like=True):
    """The longest latency between two reports of a worker, which are about a second apart."""

    at_s: float
    """End of the time between the reports, in s since the worker began to measure."""
    longest_ns: Count
    machine_ns: Count | None
    """Time of the same second in which the worker's threads waited for a processor, or the hypervisor ran another
    guest; None: the kernel does not report it."""


class RoleRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One role in one interval. Counters are changes within the interval. None: the role has no such figure."""

    role: RoleKind
    index: Index
    sent: Count | None = None
    received: Count | None = None
    samples: Count = 0
    """Number of latencies that the next four fields describe."""
    p50_ns: float | None = None
    p99_ns: float | None = None
    """Accurate to 0.4 %; also ``p50_ns``."""
    max_ns: Count | None = None
    peaks: tuple[Peak, ...] = ()


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One worker in one interval. Counters are changes within the interval; sizes are values at its end."""

    order: Count
    """The trial's position in the run."""
    started: str
    """The time at which the trial began. A trial that was killed and measured again has several."""
    who: str
    at_s: Annotated[float, Meta(ge=0)]
    """End of the interval, in s since the worker began to measure."""
    seconds: Annotated[float, Meta(gt=0)]
    roles: tuple[RoleRecord, ...]
    user_ns: Count
    system_ns: Count
    voluntary_switches: Count
    involuntary_switches: Count
    rss_bytes: Count
    """Resident memory without the bench's own samples."""
    private_bytes: Count | None = None
    """The part of ``rss_bytes`` that belongs to no file and to no other process; None: not reported."""
    shm_bytes: Count | None = None
    """Used bytes of /dev/shm, which all processes of the machine share; None: the trial runs on another machine."""
    descriptors: Count | None = None
    threads: Count
