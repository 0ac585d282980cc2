"""The witness of a trial: a process that observes the roles' processors before, during and after the trial.

If the witness fails, the trial does not fail. Its result then lacks the observations, and has the reason.
"""

import os
from collections.abc import Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.noise import Switches, Witnessed
from middlemark.model.plan import Limits
from middlemark.model.protocol import (
    AwakeCommand,
    AwakeEvent,
    DoneEvent,
    MeasuringEvent,
    Message,
    ProbeCommand,
    ProbedEvent,
    SeenEvent,
    Still,
    SwitchesCommand,
    WatchCommand,
    WatchingEvent,
)
from middlemark.sites import counters
from middlemark.sites.channel import Awaited, WorkerFailedError, WorkerProcess
from middlemark.sites.processes import Processes

ANSWER_S = 5.0
SHARE = 0.02
"""A probe takes at most this share of warm-up and duration. One probe precedes the trial, one follows it."""
PROBE_NS = 20_000_000
LEAST_PROBE_NS = 2_000_000
UNKNOWN_S = 0.2
"""The duration in s that is assumed for a measurement with a number of samples."""
MOST_CPUS = 16
NO_PROGRAM = "middlemark-witness was not found next to the workers; ./middlemark builds it"
SLEEPS = "the roles sleep until a message arrives, and recording their context switches would slow every round trip"


def probe_ns(limits: Limits) -> int:
    """Return the duration of each of the two probes, in ns."""
    seconds = limits.warmup_s + (UNKNOWN_S if limits.duration_s is None else limits.duration_s)
    return round(min(max(seconds * 1e9 * SHARE, LEAST_PROBE_NS), PROBE_NS))


async def still(program: str, cpus: Sequence[int], duration_ns: int) -> tuple[tuple[Still, ...], str | None]:
    """Probe these processors without a trial. Half of the time is spent asleep.

    Return the results, and the reason if there are none.
    """
    try:
        process = await WorkerProcess.start("witness", [program], {})
    except OSError as error:
        return (), f"{program}: {error.strerror or error}"
    try:
        process.send(ProbeCommand(cpus=tuple(cpus), sleeping=tuple(cpus), duration_ns=duration_ns))
        return (await process.event(ProbedEvent, timeout_s=ANSWER_S)).cpus, None
    except WorkerFailedError as error:
        return (), error.text
    finally:
        await process.finish(1.0)


class Waited(msgspec.Struct, frozen=True, kw_only=True):
    """How long roles waited for a processor, in ns. None: no schedstat, or the roles ended too early."""

    delay_ns: int | None
    middleware_ns: int | None = None
    voluntary: int | None
    involuntary: int | None


