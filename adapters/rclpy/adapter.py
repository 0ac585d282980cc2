"""rclpy: publishers, subscriptions, clients and services, over each installed RMW."""

import os
import sys
import threading
import time
from typing import Any

import installation  # before rclpy
import rclpy.executors
from messages import MAKE, READ, Form
from rclpy.context import Context
from rclpy.impl.implementation_singleton import rclpy_implementation as implementation
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future

from middlemark_kit import Adapter, AdapterError, Description, NativeSetting, Settings, Topic, Transport, Visit

EXECUTORS: dict[str, Any] = {
    "single": rclpy.executors.SingleThreadedExecutor,
    "multi": rclpy.executors.MultiThreadedExecutor,
}
try:
    from rclpy.experimental.events_executor import EventsExecutor
except ImportError:
    pass
else:
    EXECUTORS["events"] = EventsExecutor
try:
    from middlemark_interfaces.srv import Bytes
except ImportError:
    Bytes = None
FAR_S = 1e6
"""A timeout that no trial reaches. Without a timeout, the events executor in the wheels of ROS 2 never sleeps, because
a sum of two times overflows in their C++ library."""
SEGMENT_BYTES = 512 << 10
"""Fast DDS's default segment."""


def quality(topic: Topic, sources: int) -> QoSProfile:
    """Return the quality of service of an end that keeps the messages of ``sources`` publishers."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_ALL if topic.depth is None else HistoryPolicy.KEEP_LAST,
        depth=(topic.depth or 0) * sources,
        reliability=ReliabilityPolicy.RELIABLE if topic.reliability == "reliable" else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if topic.history else DurabilityPolicy.VOLATILE,
    )


def over_fastdds(settings: Settings) -> bool:
    """Return true if the RMW is one of Fast DDS, whose reliable publishers wait for room in their history."""
    return "fastrtps" in settings.transport and settings.reliability == "reliable"


class Publisher:
    """A publisher. Fast DDS waits 100 ms for room in a keep-all history; then publishes again until the timeout."""

    def __init__(self, node: Node, settings: Settings, topic: Topic, form: Form) -> None:
        """Make the publisher."""
        self._node = node
        self._form = form
        self._publisher = node.create_publisher(form.type, topic.name, quality(topic, 1))
        self._waits = over_fastdds(settings)
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

    def close(self) -> None:
        """Destroy the node."""
        self._node.destroy_node()


class Receiver:
    """Waiting with a wait set, as ``rclpy.wait_for_message`` does, and listening with an executor of its own."""

    most_per_take = 1024
    resends_within_ms = 3000  # Fast DDS's default period of heartbeats, the longest of the RMWs
    kind = "subscription"

    def __init__(self, node: Node, executor: str, form: Form) -> None:
        """``executor``: a key of EXECUTORS."""
        self._node = node
        self._form = form
        self._executor_name = executor
        self._executor: Any = None
        self._visit: Visit | None = None
        self._handle: Any = None
        self._set: Any = None

    def wait(self, timeout_s: float) -> bool:
        """Wait for the one entity of the wait set, which every wait empties."""
        if self._set is None:
            kinds = [self.kind == each for each in ("subscription", "guard", "timer", "client", "service", "event")]
            self._set = implementation.WaitSet(*map(int, kinds), self._node.context.handle)
            self._add = getattr(self._set, f"add_{self.kind}")
        self._set.clear_entities()
        self._add(self._handle)
        self._set.wait(round(timeout_s * 1e9))
        return bool(self._set.is_ready(self.kind, 0))

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
        """Spin the node in a thread.

        Not ``spin()``: ``shutdown()``, which would end it, destroys the executor's guard condition at once, and a spin
        that begins to wait at this moment then waits for ever.
        """
        self._visit = visit
        self._executor = EXECUTORS[self._executor_name](context=self._node.context)
        self._executor.add_node(self._node)
        self._end = Future()
        self._thread = threading.Thread(
            target=self._executor.spin_until_future_complete,
            args=(self._end, FAR_S) if self._executor_name == "events" else (self._end,),
            name=f"the executor {self._executor_name}",
        )
        self._thread.start()

    def silence(self) -> None:
        """End the executor."""
        self._end.set_result(None)
        self._thread.join()
        self._executor.shutdown()
        self._visit = None

    def close(self) -> None:
        """Destroy the node."""
        self._node.destroy_node()


class Subscriber(Receiver):
    """A subscription."""

    def __init__(self, node: Node, executor: str, form: Form, topic: Topic) -> None:
        """Make the subscription."""
        super().__init__(node, executor, form)
        self._topic = topic.name
        made = node.create_subscription(form.type, topic.name, self._heard, quality(topic, topic.publishers))
        self._handle = made.handle

    def publishers_found(self) -> int:
        """Return the number of publishers of the topic."""
        return int(self._node.count_publishers(self._topic))


class Exchange(Receiver):
    """A client or a service of middlemark_interfaces/srv/Bytes."""

    def __init__(self, node: Node, settings: Settings, service: Topic, form: Form) -> None:
        """``form``: of the message that this end sends."""
        super().__init__(node, settings.native.get("executor", "single"), form)
        self._topic = service
        self._listens = settings.reception == "listen"
        self._header: Any = None
        self._serves = form.type is Bytes.Response
        self.kind = "service" if self._serves else "client"
        made = (
            node.create_service(Bytes, service.name, self._called)
            if self._serves
            else node.create_client(Bytes, service.name)
        )
        self._made = made
        self._handle = made.handle

    def matched(self) -> int:
        """Return the number of clients, or 1 if the service was found."""
        if self._serves:
            return min(int(self._node.count_clients(self._topic.name)), self._topic.publishers)
        return int(self._made.service_is_ready())

    def publish(self, content: memoryview) -> None:
        """Send a request, or the reply to the request that is being visited."""
        message = self._form.fill(content)
        if self._listens and not self._serves:
            self._made.call_async(message).add_done_callback(lambda future: self._heard(future.result()))
        elif not self._serves:
            self._handle.send_request(message)
        elif not self._listens:  # otherwise the callback returns the message
            self._made.send_response(message, self._header)

    def _next(self) -> Any:
        if not self._serves:
            return self._handle.take_response(Bytes.Response)[1]
        request, self._header = self._handle.service_take_request(Bytes.Request)
        return request

    def _called(self, request: Any, _: Any) -> Any:
        self._heard(request)
        return self._form.message


class RclPy(Adapter):
    """A context of its own; each end has a node, which an executor can spin."""

    subscriber_type = Subscriber
    client_type = Exchange if Bytes else None

    def __init__(self, settings: Settings) -> None:
        """Initialize ROS 2 with the trial's RMW and domain, without log files."""
        super().__init__(settings)
        os.environ["RMW_IMPLEMENTATION"] = settings.transport
        if settings.interface == "lo":
            os.environ.update(ROS_LOCALHOST_ONLY="1", ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        self._context = Context()
        self._context.init([], initialize_logging=False, domain_id=settings.domain)
        self._nodes = 0

    @staticmethod
    def description() -> Description:
        """Return the installed RMWs as transports."""
        describes = "--describe" in sys.argv  # a worker that measures loads one RMW only
        said = [installation.words(rmw, loaded=describes) for rmw in installation.rmws()]

        def transport(rmw: str) -> Transport:
            fast = "fastrtps" in rmw
            return Transport(
                name=rmw,
                carrier="shared-memory" if fast else "tcp" if "zenoh" in rmw else "udp",
                best_effort_carrier=installation.best_effort_carrier(rmw, loaded=describes) if fast else "",
                segments=("fastrtps_*", "fastdds_*") if fast else (),
                processes=(2,),
                types=tuple(MAKE),
                varying_sizes=True,
                max_history=None,
                security_why="this adapter makes no SROS2 keystore",
            )

        return Description(
            name="rclpy",
            title=f"ROS 2 {installation.DISTRIBUTION} rclpy over {', '.join(said)}",
            version=installation.version("rclpy"),
            client_of="rcl",
            implementation=f"librcl {installation.version('rcl')}",
            library=str(implementation.__file__),
            licence="Apache-2.0",
            transports=tuple(map(transport, installation.rmws())),
            own_threads=True,
            residue=tuple(
                f"/dev/shm/{name}_*"
                for name in ("fastrtps", "sem.fastrtps", "fastdds", "sem.fastdds", "fast_datasharing")
            ),
            native={
                "executor": NativeSetting(
                    help="with `listen`: the executor that calls the callbacks",
                    type="choice",
                    choices=tuple(EXECUTORS),
                    default="single",
                ),
                "data": NativeSetting(
                    help="what the program has as data of a message; array: the message's own array",
                    type="choice",
                    choices=tuple(READ),
                    default="array",
                ),
            },
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

    def _node(self) -> Node:
        self._nodes += 1
        return Node(
            f"{self.settings.scope}_{os.getpid()}_{self._nodes}",
            context=self._context,
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
            parameter_overrides=[Parameter("start_type_description_service", value=False)],
        )

    def _form(self, topic: Topic, message: Any = None) -> Form:
        return Form(topic, self.settings.native.get("data", "array"), message)

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        return Publisher(self._node(), self.settings, topic, self._form(topic))

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        return Subscriber(self._node(), self.settings.native.get("executor", "single"), self._form(topic), topic)

    def client(self, service: Topic, index: int) -> Exchange:
        """Return a client."""
        return Exchange(self._node(), self.settings, service, self._form(service, Bytes.Request()))

    def server(self, service: Topic, index: int) -> Exchange:
        """Return the service."""
        return Exchange(self._node(), self.settings, service, self._form(service, Bytes.Response()))

    def shared_segment(self) -> tuple[int, str]:
        """Return Fast DDS's default, unless the user's profile may have another."""
        profiles = {"FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"} & os.environ.keys()
        if profiles or not over_fastdds(self.settings):
            return 0, ""
        return SEGMENT_BYTES, "segment_size in the XML profile that FASTRTPS_DEFAULT_PROFILES_FILE names"

    def notes(self) -> list[str]:
        """Return the RMW, and what its users must know."""
        said = [f"the RMW is {installation.words(self.settings.transport, loaded=True)}"]
        if self.settings.pattern == "request-reply" and self.client_type:
            said.append("services keep ROS 2's own quality of service: reliable, depth 10")
        return said

    def close(self) -> None:
        """Shut ROS 2 down."""
        self._context.shutdown()


ADAPTER = RclPy
