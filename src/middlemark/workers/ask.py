"""Asks an executable a question on its command line: what it may take is bounded, in time and in memory."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import IO, NamedTuple

MOST_ANSWER_BYTES = 16 << 20
"""A description has some 20 KiB; what is refused of a plan a line a trial."""
WORDS_BYTES = 4096
"""What is kept of stderr, the end of it."""


class WorkerReply(NamedTuple):
    """What it said, and how it ended."""

    status: int
    out: bytes
    words: str
    """The end of what it wrote to stderr."""


class NoAnswerError(Exception):
    """It did not answer; the text, which is to be read after the executable's name, says why."""


async def ask(argv: Sequence[str], told: bytes = b"", *, timeout_s: float) -> WorkerReply:
    """Start ``argv`` with ``told`` on its stdin and return what it answers. Raises NoAnswerError and OSError."""
    with os.fdopen(os.memfd_create("told"), "w+b") as stdin:
        stdin.write(told)
        stdin.seek(0)
        process = subprocess.Popen(
            argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    reading: list[asyncio.Task[bytes]] = []
    transports: list[asyncio.ReadTransport] = []
    try:
        async with asyncio.timeout(timeout_s):
            for pipe, most in ((process.stdout, MOST_ANSWER_BYTES), (process.stderr, None)):
                lines, transport = await _reader(pipe)
                transports.append(transport)
                reading.append(asyncio.create_task(_read(lines, most)))
            out = await reading[0]
            if len(out) > MOST_ANSWER_BYTES:
                raise NoAnswerError(f"{argv[-1]} said more than {MOST_ANSWER_BYTES >> 20} MiB")
            words = await reading[1]
            while process.poll() is None:
                await asyncio.sleep(0.001)
        return WorkerReply(process.returncode, out, words.decode(errors="replace").strip())
    except TimeoutError:
        raise NoAnswerError(f"{argv[-1]} was not answered within {timeout_s:g} s") from None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for task in reading:
            task.cancel()
        for transport in transports:
            transport.close()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()  # a transport closes it in the loop's next turn, which an interrupt takes away


async def _reader(pipe: IO[bytes] | None) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    lines = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), pipe)
    return lines, transport


async def _read(lines: asyncio.StreamReader, most: int | None) -> bytes:
    """Return all that comes, as far as one byte beyond ``most``; None: the end of all that comes."""
    kept = bytearray()
    while (most is None or len(kept) <= most) and (chunk := await lines.read(1 << 16)):
        kept += chunk
        if most is None:
            del kept[:-WORDS_BYTES]
    return bytes(kept)
