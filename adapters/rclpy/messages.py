"""The messages of rclpy, as a program fills and reads them: `array`, `bytes` or `numpy`."""

import array
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from sensor_msgs.msg import Image, PointCloud2, PointField
from std_msgs.msg import Header, UInt8MultiArray

from middlemark_kit import Topic

READ: dict[str, Callable[[Any], Any]] = {
    "array": lambda data: data,
    "bytes": lambda data: data.tobytes(),
    "numpy": lambda data: np.frombuffer(data, np.uint8),
}
"""How the program uses the `array.array` of a received message."""
POINT_BYTES = 16


def _image(size: int) -> Image:
    return Image(header=_header(), height=1, width=size, encoding="mono8", step=size)


def _point_cloud(size: int) -> PointCloud2:
    fields = [
        PointField(name=name, offset=4 * at, datatype=PointField.FLOAT32, count=1)
        for at, name in enumerate(("x", "y", "z", "intensity"))
    ]
    shape = {"height": 1, "width": size // POINT_BYTES, "point_step": POINT_BYTES, "row_step": size}
    return PointCloud2(header=_header(), fields=fields, is_dense=True, **shape)


def _header() -> Header:
    return Header(stamp=Time(sec=1_700_000_000), frame_id="sensor_link")


MAKE: dict[str, Callable[[int], Any]] = {
    "octets": lambda _: UInt8MultiArray(),
    "image": _image,
    "point-cloud": _point_cloud,
}
"""Supported type → a message whose main array has this size, still without the array."""


class Form:
    """Fills one message that is sent, and reads received messages, all with the field ``data``."""

    def __init__(self, topic: Topic, kind: str, message: Any = None) -> None:
        """``kind``: a key of ``READ``. ``message``: of this type; otherwise of the topic's type."""
        self.message = MAKE[topic.type](topic.message_bytes) if message is None else message
        self.type = type(self.message)
        self._content = READ[kind]
        self._assign = {
            "bytes": bytes,
            "numpy": lambda message: array.array("B", np.frombuffer(message, np.uint8).tobytes()),
        }.get(kind)
        self._bytes = topic.message_bytes
        self._view = None
        if self._assign is None and not topic.varies:
            self.message.data = array.array("B", bytes(topic.message_bytes))
            self._view = memoryview(self.message.data)
        self._constant = None
        if topic.type != "octets":
            names = [each for each in self.type.get_fields_and_field_types() if each != "data"]
            self._constant = operator.attrgetter(*names)
            self._expected = self._constant(self.message)

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
