"""Find the actual transport of a trial's data in the kernel's counters. Pure."""

import fnmatch

from middlemark.model.description import ANY, Transport
from middlemark.model.outcome import Evidence

MESSAGE_QUEUE = "message-queue"
"""The carrier of a transport that uses a message queue of the kernel (POSIX). No counter or mapping shows its use."""


def actual_transport(
    evidence: Evidence, transport: Transport, *, messages: int, size: int, processes: int
) -> str | None:
    """Return the actual transport of ``messages`` messages of ``size`` bytes; None: the evidence does not show it.

    A network transport must have moved half of the bytes over the loopback interface. It needs one datagram per
    message, because a process sends one message at a time, or one segment per two messages. Discovery rarely causes
    this much traffic, and acknowledgements never do. The workers must have a socket of the transport's kind, because
    the counters include all processes of the machine. Mapped segments count only if the network did not move the data,
    because a middleware may map shared memory and not use it.
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
    # kind of socket → (its counter, the workers' sockets of this kind, bytes of the header as the loopback interface
    # counts them (IP 20, UDP 8, TCP with timestamps 32, no Ethernet), the most payload of one frame)
    "udp": ("udp_datagrams", "udp_sockets", 28, 65_507),
    "tcp": ("tcp_segments", "tcp_sockets", 52, 65_483),
}
CONTROL_BYTES = 200
"""Frames that are smaller than this on average may be only acknowledgements and heartbeats (RTPS: 52 to 100 bytes)."""

BATCH_OVERHEAD = 4
"""Datagrams with several messages each have fewer bytes than this multiple of the messages' own bytes."""


def stream_actual_transport(
    evidence: Evidence, transport: Transport, *, messages: int, size: int, processes: int
) -> str | None:
    """Return the actual transport of a stream of ``messages`` sent messages of ``size`` bytes; None: no evidence.

    A stream differs from other patterns in two ways. Firstly, several messages may share a datagram or a segment, so
    only bytes count. The moved bytes, without frame headers, must be at least half of the bytes sent. Sent bytes are
    counted once, because a multicast reaches all subscribers. There must be enough frames for these bytes, and the
    workers must have a socket of this kind.

    Secondly, a reliable stream also acknowledges. For small messages, heartbeats and acknowledgements take more bytes
    than the messages. So if the workers have mapped shared memory, the frames must also be larger than CONTROL_BYTES on
    average. With smaller frames either transport is possible, and the result is None. If shared memory is mapped, and
    there are fewer datagrams than messages, the datagrams are discovery, unless their bytes fit batches of messages.
    The bytes are not those of batches if more datagrams went to ports without a socket than to ports with one.
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
        batches = 1 < content / payload < BATCH_OVERHEAD and evidence.udp_no_port <= frames
        if mapped and kind == "udp" and frames < messages and not batches:
            continue  # ROS 2's discovery: too few datagrams for the messages, and no batches
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
    """Return the transport if neither the network nor shared memory shows the data; None: unknown.

    A message queue is assumed to be the actual transport, because nothing shows its use. Within one process, the data
    is assumed to stay in the memory of the process, unless the kernel has no counters for the transport.
    """
    if evidence.unix_sockets > 0:
        return "unix-socket"
    if transport.carrier == MESSAGE_QUEUE:
        return MESSAGE_QUEUE
    counted = transport.carrier in ("udp", "tcp", "process-memory", ANY)
    return "process-memory" if processes == 1 and counted else None


def _mapped(evidence: Evidence, transport: Transport, processes: int) -> bool:
    """Say whether a segment that the workers have mapped may have moved the data.

    If the middleware chooses the transport, and all roles are in one process, a mapped segment proves nothing: the
    middleware maps its segments before it chooses.
    """
    if transport.carrier == ANY and processes == 1:
        return False
    return any(
        fnmatch.fnmatchcase(segment.name, glob)
        for segment in evidence.segments
        for glob in transport.segments or ("*",)
        if not segment.name.startswith("sem.")
    )
