"""What came of one trial: the values that are kept, one line of ``trials.jsonl`` each."""

import msgspec


class Doubt(msgspec.Struct, frozen=True):
    """A doubt with its advice; it travels with the row it belongs to."""

    code: str
    text: str
    advice: str = ""


class Failure(msgspec.Struct, frozen=True):
    """Why a trial gave nothing: crashed, hung, unmatched, silent, refused, companion, disk, configure or internal."""

    code: str
    text: str
    advice: str = ""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of the measured part of the trial, as the ping counted them; damage that pongs found is added."""

    sent: int = 0
    received: int = 0
    """Replies that arrived, the late ones included, duplicates not."""
    lost: int = 0
    """Expected replies that never arrived."""
    late: int = 0
    """Replies that arrived after their reply timeout; they are no samples."""
    duplicated: int = 0
    reordered: int = 0
    damaged: int = 0
    publish_failed: int = 0


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """The ruler: ``source`` is ``tsc``, ``cntvct`` or ``clock_monotonic``; cost and resolution as measured."""

    source: str
    ticks_per_second: float
    cost_ns: float
    resolution_ns: float


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """Where a worker really was, read back from the kernel."""

    role: str
    pid: int
    cpus: tuple[int, ...]
    policy: str
    priority: int
    mlocked: bool


class Segment(msgspec.Struct, frozen=True):
    """A file under /dev/shm that a worker had mapped while it measured, and the bytes mapped."""

    name: str
    bytes: int


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What moved between the start and the end of the measuring, as the kernel counted it for this namespace."""

    udp_datagrams: int
    tcp_segments: int
    loopback_bytes: int
    segments: tuple[Segment, ...] = ()
    unix_sockets: int = 0
    """Connected Unix sockets that the workers shared at the end (control pipes excluded)."""
    udp_sockets: int | None = None
    """UDP sockets that the workers had at the end; None: not counted."""
    tcp_sockets: int | None = None
    """Likewise their TCP connections; listening sockets do not count."""


class TrialOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One line of ``trials.jsonl``. What was not measured is None."""

    cell: int
    number: int
    order: int
    started: str
    """UTC, ISO 8601."""
    seconds: float
    """From the first process to the last one reaped."""
    failed: Failure | None = None
    samples_file: str | None = None
    """Relative to the run's folder."""
    samples: int = 0
    warmup_samples: int = 0
    measured_s: float | None = None
    counts: Counts | None = None
    discovery_ns: int | None = None
    first_sample_ns: int | None = None
    """From starting the first worker to the beginning of the first measured round trip, warm-up excluded."""
    clock: Clock | None = None
    placed: tuple[Placed, ...] = ()
    version: str | None = None
    carried_by: str | None = None
    """shared-memory, udp, tcp, unix-socket, process-memory; None when the evidence does not say."""
    evidence: Evidence | None = None
    warnings: tuple[Doubt, ...] = ()
    notes: tuple[str, ...] = ()
