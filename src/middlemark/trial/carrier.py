"""Which transport the kernel's counters show to have carried a trial's data. Pure."""

import fnmatch

from middlemark.model.description import ANY, Transport
from middlemark.model.outcome import Evidence

MESSAGE_QUEUE = "message-queue"
"""A queue of the kernel's (POSIX), which nothing counts or maps."""


def actual_transport(
    evidence: Evidence, transport: Transport, *, messages: int, size: int, processes: int
) -> str | None:
    """Return the actual transport of ``messages`` messages of ``size`` bytes, by the evidence; None: it does not say.

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


def stream_actual_transport(
    evidence: Evidence, transport: Transport, *, messages: int, size: int, processes: int
) -> str | None:
    """Return the actual transport of a stream of ``messages`` sent messages of ``size`` bytes, by the evidence.

    It differs from :func:`actual_transport` for two reasons. A stream batches: several messages share a datagram or a
    segment, so only bytes count: what moved, less the frames' own headers, is at least half of what was sent (once,
    however many subscribers: it may have been one multicast), in frames that could hold it, and the workers hold a
    socket of that kind. And a reliable stream acknowledges: where messages are small, a heartbeat and an
    acknowledgement for each come to more bytes than the messages themselves. So where the workers have shared memory
    mapped, which may have carried the data while the network only agreed about it, the frames must on average be larger
    than CONTROL_BYTES too. Frames that are not leave both explanations standing, and the answer is None: it does not
    say.
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

    What was to go over a message queue did when it was seen nowhere else. Within one process it stayed in the
    process's memory, unless it was to go a way that the kernel does not count: then nothing seen is no sign of another
    way.
    """
    if evidence.unix_sockets > 0:
        return "unix-socket"
    if transport.carrier == MESSAGE_QUEUE:
        return MESSAGE_QUEUE
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
