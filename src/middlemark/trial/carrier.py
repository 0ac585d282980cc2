"""Find the actual transport of a trial's data in the kernel's counters. Pure."""

import fnmatch

from middlemark.model.description import ANY, Transport
from middlemark.model.outcome import Evidence

MESSAGE_QUEUE = "message-queue"
"""A queue of the kernel (POSIX). No counter or mapping shows its use."""


def actual_transport(
    evidence: Evidence, transport: Transport, *, messages: int, size: int, processes: int
) -> str | None:
    """Return the actual transport of ``messages`` messages of ``size`` bytes; None: the evidence does not say.

    A network transport must have moved half of the bytes over the loopback interface, in one datagram per message (a
    process has one message to send at a time) or in one segment per two messages. Discovery traffic rarely reaches
    this, acknowledgements never. The workers must also hold a socket of this kind, because the counters include all
    processes of the machine. Mapped segments count only if the network did not move the data: a middleware may map
    shared memory and not use it.
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
    # kind: its counter, the workers' sockets of it, its header bytes as the loopback interface counts them
    # (IP 20, UDP 8 or TCP with timestamps 32; without Ethernet's), the most payload of one frame
    "udp": ("udp_datagrams", "udp_sockets", 28, 65_507),
    "tcp": ("tcp_segments", "tcp_sockets", 52, 65_483),
}
CONTROL_BYTES = 200
"""Acknowledgements and heartbeats are smaller on average (RTPS: 52 to 100 bytes)."""


def stream_actual_transport(
    evidence: Evidence, transport: Transport, *, messages: int, size: int, processes: int
) -> str | None:
    """Return the actual transport of a stream of ``messages`` sent messages of ``size`` bytes.

    A stream differs from other patterns in two ways. It batches: several messages share a datagram or a segment, so
    only bytes count. The moved bytes, without frame headers, must be at least half of the bytes sent (counted once,
    because a multicast reaches all subscribers), in frames large enough, and the workers must hold a socket of this
    kind. A reliable stream also acknowledges: for small messages, heartbeats and acknowledgements take more bytes than
    the messages. So if the workers have mapped shared memory, the frames must also be larger than CONTROL_BYTES on
    average. If they are not, either transport is possible, and the result is None.
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
    """Return the transport when neither the network nor shared memory shows the data; None: unknown.

    A message queue is assumed if the transport is one. Within one process the data stayed in its memory, unless the
    transport is one that the kernel does not count.
    """
    if evidence.unix_sockets > 0:
        return "unix-socket"
    if transport.carrier == MESSAGE_QUEUE:
        return MESSAGE_QUEUE
    counted = transport.carrier in ("udp", "tcp", "process-memory", ANY)
    return "process-memory" if processes == 1 and counted else None


def _mapped(evidence: Evidence, transport: Transport, processes: int) -> bool:
    """Say whether a segment is mapped that may have carried the data.

    Within one process a mapped segment proves nothing for a transport that the middleware chooses itself: it maps its
    segments before it chooses.
    """
    if transport.carrier == ANY and processes == 1:
        return False
    return any(
        fnmatch.fnmatchcase(segment.name, glob)
        for segment in evidence.segments
        for glob in transport.segments or ("*",)
        if not segment.name.startswith("sem.")
    )
