"""Read the kernel's counters before and after a trial, in the network namespaces of its roles."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from middlemark.model.outcome import Evidence, NetworkCost, Room, Segment
from middlemark.sites.namespace import OWN, Namespace

SHM = "/dev/shm/"
TRACING = f"{SHM}lttng-ust-wait-"
"""The beginning of the path of a segment through which LTTng starts tracing. Every binary of ROS 2 maps it."""
SYSTEM_V = "/SYSV"
"""The beginning of the name of a System V segment in /proc/PID/maps, before the segment's key."""


class Counters(msgspec.Struct, frozen=True):
    """The sums of the counters of the trial's namespaces at one time. Fields as in Evidence."""

    udp_datagrams: int
    tcp_segments: int
    loopback_bytes: int
    udp_no_port: int = 0
    qdisc_dropped: int | None = None


def read_counters(namespaces: Sequence[Namespace] = (OWN,)) -> Counters:
    """Read /proc/net/snmp and /proc/net/dev of each namespace."""
    with contextlib.closing(NetworkCounters(namespaces)) as counters:
        snmp, (sent_bytes, _) = counters.tables()
    no_port = snmp.get(("Udp", "NoPorts"), 0)
    return Counters(
        udp_datagrams=snmp.get(("Udp", "OutDatagrams"), 0) - no_port,
        udp_no_port=no_port,
        tcp_segments=snmp.get(("Tcp", "OutSegs"), 0),
        loopback_bytes=sent_bytes,
        qdisc_dropped=dropped_in_queues(namespaces),
    )


_SNMP = {
    "udp_in_datagrams": ("Udp", "InDatagrams"),
    "udp_rcvbuf_errors": ("Udp", "RcvbufErrors"),
    "udp_sndbuf_errors": ("Udp", "SndbufErrors"),
    "udp_in_errors": ("Udp", "InErrors"),
    "ip_reasm_fails": ("Ip", "ReasmFails"),
    "ip_in_discards": ("Ip", "InDiscards"),
    "tcp_retransmitted": ("Tcp", "RetransSegs"),
    "ip_reasm_timeouts": ("Ip", "ReasmTimeout"),
}
SOFTNET = "/proc/net/softnet_stat"


