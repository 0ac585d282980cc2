"""iceoryx2 with its Python binding: a node for each process, and slices of bytes in shared memory."""

import ctypes
import os
import time
from importlib.metadata import version
from typing import Any

import iceoryx2 as iox2

from middlemark_kit import Adapter, Description, Settings, Topic, Transport, Visit
from middlemark_kit.protocol import DEFAULT_CONFIGURATION

PREFIX = "middlemark-iox2."
"""The beginning of every file in /dev/shm, as in adapters/iceoryx2."""
Octets = iox2.Slice[ctypes.c_uint8]
LOOK = iox2.EventId.new(0)
"""The only event: the receiver shall check for messages."""
HEADER_BYTES = 128
"""An upper bound of the bytes that a message's header and alignment need."""
KEEP_ALL_MESSAGES, KEEP_ALL_BYTES, KEEP_ALL_LEAST = 8192, 256 << 20, 4
"""Limits of a keep-all buffer, which would otherwise fill the machine's memory."""
DEFAULT_BUFFER = 2
"""The library's buffer, in messages."""
PAUSE_S = 0.0001


def buffer_of(settings: Settings, topic: Topic) -> int:
    """Return the messages of each publisher that a subscriber's buffer holds. All workers must compute the same."""
    chunk = topic.message_bytes + HEADER_BYTES
    pairs = sum(each.publishers * each.subscribers for each in settings.endpoints)
    writers = sum(each.publishers for each in settings.endpoints)

    def fitting(size: int) -> int:
        return (size // chunk - writers) // pairs - 1

    disk = os.statvfs("/dev/shm")
    most = max(1, fitting(disk.f_blocks * disk.f_frsize // 2))
    if topic.depth is not None:
        return min(topic.depth, most)
    if settings.transport == DEFAULT_CONFIGURATION:
        return DEFAULT_BUFFER
    return min(most, KEEP_ALL_MESSAGES, max(KEEP_ALL_LEAST, fitting(KEEP_ALL_BYTES)))


class Publisher:
    """A publisher, and a notifier if the subscribers sleep."""

    def __init__(self, adapter: "Iceoryx2", topic: Topic) -> None:
        """Create them."""
        self._service = adapter.service(topic)
        self._bytes = topic.message_bytes
        # The library waits without a limit and cannot be interrupted. With one subscriber the adapter retries instead.
        self._retries = topic.reliability == "reliable" and topic.subscribers == 1
        waits = topic.reliability == "reliable" and not self._retries
        strategy = iox2.BackpressureStrategy
        self._publisher = (
            self._service.publisher_builder()
            .initial_max_slice_len(topic.message_bytes)
            .allocation_strategy(iox2.AllocationStrategy.Static)
            .max_loaned_samples(2)
            .backpressure_strategy(strategy.RetryUntilDelivered if waits else strategy.DiscardData)
            .create()
        )
        self._timeout_s = adapter.settings.write_timeout_s
        self._lent: Any = None
        self._notifier = None
        if adapter.blocks:
            self._notifier = adapter.events(topic).notifier_builder().default_event_id(LOOK).create()

    def matched(self) -> int:
        """Return the number of subscribers."""
        self._publisher.update_connections()
        return int(self._service.dynamic_config.number_of_subscribers)

    def loan(self, size: int) -> memoryview:
        """Return memory of the segment."""
        self._lent = self._publisher.loan_slice_uninit(size)
        return self._lent.payload().as_memory_view().cast("B")

    def publish(self, message: memoryview) -> None:
        """Send the loan, or a copy of the message in a loan."""
        size = message.nbytes
        if self._lent is None:
            self.loan(size)[:] = message
        lent, self._lent = self._lent, None
        end = time.monotonic() + self._timeout_s
        while not lent.assume_init().send() and self._retries:
            if time.monotonic() > end:
                raise TimeoutError("a subscriber's buffer is full")
            time.sleep(PAUSE_S)
            lent = self._publisher.loan_slice_uninit(size)
            # A loan that was not delivered is free again, but nobody else writes into this segment.
            lent.payload().as_memory_view().cast("B")[:] = message
        if self._notifier is not None:
            self._notifier.notify()

    def close(self) -> None:
        """Delete the publisher."""
        self._lent = None
        self._publisher.delete()


class Subscriber:
    """A subscriber, and a listener if it sleeps."""

    most_per_take = 64

    def __init__(self, adapter: "Iceoryx2", topic: Topic) -> None:
        """Create the listener first, so that a publisher that finds the subscriber can wake it."""
        self._service = adapter.service(topic)
        self._listener = adapter.events(topic).listener_builder().create() if adapter.blocks else None
        size = buffer_of(adapter.settings, topic)
        self._subscriber = self._service.subscriber_builder().buffer_size(size).create()

    def publishers_found(self) -> int:
        """Return the number of publishers."""
        return int(self._service.dynamic_config.number_of_publishers)

    def take(self, visit: Visit) -> None:
        """Visit the samples that have arrived, in place."""
        receive = self._subscriber.receive
        for _ in range(self.most_per_take):
            if (sample := receive()) is None:
                return
            try:
                visit(sample.payload().as_memory_view())
            finally:
                sample.delete()

    def wait(self, timeout_s: float) -> bool:
        """Sleep until a publisher notifies, unless a sample has arrived. A timeout of 0 would mean none."""
        if self._subscriber.has_samples():
            return True
        assert self._listener is not None
        return bool(self._listener.timed_wait(iox2.Duration.from_secs_f64(max(1e-6, timeout_s))))

    def close(self) -> None:
        """Delete the subscriber."""
        self._subscriber.delete()


class Iceoryx2(Adapter):
    """A node that no other program can see."""

    subscriber_type = Subscriber

    def __init__(self, settings: Settings) -> None:
        """Open the node. The values differ from the library's as in adapters/iceoryx2, for its reasons."""
        super().__init__(settings)
        iox2.set_log_level(iox2.LogLevel.Error)
        self.blocks = settings.reception == "block"
        self._root = os.open(settings.scratch, os.O_RDONLY)
        config = iox2.config.default()
        every = config.global_cfg
        every.root_path = iox2.Path.new(f"/proc/self/fd/{self._root}")
        every.prefix = iox2.FileName.new(f"{PREFIX}{settings.scope}_")
        every.creation_timeout = iox2.Duration.from_secs(10)
        every.service.cleanup_dead_nodes_on_open = False
        every.node.cleanup_dead_nodes_on_creation = False
        every.node.cleanup_dead_nodes_on_destruction = False
        builder = iox2.NodeBuilder.new().name(iox2.NodeName.new(settings.scope)).config(config)
        disabled = iox2.SignalHandlingMode.Disabled
        self._node = builder.signal_handling_mode(disabled).create(iox2.ServiceType.Ipc)

    @staticmethod
    def description() -> Description:
        """Return what the binding can do."""

        def transport(name: str) -> Transport:
            return Transport(
                name=name,
                carrier="shared-memory",
                segments=(f"{PREFIX}*.data",),
                processes=(2,),
                receive=("poll", "block"),
                loan=(False, True),
                hands_over=(True,),
                max_depth=1_000_000,
            )

        return Description(
            name="iceoryx2-python",
            title="Eclipse iceoryx2 (Python)",
            version=version("iceoryx2"),
            client_of="iceoryx2",
            implementation=f"iceoryx2 {version('iceoryx2')}",
            library=str(iox2._iceoryx2.__file__),
            licence="Apache-2.0 OR MIT",
            transports=(transport("shm"), transport(DEFAULT_CONFIGURATION)),
            residue=(f"/dev/shm/{PREFIX}{{scope}}_*",),
        )

    def service(self, topic: Topic) -> Any:
        """Open the service of the topic."""
        default = self.settings.transport == DEFAULT_CONFIGURATION
        usual = iox2.config.default().defaults.publish_subscribe
        builder = self._node.service_builder(iox2.ServiceName.new(topic.name)).publish_subscribe(Octets)
        return (
            builder.max_publishers(max(topic.publishers, usual.max_publishers if default else 0))
            .max_subscribers(max(topic.subscribers, usual.max_subscribers if default else 0))
            .max_nodes(max(self.settings.workers, usual.max_nodes if default else 0))
            .history_size(0)
            .subscriber_max_buffer_size(buffer_of(self.settings, topic))
            .subscriber_max_borrowed_samples(usual.subscriber_max_borrowed_samples if default else 1)
            .enable_safe_overflow(topic.reliability != "reliable" and topic.depth is not None)
            .open_or_create()
        )

    def events(self, topic: Topic) -> Any:
        """Open the event service that wakes the topic's subscribers."""
        builder = self._node.service_builder(iox2.ServiceName.new(topic.name)).event().event_id_max_value(0)
        builder = builder.max_notifiers(topic.publishers).max_listeners(topic.subscribers)
        return builder.max_nodes(self.settings.workers).open_or_create()

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        return Publisher(self, topic)

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        return Subscriber(self, topic)


ADAPTER = Iceoryx2
