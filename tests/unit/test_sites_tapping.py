"""Only packets that the trial's processes sent or received are searched in a capture."""

import socket
import struct

from middlemark.sites.tapping import of_ports


def frame(protocol: int, ports: tuple[int, int], *, number: int = 1, later: int = 0, payload: bytes = b"x") -> bytes:
    """Return an Ethernet frame with IPv4. ``later``: the offset of this fragment of a datagram, in units of 8 bytes."""
    here = socket.inet_aton("127.0.0.1")
    begin = struct.pack("!HH", *ports) if not later else b""
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 0, number, later, 64, protocol, 0, here, here)
    return bytes(12) + b"\x08\x00" + header + begin + payload


def test_packets_from_or_to_a_port_are_kept() -> None:
    ours = [frame(6, (5000, 80)), frame(17, (90, 5000))]
    assert list(of_ports([frame(6, (90, 80)), *ours, frame(17, (1, 2))], {5000})) == ours


def test_either_all_fragments_of_a_datagram_are_kept_or_none() -> None:
    ours = [frame(17, (5000, 1), number=7), frame(17, (0, 0), number=7, later=185)]
    others = [frame(17, (6000, 1), number=8), frame(17, (0, 0), number=8, later=185)]
    assert list(of_ports([*others, *ours], {5000})) == ours


def test_ports_are_also_read_from_ipv6() -> None:
    def six(port: int) -> bytes:
        return (
            bytes(12) + b"\x86\xdd" + struct.pack("!IHBB", 6 << 28, 8, 17, 64) + bytes(32) + struct.pack("!HH", port, 9)
        )

    assert list(of_ports([six(5000), six(5001)], {5001})) == [six(5001)]


def test_packets_without_ports_are_kept() -> None:
    neither = [bytes(12) + b"\x08\x06" + bytes(28), frame(1, (1, 2)), bytes(20)]
    assert list(of_ports(neither, ())) == neither
