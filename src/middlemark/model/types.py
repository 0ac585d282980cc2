"""Sizes of the typed messages.

``size`` is the size of the main array, which contains the core's header and the payload.

core/kit/messages.hpp declares the messages.
"""

IMU_BYTES = 37 * 8
"""Orientation (4 numbers), angular velocity and linear acceleration (3 each), and three covariances of 9."""
TRANSFORM_BYTES = 7 * 8
"""One transform of a tf message: translation (3 numbers) and rotation (4)."""
POINT_BYTES = 16
"""One point of a point cloud: x, y, z and intensity."""


def misfit(type_name: str, size: int) -> str | None:
    """Return why no message of this type can have this size, with the nearest valid size. None: the size is valid."""
    if type_name == "imu" and size != IMU_BYTES:
        return f"the numbers of an imu are {IMU_BYTES} bytes; take size {IMU_BYTES}"
    if type_name == "tf" and size % TRANSFORM_BYTES:
        return _multiple("a transform of a tf", size, TRANSFORM_BYTES)
    if type_name == "point-cloud" and size % POINT_BYTES:
        return _multiple("a point of a point-cloud", size, POINT_BYTES)
    return None


def _multiple(what: str, size: int, unit_bytes: int) -> str:
    nearest = max(1, round(size / unit_bytes)) * unit_bytes
    return f"{what} is {unit_bytes} bytes, and {size} is not a multiple of it; take size {nearest}"
