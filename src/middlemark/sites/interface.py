"""Find the network interface that leads to another machine, and its properties."""

import ctypes
import fcntl
import socket
import struct

import msgspec

from middlemark.system.interfaces import asked

SPEED_UNKNOWN = (0, 0xFFFF, 0xFFFFFFFF)


class Interface(msgspec.Struct, frozen=True):
    """The properties of a network interface. A property that is None is unknown."""

    interface: str
    mtu: int | None
    link_bps: float | None
    driver: str | None


def towards(address: str) -> str:
    """Return the interface through which this machine reaches the address. Raises OSError."""
    with socket.socket(type=socket.SOCK_DGRAM) as any_socket:
        any_socket.connect((address, 9))
        own = any_socket.getsockname()[0]
        for _, name in socket.if_nameindex():
            if asked(any_socket, name, 0x8915, 4, 20) == socket.inet_aton(own):  # SIOCGIFADDR
                return name
    raise OSError(f"{address} is reached from {own}, but no network interface has that address")


def ipv4_of(name: str) -> str | None:
    """Return the IPv4 address of an interface in this namespace; None: it has no address."""
    with socket.socket(type=socket.SOCK_DGRAM) as any_socket:
        found = asked(any_socket, name, 0x8915, 4, 20)  # SIOCGIFADDR
    return None if found is None else socket.inet_ntoa(found)


def read_interface(name: str) -> Interface:
    """Ask the kernel for the properties of an interface."""
    with socket.socket(type=socket.SOCK_DGRAM) as any_socket:
        mtu = asked(any_socket, name, 0x8921, 4)  # SIOCGIFMTU
        settings = _ethtool(any_socket, name, struct.pack("=I", 0x1).ljust(44, b"\0"))  # ETHTOOL_GSET
        driver = _ethtool(any_socket, name, struct.pack("=I", 0x3).ljust(196, b"\0"))  # ETHTOOL_GDRVINFO
    low, high = (0, 0) if settings is None else (struct.unpack_from("=H", settings, at)[0] for at in (12, 28))
    speed = high << 16 | low
    return Interface(
        interface=name,
        mtu=None if mtu is None else struct.unpack("=i", mtu)[0],
        link_bps=None if speed in SPEED_UNKNOWN else speed * 1e6,
        driver=None if driver is None else driver[4:36].partition(b"\0")[0].decode(errors="replace") or None,
    )


def _ethtool(any_socket: socket.socket, name: str, asked: bytes) -> bytes | None:
    memory = ctypes.create_string_buffer(asked, len(asked))
    try:
        fcntl.ioctl(any_socket, 0x8946, struct.pack("16sP16x", name.encode(), ctypes.addressof(memory)))
    except OSError:
        return None
    return memory.raw
