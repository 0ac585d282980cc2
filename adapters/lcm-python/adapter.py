"""LCM with its Python binding, over UDP multicast as in adapters/lcm: each publisher and each subscriber is an LCM."""

import os
import select
import socket
import struct
from importlib.metadata import version
from pathlib import Path

import lcm

from middlemark_kit import Adapter, AdapterError, Attendance, Description, Settings, Topic, Transport, Visit
from middlemark_kit.protocol import DEFAULT_CONFIGURATION

IP_MULTICAST_ALL = 49
LEAST_BUFFER_BYTES = 2 << 20
"""The receive buffer that LCM's manual advises."""
QUEUE_BYTES = 256 << 20
"""Bytes that the queue of a subscription holds, at most."""


def limit_of(name: str) -> int:
    """Return a limit of the kernel's socket buffers, in bytes."""
    return int(Path("/proc/sys/net/core", name).read_text())


class Group:
    """The multicast group and the port of a trial, as adapters/lcm derives them, so both can share a trial."""

    def __init__(self, settings: Settings) -> None:
        """Derive them from the trial's name."""
        number = 0xCBF29CE484222325
        for letter in f"{settings.scope}/{settings.domain}".encode():
            number = (number ^ letter) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
        low = number >> 32 & 0xFFFF
        self.address = socket.inet_ntoa(struct.pack("!I", 0xEFFF0000 | (1 if low == 0x4C43 else low)))
        self.port = 10_000 + number % 20_000
        self._interface = settings.interface
        self._options = "?ttl=0"
        if settings.transport != DEFAULT_CONFIGURATION:
            publishers = sum(each.publishers for each in settings.endpoints)  # every socket receives all messages
            wanted = max(LEAST_BUFFER_BYTES, 2 * settings.message_bytes * publishers)
            self._options += f"&recv_buf_size={min(wanted, limit_of('rmem_max'))}"

    def open(self) -> lcm.LCM:
        """Return an LCM of the group."""
        try:
            return lcm.LCM(f"udpm://{self.address}:{self.port}{self._options}")
        except RuntimeError as error:
            raise AdapterError(f"lcm-python: {error}", self.route()) from None

    def route(self) -> str:
        """Return the next step if LCM has no route to its group."""
        return f"add a route, which LCM needs: sudo ip route add 239.255.0.0/16 dev {self._interface}"

    def keep_to_interface(self) -> None:
        """Move LCM's sockets to the trial's interface, for which LCM has no option: see adapters/lcm/README.md."""
        group = socket.inet_aton(self.address)
        there = struct.pack("4s4si", group, bytes(4), socket.if_nametoindex(self._interface))
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            try:
                end = socket.socket(fileno=os.dup(descriptor))
            except OSError:  # no socket
                continue
            with end:
                if end.family != socket.AF_INET or end.type != socket.SOCK_DGRAM:
                    continue
                if end.getsockname()[1] == self.port:  # a receiver
                    self._join(end, group, there)
                elif end.getsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL) == 0:  # a sender
                    end.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, there)
                    if self._interface != "lo":
                        end.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)

    def _join(self, end: socket.socket, group: bytes, there: bytes) -> None:
        for option, request in (
            (socket.IP_DROP_MEMBERSHIP, struct.pack("4s4si", group, bytes(4), 0)),
            (socket.IP_ADD_MEMBERSHIP, there),
        ):
            try:
                end.setsockopt(socket.IPPROTO_IP, option, request)
            except OSError:  # it had not joined, or has joined already
                continue
        end.setsockopt(socket.IPPROTO_IP, IP_MULTICAST_ALL, 0)


class Publisher:
    """An LCM that sends."""

    def __init__(self, group: Group, settings: Settings, topic: Topic) -> None:
        """Open it."""
        self._lcm = group.open()
        group.keep_to_interface()
        self._channel = topic.name
        self._attendance = Attendance(settings, topic)

    def matched(self) -> int:
        """Return the number of subscribers; LCM does not report them."""
        return self._attendance.count()

    def publish(self, message: memoryview) -> None:
        """Send a copy: LCM takes no memory that may change."""
        self._lcm.publish(self._channel, bytes(message))


class Subscriber:
    """An LCM that receives. Its own thread reads the socket and queues the messages."""

    most_per_take = 1024

    def __init__(self, group: Group, settings: Settings, topic: Topic, index: int) -> None:
        """Subscribe. ``fileno`` lets LCM send itself a test message, which needs a route to the group."""
        self._lcm = group.open()
        self._announced = False
        subscription = self._lcm.subscribe(topic.name, self._deliver)
        fitting = max(30, QUEUE_BYTES // (topic.message_bytes + 256))
        if topic.depth is not None or settings.transport != DEFAULT_CONFIGURATION:
            subscription.set_queue_capacity(min(topic.depth or fitting, fitting) * topic.publishers)
        self._poll = select.poll()
        self._poll.register(self._lcm.fileno(), select.POLLIN)
        group.keep_to_interface()
        Attendance(settings, topic).attend(index)

    def _deliver(self, _channel: str, data: bytes) -> None:
        self._visit(data)

    def take(self, visit: Visit) -> None:
        """Visit the message that ended ``wait``, or those that have arrived."""
        self._visit = visit
        if self._announced:
            self._announced = False
            self._lcm.handle()
            return
        for _ in range(self.most_per_take):
            if self._lcm.handle_timeout(0) <= 0:
                return

    def wait(self, timeout_s: float) -> bool:
        """Wait for LCM's descriptor."""
        self._announced = bool(self._poll.poll(max(1, round(timeout_s * 1e3))))
        return self._announced


class Lcm(Adapter):
    """A multicast group."""

    subscriber_type = Subscriber

    def __init__(self, settings: Settings) -> None:
        """Nothing is opened yet."""
        super().__init__(settings)
        self._group = Group(settings)

    @staticmethod
    def description() -> Description:
        """Return what LCM can do. It does not pace fragments, so a message must fit into the receive buffer."""

        def transport(name: str, most: int, limit: str, wire: str = "") -> Transport:
            return Transport(
                name=name,
                carrier="udp",
                processes=(2,),
                receive=("poll", "block"),
                reliability=("best-effort",),
                max_bytes=most,
                max_bytes_advice=f"raise the receive buffers: sudo sysctl -w net.core.{limit}=4194304",
                varying_sizes=True,
                wire=wire,
            )

        most = max(1 << 20, min(limit_of("rmem_max"), 64 << 20))
        return Description(
            name="lcm-python",
            title="LCM (Python)",
            version=version("lcm"),
            client_of="lcm",
            implementation=f"liblcm {version('lcm')}",
            library=str(lcm._lcm.__file__),
            licence="LGPL-2.1-or-later",
            transports=(
                transport("udp", most, "rmem_max", "lcm"),
                transport(DEFAULT_CONFIGURATION, limit_of("rmem_default"), "rmem_default"),
            ),
            own_threads=True,
        )

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        return Publisher(self._group, self.settings, topic)

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        return Subscriber(self._group, self.settings, topic, index)


ADAPTER = Lcm
