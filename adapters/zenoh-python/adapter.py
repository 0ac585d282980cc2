"""zenoh with its Python binding: one session in peer mode for each process, and one link to each other process."""

import fcntl
import os
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import zenoh
from zenoh.handlers import Callback

from middlemark_kit import Adapter, Description, Rendezvous, Settings, Topic, Transport, Visit
from middlemark_kit.contract import free_port
from middlemark_kit.mailbox import Mailbox
from middlemark_kit.protocol import DEFAULT_CONFIGURATION

direct = partial(Callback, indirect=False)
"""A callback on zenoh's receiving thread; by default zenoh makes a thread for each, which receives from that thread."""


def endpoint(settings: Settings) -> str:
    """Return an endpoint to listen on."""
    if settings.transport in ("tcp", DEFAULT_CONFIGURATION):
        return f"tcp/{settings.ipv4}:{free_port(settings.ipv4)}"
    return f"unixsock-stream/{settings.scratch}/zenoh.{os.getpid()}.sock"


def configuration(settings: Settings) -> zenoh.Config:
    """Return the session's configuration; adapters/zenoh has the same values, with the reasons."""
    listen = endpoint(settings)
    connect = Rendezvous(settings).join("zenoh.endpoint", listen)
    values = {
        "mode": '"peer"',
        "scouting/multicast/enabled": "false",
        "connect/retry": "{ period_init_ms: 10, period_max_ms: 50, period_increase_factor: 1.5 }",
        "transport/link/tx/queue/congestion_control/block/wait_before_close": str(int(settings.write_timeout_s * 1e6)),
        "listen/endpoints": f'["{listen}"]',
        "connect/endpoints": str(connect).replace("'", '"'),
    }
    if settings.transport != DEFAULT_CONFIGURATION:
        shared = settings.transport == "shm"
        rules = f"{{ enabled: true, pool_size: {64 << 20}, message_size_threshold: 1 }}"
        values |= {
            "scouting/gossip/enabled": "false",
            "transport/shared_memory/enabled": str(shared).lower(),
            "transport/shared_memory/mode": '"init"' if shared else '"lazy"',
            "transport/shared_memory/transport_optimization": rules,
        }
    config = zenoh.Config()
    for path, value in values.items():
        config.insert_json5(path, value)
    return config


class Peers:
    """Counts publishers, subscribers, clients and servers by liveliness tokens. Each declares one after itself."""

    def __init__(self, session: zenoh.Session, scope: str) -> None:
        """Watch the trial's tokens."""
        self._session = session
        self._scope = scope
        self._seen: set[str] = set()
        seen = direct(lambda sample: self._seen.add(str(sample.key_expr)))
        self._watch = session.liveliness().declare_subscriber(f"{scope}/alive/**", seen, history=True)

    def declare(self, role: str, topic: Topic, index: int) -> zenoh.LivelinessToken:
        """Declare an end of the topic."""
        return self._session.liveliness().declare_token(f"{self._scope}/alive/{role}/{topic.name}/{index}")

    def count(self, role: str, topic: Topic) -> int:
        """Return the number of ends that were declared."""
        prefix = f"{self._scope}/alive/{role}/{topic.name}/"
        return sum(each.startswith(prefix) for each in self._seen.copy())


class Sender:
    """Sends messages. zenoh takes no memoryview, so each message becomes bytes."""

    def __init__(self, settings: Settings, count: Callable[[], int], end: Any = None) -> None:
        """``count`` returns the number of receivers; ``end`` is the publisher or querier, None for a queryable."""
        self._count = count
        self._end = end
        self._given_up_s = settings.write_timeout_s * 0.9

    def matched(self) -> int:
        """Return the number of receivers; 0 until zenoh would send to one."""
        return self._count() if self._end is None or self._end.matching_status.matching else 0

    def send(self, put: Callable[..., Any], *target: Any, **options: Any) -> None:
        """Call zenoh. It closes a link that is full for longer than the write timeout, without an error."""
        begin = time.monotonic()
        put(*target, **options)
        if time.monotonic() - begin > self._given_up_s:
            raise TimeoutError("a link was full for longer than the write timeout, and zenoh has closed it")


class Publisher(Sender):
    """A publisher of zenoh."""

    def __init__(self, adapter: "Zenoh", topic: Topic, index: int) -> None:
        """Declare it."""
        qos = adapter.qos(topic)
        qos["reliability"] = getattr(zenoh.Reliability, topic.reliability.replace("-", "_").upper())
        publisher = adapter.session.declare_publisher(topic.name, **qos)
        super().__init__(adapter.settings, lambda: adapter.peers.count("Subscriber", topic), publisher)
        self._put = publisher.put
        self._token = adapter.peers.declare("Publisher", topic, index)

    def publish(self, message: memoryview) -> None:
        """Send a copy of the message."""
        self.send(self._put, bytes(message))


