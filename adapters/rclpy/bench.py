"""Measures a ping-pong that uses rclpy directly, for comparison with the adapter: reliable, depth 1, a wait set.

Messages are std_msgs/msg/UInt8MultiArray, which are received as ``rclpy.wait_for_message`` does.
"""

import array
import os
import time
from typing import Any

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"  # before rclpy

import rclpy
from direct import measure, run
from rclpy.impl.implementation_singleton import rclpy_implementation as implementation
from rclpy.qos import QoSProfile
from std_msgs.msg import UInt8MultiArray


class Ends:
    """A publisher and a subscription."""

    def __init__(self, publishes: str, subscribes: str) -> None:
        """Wait until both have found their counterparts."""
        rclpy.init()
        self.node = rclpy.create_node(publishes, enable_rosout=False, start_parameter_services=False)
        self.publisher = self.node.create_publisher(UInt8MultiArray, publishes, QoSProfile(depth=1))
        self.subscription = self.node.create_subscription(UInt8MultiArray, subscribes, print, QoSProfile(depth=1))
        self.waiting = implementation.WaitSet(1, 0, 0, 0, 0, 0, self.node.context.handle)
        while not (self.publisher.get_subscription_count() and self.node.count_publishers(subscribes)):
            time.sleep(0.01)

    def receive(self, timeout_s: float) -> Any:
        """Return the next message, or None after this time."""
        self.waiting.clear_entities()
        self.waiting.add_subscription(self.subscription.handle)
        self.waiting.wait(round(timeout_s * 1e9))
        taken = self.subscription.handle.take_message(UInt8MultiArray, False)
        return None if taken is None else taken[0]


def ping(size: int, round_trips: int) -> None:
    """Send until the pong answers, then measure."""
    ends = Ends("bench_ping", "bench_pong")
    message = UInt8MultiArray(data=array.array("B", bytes(size)))
    ends.publisher.publish(message)
    while ends.receive(0.02) is None:
        ends.publisher.publish(message)
    while ends.receive(0.02) is not None:
        pass

    def round_trip() -> None:
        ends.publisher.publish(message)
        while ends.receive(5.0) is None:
            pass

    measure(round_trips, round_trip)


def pong(_size: int) -> None:
    """Answer each message."""
    ends = Ends("bench_pong", "bench_ping")
    while True:
        message = ends.receive(5.0)
        if message is not None:
            ends.publisher.publish(message)


run(ping, pong)
