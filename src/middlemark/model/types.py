"""Which sizes the typed messages have: ``size`` is that of the main array, in which the core's header and payload lie.

core/kit/messages.hpp has the messages themselves.
"""

IMU_BYTES = 37 * 8
"""Orientation (4 numbers), angular velocity and linear acceleration (3 each), and three covariances of 9."""
TRANSFORM_BYTES = 7 * 8
"""One transform of a tf: translation (3 numbers) and rotation (4)."""
POINT_BYTES = 16
"""One point of a point cloud: x, y, z and intensity."""


def misfit(of: str, size: int) -> str | None:
    """Return what stands against messages of that type and size, with the nearest that fits; None: nothing does."""
    if of == "imu" and size != IMU_BYTES:
        return f"the numbers of an imu are {IMU_BYTES} bytes; take size {IMU_BYTES}"
    if of == "tf" and size % TRANSFORM_BYTES:
        return _multiple("a transform of a tf", size, TRANSFORM_BYTES)
    if of == "point-cloud" and size % POINT_BYTES:
        return _multiple("a point of a point-cloud", size, POINT_BYTES)
    return None


def _multiple(what: str, size: int, each: int) -> str:
    return f"{what} is {each} bytes, and {size} is no multiple of it; take size {max(1, round(size / each)) * each}"
