"""The actual transport, determined from the kernel's counters and the workers' open files."""

import contextlib
import ctypes
import mmap
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from descriptions import transport

from middlemark.model.outcome import Evidence, Segment
from middlemark.sites.evidence import (
    dropped_in_queues,
    dropped_softly,
    gather,
    mapped_segments,
    own_sockets,
    read_counters,
    room,
)
from middlemark.sites.namespace import OWN
from middlemark.trial.carrier import actual_transport

SHM = transport("shm", carrier="shared-memory", segments=("ring.*", "pool"))
UDP = transport("udp", carrier="udp")
UNIX = transport("ipc", carrier="unix-socket")
QUEUE = transport("queue", carrier="message-queue")
MEMORY = transport("inproc", carrier="process-memory")
SYSTEM_V = transport("shmem", carrier="shared-memory", segments=("SYSV*",))

RING = Segment("ring.7", 1 << 20)
OTHER = Segment("somebody-elses", 1 << 20)
LOCK = Segment("sem.ring.7", 32)


def evidence(**found: Any) -> Evidence:
    nothing = {"udp_datagrams": 0, "tcp_segments": 0, "loopback_bytes": 0, "udp_sockets": 0, "tcp_sockets": 0}
    return Evidence(**{**nothing, **found})


# 1,000 round trips of 100 bytes are 2,000 messages and 200,000 bytes.
ON_UDP = {"udp_datagrams": 2000, "loopback_bytes": 250_000, "udp_sockets": 4}
ON_TCP = {"tcp_segments": 4000, "loopback_bytes": 300_000, "tcp_sockets": 2}
A_FEW_UDP = {"udp_datagrams": 60, "loopback_bytes": 30_000, "udp_sockets": 8}

CASES = {
    "udp": (UDP, ON_UDP, 2, "udp"),
    "udp in one process": (UDP, ON_UDP, 1, "udp"),
    "tcp with its acknowledgements": (UDP, ON_TCP, 2, "tcp"),
    "udp, and a control connection over tcp": (UDP, {**ON_UDP, "tcp_segments": 10, "tcp_sockets": 1}, 2, "udp"),
    "udp, one datagram with three answers of a process": (UDP, {**ON_UDP, "udp_datagrams": 1100}, 1, "udp"),
    "large messages in many datagrams": (UDP, {**ON_UDP, "udp_datagrams": 90_000, "loopback_bytes": 10**9}, 2, "udp"),
    "udp, with shared memory mapped but not used": (SHM, {**ON_UDP, "segments": (RING,)}, 2, "udp"),
    "shared memory": (SHM, {"segments": (RING,)}, 2, "shared-memory"),
    "shared memory in one process": (SHM, {"segments": (RING,)}, 1, "shared-memory"),
    "shared memory, discovery over udp": (SHM, {**A_FEW_UDP, "segments": (RING,)}, 2, "shared-memory"),
    "shared memory, discovery in fewer datagrams than messages": (
        SHM,
        {"udp_datagrams": 1250, "loopback_bytes": 270_000, "udp_sockets": 8, "segments": (RING,)},
        2,
        "shared-memory",
    ),
    "shared memory, heartbeats in many small datagrams": (
        SHM,
        {"udp_datagrams": 2000, "loopback_bytes": 90_000, "udp_sockets": 8, "segments": (RING,)},
        2,
        "shared-memory",
    ),
    "shared memory, another process on udp": (
        SHM,
        {**ON_UDP, "udp_sockets": 0, "segments": (RING,)},
        2,
        "shared-memory",
    ),
    "shared memory, another process on tcp": (
        SHM,
        {**ON_TCP, "tcp_sockets": 0, "segments": (RING,)},
        2,
        "shared-memory",
    ),
    "udp, another process on tcp": (UDP, {**ON_TCP, **ON_UDP, "tcp_sockets": 0, "tcp_segments": 10**6}, 2, "udp"),
    "shared memory, by the second of its patterns": (SHM, {"segments": (Segment("pool", 4096),)}, 2, "shared-memory"),
    "only a segment of another program": (SHM, {"segments": (OTHER,)}, 2, None),
    "only a semaphore": (SHM, {"segments": (LOCK,)}, 2, None),
    "unix sockets": (UDP, {"unix_sockets": 2}, 2, "unix-socket"),
    "labelled udp, sent through shared memory": (UDP, {"segments": (OTHER,)}, 2, "shared-memory"),
    "within the process": (UDP, {}, 1, "process-memory"),
    "within the process, discovery over udp": (UDP, A_FEW_UDP, 1, "process-memory"),
    "no evidence": (UDP, {}, 2, None),
    "no evidence of shared memory in one process": (SHM, {}, 1, None),
    "no evidence of Unix sockets in one process": (UNIX, {}, 1, None),
    "within the process, as declared": (MEMORY, {}, 1, "process-memory"),
    "shared memory of System V": (SYSTEM_V, {"segments": (Segment("SYSV00000000", 4096),)}, 2, "shared-memory"),
    "a message queue": (QUEUE, A_FEW_UDP, 2, "message-queue"),
    "labelled a message queue, sent over tcp": (QUEUE, ON_TCP, 2, "tcp"),
    "counted by a version that did not count sockets": (UDP, {**ON_UDP, "udp_sockets": None}, 2, "udp"),
}


