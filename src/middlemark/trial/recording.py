"""Make the records of a long trial from the reports of its workers. The workers report once a second."""

from collections import Counter
from collections.abc import Callable, Sequence

from middlemark.model.outcome import RunWarning
from middlemark.model.protocol import Account, Counts, DoneEvent, MeasuringEvent, ThreadUse
from middlemark.model.record import PEAK_NS, PEAK_TIMES, Peak, Record, RoleRecord
from middlemark.sites.machine_use import MachineUse

LEAST_PART = 0.5
"""The last interval of a trial is recorded if it is at least this part of the others."""
_EXACT_BELOW = 256
_OCTAVE_BITS = 7


class RecordLostError(Exception):
    """A record could not be stored. The text has the path and the reason."""


class Recording:
    """The records of one trial. Its memory does not grow with the trial's duration."""

    def __init__(
        self,
        *,
        order: int,
        started: str,
        every_s: float,
        keep: Callable[[Record], None],
        machine: Callable[[], MachineUse],
    ) -> None:
        """Create it. ``keep``: stores a record, or raises RecordLostError. ``machine``: reads the machine's use."""
        self._order = order
        self._started = started
        self._every_s = every_s
        self._keep = keep
        self._machine = machine
        self._workers: dict[str, _Worker] = {}
        self._lost: str | None = None

    @property
    def warnings(self) -> tuple[RunWarning, ...]:
        """A warning if records could not be stored."""
        if self._lost is None:
            return ()
        text = f"the records of this trial end early: {self._lost}"
        return (RunWarning("records-lost", text, "make room on that disk, and measure again"),)

    def hear(self, who: str, event: Account) -> None:
        """Process a report of the worker ``who``. Never raises."""
        use = self._machine()
        if isinstance(event, MeasuringEvent):
            self._workers.setdefault(who, _Worker(event, use))
            return
        worker = self._workers.get(who)
        if worker is None or self._lost is not None:
            return
        worker.add(event, use)
        least_s = self._every_s * (LEAST_PART if isinstance(event, DoneEvent) else 1.0) - 0.5 * worker.report_s
        if worker.seconds < least_s or not worker.seconds:
            return
        try:
            self._keep(worker.record(self._order, self._started, who))
        except RecordLostError as error:
            self._lost = str(error)


class _Worker:
    """The reports of one worker since its last record."""

    def __init__(self, first: Account, use: MachineUse) -> None:
        self._origin_ns = first.at_ns
        self._begin = self._last = first
        self._use = use
        self._buckets: dict[tuple[str, int], Counter[int]] = {}
        self._longest_ns: dict[tuple[str, int], int] = {}
        self._seconds: dict[tuple[str, int], list[Peak]] = {}
        self.report_s = 0.0
        """Time between the last two reports, in s."""
        self._add_latencies(first, None)

    @property
    def seconds(self) -> float:
        """Time since the last record, in s."""
        return (self._last.at_ns - self._begin.at_ns) / 1e9

    def add(self, event: Account, use: MachineUse) -> None:
        """Add a report."""
        self._add_latencies(event, _machine_ns(self._last, event, self._use, use))
        self.report_s = (event.at_ns - self._last.at_ns) / 1e9
        self._last, self._use = event, use

    def _add_latencies(self, event: Account, machine_ns: int | None) -> None:
        at_s = (event.at_ns - self._origin_ns) / 1e9
        for each in event.latencies:
            key = (each.role, each.index)
            self._buckets.setdefault(key, Counter()).update(dict(each.buckets))
            self._longest_ns[key] = max(self._longest_ns.get(key, 0), each.max_ns)
            if each.max_ns >= PEAK_NS:
                self._seconds.setdefault(key, []).append(Peak(round(at_s, 3), each.max_ns, machine_ns))

    def record(self, order: int, started: str, who: str) -> Record:
        """Return the record of the interval that ends with the last report, and begin the next interval."""
        begin, end = self._begin, self._last
        before, after = begin.resources, end.resources
        record = Record(
            order=order,
            started=started,
            who=who,
            at_s=round((end.at_ns - self._origin_ns) / 1e9, 3),
            seconds=round(self.seconds, 3),
            roles=tuple(self._role(early, late) for early, late in zip(begin.roles, end.roles, strict=True)),
            user_ns=max(0, after.user_ns - before.user_ns),
            system_ns=max(0, after.system_ns - before.system_ns),
            voluntary_switches=max(0, after.voluntary - before.voluntary),
            involuntary_switches=max(0, after.involuntary - before.involuntary),
            rss_bytes=max(0, after.rss_bytes - after.bench_bytes),
            private_bytes=None if after.private_bytes is None else max(0, after.private_bytes - after.bench_bytes),
            shm_bytes=self._use.shm_bytes,
            descriptors=after.descriptors,
            threads=len(after.threads),
        )
        self._begin = end
        self._buckets.clear()
        self._longest_ns.clear()
        self._seconds.clear()
        return record

    def _role(self, early: Counts, late: Counts) -> RoleRecord:
        key = (late.role, late.index)
        counted = sorted(self._buckets.get(key, {}).items())
        p50 = bucket_quantile(counted, 0.5)
        return RoleRecord(
            role=late.role,
            index=late.index,
            sent=_increase(early.sent, late.sent),
            received=_increase(early.received, late.received),
            samples=sum(count for _, count in counted),
            p50_ns=p50,
            p99_ns=bucket_quantile(counted, 0.99),
            max_ns=self._longest_ns.get(key) if counted else None,
            peaks=tuple(
                each for each in self._seconds.get(key, ()) if p50 is not None and each.longest_ns >= PEAK_TIMES * p50
            ),
        )


def bucket_quantile(buckets: Sequence[tuple[int, int]], quantile: float) -> float | None:
    """Return a quantile, by nearest rank, of ascending (lower bound, count). A value is the middle of its bucket.

    None: there are no values.
    """
    total = sum(count for _, count in buckets)
    rank, below = max(1, -(-total * round(quantile * 1000) // 1000)), 0
    for lower, count in buckets:
        below += count
        if below >= rank:
            shift = max(0, lower.bit_length() - 1 - _OCTAVE_BITS) if lower >= _EXACT_BELOW else 0
            return lower + ((1 << shift) - 1) / 2
    return None


def _increase(early: int | None, late: int | None) -> int | None:
    return None if early is None or late is None else max(0, late - early)


def _machine_ns(before: Account, after: Account, early: MachineUse, late: MachineUse) -> int | None:
    """Return the time in which threads waited for a processor, or the hypervisor ran other guests. None: unknown."""
    was = {each.tid: each.waiting_ns for each in before.resources.threads}
    waits = [_waited(each, was) for each in after.resources.threads]
    known = [each for each in waits if each is not None]
    steal = None if early.steal_ns is None or late.steal_ns is None else max(0, late.steal_ns - early.steal_ns)
    return None if not known and steal is None else sum(known) + (steal or 0)


def _waited(thread: ThreadUse, was: dict[int, int | None]) -> int | None:
    before = was.get(thread.tid, 0)
    return None if thread.waiting_ns is None or before is None else max(0, thread.waiting_ns - before)
