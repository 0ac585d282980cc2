"""The function of rclpy that makes a message of octets."""

from types import SimpleNamespace

OTHER_FIELDS_BYTES = 60


def deserialize_message(serialized_message: bytes, message_type: type) -> SimpleNamespace:
    """Return a message whose other fields take OTHER_FIELDS_BYTES."""
    assert message_type.__name__ in ("Image", "PointCloud2")
    return SimpleNamespace(data=serialized_message[OTHER_FIELDS_BYTES:])
