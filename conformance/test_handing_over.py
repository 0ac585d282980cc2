"""A transport described as handing over does not copy, and one described as copying does: checked by its times."""

import time

import numpy as np
import pytest
from candidate import MIB, Candidate
from runner import Runner
from variants import why_left_out

from middlemark.model.description import ANY
from middlemark.model.plan import Limits

SMALL, LARGE = 64, 4 * MIB
MESSAGES = 60
LEAST_PART = 0.5
"""Smallest additional time of a copying round trip, in copies: it makes at least two, some into a warm cache."""


def copy_ns() -> float:
    """Return the shortest time of a copy of a large message on this machine."""
    source, target = np.ones(LARGE, dtype=np.uint8), np.zeros(LARGE, dtype=np.uint8)
    took = []
    for _ in range(40):
        begin = time.perf_counter_ns()
        np.copyto(target, source)
        took.append(time.perf_counter_ns() - begin)
    return float(min(took))


def quickest_ns(runner: Runner, candidate: Candidate, size: int, *, loan: bool) -> float:
    cell = candidate.cell(size=size, loan=loan, payload="untouched")
    limits = Limits(samples=MESSAGES, warmup_s=0.05, match_timeout_s=20.0, limit_s=60.0)
    measured = runner.measure(candidate, cell, limits)
    assert measured.outcome.failed is None, measured.outcome.failed
    return float(measured.samples["round_trip_ns"].min())


@pytest.mark.parametrize("loan", [False, True], ids=["copied", "loaned"])
def test_a_larger_message_costs_a_copy_only_if_the_description_says_so(
    runner: Runner, candidate: Candidate, loan: bool
) -> None:
    transport = candidate.transport
    if candidate.scripted or transport.alone or transport.carrier == ANY or loan not in transport.loan:
        pytest.skip("its description does not say, or it has no such level")
    if transport.max_bytes < LARGE:
        pytest.skip("its largest message is too small")
    if why := why_left_out(candidate, pattern="ping-pong", size=LARGE, reliability=transport.reliability[0]):
        pytest.skip(why)
    assert transport.hands_over is not None, "the description must say if it hands over"
    further = quickest_ns(runner, candidate, LARGE, loan=loan) - quickest_ns(runner, candidate, SMALL, loan=loan)
    if loan in transport.hands_over:
        assert further < copy_ns(), "nothing is copied: a large message takes less than one copy of it"
    else:
        assert further > LEAST_PART * copy_ns(), "a round trip that copies makes at least two copies"
