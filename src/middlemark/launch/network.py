"""The counters of the network namespace, read often while a trial measures."""

import os

from middlemark.launch.outcome import NetworkCost

_SNMP = {
    "udp_in_datagrams": ("Udp", "InDatagrams"),
    "udp_rcvbuf_errors": ("Udp", "RcvbufErrors"),
    "udp_sndbuf_errors": ("Udp", "SndbufErrors"),
    "udp_in_errors": ("Udp", "InErrors"),
    "ip_reasm_fails": ("Ip", "ReasmFails"),
    "ip_in_discards": ("Ip", "InDiscards"),
    "tcp_retransmitted": ("Tcp", "RetransSegs"),
}


class NetworkCounters:
    """/proc/net/snmp and /proc/net/dev, held open: a reading is two system calls and some text."""

    def __init__(self) -> None:
        """Open both, of this process's namespace."""
        self._snmp = os.open("/proc/net/snmp", os.O_RDONLY | os.O_CLOEXEC)
        self._dev = os.open("/proc/net/dev", os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> NetworkCost:
        """Return the counters as they stand; only a difference of two readings (:func:`moved`) means anything."""
        snmp = _table(_text(self._snmp))
        sent_bytes, packets = _loopback(_text(self._dev))
        return NetworkCost(
            loopback_bytes=sent_bytes,
            loopback_packets=packets,
            **{field: snmp.get(column, 0) for field, column in _SNMP.items()},
        )

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self._snmp)
        os.close(self._dev)


def moved(before: NetworkCost, after: NetworkCost) -> NetworkCost:
    """Return what moved between two readings."""
    return NetworkCost(**{name: getattr(after, name) - getattr(before, name) for name in NetworkCost.__struct_fields__})


def _text(descriptor: int) -> str:
    parts, at = [], 0
    while part := os.pread(descriptor, 1 << 16, at):
        parts.append(part)
        at += len(part)
    return b"".join(parts).decode("ascii", errors="replace")


def _table(snmp: str) -> dict[tuple[str, str], int]:
    lines = snmp.splitlines()
    found: dict[tuple[str, str], int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        protocol, _, columns = names.partition(":")
        for name, value in zip(columns.split(), values.partition(":")[2].split(), strict=False):
            found[protocol, name] = int(value)
    return found


def _loopback(dev: str) -> tuple[int, int]:
    """Return the bytes and the packets that the loopback interface has sent; what it sends it also receives."""
    for line in dev.splitlines():
        name, _, columns = line.partition(":")
        if name.strip() == "lo":
            return int(columns.split()[8]), int(columns.split()[9])
    return 0, 0
