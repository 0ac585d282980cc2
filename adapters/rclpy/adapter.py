"""rclpy: publishers, subscriptions, clients and services, over each installed RMW."""

import sys
import time
from typing import Any

import installation  # before rclpy
from messages import MAKE
from node import End, form_of, make_node, quality
from rclpy.context import Context
from rclpy.impl.implementation_singleton import rclpy_implementation as implementation
from rclpy.node import Node
from receiving import EXECUTOR, Spinning, Waiting

from middlemark_kit import Adapter, AdapterError, Description, Settings, Topic, Visit
from middlemark_kit.filling import DATA, Form

try:
    from middlemark_interfaces.srv import Bytes
except ImportError:
    Bytes = None


class Publisher(End):
    """A publisher. Fast DDS waits 100 ms for room in a keep-all history; then publishes again until the timeout."""

    def __init__(self, node: Node, form: Form, settings: Settings, topic: Topic) -> None:
        """Make the publisher."""
        super().__init__(node, form, settings)
        self._publisher = node.create_publisher(form.type, topic.name, quality(topic, 1))
        self._waits = installation.over_fastdds(settings)
        self._patience_s = settings.write_timeout_s if topic.depth is None else 0.0

    def matched(self) -> int:
        """Return the number of matched subscriptions."""
        return int(self._publisher.get_subscription_count())

    def publish(self, content: memoryview) -> None:
        """Fill the message and publish it."""
        message = self._form.fill(content)
        begun = time.monotonic()
        while True:
            try:
                return self._publisher.publish(message)
            except implementation.RCLError as error:
                if not self._waits:
                    raise
                if time.monotonic() - begun >= self._patience_s:
                    raise TimeoutError(str(error)) from None


class Receiver(End):
    """Takes messages after waiting with a wait set, or listens with an executor. A subclass sets ``_handle``."""

    most_per_take = 1024
    resends_within_ms = 3000  # Fast DDS's default period of heartbeats, the longest of the RMWs
    kind = "subscription"
    _handle: Any
    _waiting: Waiting | None = None
    _visit: Visit | None = None

    def wait(self, timeout_s: float) -> bool:
        """Wait for the one entity of the wait set."""
        if self._waiting is None:
            self._waiting = Waiting(self._node, self.kind, self._handle)
        return self._waiting.wait(timeout_s)

    def take(self, visit: Visit) -> None:
        """Take and convert the messages that have arrived."""
        for _ in range(self.most_per_take):
            message = self._next()
            if message is None:
                return
            visit(self._form.read(message))

    def _next(self) -> Any:
        taken = self._handle.take_message(self._form.type, False)
        return None if taken is None else taken[0]

    def _heard(self, message: Any) -> None:
        if self._visit is not None:
            self._visit(self._form.read(message))

    def listen(self, visit: Visit) -> None:
        """Spin the node."""
        self._visit = visit
        self._spinning = Spinning(self._node, self._settings.native.get("executor", "single"))

    def silence(self) -> None:
        """End the executor."""
        self._spinning.stop()
        self._visit = None


class Subscriber(Receiver):
    """A subscription."""

    def __init__(self, node: Node, form: Form, settings: Settings, topic: Topic) -> None:
        """Make the subscription."""
        super().__init__(node, form, settings)
        self._topic = topic.name
        quality_here = quality(topic, topic.publishers)
        self._handle = node.create_subscription(form.type, topic.name, self._heard, quality_here).handle

    def publishers_found(self) -> int:
        """Return the number of publishers of the topic."""
        return int(self._node.count_publishers(self._topic))


class Client(Receiver):
    """A client of middlemark_interfaces/srv/Bytes."""

    kind = "client"

    def __init__(self, node: Node, form: Form, settings: Settings, service: Topic) -> None:
        """Make the client or the service."""
        super().__init__(node, form, settings)
        self._topic = service
        self._made = self._make(service.name)
        self._handle = self._made.handle

    def _make(self, name: str) -> Any:
        return self._node.create_client(Bytes, name)

    def matched(self) -> int:
        """Return 1 if the service was found."""
        return int(self._made.service_is_ready())

    def publish(self, content: memoryview) -> None:
        """Send a request."""
        message = self._form.fill(content)
        if self._settings.reception == "listen":
            self._made.call_async(message).add_done_callback(lambda future: self._heard(future.result()))
        else:
            self._handle.send_request(message)

    def _next(self) -> Any:
        return self._handle.take_response(Bytes.Response)[1]


