"""What the kernel counted while a trial ran, and which transport that shows to have carried the data."""

import contextlib
import fnmatch
import os
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from middlemark.model.description import ANY, Transport
from middlemark.model.outcome import Evidence, NetworkCost, Segment

SHM = "/dev/shm/"
SYSTEM_V = "/SYSV"
"""How the kernel calls a segment of System V shared memory among a process's mappings, before its key."""


class Counters(msgspec.Struct, frozen=True):
    """The network namespace's counters at one instant."""

    udp_datagrams: int
    tcp_segments: int
    loopback_bytes: int


def read_counters() -> Counters:
    """Read /proc/net/snmp and /proc/net/dev of this namespace."""
    with contextlib.closing(NetworkCounters()) as counters:
        snmp, (sent_bytes, _) = counters.tables()
    return Counters(
        udp_datagrams=snmp.get(("Udp", "OutDatagrams"), 0),
        tcp_segments=snmp.get(("Tcp", "OutSegs"), 0),
        loopback_bytes=sent_bytes,
    )


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
        snmp, (sent_bytes, packets) = self.tables()
        return NetworkCost(
            loopback_bytes=sent_bytes,
            loopback_packets=packets,
            **{field: snmp.get(column, 0) for field, column in _SNMP.items()},
        )

    def tables(self) -> tuple[Mapping[tuple[str, str], int], tuple[int, int]]:
        """Return the counters by protocol and name, and the bytes and packets that the loopback interface has sent."""
        return _snmp(_text(self._snmp)), _loopback(_text(self._dev))

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


def _snmp(text: str) -> dict[tuple[str, str], int]:
    lines = text.splitlines()
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


def mapped_segments(pids: Iterable[int]) -> tuple[Segment, ...]:
    """Return what the processes have mapped of shared memory (unlinked too), each with its largest mapping.

    Files under /dev/shm by their names, segments of System V as ``SYSV`` and their key.
    """
    found: dict[str, int] = {}
    for pid in pids:
        sizes: dict[str, int] = {}
        with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.split(maxsplit=5)[-1].rstrip("\n").removesuffix(" (deleted)")
                if path.startswith((SHM, SYSTEM_V)):
                    low, _, high = line.split()[0].partition("-")
                    sizes[path] = sizes.get(path, 0) + int(high, 16) - int(low, 16)
        for path, size in sizes.items():
            found[path] = max(size, found.get(path, 0))
    return tuple(
        Segment(name=path.removeprefix(SHM).removeprefix("/"), bytes=size) for path, size in sorted(found.items())
    )


_TABLES = {
    # kind: its tables in /proc/net, the column of the inode, and that of the state with the states that can carry data
    "udp": (("udp", "udp6"), 9, None),
    "tcp": (("tcp", "tcp6"), 9, (3, ("01", "04", "05", "08"))),  # established, or closed from one side
    "unix": (("unix",), 6, (5, ("03",))),  # connected
}


def own_sockets(pids: Iterable[int]) -> dict[str, int]:
    """Count the workers' own sockets of each kind (udp, tcp, unix) that could carry data."""
    own: list[str] = []
    for pid in pids:
        with contextlib.suppress(OSError):
            for descriptor in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    target = os.readlink(descriptor.path)
                    if target.startswith("socket:["):
                        own.append(target[8:-1])
    return {kind: sum(inode in usable for inode in own) for kind in _TABLES for usable in (_usable(kind),)}


def _usable(kind: str) -> frozenset[str]:
    tables, inode, state = _TABLES[kind]
    found = set()
    for name in tables:
        with contextlib.suppress(OSError), open(f"/proc/net/{name}", encoding="utf-8", errors="replace") as table:
            for line in table:
                columns = line.split()
                if len(columns) > inode and (state is None or columns[state[0]] in state[1]):
                    found.add(columns[inode])
    return frozenset(found)


def gather(before: Counters, after: Counters, pids: Sequence[int]) -> Evidence:
    """Return what moved between the two readings, and what the workers have open now."""
    sockets = own_sockets(pids)
    return Evidence(
        udp_datagrams=after.udp_datagrams - before.udp_datagrams,
        tcp_segments=after.tcp_segments - before.tcp_segments,
        loopback_bytes=after.loopback_bytes - before.loopback_bytes,
        segments=mapped_segments(pids),
        unix_sockets=sockets["unix"],
        udp_sockets=sockets["udp"],
        tcp_sockets=sockets["tcp"],
    )


