"""An attacker on the network, which repeats RTPS messages with a later sequence number and a changed byte."""

import contextlib
import socket
import struct
import threading
from types import TracebackType

UDP, DATA, USERS_WRITER = 17, 0x15, 0x03
IP_BYTES, UDP_BYTES, RTPS_BYTES, SUBMESSAGE_BYTES = 20, 8, 20, 4
WRITER_KIND, SEQUENCE_NUMBER = 11, 16
"""Offsets in a DATA submessage, after its header: the writer id's last byte, and the sequence number's lower half."""
MOST = 60


class Forger:
    """Captures and repeats messages.

    Raises PermissionError if this process may not capture, or is not alone on the network.
    """

    def __init__(self) -> None:
        if len(socket.if_nameindex()) > 1:
            raise PermissionError("this is not a network of the test's own")
        self.sent = 0
        self._line = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
        self._line.bind(("lo", 0))
        self._line.settimeout(0.1)
        self._ended = False
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Forger":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        self._thread.join()
        self._line.close()

    def _run(self) -> None:
        own: set[bytes] = set()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            while not self._ended and self.sent < MOST:
                with contextlib.suppress(TimeoutError):
                    packet = self._line.recv(1 << 16)
                    message = packet[IP_BYTES + UDP_BYTES :]
                    if packet[9] != UDP or not message.startswith(b"RTPS") or message in own:
                        continue
                    if (changed := forged(message)) is not None and changed not in own:
                        own |= {message, changed}
                        [port] = struct.unpack_from(">H", packet, IP_BYTES + 2)
                        out.sendto(changed, (socket.inet_ntoa(packet[16:20]), port))
                        self.sent += 1


def forged(message: bytes) -> bytes | None:
    """Return the message with a later sequence number and a changed payload, or None if it has no readable data."""
    changed = bytearray(message)
    at = RTPS_BYTES
    while at + SUBMESSAGE_BYTES < len(changed):
        kind, _flags, length = struct.unpack_from("<BBH", changed, at)
        inside = at + SUBMESSAGE_BYTES
        if kind == DATA and length > 100 and changed[inside + WRITER_KIND] == USERS_WRITER:
            [number] = struct.unpack_from("<I", changed, inside + SEQUENCE_NUMBER)
            struct.pack_into("<I", changed, inside + SEQUENCE_NUMBER, number + 3)
            changed[inside + length - 40] ^= 0x55
            return bytes(changed)
        at = inside + (length or len(changed))
    return None
