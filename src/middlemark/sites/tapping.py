"""Capture the traffic of network interfaces, and search it for the payload of messages. Runs as a program.

The program runs in the trial's network namespace. It is a process of its own because only a process with a single
thread can enter a user namespace. The program prints a line of JSON when it listens or cannot listen, and another line
at the end.
"""

import contextlib
import errno
import select
import socket
import sys
from collections.abc import Container, Iterable, Iterator

import msgspec

from middlemark.security.payload import holds_payload
from middlemark.sites.capture import TapAnswer, TapEnd

MOST_BYTES = 32 << 20
"""The most bytes that are captured: the size of 32 messages of 1 MiB."""
NOT_PERMITTED = "a capture of the network needs CAP_NET_RAW; run as root"
_BUFFER_BYTES = 32 << 20
_FRAME_BYTES = 1 << 17
_ALL_PROTOCOLS = 3
_OUTGOING = 4
"""The type of outgoing packets. On lo every packet also comes in, so outgoing packets are ignored."""
_RCVBUFFORCE = 33
_ETHERNET_BYTES = 14
_IPV4, _IPV6 = 0x0800, 0x86DD
_TCP, _UDP = 6, 17
_IPV6_BYTES = 40


def main() -> None:
    """Capture the traffic of the interfaces in ``argv``."""
    try:
        taps = [_tap(each) for each in dict.fromkeys(sys.argv[1:])]
    except OSError as error:
        permitted = error.errno not in (errno.EPERM, errno.EACCES)
        _print(TapAnswer(absent=f"no capture of the network: {error.strerror}" if permitted else NOT_PERMITTED))
        return
    _print(TapAnswer())
    captured: list[bytes] = []
    held = 0
    while True:
        full = held >= MOST_BYTES
        readable, _, _ = select.select([sys.stdin] if full else [*taps, sys.stdin], [], [])
        for frame in () if full else (frame for tap in taps for frame in _waiting(tap, MOST_BYTES - held)):
            captured.append(frame)
            held += len(frame)
        if sys.stdin in readable:
            break
    line = sys.stdin.readline()
    if line:  # empty: the parent process is gone
        ours = b"".join(of_ports(captured, frozenset(msgspec.json.decode(line, type=TapEnd).ports)))
        _print(TapAnswer(bytes=len(ours), holds_payload=holds_payload(ours)))


def of_ports(frames: Iterable[bytes], ports: Container[int]) -> Iterator[bytes]:
    """Yield the frames, without UDP and TCP between other ports.

    Fragmented datagrams are yielded with all fragments.
    """
    begun: set[bytes] = set()
    for frame in frames:
        kind, packet = int.from_bytes(frame[12:14]), frame[_ETHERNET_BYTES:]
        if kind == _IPV4 and len(packet) > 20:
            protocol, begin = packet[9], 4 * (packet[0] & 0xF)
            datagram, later = packet[4:6] + packet[12:20], int.from_bytes(packet[6:8]) & 0x1FFF
        elif kind == _IPV6 and len(packet) > _IPV6_BYTES:
            protocol, begin, datagram, later = packet[6], _IPV6_BYTES, b"", 0
        else:
            protocol, begin, datagram, later = 0, 0, b"", 0
        if protocol not in (_TCP, _UDP):
            yield frame
        elif later:
            if datagram in begun:
                yield frame
        elif any(int.from_bytes(packet[at : at + 2]) in ports for at in (begin, begin + 2)):
            begun.add(datagram)
            yield frame


def _tap(interface: str) -> socket.socket:
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    with contextlib.suppress(OSError):
        tap.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, _BUFFER_BYTES)
    tap.bind((interface, _ALL_PROTOCOLS))
    tap.setblocking(False)
    return tap


def _waiting(tap: socket.socket, most_bytes: int) -> Iterator[bytes]:
    """Yield the frames that are queued at the socket."""
    while most_bytes > 0:
        try:
            frame, address = tap.recvfrom(_FRAME_BYTES)
        except OSError:  # no frame is queued, or the interface is gone
            return
        if address[0] != "lo" or address[2] != _OUTGOING:
            most_bytes -= len(frame)
            yield frame


def _print(answer: TapAnswer) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
