"""The messages of each type, with the constant fields that adapters/rcl also sends."""

from collections.abc import Callable
from typing import Any

from builtin_interfaces.msg import Time
from sensor_msgs.msg import Image, PointCloud2, PointField
from std_msgs.msg import Header, UInt8MultiArray

POINT_BYTES = 16


def _header() -> Header:
    return Header(stamp=Time(sec=1_700_000_000), frame_id="sensor_link")


def _image(size: int) -> Image:
    return Image(header=_header(), height=1, width=size, encoding="mono8", step=size)


def _point_cloud(size: int) -> PointCloud2:
    fields = [
        PointField(name=name, offset=4 * at, datatype=PointField.FLOAT32, count=1)
        for at, name in enumerate(("x", "y", "z", "intensity"))
    ]
    shape = {"height": 1, "width": size // POINT_BYTES, "point_step": POINT_BYTES, "row_step": size}
    return PointCloud2(header=_header(), fields=fields, is_dense=True, **shape)


MAKE: dict[str, Callable[[int], Any]] = {
    "octets": lambda _: UInt8MultiArray(),
    "image": _image,
    "point-cloud": _point_cloud,
}
"""Supported type → a message whose main array has this size, still without the array."""
