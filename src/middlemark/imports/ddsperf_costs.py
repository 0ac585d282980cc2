"""What ddsperf says a process cost, a line a second: ``rss:7.6MB vcsw:19442 ivcsw:18193 recvUC:11%+26%``."""

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
    """What one process cost over all of its lines."""

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
        self.voluntary += switches[0] * since  # they are told a second
        self.involuntary += switches[1] * since
        for name, user, system in threads:
            self.user += user * since
            self.system += system * since
            self.threads[name] = self.threads.get(name, 0.0) + (user + system) * since

    def cost(self, pid: int) -> WorkerCost:
        """Return it as that of a worker. What its lines do not tell is None."""
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
    """The cost lines of a log: of the processes that wrote it, and of those whose lines they print (``@host:pid``)."""

    def __init__(self) -> None:
        """Start with no line."""
        self._told: dict[tuple[int, int], _Process] = {}
        """By the process they are of and the one that printed them."""

    def __len__(self) -> int:
        """Return of how many processes there are lines, those of each other counted."""
        return len(self._told)

    def read(self, line: bytes) -> bool:
        """Take a line. False: it is none of these."""
        found = _LINE.fullmatch(line)
        if found is None:
            return False
        by, at, peer, rss, unit, voluntary, involuntary, threads = found.groups()
        self._told.setdefault((int(peer or by), int(by)), _Process()).add(
            number(at),
            round(number(rss) * _BYTES[unit]),
            (int(voluntary), int(involuntary)),
            [
                (name.decode(errors="backslashreplace"), int(user) / 100, int(system) / 100)
                for name, user, system in _THREAD.findall(threads)
            ],
        )
        return True

    def tells(self, pid: int) -> bool:
        """Whether the process printed what it cost itself."""
        return (pid, pid) in self._told

    def of(self, pid: int, *, alone: bool) -> tuple[WorkerCost, ...]:
        """Return what it cost and those whose lines it printed; where it is ``alone``, everybody in the log."""
        found = {}
        for (of, by), process in sorted(self._told.items()):
            if (alone or pid in (of, by)) and (of not in found or of == by):
                found[of] = process.cost(of)
        return tuple(found.values())


def cost_warnings(costs: tuple[WorkerCost, ...]) -> tuple[RunWarning, ...]:
    """Return what must be said beside them."""
    if not costs:
        return ()
    found = [
        RunWarning(
            "cost-in-per-cents",
            "its processor time is that of its threads' lines, which have whole per cents of a second each",
            "a thread of less than half a per cent is not in it",
        )
    ]
    if len(costs) == 1:
        found.append(
            RunWarning(
                "cost-of-one-process",
                f"processor time, memory and switches are those of process {costs[0].pid} alone",
                "a row measured here has those of all processes: with -c ddsperf prints its peers' too",
            )
        )
    return tuple(found)
