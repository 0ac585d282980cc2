"""Cyclone DDS with its Python binding: a participant for each process, over UDP."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import cyclonedds
from cyclonedds.core import DDSException, InstanceState, ReadCondition, SampleState, ViewState, WaitSet
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import make_idl_struct
from cyclonedds.idl.types import array, byte
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic as DdsTopic

from middlemark_kit import Adapter, Description, Settings, Topic, Transport, Visit
from middlemark_kit.protocol import DEFAULT_CONFIGURATION

TIMEOUT = -10
"""DDS_RETCODE_TIMEOUT."""


def octets(size: int) -> Any:
    """Return the type of messages of this size: ``octet data[size]``, which the binding reads and writes as bytes.

    The binding would turn a ``sequence<octet>`` into a list of Python integers.
    """
    return make_idl_struct(f"Octets{size}", f"middlemark::Octets{size}", {"data": array[byte, size]})


def configuration(settings: Settings) -> str:
    """Return the domain's configuration. The values are those of adapters/cyclonedds, which gives the reasons."""
    tuned = ""
    if settings.transport != DEFAULT_CONFIGURATION:
        most = int(Path("/proc/sys/net/core/rmem_max").read_text())
        buffer = min(most, max(16 << 20, 2 * settings.message_bytes))
        sizes = "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize>"
        tuned = f'<Internal><SocketReceiveBufferSize max="{buffer}B"/></Internal>'
        general = sizes if settings.interface == "lo" else ""
    else:
        general = ""
    multicast = "true" if settings.interface == "lo" else "default"
    interface = f'<Interfaces><NetworkInterface name="{settings.interface}" multicast="{multicast}"/></Interfaces>'
    return f'<CycloneDDS><Domain Id="any"><General>{interface}{general}</General>{tuned}</Domain></CycloneDDS>'


def qos_of(settings: Settings, topic: Topic, writers: int = 1) -> Qos:
    """Return the quality of service of a writer or reader. The history has room for the messages of all ``writers``."""
    wait_ns = round(settings.write_timeout_s * 1e9)
    reliable = topic.reliability == "reliable"
    return Qos(
        Policy.Reliability.Reliable(wait_ns) if reliable else Policy.Reliability.BestEffort,
        Policy.History.KeepAll if topic.depth is None else Policy.History.KeepLast(topic.depth * writers),
    )


class Publisher:
    """A writer."""

    def __init__(self, topic: DdsTopic[Any], participant: DomainParticipant, qos: Qos) -> None:
        """Make one sample; each publish only changes its bytes."""
        self._writer: DataWriter[Any] = DataWriter(participant, topic, qos=qos)
        self._sample = topic.data_type(data=b"")

    def matched(self) -> int:
        """Return the number of matched readers."""
        return int(self._writer.get_publication_matched_status().current_count)

    def publish(self, message: memoryview) -> None:
        """Serialise and write the message."""
        self._sample.data = message
        try:
            self._writer.write(self._sample)
        except DDSException as error:
            if error.code == TIMEOUT:
                raise TimeoutError("dds_write") from None
            raise


class Subscriber:
    """A reader with a waitset."""

    most_per_take = 64

    def __init__(self, topic: DdsTopic[Any], participant: DomainParticipant, qos: Qos) -> None:
        """Make a waitset that waits for samples that were not read yet."""
        self._type = topic.data_type
        self._reader: DataReader[Any] = DataReader(participant, topic, qos=qos)
        self._condition = ReadCondition(self._reader, SampleState.NotRead | ViewState.Any | InstanceState.Any)
        self._waitset = WaitSet(participant)
        self._waitset.attach(self._condition)

    def publishers_found(self) -> int:
        """Return the number of matched writers."""
        return int(self._reader.get_subscription_matched_status().current_count)

    def take(self, visit: Visit) -> None:
        """Take and deserialise the samples that have arrived."""
        for sample in self._reader.take(self.most_per_take):
            if isinstance(sample, self._type):
                visit(sample.data)

    def wait(self, timeout_s: float) -> bool:
        """Wait until the reader has unread samples."""
        return self._waitset.wait(max(1, round(timeout_s * 1e9))) > 0


class CycloneDds(Adapter):
    """A domain with a configuration of its own, and a participant."""

    subscriber_type = Subscriber

    def __init__(self, settings: Settings) -> None:
        """Open the domain."""
        super().__init__(settings)
        self._domain = Domain(settings.domain, configuration(settings))
        self._participant = DomainParticipant(settings.domain)
        self._topics: dict[str, DdsTopic[Any]] = {}

    @staticmethod
    def description() -> Description:
        """Return the transport and the settings that the binding supports."""

        def transport(name: str) -> Transport:
            return Transport(
                name=name,
                carrier="udp",
                processes=(2,),
                receive=("poll", "block"),
                security_why="the wheel of PyPI is built without DDS Security",
            )

        return Description(
            name="cyclonedds-python",
            title="Eclipse Cyclone DDS (Python)",
            version=version("cyclonedds"),
            client_of="cyclonedds",
            implementation=f"libddsc {version('cyclonedds')}",
            library=str(cyclonedds._clayer.__file__),
            licence="EPL-2.0 OR BSD-3-Clause",
            transports=(transport("udp"), transport(DEFAULT_CONFIGURATION)),
            own_threads=True,
        )

    def _topic(self, topic: Topic, qos: Qos) -> DdsTopic[Any]:
        if topic.name not in self._topics:
            self._topics[topic.name] = DdsTopic(self._participant, topic.name, octets(topic.message_bytes), qos=qos)
        return self._topics[topic.name]

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return a publisher."""
        qos = qos_of(self.settings, topic)
        return Publisher(self._topic(topic, qos), self._participant, qos)

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return a subscriber."""
        qos = qos_of(self.settings, topic, topic.publishers)
        return Subscriber(self._topic(topic, qos), self._participant, qos)


ADAPTER = CycloneDds
