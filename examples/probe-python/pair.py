"""Two Python programs with a probe over a TCP connection.

`pair.py camera PORT COUNT [LOSE]` sends, `pair.py detector PORT COUNT` receives. Every LOSE-th message is stamped but
not sent, as if the network had lost it.
"""

import socket
import sys
import time

from middlemark.probe import Probe

SIZE = 1000


def camera(port: int, count: int, lose: int) -> None:
    """Send messages once the detector has connected."""
    image = Probe("camera").topic("image")
    with socket.create_server(("127.0.0.1", port)) as server:
        connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        for sequence in range(1, count + 1):
            message = sequence.to_bytes(8, "little") + bytes(SIZE - 8)
            image.sent(sequence, SIZE)
            if not lose or sequence % lose:
                connection.sendall(message)
            time.sleep(0.001)


def detector(port: int, count: int) -> None:
    """Receive until the last message."""
    probe = Probe("detector")
    image, detect = probe.topic("image"), probe.topic("detect")
    with connected(port) as connection, connection.makefile("rb") as stream:
        sequence = 0
        while sequence != count and (message := stream.read(SIZE)):
            sequence = int.from_bytes(message[:8], "little")
            image.received(sequence)
            with detect.span():
                sum(message)


def connected(port: int) -> socket.socket:
    """Connect to the camera, waiting until it listens."""
    for _ in range(1000):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise SystemExit("no camera listens after 10 s")


if __name__ == "__main__":
    role, *numbers = sys.argv[1], *map(int, sys.argv[2:])
    if role == "camera":
        camera(*numbers[:2], numbers[2] if len(numbers) > 2 else 0)
    else:
        detector(*numbers[:2])
