"""A payload is found anywhere in a capture, and no other bytes count as a payload."""

import numpy as np
import pytest

from middlemark.security.payload import LEAST_BYTES, holds_payload

STEP, MIXED = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03


def message(size: int, stamp: int = 1) -> bytes:
    """Write a message as core/message.hpp does."""
    words = [stamp, 12345]
    words += [(((stamp & (1 << 48) - 1) * MIXED + 1) + at * STEP) % 2**64 for at in range((size + 7) // 8 - 2)]
    return np.array(words, dtype=np.uint64).tobytes()[:size]


NOISE = np.random.default_rng(3).bytes(1 << 20)


@pytest.mark.parametrize("before", range(8))
@pytest.mark.parametrize("size", [LEAST_BYTES, 32, 64, 1000])
@pytest.mark.parametrize("stamp", [1, 1 << 47 | 5, 7 << 48 | 3, 1 << 46 | 1 << 47 | 2])
def test_a_payload_is_found_at_every_alignment(before: int, size: int, stamp: int) -> None:
    assert holds_payload(NOISE[: 1000 + before] + message(size, stamp) + NOISE[:50])


def test_a_part_of_a_payload_is_found_across_the_searched_blocks() -> None:
    whole = NOISE * 9
    for at in ((4 << 20) - 20, (8 << 20) - 9, len(whole)):
        assert holds_payload(whole[:at] + message(64)[24:48] + whole[at:])


@pytest.mark.parametrize("nothing", [b"", b"short", bytes(1000), b"\xff" * 1000, NOISE, message(16) * 50])
def test_other_bytes_are_not_taken_for_a_payload(nothing: bytes) -> None:
    assert not holds_payload(nothing)


def test_a_counter_and_ones_among_zeros_are_not_taken_for_a_payload() -> None:
    assert not holds_payload(np.arange(1000, dtype=np.uint64).tobytes())
    assert not holds_payload(np.array([0, 0, 1] * 100, dtype=np.uint64).tobytes())
