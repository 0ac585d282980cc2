"""Measures a ping-pong that uses paho directly, for comparison with the adapter: QoS 1, a client for each direction."""

import os
import socket
import time
from collections import deque
from collections.abc import Callable

from direct import measure, run
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion


def connected(name: str) -> Client:
    """Return a client of the broker."""
    host, _, port = os.environ["MIDDLEMARK_MQTT_BROKER"].partition(":")
    client = Client(CallbackAPIVersion.VERSION2, name)
    client.on_socket_open = lambda _client, _data, end: end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.connect(host, int(port))
    while not client.is_connected():
        client.loop(1.0)
    return client


def ends(publishes: str, subscribes: str) -> tuple[Callable[[bytes], None], Callable[[float], bytes | None]]:
    """Return a function that sends a message, and one that returns the next message, or None after a time in s."""
    sender, receiver = connected(f"{publishes}.p"), connected(f"{subscribes}.s")
    arrived: deque[bytes] = deque()
    granted: list[object] = []
    receiver.on_message = lambda _client, _data, message: arrived.append(message.payload)
    receiver.on_subscribe = lambda *reasons: granted.append(reasons)
    receiver.subscribe(subscribes, 1)
    while not granted:
        receiver.loop(1.0)

    def send(message: bytes) -> None:
        sender.loop(0)  # the acknowledgement of the message before
        sender.publish(publishes, message, 1)
        while sender.want_write():
            sender.loop(1.0)

    def receive(timeout_s: float) -> bytes | None:
        end = time.monotonic() + timeout_s
        while not arrived:
            receiver.loop(timeout_s)
            if time.monotonic() > end:
                return None
        return arrived.popleft()

    return send, receive


def ping(size: int, round_trips: int) -> None:
    """Send until the pong answers, then measure."""
    send, receive = ends("ping", "pong")
    message = bytes(size)
    send(message)
    while receive(0.2) is None:
        send(message)
    while receive(0.2) is not None:
        pass

    def round_trip() -> None:
        send(message)
        receive(5.0)

    measure(round_trips, round_trip)


def pong(_size: int) -> None:
    """Answer each message."""
    send, receive = ends("pong", "ping")
    while True:
        message = receive(5.0)
        if message is not None:
            send(message)


run(ping, pong)
