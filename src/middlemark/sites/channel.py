"""A worker process: its control channel, the end of its stderr, and its exit."""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from middlemark import limits
from middlemark.model.protocol import AnyRoleResult, ErrorEvent, Event, Message, QuitCommand, RoleResult
from middlemark.system.root import stat_of

STDERR_END_BYTES = 4096
MOST_LINE_BYTES = 1 << 20
"""The longest line on the control channel, in bytes. The longest line of a witness has a tenth of this length."""
PIPES = 9
"""The number of descriptors for starting a worker: three pipes, the pipe that reports a failed exec, and a pidfd. If
Popen fails for lack of descriptors, it leaks the descriptors that it has opened (Python before 3.11.4)."""
MOST_WAITING = 10_000
"""The most events of a worker in the queue. While the queue is full, the worker's output is not read."""
CONTROL_SILENCE_S = 5.0
"""A worker's control thread sends a tick every second. A worker that is silent for longer is stopped or stuck."""

Awaited = TypeVar("Awaited", bound=Message)


class _Head(msgspec.Struct):
    """The field of an event that determines its type."""

    event: str


# Created at import, before there are threads: the interpreter can crash if several threads create decoders at once.
_HEAD = msgspec.json.Decoder(_Head)
_RESULT = msgspec.json.Decoder(AnyRoleResult)
_EVENT = msgspec.json.Decoder(Event)


class WorkerFailedError(Exception):
    """A worker failed. ``code``: see ``Failure.code``; ``text`` names the role, the pid and the event."""

    def __init__(self, code: str, text: str, advice: str = "") -> None:
        """Store the fields of ``Failure``."""
        super().__init__(text)
        self.code = code
        self.text = text
        self.advice = advice

    def __reduce__(self) -> tuple[type["WorkerFailedError"], tuple[str, str, str]]:
        """Pickle all fields."""
        return WorkerFailedError, (self.code, self.text, self.advice)


class Channel:
    """The control channel of one worker, on this machine or another."""

    def __init__(self, who: str, pid: int) -> None:
        """Create the channel. ``who``: the worker's name in errors. ``pid``: the process id on the worker's machine."""
        self.who = who
        self.pid = pid
        self.last_heard = time.monotonic()
        self._events: asyncio.Queue[Message | WorkerFailedError | None] = asyncio.Queue(MOST_WAITING)

    def send(self, command: Message) -> None:
        """Send a command. If the worker is gone, the next call of :meth:`event` raises."""
        raise NotImplementedError

    async def next_event(self) -> Message:
        """Return the next event of any type. Raises WorkerFailedError if the worker ended or broke the protocol."""
        return await self._checked(await self._events.get())

    async def _checked(self, event: Message | WorkerFailedError | None) -> Message:
        if event is None:
            await self._drain()
            raise self.ended_early()
        if isinstance(event, WorkerFailedError):
            raise event
        return event

    async def event(
        self, *awaited: type[Awaited], timeout_s: float, ticking: bool = False, also: tuple[type[Awaited], ...] = ()
    ) -> Awaited:
        """Return the next event of a type in ``awaited`` or ``also``; skip other events.

        The error about a timeout names only the types in ``awaited``.

        Raises WorkerFailedError if the worker reports an error, breaks the protocol or ends, or if no such event
        arrives within ``timeout_s``. With ``ticking`` it also raises if the worker sends nothing for CONTROL_SILENCE_S.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            until = min(deadline, self.last_heard + CONTROL_SILENCE_S) if ticking else deadline
            try:
                # wait_for() may lose a cancellation that arrives together with the event; timeout() does not.
                async with asyncio.timeout(max(0.0, until - time.monotonic())):
                    queued = await self._events.get()
            except TimeoutError:
                if ticking and time.monotonic() < min(deadline, self.last_heard + CONTROL_SILENCE_S):
                    continue
                raise self.hung(awaited) from None
            event = await self._checked(queued)
            if isinstance(event, ErrorEvent):
                raise WorkerFailedError(event.code, f"{self.who}: {event.text}", event.advice)
            for kind in (*awaited, *also):
                if isinstance(event, kind):
                    return event

    async def _drain(self) -> None:
        """Wait until the worker's stderr has been read to its end."""

    def protocol_error(self, what: str) -> WorkerFailedError:
        """Return the error about an event that breaks the protocol. ``what``: the message and the field."""
        return WorkerFailedError(
            "internal",
            f"{self.who} broke the protocol: {what}",
            "worker and launcher have different versions; rebuild both",
        )

    def hung(self, awaited: Sequence[type[Message]] = ()) -> WorkerFailedError:
        """Return the error about a worker that did not answer in time. The error contains the worker's state."""
        awaiting = f" (awaited: {' or '.join(map(_event_name, awaited))})" if awaited else ""
        return WorkerFailedError(
            "hung", f"{self.who} (pid {self.pid}) did not answer in time{awaiting}: {self._state()}{self.stderr_end()}"
        )

    def _state(self) -> str:
        return "its state is unknown"

    def ended_early(self) -> WorkerFailedError:
        """Return the error about a worker that ended too early."""
        return WorkerFailedError("crashed", f"{self.who} (pid {self.pid}) closed its control channel")

    def stderr_end(self) -> str:
        """Return the end of the worker's stderr, for the text of an error."""
        return ""


