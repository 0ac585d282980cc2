"""The namespace's counters: read quickly, reported as differences."""

import itertools
import socket
from collections.abc import Iterator

import pytest

from middlemark.sites.evidence import NetworkCounters, moved, read_counters


@pytest.fixture
def counters() -> Iterator[NetworkCounters]:
    found = NetworkCounters()
    yield found
    found.close()


def test_datagrams_are_counted_with_their_bytes(counters: NetworkCounters) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as receiver, socket.socket(type=socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        before = counters.read()
        for _ in range(50):
            sender.sendto(b"x" * 100, receiver.getsockname())
            receiver.recv(200)
        found = moved(before, counters.read())
    assert found.udp_in_datagrams >= 50
    assert found.loopback_packets >= 50
    assert found.loopback_bytes >= 50 * 100


def test_datagrams_that_overflow_a_socket_are_counted_in_the_namespace(counters: NetworkCounters) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as receiver, socket.socket(type=socket.SOCK_DGRAM) as sender:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        receiver.bind(("127.0.0.1", 0))
        before = counters.read()
        for _ in range(200):
            sender.sendto(b"x" * 1000, receiver.getsockname())
        found = moved(before, counters.read())
    assert found.udp_rcvbuf_errors > 0
    assert found.udp_in_errors >= found.udp_rcvbuf_errors


def test_counters_never_decrease(counters: NetworkCounters) -> None:
    readings = [counters.read() for _ in range(5)]
    for before, after in itertools.pairwise(readings):
        difference = moved(before, after)
        assert min(getattr(difference, name) for name in difference.__struct_fields__) >= 0


def test_a_reading_agrees_with_the_evidence_of_a_process(counters: NetworkCounters) -> None:
    before, counted, after = read_counters(), counters.read(), read_counters()
    assert before.loopback_bytes <= counted.loopback_bytes <= after.loopback_bytes
