"""ZeroMQ with pyzmq: XPUB and SUB for topics, DEALER and ROUTER for request and reply, as in adapters/zeromq."""

import math
from typing import Any

import zmq
import zmq.backend.cython._zmq

from middlemark_kit import Adapter, Description, Rendezvous, Settings, Topic, Transport, Visit
from middlemark_kit.protocol import DEFAULT_CONFIGURATION

USUAL_MARK = 1000
"""libzmq's default high-water mark. A round trip has one message at a time, so only a stream needs its depth."""
KEPT_BYTES = 64 << 20
"""Bytes of a queue without a depth. A full queue makes the publisher wait, so that a flood needs limited memory."""


def mark(settings: Settings, topic: Topic) -> int:
    """Return the high-water mark: the number of messages that a queue of the topic may contain."""
    if settings.pattern != "stream":
        return max(USUAL_MARK, topic.depth or 0)
    return max(1, topic.depth or KEPT_BYTES // topic.message_bytes)


class End:
    """A socket of one topic or service."""

    def __init__(self, context: zmq.Context[Any], settings: Settings, topic: Topic, kind: int) -> None:
        """Make the socket and set its options."""
        self.settings = settings
        self.topic = topic
        self.notes = Rendezvous(settings)
        self.socket = context.socket(kind)
        self.socket.linger = 0
        self.socket.sndhwm = mark(settings, topic)
        self.socket.rcvhwm = mark(settings, topic)
        self.socket.sndtimeo = max(1, math.ceil(settings.write_timeout_s * 1e3))
        self._connected: set[int] = set()

    def bind(self, index: int) -> None:
        """Bind to an address of the trial and leave it in a note, with an identity as in adapters/zeromq."""
        name = f"{self.topic.name}.zeromq.{index}"
        transport = self.settings.transport
        wanted = {"inproc": f"inproc://{name}", "ipc": f"ipc://@{name}"}.get(transport, f"tcp://{self.settings.ipv4}:*")
        self.socket.bind(wanted)
        self.notes.leave(name, f"{self.socket.getsockopt_string(zmq.LAST_ENDPOINT)}\n{self.settings.identity}")

    def connect(self, peers: int) -> int:
        """Connect to the peers that have bound. Return their number."""
        for index in range(peers):
            if index not in self._connected and (note := self.notes.find(f"{self.topic.name}.zeromq.{index}")):
                self.socket.connect(note.partition("\n")[0])
                self._connected.add(index)
        return len(self._connected)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()


class Receiver(End):
    """A socket that receives. ``wait`` receives one message with a timeout, and the next ``take`` visits it."""

    most_per_take = 1024

    def __init__(self, context: zmq.Context[Any], settings: Settings, topic: Topic, kind: int) -> None:
        """Make the socket."""
        super().__init__(context, settings, topic, kind)
        self._timeout_ms = -1
        self._held: bytes | None = None

    def receive(self, flags: int) -> bytes:
        """Return the next message. Raise zmq.Again if there is none."""
        message: bytes = self.socket.recv(flags)
        return message

    def take(self, visit: Visit) -> None:
        """Visit the message that ended ``wait``, or else all messages that have arrived."""
        if self._held is not None:
            held, self._held = self._held, None
            visit(held)
            return
        try:
            for _ in range(self.most_per_take):
                visit(self.receive(zmq.DONTWAIT))
        except zmq.Again:
            return

    def wait(self, timeout_s: float) -> bool:
        """Receive the next message by a blocking ``recv``, as a program with one socket does."""
        if self._held is not None:
            return True
        timeout_ms = math.ceil(timeout_s * 1e3)
        if timeout_ms != self._timeout_ms:
            self.socket.rcvtimeo = timeout_ms
            self._timeout_ms = timeout_ms
        try:
            self._held = self.receive(0)
        except zmq.Again:
            return False
        return True


class Publisher(End):
    """An XPUB socket: it sends messages and receives subscriptions."""

    def __init__(self, context: zmq.Context[Any], settings: Settings, topic: Topic, index: int) -> None:
        """Bind."""
        super().__init__(context, settings, topic, zmq.XPUB)
        self.socket.setsockopt(zmq.XPUB_VERBOSE, 1)  # report every subscription, not only the first
        if topic.reliability == "reliable":
            self.socket.setsockopt(zmq.XPUB_NODROP, 1)  # wait for room instead of dropping
        self._found = 0
        self.bind(index)

    def matched(self) -> int:
        """Return the number of subscriptions."""
        try:
            while True:
                self._found += 1 if self.socket.recv(zmq.DONTWAIT)[:1] == b"\1" else 0
        except zmq.Again:
            return self._found

    def publish(self, message: memoryview) -> None:
        """Send the message; libzmq copies it."""
        try:
            self.socket.send(message)
        except zmq.Again:
            raise TimeoutError("zmq_send") from None


class Subscriber(Receiver):
    """A SUB socket that is connected to every publisher of the topic."""

    def __init__(self, context: zmq.Context[Any], settings: Settings, topic: Topic) -> None:
        """Subscribe to the topic. ``publishers_found`` connects the socket."""
        super().__init__(context, settings, topic, zmq.SUB)
        self.socket.setsockopt(zmq.SUBSCRIBE, b"")

    def publishers_found(self) -> int:
        """Connect to the publishers that have bound. Return their number."""
        return self.connect(self.topic.publishers)


class Caller(Receiver):
    """A DEALER, which sends requests and receives their replies, or the ROUTER that answers."""

    def __init__(
        self, context: zmq.Context[Any], settings: Settings, service: Topic, index: int, *, serves: bool
    ) -> None:
        """Bind, if this is the server. Otherwise write a note about the client."""
        super().__init__(context, settings, service, zmq.ROUTER if serves else zmq.DEALER)
        self._serves = serves
        self._client = b""
        if serves:
            self.bind(0)
        else:
            self.notes.leave(f"{service.name}.client.{index}")

    def matched(self) -> int:
        """Return the number of peers.

        A server counts the clients' notes. A client connects, and returns 1 if there is a server.
        """
        if not self._serves:
            return self.connect(1)
        clients = (self.notes.find(f"{self.topic.name}.client.{index}") for index in range(self.topic.publishers))
        return sum(each is not None for each in clients)

    def receive(self, flags: int) -> bytes:
        """Return the next message. Remember which client sent it, to answer it."""
        if self._serves:
            self._client = self.socket.recv(flags)
        return super().receive(flags)

    def publish(self, message: memoryview) -> None:
        """Send a request, or reply to the request that is being visited."""
        try:
            if self._serves:
                self.socket.send(self._client, zmq.SNDMORE)
            self.socket.send(message)
        except zmq.Again:
            raise TimeoutError("zmq_send") from None


class PyZmq(Adapter):
    """One context for all sockets of the process."""

    subscriber_type = Subscriber
    client_type = Caller

    def __init__(self, settings: Settings) -> None:
        """Make the context."""
        super().__init__(settings)
        self._context: zmq.Context[Any] = zmq.Context()

    @staticmethod
    def description() -> Description:
        """Return the transports and the settings that the sockets support."""

        def transport(name: str, carrier: str, processes: tuple[int, ...] = (1, 2), wire: str = "") -> Transport:
            return Transport(
                name=name,
                carrier=carrier,
                processes=processes,
                receive=("poll", "block"),
                varying_sizes=True,
                services=True,
                security_why="this adapter does not set CURVE",
                wire=wire,
            )

        return Description(
            name="pyzmq",
            title="ZeroMQ (pyzmq)",
            version=f"{zmq.pyzmq_version()} (libzmq {zmq.zmq_version()})",
            client_of="zeromq",
            implementation=f"libzmq {zmq.zmq_version()}",
            library=str(zmq.backend.cython._zmq.__file__),
            licence="BSD-3-Clause",
            transports=(
                transport("ipc", "unix-socket"),
                transport("tcp", "tcp", wire="zmtp"),
                transport("inproc", "process-memory", (1,)),
                transport(DEFAULT_CONFIGURATION, "tcp"),
            ),
            own_threads=True,
        )

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        return Publisher(self._context, self.settings, topic, index)

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        return Subscriber(self._context, self.settings, topic)

    def client(self, service: Topic, index: int) -> Caller:
        """Return a client."""
        return Caller(self._context, self.settings, service, index, serves=False)

    def server(self, service: Topic, index: int) -> Caller:
        """Return the server."""
        return Caller(self._context, self.settings, service, index, serves=True)

    def close(self) -> None:
        """Close the context."""
        self._context.term()


ADAPTER = PyZmq
