"""The parts of rclpy's QoS that are read and requested."""

from enum import IntEnum


class HistoryPolicy(IntEnum):
    SYSTEM_DEFAULT = 0
    KEEP_LAST = 1
    KEEP_ALL = 2
    UNKNOWN = 3


class ReliabilityPolicy(IntEnum):
    SYSTEM_DEFAULT = 0
    RELIABLE = 1
    BEST_EFFORT = 2
    UNKNOWN = 3


class DurabilityPolicy(IntEnum):
    SYSTEM_DEFAULT = 0
    TRANSIENT_LOCAL = 1
    VOLATILE = 2
    UNKNOWN = 3


class QoSProfile:
    def __init__(
        self,
        *,
        history: HistoryPolicy = HistoryPolicy.KEEP_LAST,
        depth: int = 0,
        reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE,
        durability: DurabilityPolicy = DurabilityPolicy.VOLATILE,
    ) -> None:
        self.history = history
        self.depth = depth
        self.reliability = reliability
        self.durability = durability