def carried_by(evidence: Evidence, transport: Transport, *, messages: int, size: int, processes: int) -> str | None:
    """Return what the evidence shows to have carried ``messages`` messages of ``size`` bytes; None: it does not say.

    A network transport must have moved half of their bytes over the loopback interface, in a datagram for each message
    (a process has one message to send at a time), or in a segment for every second one. What is left of discovery
    seldom reaches that, acknowledgements never. The workers must hold a socket of its kind too, for the counters are
    everybody's on this machine. Only when the network did not carry them do mapped segments count: a middleware may map
    shared memory that it then does not use.
    """
    if messages <= 0:
        return None
    moved = {"udp": evidence.udp_datagrams, "tcp": evidence.tcp_segments}
    least = {"udp": messages if processes > 1 else messages / 2, "tcp": messages / 2}
    held = {"udp": evidence.udp_sockets, "tcp": evidence.tcp_sockets}
    if evidence.loopback_bytes >= messages * size / 2:
        could = [kind for kind in moved if moved[kind] >= least[kind] and held[kind] != 0]
        if could:
            return max(could, key=lambda kind: moved[kind])
    if _mapped(evidence, transport, processes):
        return "shared-memory"
    return _unseen(evidence, transport, processes)


_KINDS = {
    # kind: what it is counted by, the workers' sockets of it, its headers as the loopback interface counts them
    # (IP 20, UDP 8 or TCP with its timestamps 32; Ethernet's not), the most that one can hold
    "udp": ("udp_datagrams", "udp_sockets", 28, 65_507),
    "tcp": ("tcp_segments", "tcp_sockets", 52, 65_483),
}
CONTROL_BYTES = 200
"""Acknowledgements and heartbeats are smaller than this (RTPS: 52 to 100 bytes), on average at least."""


def stream_carried_by(
    evidence: Evidence, transport: Transport, *, messages: int, size: int, processes: int
) -> str | None:
    """Return what the evidence shows to have carried a stream of ``messages`` sent messages of ``size`` bytes.

    Not :func:`carried_by`, for two reasons. A stream batches: several messages share a datagram or a segment, so only
    bytes count: what moved, less the frames' own headers, is at least half of what was sent (once, however many
    subscribers: it may have been one multicast), in frames that could hold it, and the workers hold a socket of that
    kind. And a reliable stream acknowledges: where messages are small, a heartbeat and an acknowledgement for each come
    to more bytes than the messages themselves. So where the workers have shared memory mapped, which may have carried
    the data while the network only agreed about it, the frames must on average be larger than CONTROL_BYTES too. Frames
    that are not leave both explanations standing, and the answer is None: it does not say.
    """
    if messages <= 0:
        return None
    payload = messages * size
    mapped = _mapped(evidence, transport, processes)
    shown, possible = [], False
    for kind, (counter, sockets, overhead, most) in _KINDS.items():
        frames = getattr(evidence, counter)
        content = evidence.loopback_bytes - frames * overhead
        if getattr(evidence, sockets) == 0 or content < payload / 2 or frames * most < payload / 2:
            continue
        if mapped and content < frames * CONTROL_BYTES:
            possible = True
        else:
            shown.append((frames, kind))
    if shown:
        return max(shown)[1]
    if possible:
        return None
    if mapped:
        return "shared-memory"
    return _unseen(evidence, transport, processes)


def _unseen(evidence: Evidence, transport: Transport, processes: int) -> str | None:
    """Return what is left when neither the network nor shared memory was seen to carry the data; None: nobody knows.

    Within one process it stayed in the process's memory, unless it was to go a way that the kernel does not count: then
    nothing seen is no sign of another way.
    """
    if evidence.unix_sockets > 0:
        return "unix-socket"
    counted = transport.carrier in ("udp", "tcp", "process-memory", ANY)
    return "process-memory" if processes == 1 and counted else None


def _mapped(evidence: Evidence, transport: Transport, processes: int) -> bool:
    """Say whether a segment that may have carried the data is mapped.

    Within one process nothing had to go there: a middleware that chooses by itself maps its segments before it knows.
    """
    if transport.carrier == ANY and processes == 1:
        return False
    return any(
        fnmatch.fnmatchcase(segment.name, glob)
        for segment in evidence.segments
        for glob in transport.segments or ("*",)
        if not segment.name.startswith("sem.")
    )
