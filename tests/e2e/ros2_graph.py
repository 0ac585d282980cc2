"""Publish an image (best effort), a map (once) and a text in ROS 2, until stdin ends."""

import sys
import threading

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image
from std_msgs.msg import String

BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

rclpy.init(args=[])
camera, detector = rclpy.create_node("camera"), rclpy.create_node("detector")
images = camera.create_publisher(Image, "/image", BEST_EFFORT)
maps = camera.create_publisher(String, "/map", LATCHED)
words = camera.create_publisher(String, "/words", 10)
detector.create_subscription(Image, "/image", lambda _: None, BEST_EFFORT)
detector.create_subscription(String, "/map", lambda _: None, LATCHED)
detector.create_subscription(String, "/words", lambda _: None, 10)
maps.publish(String(data="the map"))
image = Image(height=100, width=100, step=100, encoding="mono8", data=bytes(10_000))
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
print("ready", flush=True)
while not ended.wait(0.05):
    images.publish(image)
    words.publish(String(data="x" * 100))
rclpy.shutdown()
