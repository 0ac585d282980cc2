"""MQTT with Eclipse paho and the broker mosquitto, as in adapters/mqtt: each publisher and subscriber is a client."""

import os
import shutil
import socket
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paho.mqtt
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from middlemark_kit import (
    Adapter,
    AdapterError,
    Attendance,
    Companion,
    Description,
    Rendezvous,
    Settings,
    Topic,
    Transport,
    Visit,
)
from middlemark_kit.contract import free_port
from middlemark_kit.protocol import DEFAULT_CONFIGURATION

BROKER = "MIDDLEMARK_MQTT_BROKER"
"""The environment variable with the broker's address, as in adapters/mqtt: 127.0.0.1:40123."""
KEEPALIVE_S = 36_000
"""So that a client that sends nothing for a while stays connected. The launcher notices if the broker ends."""
PATIENCE_S = 5.0
WINDOW = 20
"""Unacknowledged messages; the default of paho and of the broker."""
QUEUED_BYTES = 64 << 20
"""Bytes that the broker queues for one subscriber, at least."""


def broker_settings(settings: Settings) -> str:
    """Return the lines of mosquitto.conf that follow from the trial; adapters/mqtt has the same, with the reasons."""
    messages = max((each.depth or 0) * each.publishers for each in settings.endpoints)
    subscribers = max(each.subscribers for each in settings.endpoints)
    queued = max(QUEUED_BYTES, (1 << 30) // max(1, subscribers))
    is_default = settings.transport == DEFAULT_CONFIGURATION
    if not messages and not is_default and settings.reliability == "best-effort":
        messages = max(1000, queued // (settings.message_bytes + 256))
    lines = [f"max_queued_messages {messages}"] if messages or not is_default else []
    if not is_default:
        lines += ["persistence false", "connection_messages false", "sys_interval 0", "set_tcp_nodelay true"]
        lines += [f"max_queued_bytes {queued}"]
    return "\n".join(lines)


class Connection:
    """A client of the broker. The role's thread reads and writes its socket."""

    def __init__(self, settings: Settings, name: str) -> None:
        """Connect."""
        host, _, port = os.environ.get(BROKER, "").partition(":")
        if not port:
            raise AdapterError(f"paho-mqtt: {BROKER} is not set", "start the broker that `--companions` names")
        self._lost: Any = None
        self.client = Client(CallbackAPIVersion.VERSION2, name)
        if settings.transport != DEFAULT_CONFIGURATION:
            nodelay = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.client.on_socket_open = lambda _client, _data, end: end.setsockopt(*nodelay)
        self.client.on_disconnect = self._note_loss
        self.client.connect(host, int(port), KEEPALIVE_S)
        self.drive(self.client.is_connected, PATIENCE_S, "the broker did not accept the connection")

    def _note_loss(self, _client: Client, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        self._lost = reason

    def loop(self, timeout_s: float) -> None:
        """Read and write what there is, after waiting for it; callbacks run during the call."""
        if self.client.loop(timeout_s):
            time.sleep(timeout_s)  # a lost connection is no reason to spin
            raise ConnectionError(f"the connection was lost: {self._lost}")

    def drive(self, done: Callable[[], bool], timeout_s: float, failure: str) -> None:
        """Read and write until ``done``. Raises TimeoutError."""
        end = time.monotonic() + timeout_s
        while not done():
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(failure)
            self.loop(left)

    def close(self) -> None:
        """Leave the broker."""
        self.client.disconnect()


class Publisher(Connection):
    """A client that sends."""

    def __init__(self, settings: Settings, topic: Topic, index: int) -> None:
        """Connect."""
        super().__init__(settings, f"{topic.name}.p{index}")
        self._topic = topic.name
        self._qos = 1 if topic.reliability == "reliable" else 0
        self._in_flight = 0
        self._timeout_s = settings.write_timeout_s
        self.client.on_publish = self._acknowledged
        self.matched = Attendance(settings, topic).count

    def _acknowledged(self, *_: Any) -> None:
        self._in_flight -= 1

    def _clear(self) -> bool:
        return self._in_flight < WINDOW and not self.client.want_write()

    def publish(self, message: memoryview) -> None:
        """Send a copy. Waits for the socket and the window, because paho would queue without a bound."""
        if self._qos and self._in_flight:
            self.loop(0)
        if not self._clear():
            self.drive(self._clear, self._timeout_s, "the broker acknowledged nothing")
        self._in_flight += 1
        if failed := self.client.publish(self._topic, bytes(message), self._qos).rc:
            self._in_flight -= 1
            raise ConnectionError(failed)
        if self.client.want_write():
            self.drive(lambda: not self.client.want_write(), self._timeout_s, "the socket is full")


class Subscriber(Connection):
    """A client that receives."""

    most_per_take = 256

    def __init__(self, settings: Settings, topic: Topic, index: int) -> None:
        """Subscribe."""
        super().__init__(settings, f"{topic.name}.s{index}")
        self._arrived: deque[bytes] = deque()
        self._visit: Visit = self._arrived.append
        self._granted: Any = None
        self.client.on_message = self._received
        self.client.on_subscribe = self._confirmed
        self.client.subscribe(topic.name, 1 if topic.reliability == "reliable" else 0)
        self.drive(lambda: self._granted is not None, PATIENCE_S, "the broker did not confirm the subscription")
        if self._granted[0].is_failure:
            raise AdapterError(f"paho-mqtt: {topic.name}: the broker refused the subscription: {self._granted[0]}")
        Attendance(settings, topic).attend(index)

    def _confirmed(self, _client: Client, _data: Any, _mid: int, reasons: Any, _properties: Any) -> None:
        self._granted = reasons

    def _received(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        self._visit(message.payload)

    def take(self, visit: Visit) -> None:
        """Visit the message that ended ``wait``, or those that have arrived."""
        waited = bool(self._arrived)
        for _ in range(self.most_per_take):
            if not self._arrived and not waited:
                self.loop(0)
            if not self._arrived:
                return
            visit(self._arrived.popleft())

    def wait(self, timeout_s: float) -> bool:
        """Read the socket until a message has arrived or a packet of another kind."""
        if not self._arrived:
            self.loop(timeout_s)
        return bool(self._arrived)

    def listen(self, visit: Visit) -> None:
        """Let paho's thread read the socket."""
        while self._arrived:
            visit(self._arrived.popleft())
        self._visit = visit
        self.client.loop_start()

    def silence(self) -> None:
        """End paho's thread."""
        self.client.disconnect()
        self.client.loop_stop()
        self._visit = self._arrived.append


class Paho(Adapter):
    """Clients of one broker."""

    subscriber_type = Subscriber

    @staticmethod
    def description() -> Description:
        """Return what the clients can do."""

        def transport(name: str, wire: str = "") -> Transport:
            return Transport(
                name=name,
                carrier="tcp",
                processes=(2,),
                companions=True,
                via=("router",),
                via_why="every message passes through the broker",
                varying_sizes=True,
                wire=wire,
                security_why="this adapter sets no certificates",
            )

        return Description(
            name="paho-mqtt",
            title="MQTT (Eclipse paho for Python)",
            version=paho.mqtt.__version__,
            client_of="mqtt",
            implementation=f"paho.mqtt {paho.mqtt.__version__}",
            licence="EPL-2.0 OR BSD-3-Clause",
            transports=(
                transport("tcp", "mqtt"),
                transport(DEFAULT_CONFIGURATION),
            ),
            own_threads=True,
        )

    @staticmethod
    def companions(settings: Settings) -> list[Companion]:
        """Write the broker's configuration, and return the command that starts it."""
        program = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if program is None:
            raise AdapterError("paho-mqtt: the broker mosquitto was not found", "Debian, Ubuntu: apt install mosquitto")
        host, port = settings.ipv4, free_port(settings.ipv4)
        user = "user root\n" if os.geteuid() == 0 else ""  # else it becomes a user who may not enter the folder
        logs = "".join(f"log_type {kind}\n" for kind in ("error", "warning", "notice", "information"))
        text = (
            f"listener {port} {host}\n{user}allow_anonymous true\nlog_dest stderr\n{logs}{broker_settings(settings)}\n"
        )
        Rendezvous(settings).leave("mosquitto.conf", text)
        return [
            Companion(
                name=f"mosquitto at {host}:{port}",
                argv=(program, "-c", str(Path(settings.scratch) / "mosquitto.conf")),
                environment={BROKER: f"{host}:{port}"},
                ready_pattern="mosquitto version .* running",
            )
        ]

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        return Publisher(self.settings, topic, index)

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        return Subscriber(self.settings, topic, index)


ADAPTER = Paho
