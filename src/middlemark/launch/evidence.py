"""What the kernel counted while a trial ran, and which transport that shows to have carried the data."""

import contextlib
import fnmatch
import os
from collections.abc import Iterable, Sequence

import msgspec

from middlemark.launch.outcome import Evidence, Segment
from middlemark.workers.description import Transport

SHM = "/dev/shm/"


class Counters(msgspec.Struct, frozen=True):
    """The network namespace's counters at one instant."""

    udp_datagrams: int
    tcp_segments: int
    loopback_bytes: int


def read_counters() -> Counters:
    """Read /proc/net/snmp and /proc/net/dev of this namespace."""
    snmp = _snmp()
    return Counters(
        udp_datagrams=snmp.get(("Udp", "OutDatagrams"), 0),
        tcp_segments=snmp.get(("Tcp", "OutSegs"), 0),
        loopback_bytes=_loopback_bytes(),
    )


def _snmp() -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    with open("/proc/net/snmp", encoding="ascii") as file:
        lines = file.read().splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        protocol, _, columns = names.partition(":")
        for name, value in zip(columns.split(), values.partition(":")[2].split(), strict=False):
            found[protocol, name] = int(value)
    return found


def _loopback_bytes() -> int:
    with open("/proc/net/dev", encoding="ascii") as file:
        for line in file:
            name, _, columns = line.partition(":")
            if name.strip() == "lo":
                return int(columns.split()[8])
    return 0


def mapped_segments(pids: Iterable[int]) -> tuple[Segment, ...]:
    """Return the files under /dev/shm that the processes have mapped (unlinked too), each with its largest mapping."""
    found: dict[str, int] = {}
    for pid in pids:
        sizes: dict[str, int] = {}
        with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.split(maxsplit=5)[-1].rstrip("\n").removesuffix(" (deleted)")
                if path.startswith(SHM):
                    low, _, high = line.split()[0].partition("-")
                    sizes[path] = sizes.get(path, 0) + int(high, 16) - int(low, 16)
        for path, size in sizes.items():
            found[path] = max(size, found.get(path, 0))
    return tuple(Segment(name=path.removeprefix(SHM), bytes=size) for path, size in sorted(found.items()))


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

    A network transport must have moved at least half of the messages and half of their bytes over the loopback
    interface, which acknowledgements alone never reach; and the workers must hold a socket of its kind, for the
    counters are everybody's on this machine. Only when the network did not carry them do mapped segments count: a
    middleware may map shared memory that it then does not use.
    """
    if messages <= 0:
        return None
    moved = {"udp": evidence.udp_datagrams, "tcp": evidence.tcp_segments}
    held = {"udp": evidence.udp_sockets, "tcp": evidence.tcp_sockets}
    if evidence.loopback_bytes >= messages * size / 2:
        could = [kind for kind in moved if moved[kind] >= messages / 2 and held[kind] != 0]
        if could:
            return max(could, key=lambda kind: moved[kind])
    if _mapped(evidence, transport.segments or ("*",)):
        return "shared-memory"
    if evidence.unix_sockets > 0:
        return "unix-socket"
    return "process-memory" if processes == 1 else None


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
    mapped = _mapped(evidence, transport.segments or ("*",))
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
    if evidence.unix_sockets > 0:
        return "unix-socket"
    return "process-memory" if processes == 1 else None


def _mapped(evidence: Evidence, globs: Sequence[str]) -> bool:
    return any(
        fnmatch.fnmatchcase(segment.name, glob)
        for segment in evidence.segments
        for glob in globs
        if not segment.name.startswith("sem.")
    )
