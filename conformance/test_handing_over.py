"""Compares round-trip times with a transport's description: whether it copies messages or hands over a pointer."""

import time

import numpy as np
import pytest
from candidate import MIB, Candidate
from declared import why_left_out
from runner import Runner

from middlemark.model.description import ANY
from middlemark.model.plan import Limits

SMALL, LARGE = 64, 4 * MIB
MESSAGES = {True: 60, False: 20}
"""Number of messages. Key: whether the transport hands over a pointer; then other work must not delay one of them."""
LEAST_PART = 0.5
"""Smallest additional round-trip time of a transport that copies, as a multiple of the time of one copy. A round trip
has at least two copies, but a copy into a warm cache takes less time."""


def copy_ns() -> float:
    """Return the shortest time in which this machine copies a large message, in ns."""
    source, target = np.ones(LARGE, dtype=np.uint8), np.zeros(LARGE, dtype=np.uint8)
    took = []
    for _ in range(40):
        begin = time.perf_counter_ns()
        np.copyto(target, source)
        took.append(time.perf_counter_ns() - begin)
    return float(min(took))


def shortest_round_trip_ns(runner: Runner, candidate: Candidate, size: int, *, loan: bool) -> float:
    cell = candidate.cell(size=size, loan=loan, payload="untouched")
    hands_over = loan in (candidate.transport.hands_over or ())
    limits = Limits(samples=MESSAGES[hands_over], warmup_s=0.05, match_timeout_s=20.0, limit_s=60.0)
    measured = runner.measure(candidate, cell, limits)
    assert measured.outcome.failed is None, measured.outcome.failed
    return float(measured.samples["round_trip_ns"].min())


@pytest.mark.parametrize("loan", [False, True], ids=["copied", "loaned"])
def test_a_larger_message_costs_a_copy_only_if_the_description_says_so(
    runner: Runner, candidate: Candidate, loan: bool
) -> None:
    transport = candidate.transport
    if candidate.scripted or transport.alone or transport.carrier == ANY or loan not in transport.loan:
        pytest.skip("the transport does not have this level, or its description does not say whether it copies")
    if transport.max_bytes < LARGE:
        pytest.skip("the transport's largest message is too small")
    if why := why_left_out(candidate, pattern="ping-pong", size=LARGE, reliability=transport.reliability[0]):
        pytest.skip(why)
    assert transport.hands_over is not None, "the description must say whether the transport hands over a pointer"
    additional_ns = shortest_round_trip_ns(runner, candidate, LARGE, loan=loan) - shortest_round_trip_ns(
        runner, candidate, SMALL, loan=loan
    )
    if loan in transport.hands_over:
        assert additional_ns < copy_ns(), "without a copy, a large message takes less additional time than one copy"
    else:
        assert additional_ns > LEAST_PART * copy_ns(), "a round trip that copies makes at least two copies"
