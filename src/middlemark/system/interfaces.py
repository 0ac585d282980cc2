"""The network interfaces of the machine."""

import fcntl
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from middlemark.system.needs import Needs
from middlemark.system.root import Root

UP, LOOPBACK, MULTICAST = 0x1, 0x8, 0x1000
DATAGRAM = 65_507
"""The largest UDP datagram, in bytes. A larger message is sent in several datagrams."""
HEADERS = 28
"""The bytes of the IPv4 and UDP headers."""


class NetworkDevice(NamedTuple):
    """A network interface."""

    name: str
    mtu: int
    flags: int

    @property
    def loopback(self) -> bool:
        """True for the loopback interface."""
        return bool(self.flags & LOOPBACK)

    @property
    def fragments(self) -> bool:
        """True if the interface splits the largest datagram into fragments."""
        return self.mtu < DATAGRAM + HEADERS

    def packets(self, size: int) -> int:
        """Return the number of packets of a UDP message with ``size`` bytes."""
        return -(-size // max(1, min(self.mtu - HEADERS, DATAGRAM)))


def interfaces(root: Root) -> tuple[NetworkDevice, ...]:
    """Return the interfaces that are up.

    For this machine, the kernel is asked: /sys may show the interfaces of another network namespace.
    """
    return tuple(each for each in (_own() if root.folder == Path("/") else _written(root)) if each.flags & UP)


def _own() -> Iterator[NetworkDevice]:
    with socket.socket(type=socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            mtu, flags = (
                asked(any_socket, name, 0x8921, 4),
                asked(any_socket, name, 0x8913, 2),
            )  # SIOCGIFMTU, SIOCGIFFLAGS
            if mtu is not None and flags is not None:
                yield NetworkDevice(name, struct.unpack("=i", mtu)[0], struct.unpack("=H", flags)[0])


def _written(root: Root) -> Iterator[NetworkDevice]:
    for folder in root.names("sys/class/net/*"):
        mtu, flags = root.number(f"{folder}/mtu"), root.text(f"{folder}/flags")
        if mtu is not None and flags is not None:
            yield NetworkDevice(folder.rpartition("/")[2], mtu, int(flags, 16))


def asked(any_socket: socket.socket, name: str, request: int, size: int, at: int = 16) -> bytes | None:
    """Ask the kernel about an interface. Return ``size`` bytes of the answer (``struct ifreq``); None: no answer."""
    try:
        answer = fcntl.ioctl(any_socket, request, name.encode().ljust(40, b"\0"))
    except OSError:
        return None
    return answer[at : at + size]


def used(interfaces_up: tuple[NetworkDevice, ...], needs: Needs) -> tuple[NetworkDevice, ...]:
    """Return the interfaces to which the traffic is restricted; if it is not restricted, return all interfaces."""
    return tuple(each for each in interfaces_up if not needs.interfaces or each.name in needs.interfaces)
