"""Read the costs of processes from lines of ddsperf: ``rss:7.6MB vcsw:19442 ivcsw:18193 recvUC:11%+26%``."""

import re
from collections.abc import Iterable

from middlemark.imports.lines import number
from middlemark.model.outcome import RunWarning, ThreadCost, WorkerCost

_LINE = re.compile(
    rb"\[(\d{1,10})\] +(\d{1,12}[.,]\d{1,9}) +(?:@\S*:(\d{1,10}) )?rss:(\d{1,9}(?:[.,]\d)?)(MB|kB) "
    rb"vcsw:(\d{1,12}) ivcsw:(\d{1,12})((?: [^ :\[\]]+:\d{1,6}%\+\d{1,6}%)*)"
)
_THREAD = re.compile(rb" ([^ :]+):(\d+)%\+(\d+)%")
_BYTES = {b"MB": 1 << 20, b"kB": 1 << 10}
_NS = 1_000_000_000


class _Process:
    """The costs of one process, summed over its lines."""

    def __init__(self) -> None:
        self.before: float | None = None
        self.seconds = self.voluntary = self.involuntary = 0.0
        self.rss = self.peak = 0
        self.user = self.system = 0.0
        self.threads: dict[str, float] = {}

    def add(self, at: float, rss: int, switches: tuple[int, int], threads: Iterable[tuple[str, float, float]]) -> None:
        since = at - self.before if self.before is not None else min(at, 1.0)
        if since <= 0:
            return
        self.before = at
        self.seconds += since
        self.rss, self.peak = rss, max(self.peak, rss)
        self.voluntary += switches[0] * since  # the tool prints switches per second
        self.involuntary += switches[1] * since
        for name, user, system in threads:
            self.user += user * since
            self.system += system * since
            self.threads[name] = self.threads.get(name, 0.0) + (user + system) * since

    def cost(self, pid: int) -> WorkerCost:
        """Return the costs as a worker's costs. A cost is None if no line contains it."""
        return WorkerCost(
            who=f"process {pid}",
            pid=pid,
            seconds=self.seconds,
            rss_bytes=self.rss,
            peak_rss_bytes=self.peak,
            user_ns=round(self.user * _NS),
            system_ns=round(self.system * _NS),
            voluntary_switches=round(self.voluntary),
            involuntary_switches=round(self.involuntary),
            minor_faults=None,
            major_faults=None,
            threads=tuple(
                ThreadCost(name=name, threads=None, cpu_ns=round(used * _NS))
                for name, used in sorted(self.threads.items())
            ),
        )


class Costs:
    """The cost lines of a log.

    A process prints its own costs, and also its peers' costs with the prefix ``@host:pid``.
    """

    def __init__(self) -> None:
        """Create the costs without any line."""
        self._processes: dict[tuple[int, int], _Process] = {}
        """Costs by the PIDs of the measured process and of the process that printed the line."""

    def __len__(self) -> int:
        """Return the number of pairs of a measured process and a printing process."""
        return len(self._processes)

    def read(self, line: bytes) -> bool:
        """Read a line. Returns False if the line has no costs."""
        found = _LINE.fullmatch(line)
        if found is None:
            return False
        by, at, peer, rss, unit, voluntary, involuntary, threads = found.groups()
        self._processes.setdefault((int(peer or by), int(by)), _Process()).add(
            number(at),
            round(number(rss) * _BYTES[unit]),
            (int(voluntary), int(involuntary)),
            [
                (name.decode(errors="backslashreplace"), int(user) / 100, int(system) / 100)
                for name, user, system in _THREAD.findall(threads)
            ],
        )
        return True

    def has_own(self, pid: int) -> bool:
        """Say whether the process printed its own costs."""
        return (pid, pid) in self._processes

    def costs_of(self, pid: int, *, only_row: bool) -> tuple[WorkerCost, ...]:
        """Return the costs of the process and of the peers that it printed.

        ``only_row``: return the costs of all processes in the log.
        """
        found = {}
        for (costs_of, by), process in sorted(self._processes.items()):
            if (only_row or pid in (costs_of, by)) and (costs_of not in found or costs_of == by):
                found[costs_of] = process.cost(costs_of)
        return tuple(found.values())


def cost_warnings(costs: tuple[WorkerCost, ...]) -> tuple[RunWarning, ...]:
    """Return the warnings about these costs."""
    if not costs:
        return ()
    found = [
        RunWarning(
            "cost-in-per-cents",
            "its processor time is the sum of its threads' times, and ddsperf rounds each to a whole per cent of a "
            "second",
            "threads that use less than half a per cent are missing",
        )
    ]
    if len(costs) == 1:
        found.append(
            RunWarning(
                "cost-of-one-process",
                f"processor time, memory and switches include only process {costs[0].pid}",
                "rows measured here include all processes; run ddsperf with -c to print the peers' costs",
            )
        )
    return tuple(found)
