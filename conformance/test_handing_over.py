"""A transport that is described as handing over copies nothing, and one that is described as copying does."""

import time

import numpy as np
import pytest
from contender import MIB, Contender
from course import Course
from variants import why_left_out

from middlemark.model.description import ANY
from middlemark.model.plan import Limits

SMALL, LARGE = 64, 4 * MIB
MESSAGES = 60
LEAST_PART = 0.5
"""Of the time of one copy: a round trip that copies has two at least, some of them into a warm cache."""


def copy_ns() -> float:
    """Return the quickest copy of a large message on this machine."""
    source, target = np.ones(LARGE, dtype=np.uint8), np.zeros(LARGE, dtype=np.uint8)
    took = []
    for _ in range(40):
        begin = time.perf_counter_ns()
        np.copyto(target, source)
        took.append(time.perf_counter_ns() - begin)
    return float(min(took))


def quickest_ns(course: Course, contender: Contender, size: int, *, loan: bool) -> float:
    cell = contender.cell(size=size, loan=loan, payload="untouched")
    limits = Limits(samples=MESSAGES, warmup_s=0.05, match_timeout_s=20.0, limit_s=60.0)
    measured = course.measure(contender, cell, limits)
    assert measured.outcome.failed is None, measured.outcome.failed
    return float(measured.samples["round_trip_ns"].min())


@pytest.mark.parametrize("loan", [False, True], ids=["copied", "loaned"])
def test_the_size_of_a_message_costs_what_the_description_says(
    course: Course, contender: Contender, loan: bool
) -> None:
    transport = contender.transport
    if contender.scripted or transport.alone or transport.carrier == ANY or loan not in transport.loan:
        pytest.skip("it does not say, or there is no such level")
    if transport.max_bytes < LARGE:
        pytest.skip("its messages are too small to tell")
    if why := why_left_out(contender, pattern="ping-pong", size=LARGE, reliability=transport.reliability[0]):
        pytest.skip(why)
    assert transport.hands_over is not None, "its description says whether it hands over"
    further = quickest_ns(course, contender, LARGE, loan=loan) - quickest_ns(course, contender, SMALL, loan=loan)
    if loan in transport.hands_over:
        assert further < copy_ns(), "nothing is copied: a large message takes less than one copy of it"
    else:
        assert further > LEAST_PART * copy_ns(), "a round trip that copies does so twice at least"
