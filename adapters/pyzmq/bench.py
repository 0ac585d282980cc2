"""Measures a ping-pong that uses pyzmq directly, for comparison with the adapter: PUB and SUB over Unix sockets."""

import os
import time

import zmq
from direct import measure, run

NAME = f"ipc://@middlemark-bench-{os.getpid()}"


def ends(publishes: str, subscribes: str) -> tuple[zmq.Socket[bytes], zmq.Socket[bytes]]:
    """Return a publisher and a subscriber."""
    context = zmq.Context()
    publisher = context.socket(zmq.PUB)
    publisher.bind(f"{NAME}-{publishes}")
    subscriber = context.socket(zmq.SUB)
    subscriber.setsockopt(zmq.SUBSCRIBE, b"")
    subscriber.connect(f"{NAME}-{subscribes}")
    return publisher, subscriber


def ping(size: int, round_trips: int) -> None:
    """Send until the pong answers, then measure."""
    publisher, subscriber = ends("ping", "pong")
    message = bytes(size)
    while not subscriber.poll(20):
        publisher.send(message)
    time.sleep(0.1)
    while subscriber.poll(20):
        subscriber.recv()

    def round_trip() -> None:
        publisher.send(message)
        subscriber.recv()

    measure(round_trips, round_trip)


def pong(_size: int) -> None:
    """Answer each message."""
    publisher, subscriber = ends("pong", "ping")
    while True:
        publisher.send(subscriber.recv())


run(ping, pong)
