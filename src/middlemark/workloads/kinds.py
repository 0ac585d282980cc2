"""Find out by its content whether a file contains a workload."""

import contextlib
import re
from pathlib import Path
from typing import Literal

HEAD_BYTES = 1 << 16
_BAGS = (b"#ROSBAG V", b"\x89MCAP0\r\n", b"SQLite format 3\0", b"\x28\xb5\x2f\xfd")
"""The first bytes of ROS 1's bags, of MCAP, of sqlite3, and of files that zstd has compressed."""
_TOPOLOGY = re.compile(rb'\s*\{.*"nodes"\s*:', re.DOTALL)
METADATA_BEGINS = b"rosbag2_bagfile_information"
"""The first key of rosbag2's ``metadata.yaml``."""
_IN_A_BAG = ("metadata.yaml", "*.db3", "*.mcap", "*.db3.zstd", "*.mcap.zstd")


def kind_of(path: Path) -> Literal["bag", "topology"] | None:
    """Return whether a file or folder is a bag, or a topology of ros2-performance; None: neither, or unreadable."""
    if path.is_dir():
        return "bag" if any(next(path.glob(each), None) for each in _IN_A_BAG) else None
    head = b""
    if path.is_file():  # reading from a pipe would consume it
        with contextlib.suppress(OSError), path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    if head.startswith(_BAGS) or METADATA_BEGINS in head[:4096]:
        return "bag"
    return "topology" if _TOPOLOGY.match(head) else None
