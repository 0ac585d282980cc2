"""Sets timeouts of sockets so that each send or receive remains one system call."""

import socket
import struct


class ReceiveTimeout:
    """Sets the timeout of blocking receives without a further system call per receive.

    With ``settimeout()`` Python would call poll() before each receive. Changing the timeout costs a system call, so a
    wait that is about as long as the previous one uses the previous timeout.
    """

    def __init__(self, end: socket.socket) -> None:
        """``end`` is a blocking socket. Its receives raise BlockingIOError after the timeout."""
        self._end = end
        self._timeout_s = 0.0

    def __call__(self, timeout_s: float) -> None:
        """Use this timeout from now on, or the current one if that is up to a tenth longer."""
        if self._timeout_s * 0.9 <= timeout_s <= self._timeout_s:
            return
        limit_s(self._end, socket.SO_RCVTIMEO, timeout_s)
        self._timeout_s = timeout_s


def limit_s(end: socket.socket, option: int, timeout_s: float) -> None:
    """Set SO_RCVTIMEO or SO_SNDTIMEO (``option``) to at least 1 µs, because 0 would mean no timeout."""
    microseconds = max(1, int(timeout_s * 1e6))
    end.setsockopt(socket.SOL_SOCKET, option, struct.pack("@ll", microseconds // 1_000_000, microseconds % 1_000_000))