class NetworkCounters:
    """/proc/net/snmp and /proc/net/dev, kept open so that a reading costs two system calls per namespace."""

    def __init__(self, namespaces: Sequence[Namespace] = (OWN,)) -> None:
        """Open both files of each namespace."""
        self._tables: list[tuple[int, int, Namespace]] = []
        for each in namespaces:
            snmp, dev = (os.open(f"{each.tables}/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in ("snmp", "dev"))
            self._tables.append((snmp, dev, each))
        self._softnet = os.open(SOFTNET, os.O_RDONLY | os.O_CLOEXEC) if os.path.exists(SOFTNET) else None

    def read(self) -> NetworkCost:
        """Return the counters. Only the difference between two readings (:func:`moved`) is meaningful."""
        snmp, (sent_bytes, packets) = self.tables()
        return NetworkCost(
            loopback_bytes=sent_bytes,
            loopback_packets=packets,
            softnet_dropped=0 if self._softnet is None else dropped_softly(_text(self._softnet)),
            **{field: snmp.get(column, 0) for field, column in _SNMP.items()},
        )

    def tables(self) -> tuple[Mapping[tuple[str, str], int], tuple[int, int]]:
        """Return the counters by protocol and name, and the bytes and packets that the interfaces sent."""
        counted: dict[tuple[str, str], int] = {}
        sent_bytes = packets = 0
        for snmp, dev, namespace in self._tables:
            for column, count in _snmp(_text(snmp)).items():
                counted[column] = counted.get(column, 0) + count
            some_bytes, some_packets = _sent(_text(dev), namespace)
            sent_bytes, packets = sent_bytes + some_bytes, packets + some_packets
        return counted, (sent_bytes, packets)

    def close(self) -> None:
        """Close the files."""
        for snmp, dev, _ in self._tables:
            os.close(snmp)
            os.close(dev)
        if self._softnet is not None:
            os.close(self._softnet)


def dropped_softly(softnet: str) -> int:
    """Return the number of packets that were dropped because a processor's backlog was full.

    ``softnet``: the text of /proc/net/softnet_stat.
    """
    return sum(int(line.split()[1], 16) for line in softnet.splitlines() if line.strip())


def dropped_in_queues(namespaces: Sequence[Namespace]) -> int | None:
    """Return the number of packets that the queues at the ends of a link dropped; None: no link, or tc failed.

    The kernel has no file with this number.
    """
    ends = [each for each in namespaces if each.prefix and each.interface != "lo"]
    found: list[int] = []
    for each in ends:
        argv = [*each.prefix, "tc", "-s", "-j", "qdisc", "show", "dev", each.interface]
        with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
            shown = subprocess.run(argv, capture_output=True, timeout=5.0, check=True)
            found.append(sum(int(queue.get("drops", 0)) for queue in json.loads(shown.stdout)))
    return sum(found) if ends and len(found) == len(ends) else None


def room() -> Room | None:
    """Return the free space in /dev/shm; None: there is no /dev/shm."""
    try:
        found = os.statvfs(SHM)
    except OSError:
        return None
    return Room(size_bytes=found.f_blocks * found.f_frsize, least_free_bytes=found.f_bavail * found.f_frsize)


def moved(before: NetworkCost, after: NetworkCost) -> NetworkCost:
    """Return the increase of each counter between two readings."""
    return NetworkCost(**{name: getattr(after, name) - getattr(before, name) for name in NetworkCost.__struct_fields__})


def _text(descriptor: int) -> str:
    parts, at = [], 0
    while part := os.pread(descriptor, 1 << 16, at):
        parts.append(part)
        at += len(part)
    return b"".join(parts).decode("ascii", errors="replace")


def _snmp(text: str) -> dict[tuple[str, str], int]:
    lines = text.splitlines()
    found: dict[tuple[str, str], int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        protocol, _, columns = names.partition(":")
        for name, value in zip(columns.split(), values.partition(":")[2].split(), strict=False):
            found[protocol, name] = int(value)
    return found


ETHERNET_BYTES = 14
"""The part of a packet's header that an Ethernet interface counts and the loopback interface does not."""


def _sent(dev: str, namespace: Namespace) -> tuple[int, int]:
    """Return the number of bytes, without Ethernet headers, and of packets that the namespace's interfaces have sent.

    Received bytes need not be counted: lo receives every packet that it sends, and the other end of a link is in
    another namespace.
    """
    sent_bytes = sent_packets = 0
    for line in dev.splitlines():
        name, _, columns = line.partition(":")
        if name.strip() in ("lo", namespace.interface):
            packets = int(columns.split()[9])
            sent_bytes += int(columns.split()[8]) - (0 if name.strip() == "lo" else ETHERNET_BYTES * packets)
            sent_packets += packets
    return sent_bytes, sent_packets


def mapped_segments(pids: Iterable[int]) -> tuple[Segment, ...]:
    """Return the shared memory that the processes have mapped, each segment once with its largest mapping.

    Unlinked memory is included. A file under /dev/shm has its name relative to /dev/shm. The name of a System V segment
    is ``SYSV`` and the key.
    """
    found: dict[str, int] = {}
    for pid in pids:
        sizes: dict[str, int] = {}
        with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.split(maxsplit=5)[-1].rstrip("\n").removesuffix(" (deleted)")
                if path.startswith((SHM, SYSTEM_V)) and not path.startswith(TRACING):
                    low, _, high = line.split()[0].partition("-")
                    sizes[path] = sizes.get(path, 0) + int(high, 16) - int(low, 16)
        for path, size in sizes.items():
            found[path] = max(size, found.get(path, 0))
    return tuple(
        Segment(name=path.removeprefix(SHM).removeprefix("/"), bytes=size) for path, size in sorted(found.items())
    )


_TABLES = {
    # kind of socket → (its tables in /proc/net, column of the inode, (column of the state, states that can carry data))
    "udp": (("udp", "udp6"), 9, None),
    "tcp": (("tcp", "tcp6"), 9, (3, ("01", "04", "05", "08"))),  # established, or half closed
    "unix": (("unix",), 6, (5, ("03",))),  # connected
}


def own_sockets(pids: Iterable[int], namespaces: Sequence[Namespace] = (OWN,)) -> dict[str, int]:
    """Count the workers' own sockets of each kind (udp, tcp, unix) that can carry data."""
    own = _own(pids)
    return {kind: sum(inode in usable for inode in own) for kind in _TABLES for usable in (_usable(kind, namespaces),)}


def own_ports(pids: Iterable[int], namespaces: Sequence[Namespace] = (OWN,)) -> frozenset[int]:
    """Return the local ports of the workers' own UDP and TCP sockets."""
    own = frozenset(_own(pids))
    found = set()
    for path in (
        f"{each.tables}/{name}" for each in namespaces for kind in ("udp", "tcp") for name in _TABLES[kind][0]
    ):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as table:
            lines = (line.split() for line in table)
            found |= {int(each[1].rpartition(":")[2], 16) for each in lines if len(each) > 9 and each[9] in own}
    return frozenset(found)


def bound_paths(pids: Iterable[int], namespace: Namespace = OWN) -> frozenset[str]:
    """Return the paths of the processes' own Unix sockets."""
    own = frozenset(_own(pids))
    try:
        with open(f"{namespace.tables}/unix", encoding="utf-8", errors="replace") as table:
            rows = [line.rstrip("\n").split(maxsplit=7) for line in table]
    except OSError:
        return frozenset()
    return frozenset(each[7] for each in rows if len(each) == 8 and each[6] in own)


def _own(pids: Iterable[int]) -> list[str]:
    """Return the inodes of the sockets that the processes have open."""
    own: list[str] = []
    for pid in pids:
        with contextlib.suppress(OSError):
            for descriptor in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    target = os.readlink(descriptor.path)
                    if target.startswith("socket:["):
                        own.append(target[8:-1])
    return own


def _usable(kind: str, namespaces: Sequence[Namespace]) -> frozenset[str]:
    tables, inode, state = _TABLES[kind]
    found = set()
    for path in (f"{each.tables}/{name}" for each in namespaces for name in tables):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as table:
            for line in table:
                columns = line.split()
                if len(columns) > inode and (state is None or columns[state[0]] in state[1]):
                    found.add(columns[inode])
    return frozenset(found)


def gather(
    before: Counters, after: Counters, pids: Sequence[int], namespaces: Sequence[Namespace] = (OWN,)
) -> Evidence:
    """Return the increases from ``before`` to ``after``, and the workers' open sockets and segments."""
    sockets = own_sockets(pids, namespaces)
    queues = before.qdisc_dropped, after.qdisc_dropped
    return Evidence(
        udp_datagrams=after.udp_datagrams - before.udp_datagrams,
        udp_no_port=after.udp_no_port - before.udp_no_port,
        tcp_segments=after.tcp_segments - before.tcp_segments,
        loopback_bytes=after.loopback_bytes - before.loopback_bytes,
        segments=mapped_segments(pids),
        unix_sockets=sockets["unix"],
        udp_sockets=sockets["udp"],
        tcp_sockets=sockets["tcp"],
        qdisc_dropped=None if queues[0] is None or queues[1] is None else queues[1] - queues[0],
    )