class WorkerProcess(Channel):
    """A started worker. stdin and stdout are pipes, because sockets would be taken for evidence of Unix sockets."""

    def __init__(self, who: str, process: subprocess.Popen[bytes]) -> None:
        """Called by :meth:`start`."""
        super().__init__(who, process.pid)
        self.process = process
        self._stderr = bytearray()
        self._ended = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._transports: list[asyncio.ReadTransport] = []

    @classmethod
    async def start(cls, who: str, argv: Sequence[str], environment: Mapping[str, str]) -> "WorkerProcess":
        """Start ``argv`` in its own session, so that Ctrl-C in the terminal reaches only the launcher."""
        limits.need_descriptors(PIPES)
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, **environment},
        )
        worker = cls(who, process)
        loop = asyncio.get_running_loop()
        worker._watch_end(loop)
        try:
            for stream, reader in ((process.stdout, worker._read_events), (process.stderr, worker._read_stderr)):
                lines = asyncio.StreamReader(limit=MOST_LINE_BYTES)
                transport, _ = await loop.connect_read_pipe(
                    lambda lines=lines: asyncio.StreamReaderProtocol(lines),  # type: ignore[misc]
                    stream,
                )
                worker._transports.append(transport)
                worker._tasks.append(asyncio.create_task(reader(lines)))
        except BaseException:  # cancelled: no other code knows the process yet
            await worker.kill()
            raise
        return worker

    def _watch_end(self, loop: asyncio.AbstractEventLoop) -> None:
        descriptor = os.pidfd_open(self.process.pid)

        def ended() -> None:
            loop.remove_reader(descriptor)
            if self.process.poll() is None:  # the worker's main thread has ended, but not its other threads
                loop.call_later(0.002, ended)
                return
            os.close(descriptor)
            self._ended.set()

        loop.add_reader(descriptor, ended)

    async def _read_events(self, lines: asyncio.StreamReader) -> None:
        try:
            while line := await lines.readline():
                self.last_heard = time.monotonic()
                try:
                    event = self._read_event(_HEAD.decode(line).event, line)
                except (msgspec.DecodeError, UnicodeDecodeError):  # ignore lines that are not events
                    continue
                await self._events.put(event)
            await self._events.put(None)
        except RecursionError:
            await self._events.put(self.protocol_error("a line that is nested too deeply"))
        except ValueError:  # readline() raises ValueError for a line beyond the limit
            await self._events.put(self.protocol_error(f"a line of more than {MOST_LINE_BYTES:,} bytes"))

    def _read_event(self, name: str, line: bytes) -> Message | WorkerFailedError:
        try:
            event: Message = _RESULT.decode(line) if name == "result" else _EVENT.decode(line)
            return event
        except msgspec.ValidationError as error:
            return self.protocol_error(f"{name}: {error}")

    async def _read_stderr(self, lines: asyncio.StreamReader) -> None:
        while chunk := await lines.read(4096):
            self._stderr += chunk
            del self._stderr[:-STDERR_END_BYTES]

    def send(self, command: Message) -> None:
        """Write a command. If the worker is gone, the next call of :meth:`event` raises."""
        assert self.process.stdin is not None
        self.last_heard = time.monotonic()  # a worker may be silent until its first command
        with contextlib.suppress(BrokenPipeError, OSError):
            self.process.stdin.write(msgspec.json.encode(command) + b"\n")
            self.process.stdin.flush()

    async def _drain(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2.0):
                await self._ended.wait()
            async with asyncio.timeout(0.5):
                await asyncio.shield(self._tasks[1])

    def _state(self) -> str:
        state = process_state(self.pid)
        return "it is stopped (SIGSTOP or a debugger)" if state in ("T", "t") else f"its state is {state or 'unknown'}"

    def ended_early(self) -> WorkerFailedError:
        """Return the error about a worker that ended too early, with its exit status."""
        code = self.process.poll()
        how = "closed its control channel" if code is None else _ending(code)
        return WorkerFailedError("crashed", f"{self.who} (pid {self.pid}) {how}{self.stderr_end()}")

    def stderr_end(self) -> str:
        """Return the end of the worker's stderr, for the text of an error."""
        text = self._stderr.decode(errors="replace").strip()
        return f"; its stderr ended with: {text[-800:]}" if text else ""

    def last_line(self) -> str:
        """Return the last line that the worker printed on stderr; empty: it printed nothing."""
        text = self._stderr.decode(errors="replace").strip()
        return text.splitlines()[-1][:800] if text else ""

    async def finish(self, grace_s: float) -> str | None:
        """Send quit, wait ``grace_s``, kill the worker if it still runs, and reap it.

        Return the problem, or None.
        """
        self.send(QuitCommand())
        try:
            async with asyncio.timeout(grace_s):
                await self._ended.wait()
        except TimeoutError:
            await self.kill()
            return f"{self.who} did not exit within {grace_s:g} s of its result and was killed{self.stderr_end()}"
        if code := self.process.returncode:
            await self._drain()
        self._close()
        return f"{self.who} {_ending(code)} after its result{self.stderr_end()}" if code else None

    async def kill(self) -> None:
        """Kill all processes of the worker's session, and reap the worker."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        await self._ended.wait()
        self._close()

    def _close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for transport in self._transports:
            transport.close()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _event_name(event: type[Message]) -> str:
    return "result" if issubclass(event, RoleResult) else str(event.__struct_config__.tag)


def process_state(pid: int) -> str:
    """Return a process's state, the letter in /proc/PID/stat (R, S, D, T, Z, …); empty: no such process."""
    return next(iter(stat_of(pid)), "")


def _ending(code: int) -> str:
    if code >= 0:
        return f"exited with status {code}"
    spun = " (it used real-time priority without sleeping for longer than its limit)" if -code == signal.SIGXCPU else ""
    return f"was ended by {signal_name(-code)}{spun}"


def signal_name(number: int) -> str:
    """Return the name and number of a signal: ``SIGSEGV (signal 11)`` for 11."""
    try:
        return f"{signal.Signals(number).name} (signal {number})"
    except ValueError:
        return f"signal {number}"