class Witness:
    """The witness process of a trial and its observations, from before the first worker until after the last result."""

    def __init__(self, program: str | None, cell: Cell, limits: Limits, roles: Sequence[int | None]) -> None:
        """Create it.

        ``program``: the executable; None: not built. ``roles``: a processor for each role; None: not pinned.
        """
        self.pinned = None not in roles
        usable = sorted(os.sched_getaffinity(0))[:MOST_CPUS]
        self.cpus = tuple(sorted({cpu for cpu in roles if cpu is not None})) if self.pinned else tuple(usable)
        self.absent: dict[str, str] = {}
        self._program = program
        self._polls = cell.receive == "poll"
        self._awake = cell.awake
        self._probe_ns = probe_ns(limits)
        self._process: WorkerProcess | None = None
        self._failure: str | None = None
        self._before: tuple[Still, ...] | None = None
        self._begin: counters.Reading | None = None
        self._end: counters.Reading | None = None
        self._watching = False
        self._measuring = False

    async def look_before(self, running: Processes) -> None:
        """Start the witness as a process of the trial, and probe before any other process of the trial runs."""
        if self._program is None:
            self.absent |= dict.fromkeys(("before", "after", "switches"), NO_PROGRAM)
            return
        try:
            self._process = await WorkerProcess.start("witness", [self._program], {})
        except OSError as error:
            reason = f"{self._program}: {error.strerror or error}"
            self.absent |= dict.fromkeys(("before", "after", "switches"), reason)
            return
        running.witness = self._process
        self._before = await self._probe("before")

    async def keep_awake(self, longest_s: float) -> None:
        """Keep processors from halting until :meth:`conclude`, if the cell requests it. Raises WorkerFailedError.

        A role that polls keeps its own processor awake. A spinning thread would only take time from this role.
        """
        if not self._awake:
            return
        allowed = os.sched_getaffinity(0)
        polling = (set(self.cpus) if self.pinned else allowed) if self._polls else set()
        cpus = tuple(sorted(allowed - polling))
        if not cpus:
            return
        answer = await self._ask("awake", AwakeEvent, AwakeCommand(cpus=cpus, limit_ns=round(longest_s * 1e9)))
        if answer is None or answer.absent is not None:
            why = answer.absent if answer is not None else self.absent.get("awake", self.absent.get("before", ""))
            raise WorkerFailedError("refused", f"the processors cannot be kept awake: {why}", "leave out --awake")

    async def watch(self, running: Processes, carriers: Sequence[int] = ()) -> None:
        """Begin to record the threads on the processors, if the roles poll.

        Roles that sleep cause too many switches to record.
        """
        self._begin = counters.read()
        if not self._polls:
            self.absent.setdefault("switches", SLEEPS)
            return
        pids = [*carriers, *(each.pid for each in running.workers)] + [each.process.pid for each in running.companions]
        answer = await self._ask("switches", WatchingEvent, WatchCommand(cpus=self.cpus, pids=tuple(pids)))
        if answer is None:
            return
        self._watching = answer.scope is not None
        if not self._watching:
            self.absent["switches"] = f"{answer.absent} (sysctl kernel.perf_event_paranoid=0, or run as root)"

    def hear(self, event: Message, *, first: bool) -> None:
        """Read the counters when the measurement begins, and when the ``first`` worker has ended."""
        if isinstance(event, MeasuringEvent) and self._end is None and not self._measuring:
            self._measuring = True
            self._begin = counters.read()
        elif isinstance(event, DoneEvent) and first:
            self._end = counters.read()

    async def conclude(self, *, begins_ns: Sequence[int], to_ns: int, waited: Waited) -> Witnessed | None:
        """Probe again. Return the observations from min(``begins_ns``) to ``to_ns``; None: nothing was measured."""
        begins = [each for each in begins_ns if each]
        if not begins or self._begin is None:
            return None
        from_ns = min(begins)
        switches = await self._switches(from_ns, to_ns) if self._watching else None
        if self._awake:
            await self._ask("awake", AwakeEvent, AwakeCommand())
        after = await self._probe("after") if self._before is not None else None
        change, absent = counters.moved(self._begin, self._end or counters.read(), self.cpus)
        if waited.delay_ns is None:
            absent["delay_ns"] = "the kernel has no schedstat, or the roles ended before the reading"
        return Witnessed(
            cpus=self.cpus,
            pinned=self.pinned,
            from_ns=from_ns,
            to_ns=to_ns,
            begins_ns=tuple(begins_ns),
            moved=change,
            switches=switches,
            before=self._before,
            after=after,
            absent=self.absent | absent,
            delay_ns=waited.delay_ns,
            middleware_delay_ns=waited.middleware_ns,
            voluntary=waited.voluntary,
            involuntary=waited.involuntary,
        )

    async def _probe(self, which: str) -> tuple[Still, ...] | None:
        sleeping = () if self._polls else self.cpus
        command = ProbeCommand(cpus=self.cpus, sleeping=sleeping, duration_ns=self._probe_ns)
        answer = await self._ask(which, ProbedEvent, command)
        return None if answer is None else answer.cpus

    async def _switches(self, from_ns: int, to_ns: int) -> Switches | None:
        answer = await self._ask("switches", SeenEvent, SwitchesCommand(from_ns=from_ns, to_ns=to_ns))
        if answer is None or answer.scope is None or self._process is None:
            return None
        own = (os.getpid(), self._process.pid)
        return Switches(
            scope=answer.scope,
            complete=answer.complete,
            others_ns=tuple((each.cpu, each.others_ns) for each in answer.cpus),
            others=answer.others,
            own_ns=sum(each.ns for each in answer.others if each.pid in own),
            spells=tuple((begin - from_ns, end - begin, cpu) for begin, end, cpu in answer.spells),
            shorter=answer.shorter,
            longest_of_the_shorter_ns=answer.longest_of_the_shorter_ns,
        )

    async def _ask(self, field: str, answer: type[Awaited], command: Message) -> Awaited | None:
        """Return the answer of the witness. None: the witness failed, and ``absent`` has the reason."""
        if self._process is None:
            return None
        if self._failure is not None:
            self.absent[field] = self._failure
            return None
        self._process.send(command)
        try:
            return await self._process.event(answer, timeout_s=ANSWER_S)
        except WorkerFailedError as error:
            self.absent[field] = self._failure = error.text
            return None
