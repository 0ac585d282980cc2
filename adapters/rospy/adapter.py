"""ROS 1 with rospy: topics over TCPROS and services, with the types of adapters/ros1, so both can share a trial."""

import contextlib
import hashlib
import logging
import os
import shutil
import tempfile
import warnings
from concurrent.futures import Future
from importlib.metadata import version
from typing import Any

import genpy.dynamic
import rosgraph
import rospy
import rospy.service

from middlemark_kit import Adapter, AdapterError, Companion, Description, Rendezvous, Settings, Topic, Transport, Visit
from middlemark_kit.contract import free_port
from middlemark_kit.mailbox import Mailbox
from middlemark_kit.protocol import DEFAULT_CONFIGURATION

DEFINITION = "uint8[] data"
NODELAY = "tcpros-nodelay"
MOST_BUFFER_BYTES = 64 << 20
LOG = "rosmaster-logging.yaml"
LOGGING = """\
version: 1
handlers: {out: {class: logging.StreamHandler, stream: ext://sys.stdout}}
root: {level: WARNING, handlers: [out]}
loggers: {rosmaster.master: {level: INFO}}
"""
"""By default rosmaster prints nothing, and logs into the user's home."""


def message_type(folder: str) -> Any:
    """Generate the class of DEFINITION with genpy, which writes a module into ``folder``."""
    tempfile.tempdir = folder
    return genpy.dynamic.generate_dynamic("middlemark/Bytes", DEFINITION)["middlemark/Bytes"]


def service_type(message: Any) -> Any:
    """Return the class of a service whose request and response are this message."""
    both = hashlib.md5((DEFINITION * 2).encode(), usedforsecurity=False).hexdigest()
    names = {"_type": "middlemark/Exchange", "_md5sum": both, "_request_class": message, "_response_class": message}
    return type("Exchange", (), names)


class Publisher:
    """A publisher with a queue, but without one under keep-all, because a full queue drops messages."""

    def __init__(self, topic: Topic, message: Any, transport: str) -> None:
        """Advertise the topic."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # rospy warns if there is no queue
            self._end = rospy.Publisher(
                f"/{topic.name}",
                message,
                tcp_nodelay=transport == NODELAY,
                latch=topic.history > 0,
                queue_size=topic.depth,
            )
        self._message = message()
        self._subscribers = topic.subscribers
        # All subscribers of a process share one connection.
        self._links = topic.subscriber_processes or (1 if topic.subscribers_here else topic.subscribers)

    def matched(self) -> int:
        """Return the number of subscribers found."""
        links: int = self._end.get_num_connections()
        return self._subscribers if links >= self._links else min(links, self._subscribers - 1)

    def publish(self, message: memoryview) -> None:
        """Publish a copy: the generated class takes no memoryview."""
        self._message.data = bytes(message)
        self._end.publish(self._message)


class Subscriber(Mailbox):
    """A subscriber, whose callback runs on the thread that rospy has for each connection."""

    def __init__(self, topic: Topic, message: Any, transport: str) -> None:
        """Subscribe. One receive can read a whole queue, as rospy's manual advises, except under ``default``."""
        super().__init__(topic, topic.publishers)
        self._here = topic.publishers_here
        options: dict[str, Any] = {"queue_size": topic.depth, "tcp_nodelay": transport == NODELAY}
        if topic.depth and transport != DEFAULT_CONFIGURATION:
            queue_bytes = topic.depth * (topic.message_bytes + 64)
            options["buff_size"] = max(rospy.topics.DEFAULT_BUFF_SIZE, min(queue_bytes, MOST_BUFFER_BYTES))
        self._end = rospy.Subscriber(f"/{topic.name}", message, self.deliver, **options)

    def show(self, visit: Visit, message: Any) -> None:
        """Visit the content."""
        visit(message.data)

    def publishers_found(self) -> int:
        """Return the number of publishers found. The publishers of this process share one connection."""
        links: int = self._end.get_num_connections()
        return links - 1 + self._here if links and self._here else links


class Server(Mailbox):
    """A service. Its handler runs on a thread of rospy, and waits for the role's reply."""

    def __init__(self, settings: Settings, service: Topic, message: Any) -> None:
        """Advertise the service."""
        super().__init__(service)
        self._message = message
        self._clients = service.publishers
        self._patience_s = settings.write_timeout_s
        self._end = rospy.Service(f"/{service.name}", service_type(message), self._handle)

    def _handle(self, request: Any) -> Any:
        reply: Future[Any] = Future()
        self.deliver((request, reply))
        return reply.result(self._patience_s)

    def show(self, visit: Visit, message: tuple[Any, Future[Any]]) -> None:
        """Visit the request, which the role answers."""
        request, self._reply = message
        visit(request.data)

    def publish(self, message: memoryview) -> None:
        """Reply to the request that is being visited, which lets its handler return."""
        self._reply.set_result(self._message(data=bytes(message)))

    def matched(self) -> int:
        """Return the expected number of clients: a service cannot count them."""
        return self._clients