class Subscriber(Mailbox):
    """A subscriber with a callback, because zenoh's channels have no receive with a timeout."""

    def __init__(self, adapter: "Zenoh", topic: Topic, index: int) -> None:
        """Declare it."""
        super().__init__(topic, topic.publishers)
        self._subscriber = adapter.session.declare_subscriber(topic.name, direct(self.deliver))
        self._token = adapter.peers.declare("Subscriber", topic, index)
        self.publishers_found = lambda: adapter.peers.count("Publisher", topic)

    def show(self, visit: Visit, message: zenoh.Sample) -> None:
        """Visit a copy of the payload: zenoh's type has no buffer."""
        visit(message.payload.to_bytes())


class Caller(Sender, Mailbox):
    """A querier without consolidation, which would hold a reply back until the query has ended, or the queryable."""

    def __init__(self, adapter: "Zenoh", service: Topic, index: int, *, serves: bool) -> None:
        """Declare it."""
        Mailbox.__init__(self, service)
        peers = adapter.peers
        self._name = service.name
        self._query: zenoh.Query | None = None
        self._express = adapter.express
        if serves:
            self._queryable = adapter.session.declare_queryable(service.name, direct(self.deliver))
            Sender.__init__(self, adapter.settings, lambda: peers.count("Client", service))
        else:
            none = zenoh.ConsolidationMode.NONE
            querier = adapter.session.declare_querier(service.name, consolidation=none, **adapter.qos(service))
            Sender.__init__(self, adapter.settings, lambda: peers.count("Server", service), querier)
            self._get = querier.get
            self._replies = direct(self.deliver)
        self._serves = serves
        self._token = peers.declare("Server" if serves else "Client", service, index)

    def show(self, visit: Visit, message: Any) -> None:
        """Visit a reply, or a query; keep the query to answer."""
        if not self._serves:
            if message.ok is not None:
                visit(message.ok.payload.to_bytes())
            return
        with message:
            self._query = message
            visit(message.payload.to_bytes())

    def publish(self, message: memoryview) -> None:
        """Send a request, or the reply to the query that is being visited."""
        if self._query is not None:
            self.send(self._query.reply, self._name, bytes(message), express=self._express)
        else:
            self.send(self._get, self._replies, payload=bytes(message))


class Zenoh(Adapter):
    """A session."""

    subscriber_type = Subscriber
    client_type = Caller

    def __init__(self, settings: Settings) -> None:
        """Open the session. Sessions that may use shared memory open one after the other: see adapters/zenoh."""
        super().__init__(settings)
        zenoh.init_log_from_env_or("off")
        self.express = settings.pattern != "stream" and settings.transport != DEFAULT_CONFIGURATION
        with Path(settings.scratch, "zenoh.turn").open("w") as turn:
            if settings.transport in ("shm", DEFAULT_CONFIGURATION):
                fcntl.flock(turn, fcntl.LOCK_EX)
            self.session = zenoh.open(configuration(settings))
        self.peers = Peers(self.session, settings.scope)

    @staticmethod
    def description() -> Description:
        """Return what the binding can do."""

        def transport(name: str, carrier: str, **more: Any) -> Transport:
            return Transport(
                name=name,
                carrier=carrier,
                processes=(2,),
                receive=("block", "listen"),
                varying_sizes=True,
                services=True,
                security_why="this adapter sets no certificates",
                via_why="only the adapter zenoh starts a router",
                **more,
            )

        return Description(
            name="zenoh-python",
            title="Eclipse zenoh (Python)",
            version=version("eclipse-zenoh"),
            client_of="zenoh",
            implementation=f"zenoh {version('eclipse-zenoh')}",
            library=str(zenoh.zenoh.__file__),
            licence="EPL-2.0 OR Apache-2.0",
            transports=(
                transport("tcp", "tcp", wire="zenoh"),
                transport("unix", "unix-socket"),
                transport("shm", "shared-memory", segments=("*.zenoh",)),
                transport(DEFAULT_CONFIGURATION, "any", segments=("*.zenoh",)),
            ),
            own_threads=True,
            residue=("/dev/shm/*.zenoh",),
        )

    def qos(self, topic: Topic) -> dict[str, Any]:
        """Return the options of publishers and queriers."""
        control = zenoh.CongestionControl
        return {
            "congestion_control": control.BLOCK if topic.reliability == "reliable" else control.DROP,
            "express": self.express,
        }

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        return Publisher(self, topic, index)

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        return Subscriber(self, topic, index)

    def client(self, service: Topic, index: int) -> Caller:
        """Return a client."""
        return Caller(self, service, index, serves=False)

    def server(self, service: Topic, index: int) -> Caller:
        """Return the server."""
        return Caller(self, service, index, serves=True)

    def close(self) -> None:
        """Close the session."""
        self.session.close()


ADAPTER = Zenoh
