"""Finds the messages' payload in captured bytes: core/message.hpp says how a filled payload is written. Pure."""

import numpy as np

LEAST_BYTES = 24
"""A shorter message is its header alone, which no capture can tell from anything else."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
"""Each word of a payload is so much more than the one before it, whatever the message's number."""
_MIXED = np.uint64(0xD1B54A32D192ED03)
"""The first word behind the header is the message's number times this, and 1."""
_NUMBER = np.uint64((1 << 48) - 1)
"""The bits of a header's first word that the payload follows from."""
_CHUNK_BYTES = 4 << 20
_OVERLAP_BYTES = 32


def holds_payload(captured: bytes | bytearray | memoryview) -> bool:
    """Say whether a message's payload, or a piece of one, lies anywhere in the bytes, at whatever alignment."""
    octets = np.frombuffer(captured, dtype=np.uint8)
    return any(
        _lies_in(octets[begin + shift : begin + _CHUNK_BYTES + _OVERLAP_BYTES])
        for begin in range(0, len(octets), _CHUNK_BYTES)
        for shift in range(8)
    )


def _lies_in(octets: "np.typing.NDArray[np.uint8]") -> bool:
    words = octets[: len(octets) // 8 * 8].view(np.uint64)
    if len(words) < 3:
        return False
    if bool((words[1:] - words[:-1] == _STEP).any()):
        return True
    number = words[:-2] & _NUMBER
    return bool(((number != 0) & (number * _MIXED + np.uint64(1) == words[2:])).any())