class Client(Mailbox):
    """A client with a persistent connection. A call blocks until its reply has arrived."""

    def __init__(self, service: Topic, message: Any) -> None:
        """Create the proxy. The first call connects it."""
        super().__init__(service)
        self._name = f"/{service.name}"
        self._master = rosgraph.Master(rospy.get_name())
        self._message = message()
        self._call = rospy.ServiceProxy(self._name, service_type(message), persistent=True)

    def matched(self) -> int:
        """Return 1 if the master knows the service."""
        with contextlib.suppress(rosgraph.MasterException):
            self._master.lookupService(self._name)
            return 1
        return 0

    def publish(self, message: memoryview) -> None:
        """Call the service, and keep the reply or pass it to the listener."""
        self._message.data = bytes(message)
        self.deliver(self._call(self._message).data)


class Rospy(Adapter):
    """This process as a node."""

    subscriber_type = Subscriber
    client_type = Client

    def __init__(self, settings: Settings) -> None:
        """Register the node with the trial's master. Raise if none answers, because rospy would wait for ever."""
        super().__init__(settings)
        os.environ.pop("ROS_PYTHON_LOG_CONFIG_FILE", None)  # it configures the master only
        logging.disable(logging.INFO)
        if not rosgraph.is_master_online():
            uri = os.environ.get("ROS_MASTER_URI", "(ROS_MASTER_URI is not set)")
            raise AdapterError(f"rospy: no ROS master answers at {uri}", "did rosmaster end?")
        rospy.init_node(f"{settings.scope}_{os.getpid()}", argv=[], disable_signals=True, disable_rosout=True)
        self._message = message_type(settings.scratch)

    @staticmethod
    def description() -> Description:
        """Return the description of rospy, which uses TCP within a process too."""

        def transport(name: str, wire: str = "") -> Transport:
            return Transport(
                name=name,
                carrier="tcp",
                reliability=("reliable",),
                companions=True,
                varying_sizes=True,
                services=True,
                max_history=1,  # a latched publisher keeps its last message
                security_why="ROS 1 has no security, and SROS, which added it, is no longer developed",
                wire=wire,
            )

        return Description(
            name="rospy",
            title="ROS 1 (rospy)",
            version=version("rospy"),
            client_of="ros1",
            implementation=f"rospy {version('rospy')}",
            licence="BSD-3-Clause",
            transports=(transport("tcpros", "tcpros"), transport(NODELAY, "tcpros"), transport(DEFAULT_CONFIGURATION)),
            own_threads=True,
        )

    @staticmethod
    def companions(settings: Settings) -> list[Companion]:
        """Write the configuration of rosmaster's log, and return the command that starts it, as adapters/ros1 does."""
        program = shutil.which("rosmaster")
        if program is None:
            raise AdapterError("rospy: rosmaster was not found", "Debian: apt install python3-rosmaster")
        address, port = settings.ipv4, free_port(settings.ipv4)
        Rendezvous(settings).leave(LOG, LOGGING)
        return [
            Companion(
                name="rosmaster",
                argv=(program, "--core", "-p", str(port)),
                environment={
                    "ROS_MASTER_URI": f"http://{address}:{port}",
                    "ROS_HOSTNAME": address,
                    "ROS_IP": address,
                    "ROS_HOME": settings.scratch,
                    "ROS_LOG_DIR": settings.scratch,
                    "ROS_PYTHON_LOG_CONFIG_FILE": f"{settings.scratch}/{LOG}",
                    "ROS_NAMESPACE": "",
                    "PYTHONUNBUFFERED": "1",
                },
                ready_pattern=rf"Master initialized: port\[{port}\]",
                ready_timeout_s=15.0,
            )
        ]

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        return Publisher(topic, self._message, self.settings.transport)

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        return Subscriber(topic, self._message, self.settings.transport)

    def client(self, service: Topic, index: int) -> Client:
        """Return a client."""
        return Client(service, self._message)

    def server(self, service: Topic, index: int) -> Server:
        """Return the service."""
        return Server(self.settings, service, self._message)

    def close(self) -> None:
        """Shut the node down."""
        rospy.signal_shutdown("the trial has ended")


ADAPTER = Rospy
