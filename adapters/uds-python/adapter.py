"""The baseline of Python over Unix stream sockets: a connection from each publisher to each subscriber, no framing."""

import platform
import selectors
import socket

from middlemark_kit import Adapter, Description, NativeSetting, Rendezvous, Settings, Topic, Transport, Visit
from middlemark_kit.sockets import ReceiveTimeout, limit_s

SEND_BUFFER_BYTES = 425_984


class Peer:
    """The connection to one subscriber."""

    def __init__(self, address: str, settings: Settings) -> None:
        """Connect."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        wanted = settings.native.get("send_buffer_bytes", SEND_BUFFER_BYTES)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, wanted // 2)
        limit_s(self._socket, socket.SO_SNDTIMEO, settings.write_timeout_s)
        self._socket.connect(b"\0" + address.encode())
        self._rest = b""  # unsent bytes of a message that a timeout interrupted; the next send() begins with them

    def send(self, message: memoryview) -> bool:
        """Send the message; return false if the timeout has passed."""
        if self._rest:
            self._rest = self._rest[self._send(memoryview(self._rest)) :]
            if self._rest:
                return False
        sent = self._send(message)
        if 0 < sent < len(message):
            self._rest = bytes(message[sent:])
        return sent == len(message)

    def _send(self, message: memoryview) -> int:
        sent = 0
        while sent < len(message):
            try:
                sent += self._socket.send(message[sent:] if sent else message)
            except BlockingIOError:
                return sent
        return sent

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


class Publisher:
    """Writes each message to every subscriber's connection."""

    def __init__(self, settings: Settings, topic: Topic) -> None:
        """``topic``: the topic to publish on. ``matched`` makes the connections."""
        self._settings = settings
        self._topic = topic
        self._notes = Rendezvous(settings)
        self._peers: dict[int, Peer] = {}

    def matched(self) -> int:
        """Connect to the subscribers that have written a note. Return their number."""
        for index in range(self._topic.subscribers):
            if index in self._peers or (address := self._notes.find(f"{self._topic.name}.subscriber.{index}")) is None:
                continue
            self._peers[index] = Peer(address, self._settings)
        return len(self._peers)

    def publish(self, message: memoryview) -> None:
        """Send the message to each subscriber."""
        late = [peer for peer in self._peers.values() if not peer.send(message)]
        if late:
            raise TimeoutError("send")

    def close(self) -> None:
        """Close the connections."""
        for peer in self._peers.values():
            peer.close()


class Source:
    """The connection of one publisher, and the message that is read from it."""

    def __init__(self, connection: socket.socket, message_bytes: int) -> None:
        """``connection`` is a blocking socket."""
        self.connection = connection
        self.set_timeout = ReceiveTimeout(connection)
        self.message = memoryview(bytearray(message_bytes))
        self._filled = 0

    def read(self, flags: int) -> bool:
        """Receive once. Return true if the message is complete. Raise BlockingIOError if no bytes have arrived."""
        filled = self._filled
        got = self.connection.recv_into(self.message[filled:] if filled else self.message, 0, flags)
        if got == 0:
            raise BlockingIOError  # the publisher is gone
        filled += got
        complete = filled == len(self.message)
        self._filled = 0 if complete else filled
        return complete


class Subscriber:
    """Reads from the connections of all publishers."""

    most_per_take = 64

    def __init__(self, settings: Settings, topic: Topic, index: int) -> None:
        """Listen on an abstract address that the kernel chooses, and write it into a note."""
        self._topic = topic
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind("")
        self._listener.listen(topic.publishers)
        self._listener.setblocking(False)
        self._sources: list[Source] = []
        self._complete: Source | None = None
        self._selector = selectors.DefaultSelector()
        name = self._listener.getsockname()[1:].decode()
        Rendezvous(settings).leave(f"{topic.name}.subscriber.{index}", name)

    def publishers_found(self) -> int:
        """Accept the connections of publishers. Return their number."""
        while len(self._sources) < self._topic.publishers:
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                break
            connection.setblocking(True)
            source = Source(connection, self._topic.message_bytes)
            self._selector.register(connection, selectors.EVENT_READ)
            self._sources.append(source)
        return len(self._sources)

    def take(self, visit: Visit) -> None:
        """Visit the message that ended ``wait``, or else all messages that have arrived."""
        if self._complete is not None:
            source, self._complete = self._complete, None
            visit(source.message)
            return
        for source in self._sources:
            try:
                visits = 0
                while visits < self.most_per_take:
                    if source.read(socket.MSG_DONTWAIT):
                        visit(source.message)
                        visits += 1
            except BlockingIOError:
                continue

    def wait(self, timeout_s: float) -> bool:
        """Read the next message of the only publisher, or wait until a publisher's connection is readable."""
        if len(self._sources) != 1:
            return bool(self._selector.select(timeout_s))
        source = self._sources[0]
        source.set_timeout(timeout_s)
        try:
            if source.read(socket.MSG_WAITALL):
                self._complete = source
        except BlockingIOError:
            return False
        return self._complete is not None

    def close(self) -> None:
        """Close the connections."""
        self._listener.close()
        self._selector.close()
        for source in self._sources:
            source.connection.close()


class UnixSocket(Adapter):
    """Unix stream sockets."""

    subscriber_type = Subscriber

    @staticmethod
    def description() -> Description:
        """Return the transport and its settings, for messages of one size."""
        return Description(
            name="uds-python",
            title="Unix stream socket in Python",
            version=platform.python_version(),
            client_of="uds",
            implementation=f"uds {platform.release()}",  # sockets are part of the kernel
            licence="PSF-2.0",
            is_raw_transport=True,
            transports=(
                Transport(
                    name="uds-python", carrier="unix-socket", receive=("poll", "block"), reliability=("reliable",)
                ),
            ),
            native={
                "send_buffer_bytes": NativeSetting(
                    help="send buffer, as the kernel counts it", type="bytes", least=1, most=1 << 30, default="416KiB"
                )
            },
        )

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        return Publisher(self.settings, topic)

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        return Subscriber(self.settings, topic, index)


ADAPTER = UnixSocket
