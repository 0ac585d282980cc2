"""Ask an executable a question on its command line, with limits on time and memory."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import IO, NamedTuple

MOST_ANSWER_BYTES = 16 << 20
"""An answer has at most this number of bytes. A description has about 20 KiB; the refusals of a plan have one line per
trial."""
WORDS_BYTES = 4096
"""The number of bytes at the end of stderr that are kept."""


class WorkerReply(NamedTuple):
    """The answer of an executable and its exit status."""

    status: int
    out: bytes
    words: str
    """The end of the executable's stderr."""


class NoAnswerError(Exception):
    """The executable did not answer. The error's text is the reason. In messages it follows the executable's name."""


async def ask(argv: Sequence[str], request: bytes = b"", *, timeout_s: float) -> WorkerReply:
    """Start ``argv`` with ``request`` on its stdin and return its answer. Raises NoAnswerError and OSError."""
    with os.fdopen(os.memfd_create("request"), "w+b") as stdin:
        stdin.write(request)
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
                raise NoAnswerError(f"{argv[-1]} answered more than {MOST_ANSWER_BYTES >> 20} MiB")
            words = await reading[1]
            while process.poll() is None:
                await asyncio.sleep(0.001)
        return WorkerReply(process.returncode, out, words.decode(errors="replace").strip())
    except TimeoutError:
        raise NoAnswerError(f"{argv[-1]} did not answer within {timeout_s:g} s") from None
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
                pipe.close()  # the transport would close it only in the loop's next iteration, which may not come


async def _reader(pipe: IO[bytes] | None) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    lines = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), pipe)
    return lines, transport


async def _read(lines: asyncio.StreamReader, most: int | None) -> bytes:
    """Read at most ``most`` bytes, and one more to detect a longer answer.

    ``most`` is None: read all, and keep only the end.
    """
    kept = bytearray()
    while (most is None or len(kept) <= most) and (chunk := await lines.read(1 << 16)):
        kept += chunk
        if most is None:
            del kept[:-WORDS_BYTES]
    return bytes(kept)
