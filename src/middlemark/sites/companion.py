"""Daemons that workers need (RouDi, a broker). Companions start before the workers, and stop after the last worker."""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence

import msgspec

from middlemark.model.description import CompanionSpec
from middlemark.model.protocol import CompanionsRequest, Settings
from middlemark.sites.channel import WorkerFailedError, process_state, signal_name
from middlemark.workers.ask import NoAnswerError, ask

LOOKS_S = 1.0
"""Time between two looks at whether a signal has stopped a companion."""


class _Answer(msgspec.Struct):
    companions: tuple[CompanionSpec, ...] | None = None
    code: str = ""
    text: str = ""
    advice: str = ""


_ANSWER = msgspec.json.Decoder(_Answer)


async def declared(worker: str, settings: Settings, prefix: Sequence[str] = ()) -> tuple[CompanionSpec, ...]:
    """Return the companions that these settings need. Runs the worker with ``prefix``. Raises WorkerFailedError."""
    request = msgspec.json.encode(CompanionsRequest(settings=settings)) + b"\n"
    try:
        reply = await ask([*prefix, worker, "--companions"], request, timeout_s=10)
        answer = _ANSWER.decode(reply.out)
        for spec in answer.companions or ():
            re.compile(spec.ready_pattern)
    except NoAnswerError as error:
        raise WorkerFailedError("companion", f"{worker} {error}") from None
    except msgspec.ValidationError as error:
        raise WorkerFailedError("companion", f"{worker} --companions: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise WorkerFailedError("companion", f"{worker} --companions: not JSON: {reply.words[-400:]}") from None
    except re.error as error:
        raise WorkerFailedError("companion", f"{worker} --companions: ready_pattern: {error}") from None
    if answer.companions is None:
        raise WorkerFailedError(answer.code or "companion", answer.text, answer.advice)
    return answer.companions


class Companion:
    """A running companion."""

    def __init__(self, spec: CompanionSpec, process: subprocess.Popen[bytes]) -> None:
        """Called by :meth:`start`."""
        self.spec = spec
        self.process = process
        self.ready_ns = 0
        """The time from the companion's start until its ready message, in ns."""
        self._output = bytearray()
        self._ready = asyncio.Event()
        self._closed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.ReadTransport | None = None

    @classmethod
    async def start(cls, spec: CompanionSpec, prefix: Sequence[str] = ()) -> "Companion":
        """Start the companion with ``prefix`` before its argv, and wait for its ready message.

        Raises WorkerFailedError with the end of the companion's output.
        """
        begin_ns = time.monotonic_ns()
        try:
            process = subprocess.Popen(
                [*prefix, *_dying_with_parent(spec.argv)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **spec.environment},
            )
        except (OSError, ValueError) as error:  # ValueError: the path is not valid
            why = error.strerror if isinstance(error, OSError) else error
            raise WorkerFailedError(
                "companion", f"{spec.name}: {spec.argv[0]} cannot be started: {why}", "install the program on the PATH"
            ) from None
        companion = cls(spec, process)
        lines = asyncio.StreamReader(limit=1 << 20)
        loop = asyncio.get_running_loop()
        try:
            companion._transport, _ = await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(lines), process.stdout
            )
            companion._task = asyncio.create_task(companion._read(lines))
            await companion._until_ready()
            companion.ready_ns = time.monotonic_ns() - begin_ns
        except BaseException:
            await companion.stop(0.5)
            raise
        return companion

    async def _read(self, lines: asyncio.StreamReader) -> None:
        ready = re.compile(self.spec.ready_pattern)
        while line := await _line(lines):
            self._output += line
            del self._output[:-4096]
            if ready.search(line.decode(errors="replace")):
                self._ready.set()
        self._closed.set()

    async def _until_ready(self) -> None:
        waits = [asyncio.create_task(event.wait()) for event in (self._ready, self._closed)]
        try:
            await asyncio.wait(waits, timeout=self.spec.ready_timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        if self._ready.is_set():
            return
        output = self._output_end()
        if self._closed.is_set():
            raise WorkerFailedError("companion", f"{self.spec.name} ended before it was ready: {output}")
        raise WorkerFailedError(
            "companion", f"{self.spec.name} was not ready within {self.spec.ready_timeout_s:g} s: {output}"
        )

    def death(self) -> str | None:
        """Return how the companion ended; None: the companion still runs."""
        code = self.process.poll()
        if code is None:
            return None
        how = f"was ended by {signal_name(-code)}" if code < 0 else f"exited with status {code}"
        return f"{self.spec.name} (pid {self.process.pid}) {how} during the trial: {self._output_end()}"

    def stopped(self) -> str:
        """Return the message about a companion that a signal has stopped."""
        return f"{self.spec.name} (pid {self.process.pid}) was stopped by a signal during the trial"

    def _output_end(self) -> str:
        """Return the end of the companion's output. A Python traceback is reduced to its last line."""
        text = self._output.decode(errors="replace").strip()
        _, traced, rest = text.rpartition("Traceback (most recent call last):")
        return rest.splitlines()[-1].strip() if traced and rest else text[-600:]

    async def watch(self) -> None:
        """Wait until the companion ends or is stopped by a signal, then raise WorkerFailedError."""
        while (death := self.death()) is None:  # a daemon may close its output and keep running
            if process_state(self.process.pid) == "T":
                raise WorkerFailedError("companion", self.stopped())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), LOOKS_S)
            if self._closed.is_set():
                await asyncio.sleep(0.1)
        raise WorkerFailedError("companion", death)

    async def stop(self, grace_s: float) -> None:
        """Send SIGTERM, wait ``grace_s``, send SIGKILL, and reap the process."""
        for number, patience in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 5.0)):
            if self.process.poll() is not None:
                break
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
            deadline = time.monotonic() + patience
            while self.process.poll() is None and time.monotonic() < deadline:
                await asyncio.sleep(0.005)
        if self._task is not None:
            self._task.cancel()
        if self._transport is not None:
            self._transport.close()
        if self.process.stdout is not None:
            self.process.stdout.close()


async def _line(lines: asyncio.StreamReader) -> bytes:
    """Return the next line. Lines that are too long are skipped."""
    while True:
        try:
            return await lines.readline()
        except ValueError:
            continue


def _dying_with_parent(argv: Sequence[str]) -> list[str]:
    """Return the argv with setpriv (of util-linux), which lets the daemon die with the launcher."""
    return ["setpriv", "--pdeathsig", "KILL", "--", *argv]
