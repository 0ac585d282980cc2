"""Timeouts of sockets, in one system call with each send or receive."""

import socket
import struct


class ReceiveTimeout:
    """The timeout of blocking receives, in one system call with each receive.

    ``settimeout()`` would make Python call poll() before each. A new timeout costs a system call, so a wait that is
    about as long as the last one keeps the last one's.
    """

    def __init__(self, end: socket.socket) -> None:
        """``end`` is a blocking socket; its receives raise BlockingIOError when the time is over."""
        self._end = end
        self._timeout_s = 0.0

    def __call__(self, timeout_s: float) -> None:
        """Use this timeout from now on, or one that is up to a tenth longer."""
        if self._timeout_s * 0.9 <= timeout_s <= self._timeout_s:
            return
        limit_s(self._end, socket.SO_RCVTIMEO, timeout_s)
        self._timeout_s = timeout_s


def limit_s(end: socket.socket, option: int, timeout_s: float) -> None:
    """Set SO_RCVTIMEO or SO_SNDTIMEO. At least 1 µs, because 0 would mean no timeout."""
    microseconds = max(1, int(timeout_s * 1e6))
    end.setsockopt(socket.SOL_SOCKET, option, struct.pack("@ll", microseconds // 1_000_000, microseconds % 1_000_000))
