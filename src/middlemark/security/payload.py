"""Find the payload of messages in captured bytes. core/message.hpp defines the content of a payload. Pure."""

import numpy as np

LEAST_BYTES = 24
"""The size of the shortest message that can be recognised. A shorter message has only a header."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
"""The difference between consecutive words of a payload, the same in all messages."""
_MIXED = np.uint64(0xD1B54A32D192ED03)
"""The first word after the header is the message's number times this factor, plus 1."""
_NUMBER = np.uint64((1 << 48) - 1)
"""The bits of a header's first word that contain the message's number."""
_CHUNK_BYTES = 4 << 20
_OVERLAP_BYTES = 32


def holds_payload(captured: bytes | bytearray | memoryview) -> bool:
    """Say whether the bytes contain a message's payload or a piece of one, at any alignment."""
    octets = np.frombuffer(captured, dtype=np.uint8)
    return any(
        _contains_payload(octets[begin + shift : begin + _CHUNK_BYTES + _OVERLAP_BYTES])
        for begin in range(0, len(octets), _CHUNK_BYTES)
        for shift in range(8)
    )


def _contains_payload(octets: "np.typing.NDArray[np.uint8]") -> bool:
    words = octets[: len(octets) // 8 * 8].view(np.uint64)
    if len(words) < 3:
        return False
    if bool((words[1:] - words[:-1] == _STEP).any()):
        return True
    number = words[:-2] & _NUMBER
    return bool(((number != 0) & (number * _MIXED + np.uint64(1) == words[2:])).any())