@pytest.mark.parametrize(("asked", "found", "processes", "expected"), CASES.values(), ids=CASES)
def test_the_actual_transport_is_found(asked: Any, found: dict[str, Any], processes: int, expected: str | None) -> None:
    assert actual_transport(evidence(**found), asked, messages=2000, size=100, processes=processes) == expected


def test_without_a_message_there_is_no_actual_transport() -> None:
    assert actual_transport(evidence(**ON_UDP), UDP, messages=0, size=100, processes=2) is None


@pytest.fixture
def udp_pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.socket(type=socket.SOCK_DGRAM) as receiver, socket.socket(type=socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        sender.connect(receiver.getsockname())
        yield receiver, sender


def test_datagrams_on_loopback_are_counted(udp_pair: tuple[socket.socket, socket.socket]) -> None:
    receiver, sender = udp_pair
    before = read_counters()
    for _ in range(100):
        sender.send(b"x" * 100)
        receiver.recv(200)
    found = gather(before, read_counters(), [os.getpid()])
    assert found.udp_datagrams >= 100
    assert found.loopback_bytes >= 100 * 100
    assert found.udp_sockets is not None
    assert found.udp_sockets >= 2


def test_datagrams_to_a_closed_port_are_not_counted(udp_pair: tuple[socket.socket, socket.socket]) -> None:
    receiver, sender = udp_pair
    receiver.close()
    before = read_counters()
    for _ in range(1000):
        with contextlib.suppress(ConnectionRefusedError):
            sender.send(b"x")
    assert read_counters().udp_datagrams - before.udp_datagrams < 250


def test_a_tcp_connection_is_counted_and_a_listening_socket_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert own_sockets([os.getpid()])["tcp"] == 0
        with socket.create_connection(listening.getsockname()) as one, listening.accept()[0]:
            assert own_sockets([os.getpid()])["tcp"] == 2
            one.sendall(b"x")


def test_an_attached_segment_of_system_v_is_recognised_by_its_key() -> None:
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(0, 8192, 0o1600)
    attached = libc.shmat(segment, None, 0)
    try:
        assert Segment("SYSV00000000", 8192) in mapped_segments([os.getpid()])
    finally:
        libc.shmdt(ctypes.c_void_p(attached))
        libc.shmctl(segment, 0, None)


def test_connected_unix_sockets_are_counted() -> None:
    before = own_sockets([os.getpid()])["unix"]
    one, other = socket.socketpair()
    with one, other:
        assert own_sockets([os.getpid()])["unix"] == before + 2
    with socket.socket(socket.AF_UNIX) as unconnected:
        assert unconnected.fileno() >= 0
        assert own_sockets([os.getpid()])["unix"] == before


@pytest.fixture
def segment() -> Iterator[Path]:
    path = Path(f"/dev/shm/middlemark-test {os.getpid()}")
    path.write_bytes(bytes(8192))
    yield path
    path.unlink(missing_ok=True)


def test_mapped_segments_are_found_even_if_unlinked(segment: Path) -> None:
    assert mapped_segments([os.getpid()]) == ()
    with segment.open("r+b") as file, mmap.mmap(file.fileno(), 8192):
        expected = (Segment(segment.name, 8192),)
        assert mapped_segments([os.getpid()]) == expected
        segment.unlink()
        assert mapped_segments([os.getpid()]) == expected


def test_the_segment_of_a_tracer_is_not_evidence() -> None:
    path = Path(f"/dev/shm/lttng-ust-wait-test-{os.getpid()}")
    path.write_bytes(bytes(4096))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
        path.unlink()
        assert mapped_segments([os.getpid()]) == ()


def test_a_process_that_ended_has_no_evidence() -> None:
    nobody = 2**22 + 1
    assert mapped_segments([nobody]) == ()
    assert own_sockets([nobody]) == {"udp": 0, "tcp": 0, "unix": 0}


def test_a_segment_mapped_within_one_process_is_no_evidence_of_shared_memory() -> None:
    own = transport("default", carrier="any", segments=("ring.*",))
    mapped = evidence(segments=(Segment("ring.1", 1 << 20),))
    assert actual_transport(mapped, own, messages=100, size=64, processes=1) == "process-memory"
    assert actual_transport(mapped, own, messages=100, size=64, processes=2) == "shared-memory"


def test_packets_dropped_by_processors_are_read_as_hexadecimal() -> None:
    softnet = "0000a2f1 00000000 00000001 0 0 0 0 0 0 0 0\n00000010 0000001f 00000000 0 0 0 0 0 0 0 0\n"
    assert dropped_softly(softnet) == 31


def test_without_a_link_no_queue_is_counted() -> None:
    assert dropped_in_queues((OWN,)) is None


def test_the_room_in_shared_memory_is_that_of_the_file_system() -> None:
    found = room()
    assert found is not None
    assert 0 <= found.least_free_bytes <= found.size_bytes
