"""The actual transport of a stream is found despite batching, and acknowledgements do not count as data."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from descriptions import description, transport
from launching import Launching

from middlemark.model.cell import Cell, carrier_due
from middlemark.model.outcome import Evidence, Segment, SharedSegment
from middlemark.trial.carrier import stream_actual_transport

SHM = transport("shm", carrier="shared-memory", segments=("ring.*",))
UDP = transport("udp", carrier="udp")
RING = Segment("ring.7", 1 << 20)

MESSAGES = 1000
UDP_IP, TCP_IP, RTPS = 28, 52, 60


def evidence(
    *, datagrams: int = 0, segments: int = 0, content: int = 0, mapped: tuple[Segment, ...] = (), **found: Any
) -> Evidence:
    """Return the evidence of frames with ``content`` bytes in total."""
    values = {"unix_sockets": 0, "udp_sockets": 4 if datagrams else 0, "tcp_sockets": 2 if segments else 0, **found}
    return Evidence(
        udp_datagrams=datagrams,
        tcp_segments=segments,
        loopback_bytes=content + datagrams * UDP_IP + segments * TCP_IP,
        segments=mapped,
        **values,
    )


CASES = {
    # name: size, evidence, processes, expected
    "a raw transport: a datagram per message": (16, evidence(datagrams=1000, content=16_000), 2, "udp"),
    "a middleware, which adds headers": (16, evidence(datagrams=1000, content=(16 + RTPS) * 1000), 2, "udp"),
    "batched: a hundred messages per datagram": (16, evidence(datagrams=10, content=50_000), 2, "udp"),
    "to three subscribers by unicast": (1024, evidence(datagrams=3000, content=3_300_000), 2, "udp"),
    "in fragments": (65_536, evidence(datagrams=50_000, content=66_000_000), 2, "udp"),
    "in the largest possible datagrams": (65_536, evidence(datagrams=1001, content=65_536_000), 2, "udp"),
    "coalesced in tcp": (16, evidence(segments=30, content=16_000), 2, "tcp"),
    "a segment for each message and its acknowledgement": (16, evidence(segments=1800, content=16_000), 2, "tcp"),
    "shared memory": (16, evidence(mapped=(RING,)), 2, "shared-memory"),
    "shared memory, discovery over udp": (64, evidence(datagrams=20, content=3000, mapped=(RING,)), 2, "shared-memory"),
    "shared memory, discovery of ROS 2, mostly to ports without a socket": (
        16,
        evidence(datagrams=15, content=40_000, udp_no_port=150, mapped=(RING,)),
        2,
        "shared-memory",
    ),
    "batched, and shared memory is mapped": (16, evidence(datagrams=15, content=40_000, mapped=(RING,)), 2, "udp"),
    "shared memory, one acknowledgement for ten messages": (
        1024,
        evidence(datagrams=100, content=6400, mapped=(RING,)),
        2,
        "shared-memory",
    ),
    "shared memory, an acknowledgement for each large message": (
        1024,
        evidence(datagrams=2000, content=160_000, mapped=(RING,)),
        2,
        "shared-memory",
    ),
    "an acknowledgement for each tiny message may have been the message": (
        16,
        evidence(datagrams=2000, content=160_000, mapped=(RING,)),
        2,
        None,
    ),
    "large datagrams are no acknowledgements, whatever is mapped": (
        16,
        evidence(datagrams=10, content=50_000, mapped=(RING,)),
        2,
        "udp",
    ),
    "shared memory mapped but not used": (1024, evidence(datagrams=1000, content=1_080_000, mapped=(RING,)), 2, "udp"),
    "more bytes than the datagrams can contain": (
        65_536,
        evidence(datagrams=10, content=66_000_000),
        1,
        "process-memory",
    ),
    "datagrams of another process": (
        16,
        evidence(datagrams=1000, content=16_000, udp_sockets=0, mapped=(RING,)),
        2,
        "shared-memory",
    ),
    "unix sockets": (16, evidence(unix_sockets=2), 2, "unix-socket"),
    "within the process": (16, evidence(), 1, "process-memory"),
    "no evidence": (16, evidence(), 2, None),
}


@pytest.mark.parametrize(("size", "found", "processes", "expected"), CASES.values(), ids=CASES)
def test_the_actual_transport_of_a_stream_is_found(
    size: int, found: Evidence, processes: int, expected: str | None
) -> None:
    asked = SHM if processes == 2 else UDP
    carrier = stream_actual_transport(found, asked, messages=MESSAGES, size=size, processes=processes)
    assert carrier == expected


def test_the_segment_that_the_workers_report_is_in_the_outcome(tmp_path: Path) -> None:
    launching = Launching(tmp_path)
    assert launching.trial({"segment": "524288"}).segment == SharedSegment(524_288, "segment_size")
    assert launching.trial().segment is None


def test_any_segment_may_belong_to_a_transport_without_named_segments() -> None:
    other = Segment("anything", 4096)
    assert stream_actual_transport(evidence(mapped=(other,)), UDP, messages=9, size=16, processes=2) == "shared-memory"
    assert stream_actual_transport(evidence(mapped=(other,)), SHM, messages=9, size=16, processes=2) is None


def test_shared_memory_without_evidence_is_not_contradicted() -> None:
    assert stream_actual_transport(evidence(), SHM, messages=9, size=16, processes=1) is None


def test_without_a_message_there_is_no_actual_transport() -> None:
    assert stream_actual_transport(evidence(mapped=(RING,)), SHM, messages=0, size=16, processes=2) is None


@pytest.mark.parametrize(
    ("reliability", "pattern", "served", "due"),
    [
        ("reliable", "ping-pong", True, "shared-memory"),
        ("best-effort", "ping-pong", True, "udp"),
        ("best-effort", "request-reply", False, "udp"),
        ("best-effort", "request-reply", True, "shared-memory"),
    ],
)
def test_the_expected_transport_depends_on_reliability_and_pattern(
    reliability: Any, pattern: Any, served: bool, due: str
) -> None:
    both = transport("rmw", carrier="shared-memory", best_effort_carrier="udp")
    cell = Cell(adapter="ros", transport="rmw", size=16, reliability=reliability, pattern=pattern)
    assert carrier_due(cell, description("ros", both, request_reply=served)) == due
    assert carrier_due(msgspec.structs.replace(cell, transport="gone"), description("ros", both)) is None
