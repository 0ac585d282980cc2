"""Capture the network traffic and search the shared memory of one trial."""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from middlemark.security.payload import holds_payload
from middlemark.sites import evidence
from middlemark.sites.evidence import SHM, SYSTEM_V
from middlemark.sites.namespace import Namespace, end_process
from middlemark.sites.session import Captured

ANSWER_S = 20.0
"""The time within which the tapping program must start, and the time within which it must finish its search."""
MOST_SHARED_BYTES = 256 << 20
"""The most shared memory that is searched. Holes do not count."""
_PIECE_BYTES = 8 << 20
_OVERLAP_BYTES = 32


class TapEnd(msgspec.Struct, frozen=True):
    """The request to the tapping program to end."""

    ports: tuple[int, ...]
    """The ports of the trial's processes. UDP and TCP traffic between other ports is ignored."""


class TapAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of the tapping program. The first answer says that the program listens, the second has the result."""

    bytes: int = 0
    holds_payload: bool = False
    absent: str = ""
    """Why there is no capture."""


class Capture:
    """A running capture. The caller must end the capture."""

    def __init__(self, process: subprocess.Popen[bytes], at: Namespace, first: TapAnswer) -> None:
        """Store the running program ``process`` and its first answer. Called by :meth:`start`."""
        self._process = process
        self._at = at
        self._first = first

    @classmethod
    async def start(cls, at: Namespace) -> "Capture":
        """Begin to capture the traffic of this namespace's interface. Raises OSError."""
        path = os.pathsep.join(sys.path)
        program = ("env", f"PYTHONPATH={path}", sys.executable, "-m", "middlemark.sites.tapping")
        process = subprocess.Popen(
            [*at.prefix, *program, "lo", at.interface],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return cls(process, at, await _answer(process))
        except BaseException:
            end_process(process)
            raise

    async def captured(self, pids: Sequence[int]) -> Captured:
        """End the capture. Search the captured frames, and the shared memory of these processes."""
        answer = self._first
        if not answer.absent:
            assert self._process.stdin is not None
            ports = evidence.own_ports(pids, (self._at,))
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(msgspec.json.encode(TapEnd(tuple(sorted(ports)))) + b"\n")
                self._process.stdin.flush()
            answer = await _answer(self._process)
        shared = await asyncio.to_thread(_shared, pids)
        found = {"network": answer, "shared-memory": shared}
        return Captured(
            holds_payload=any(each.holds_payload for each in found.values()),
            bytes={medium: each.bytes for medium, each in found.items()},
            absent={medium: each.absent for medium, each in found.items() if each.absent},
        )

    def end(self) -> None:
        """Kill the tapping program."""
        end_process(self._process)


async def _answer(process: subprocess.Popen[bytes]) -> TapAnswer:
    assert process.stdout is not None
    try:
        async with asyncio.timeout(ANSWER_S):
            return msgspec.json.decode(await asyncio.to_thread(process.stdout.readline), type=TapAnswer)
    except (TimeoutError, msgspec.DecodeError):
        return TapAnswer(absent="the program that captures did not answer")


def _shared(pids: Iterable[int]) -> TapAnswer:
    """Search every shared-memory segment that one of the processes has mapped, each segment once."""
    searched, unread = 0, ""
    for path, mapped in _segments(pids).items():
        try:
            descriptor = _opened(path, mapped)
        except OSError as error:
            unread = unread or f"{path} cannot be read: {error.strerror}; run as root"
            continue
        try:
            for piece in _pieces(descriptor):
                searched += len(piece)
                if holds_payload(piece):
                    return TapAnswer(bytes=searched, holds_payload=True)
                if searched >= MOST_SHARED_BYTES:
                    break
        finally:
            os.close(descriptor)
    return TapAnswer(bytes=searched, absent=unread)


def _segments(pids: Iterable[int]) -> dict[str, str]:
    """Return the shared-memory files that the processes have mapped: path → the link in /proc to the mapping."""
    found: dict[str, str] = {}
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.split(maxsplit=5)[-1].rstrip("\n")
                if path.startswith((SHM, SYSTEM_V)):
                    low, _, high = line.split()[0].partition("-")
                    found.setdefault(path, f"/proc/{pid}/map_files/{int(low, 16):x}-{int(high, 16):x}")
    return found


def _opened(path: str, mapped: str) -> int:
    """Open a segment through its mapping, or if that fails by its path. An unlinked file has only a mapping.

    Raises OSError.
    """
    try:
        return os.open(mapped, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _pieces(descriptor: int) -> Iterator[bytes]:
    """Yield the data of a file, without the holes."""
    at = 0
    while True:
        try:
            at = os.lseek(descriptor, at, os.SEEK_DATA)
            end = os.lseek(descriptor, at, os.SEEK_HOLE)
        except OSError:  # no data follows
            return
        while at < end:
            piece = os.pread(descriptor, min(_PIECE_BYTES + _OVERLAP_BYTES, end - at), at)
            if not piece:
                return
            yield piece
            at += min(len(piece), _PIECE_BYTES)
