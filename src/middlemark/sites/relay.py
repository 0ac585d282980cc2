"""A relay that delays frames between two TAP devices, for kernels without netem.

The relay runs as a program in the first namespace, with one request on stdin, until stdin closes. When both ends are
up, the relay prints a line of JSON with the number of frames per second that it can move.
"""

import contextlib
import ctypes
import fcntl
import heapq
import itertools
import os
import random
import select
import socket
import struct
import sys
import time

import msgspec

from middlemark.model.link import HEADER_BYTES, Link
from middlemark.sites.link import RelayAnswer, RelayRequest
from middlemark.sites.namespace import INTERFACE

TRIED_FRAMES = 2000
_MOST_AT_ONCE = 64
_PR_SET_PDEATHSIG, _PR_SET_TIMERSLACK, _CLONE_NEWNET = 1, 29, 0x40000000


class Relay:
    """Two TAP devices, and the frames on their way between them."""

    def __init__(self, link: Link, other: str) -> None:
        """Create both ends, the first one in this process's namespace. Raises OSError."""
        self._link = link
        self._first = _tap()
        self._sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        _up(self._sender)
        self._sender.bind((INTERFACE, 0))
        with open(other, "rb") as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), other)
        self._second = _tap()
        with contextlib.closing(socket.socket(type=socket.SOCK_DGRAM)) as there:
            _up(there)
        self._in_flight: list[tuple[float, int, int, bytes]] = []
        self._numbers = itertools.count()
        self._last = {self._first: 0.0, self._second: 0.0}

    def frames_hz(self) -> float:
        """Move full frames as fast as possible, and return their rate in Hz. The frames are discarded at the end."""
        frame = bytes(12) + b"\x88\xb5" + bytes(self._link.mtu)  # an experimental type, which no protocol receives
        begin = time.monotonic()
        for _ in range(TRIED_FRAMES):
            self._sender.send(frame[: self._link.mtu + HEADER_BYTES])
            self._take(self._first, self._second)
            self._give(float("inf"))
        self._sender.close()
        return TRIED_FRAMES / (time.monotonic() - begin)

    def run(self) -> None:
        """Relay until stdin closes."""
        ends = {self._first: self._second, self._second: self._first}
        while True:
            wait = max(0.0, self._in_flight[0][0] - time.monotonic()) if self._in_flight else None
            ready, _, _ = select.select([*ends, 0], [], [], wait)
            for end in ready:
                if end == 0:
                    return
                self._take(end, ends[end])
            self._give(time.monotonic())

    def _take(self, end: int, other: int) -> None:
        link = self._link
        with contextlib.suppress(BlockingIOError):
            for _ in range(_MOST_AT_ONCE):
                frame = os.read(end, 65_536)
                due = time.monotonic()
                if not link.reorder or random.random() >= link.reorder:
                    due += link.delay_s + random.uniform(-link.jitter_s, link.jitter_s)
                    due = self._last[end] = max(due, self._last[end])  # jitter must not reorder frames
                heapq.heappush(self._in_flight, (due, next(self._numbers), other, frame))

    def _give(self, now: float) -> None:
        while self._in_flight and self._in_flight[0][0] <= now:
            _, _, end, frame = heapq.heappop(self._in_flight)
            with contextlib.suppress(OSError):  # as on a wire, an interface that is down loses the frame
                os.write(end, frame)


def _tap() -> int:
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    without_header, tap = 0x1000, 0x0002
    fcntl.ioctl(end, 0x400454CA, struct.pack("16sH22x", INTERFACE.encode(), tap | without_header))  # TUNSETIFF
    return end


def _up(any_socket: socket.socket) -> None:
    layout = "16sH22x"
    now = fcntl.ioctl(any_socket.fileno(), 0x8913, struct.pack(layout, INTERFACE.encode(), 0))  # SIOCGIFFLAGS
    _, flags = struct.unpack(layout, now)
    fcntl.ioctl(any_socket.fileno(), 0x8914, struct.pack(layout, INTERFACE.encode(), flags | 1))  # SIOCSIFFLAGS, IFF_UP


def main() -> int:
    """Read the request on stdin and relay."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
    libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    asked = msgspec.json.decode(sys.stdin.buffer.readline(), type=RelayRequest)
    try:
        relay = Relay(asked.link, asked.other)
        answer = RelayAnswer(frames_hz=relay.frames_hz())
    except OSError as error:
        answer = RelayAnswer(error=f"{error.filename or INTERFACE}: {error.strerror}")
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()
    if not answer.error:
        relay.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
