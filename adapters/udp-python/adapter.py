"""The baseline of Python over UDP: one datagram per message with the module socket, as in adapters/udp."""

import platform
import socket
from typing import Any

from middlemark_kit import Adapter, Description, NativeSetting, Rendezvous, Settings, Topic, Transport, Visit
from middlemark_kit.sockets import ReceiveTimeout

LARGEST_DATAGRAM = 65_507
LEAST_BUFFER_BYTES = 4 << 20


class Publisher:
    """Sends each message to every subscriber's socket."""

    def __init__(self, settings: Settings, topic: Topic) -> None:
        """``topic``: the topic to publish on. ``matched`` connects the sockets."""
        self._settings = settings
        self._topic = topic
        self._notes = Rendezvous(settings)
        self._peers: dict[int, socket.socket] = {}
        self._sends: tuple[Any, ...] = ()

    def matched(self) -> int:
        """Connect to the subscribers that have written a note. Return their number."""
        for index in range(self._topic.subscribers):
            if index in self._peers or (port := self._notes.find(f"{self._topic.name}.subscriber.{index}")) is None:
                continue
            peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            peer.bind((self._settings.ipv4, 0))
            peer.connect((self._settings.ipv4, int(port)))
            self._peers[index] = peer
        self._sends = tuple(peer.send for peer in self._peers.values())
        return len(self._peers)

    def publish(self, message: memoryview) -> None:
        """Send one datagram to each subscriber."""
        for send in self._sends:
            send(message)

    def close(self) -> None:
        """Close the sockets."""
        for peer in self._peers.values():
            peer.close()


class Subscriber:
    """Receives each message into the same buffer, so a visited message is valid only during its visit."""

    most_per_take = 64

    def __init__(self, settings: Settings, topic: Topic, index: int) -> None:
        """Bind a socket and write its port into a note."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asked = settings.native.get("receive_buffer_bytes")
        wanted = asked or max(topic.message_bytes * topic.publishers * 4, LEAST_BUFFER_BYTES)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, min(wanted // 2, (1 << 31) - 1))
        self._socket.bind((settings.ipv4, 0))
        self._buffer = memoryview(bytearray(topic.message_bytes))
        self._whole = topic.message_bytes
        self._ready = 0
        self._set_timeout = ReceiveTimeout(self._socket)
        Rendezvous(settings).leave(f"{topic.name}.subscriber.{index}", str(self._socket.getsockname()[1]))

    def take(self, visit: Visit) -> None:
        """Visit the datagram that ended ``wait``, or else all datagrams that have arrived."""
        if self._ready:
            length, self._ready = self._ready, 0
            visit(self._buffer if length == self._whole else self._buffer[:length])
            return
        receive = self._socket.recv_into
        for _ in range(self.most_per_take):
            try:
                length = receive(self._buffer, 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            visit(self._buffer if length == self._whole else self._buffer[:length])

    def wait(self, timeout_s: float) -> bool:
        """Receive the next datagram."""
        self._set_timeout(timeout_s)
        try:
            self._ready = self._socket.recv_into(self._buffer)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class Udp(Adapter):
    """UDP sockets."""

    subscriber_type = Subscriber

    @staticmethod
    def description() -> Description:
        """Return the transport and its settings, for messages of one datagram."""
        return Description(
            name="udp-python",
            title="UDP socket in Python",
            version=platform.python_version(),
            client_of="udp",
            implementation=f"udp {platform.release()}",  # sockets are part of the kernel
            licence="PSF-2.0",
            is_raw_transport=True,
            transports=(
                Transport(
                    name="udp-python",
                    carrier="udp",
                    receive=("poll", "block"),
                    reliability=("best-effort",),
                    max_bytes=LARGEST_DATAGRAM,
                    varying_sizes=True,
                ),
            ),
            native={
                "receive_buffer_bytes": NativeSetting(
                    help="receive buffer, as the kernel counts it",
                    type="bytes",
                    least=1,
                    most=1 << 30,
                    default="four messages of each publisher, at least 4 MiB",
                )
            },
        )

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        return Publisher(self.settings, topic)

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        return Subscriber(self.settings, topic, index)


ADAPTER = Udp