class Server(Client):
    """The service."""

    kind = "service"

    def _make(self, name: str) -> Any:
        return self._node.create_service(Bytes, name, self._called)

    def matched(self) -> int:
        """Return the number of clients."""
        return min(int(self._node.count_clients(self._topic.name)), self._topic.publishers)

    def publish(self, content: memoryview) -> None:
        """Send the reply to the request that is being visited. A callback returns it instead."""
        message = self._form.fill(content)
        if self._settings.reception != "listen":
            self._made.send_response(message, self._header)

    def _next(self) -> Any:
        request, self._header = self._handle.service_take_request(Bytes.Request)
        return request

    def _called(self, request: Any, _: Any) -> Any:
        self._heard(request)
        return self._form.message


class RclPy(Adapter):
    """A context of its own; each end has a node, which an executor can spin."""

    subscriber_type = Subscriber
    client_type = Client if Bytes else None

    def __init__(self, settings: Settings) -> None:
        """Initialize ROS 2 with the trial's RMW and domain, without log files."""
        super().__init__(settings)
        installation.use(settings)
        self._context = Context()
        self._context.init([], initialize_logging=False, domain_id=settings.domain)
        self._nodes = 0

    @staticmethod
    def description() -> Description:
        """Return the installed RMWs as transports."""
        loaded = "--describe" in sys.argv  # a worker that measures loads one RMW only
        rmws = installation.rmws()
        over = ", ".join(installation.words(rmw, loaded=loaded) for rmw in rmws)
        return Description(
            name="rclpy",
            title=f"ROS 2 {installation.DISTRIBUTION} rclpy over {over}",
            version=installation.version("rclpy"),
            client_of="rcl",
            implementation=f"librcl {installation.version('rcl')}",
            library=str(implementation.__file__),
            licence="Apache-2.0",
            transports=tuple(installation.transport(rmw, loaded=loaded, types=tuple(MAKE)) for rmw in rmws),
            own_threads=True,
            residue=installation.RESIDUE,
            native={"executor": EXECUTOR, "data": DATA},
        )

    @staticmethod
    def check(settings: Settings) -> None:
        """Refuse an executor without callbacks, and services with types."""
        if "executor" in settings.native and settings.reception != "listen":
            raise AdapterError(
                "rclpy: native.executor has no effect unless the reception is listen",
                "leave it out, or receive by listen",
            )
        if settings.pattern == "request-reply" and settings.type != "octets":
            raise AdapterError("rclpy: a service carries octets only", "take type octets, or pattern ping-pong")

    def _end(self, end: Any, topic: Topic, message: Any) -> Any:
        """Return an end that fills ``message``, or reads messages of its type, with a node of its own."""
        self._nodes += 1
        node = make_node(self._context, self.settings.scope, self._nodes)
        form = form_of(topic, message, self.settings.native.get("data", "array"))
        return end(node, form, self.settings, topic)

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        return self._end(Publisher, topic, MAKE[topic.type](topic.message_bytes))

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        return self._end(Subscriber, topic, MAKE[topic.type](topic.message_bytes))

    def client(self, service: Topic, index: int) -> Client:
        """Return a client."""
        return self._end(Client, service, Bytes.Request())

    def server(self, service: Topic, index: int) -> Server:
        """Return the service."""
        return self._end(Server, service, Bytes.Response())

    def shared_segment(self) -> tuple[int, str]:
        """Return Fast DDS's default, unless the user's profile may have another."""
        return installation.shared_segment(self.settings)

    def notes(self) -> list[str]:
        """Return the RMW, and what its users must know."""
        return installation.notes(self.settings, calls=self.client_type is not None)

    def close(self) -> None:
        """Shut ROS 2 down."""
        self._context.shutdown()


ADAPTER = RclPy
