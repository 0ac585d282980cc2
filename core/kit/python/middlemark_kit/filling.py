"""Messages with a field ``data``, as a program fills and reads them: as an ``array``, as ``bytes`` or with NumPy.

Not a part of the contract: a module of its own, because it needs NumPy.
"""

import array
import operator
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from middlemark_kit.contract import Topic
from middlemark_kit.protocol import NativeSetting

READ: dict[str, Callable[[Any], Any]] = {
    "array": lambda data: data,
    "bytes": lambda data: data.tobytes(),
    "numpy": lambda data: np.frombuffer(data, np.uint8),
}
"""How the program uses the ``array.array`` of a received message."""
ASSIGN: dict[str, Callable[[memoryview], Any]] = {
    "bytes": bytes,
    "numpy": lambda content: array.array("B", np.frombuffer(content, np.uint8).tobytes()),
}
"""The object that the program assigns to ``data``. Without one it writes the message's own array."""
DATA = NativeSetting(
    help="what the program has as data of a message; array: the message's own array",
    type="choice",
    choices=tuple(READ),
    default="array",
)


class Form:
    """Fills one message that is sent, and reads received messages of its type."""

    def __init__(self, message: Any, topic: Topic, kind: str, constant: Collection[str] = ()) -> None:
        """``kind``: a key of ``READ``. ``constant``: the fields that must arrive as they are in ``message``."""
        self.message = message
        self.type = type(message)
        self._content = READ[kind]
        self._assign = ASSIGN.get(kind)
        self._view: memoryview | None = None
        if self._assign is None and not topic.varies:
            message.data = array.array("B", bytes(topic.message_bytes))
            self._view = memoryview(message.data)
        self._constant = operator.attrgetter(*constant) if constant else None
        self._expected = self._constant(message) if self._constant else None

    def fill(self, content: memoryview) -> Any:
        """Return the message with this content: its own array is written, unless the kind assigns another object."""
        if self._view is not None:
            self._view[:] = content
        elif self._assign is not None:
            self.message.data = self._assign(content)
        else:
            data = self.message.data
            del data[:]
            data.frombytes(content)
        return self.message

    def read(self, message: Any) -> Any:
        """Return the content; without its last byte if any other field is wrong, so that it counts as damaged."""
        content = self._content(message.data)
        if self._constant is not None and self._constant(message) != self._expected:
            return memoryview(content)[:-1]
        return content
