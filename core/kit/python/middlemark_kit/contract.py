"""The classes that an adapter in Python provides or receives. ``core/adapter.hpp`` describes them in full."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Protocol

from middlemark_kit.protocol import Companion, Description, MessageType, OwnSettings, Reliability, Request
from middlemark_kit.structs import Struct

Visit = Callable[[Any], None]
"""A function that passes a message, any object with a buffer, to the role. It does not use the message later."""


class Topic(Struct):
    """A topic or service of the trial."""

    name: str
    """[a-z0-9_]+, at most 63 characters, unique within the trial."""
    message_bytes: int
    publishers: int
    """Publishers in all processes of the trial; for a service: the number of clients."""
    subscribers: int
    depth: int | None
    """Keep-last history depth in messages; None: keep-all."""
    reliability: Reliability
    type: MessageType
    """For a type other than octets, the messages of ``publish`` and ``take`` are the type's main array of
    ``message_bytes``. The adapter makes the other fields, and compares those of each received message."""
    service: bool
    """True for the middleware's own request and reply."""
    publishers_here: int
    subscribers_here: int
    subscriber_processes: int
    varies: bool
    """True: ``message_bytes`` is the largest size. False: every message has this size."""
    history: int
    """Number of transient-local messages that a late joiner must receive; 0: volatile."""


class Settings(Request):
    """The settings of one trial. A native setting is a bool, a str or an int: sizes in bytes, durations in ns."""

    endpoints: tuple[Topic, ...]
    """All topics and services of the trial."""
    ipv4: str
    """IPv4 address of ``interface``; empty: it has none."""


class Publisher(Protocol):
    """Sends the messages of one topic. One thread at a time uses it.

    Optional: ``loan(bytes)``, called if ``Settings.loan`` is set, returns the middleware's own memory for the next
    message: a writable object with a buffer. ``close()``, called after the end.
    """

    def publish(self, message: Any) -> None:
        """Send a message: the object that ``loan`` returned, or a memoryview that is valid until ``publish`` returns.

        May block, at most for ``write_timeout_s``. Raises TimeoutError if the message was not sent in that time.
        """

    def matched(self) -> int:
        """Return the number of subscribers found so far."""


class Subscriber(Protocol):
    """Receives the messages of one topic. Used by one thread.

    Optional: ``listen(visit)`` and ``silence()``, required if a transport lists ``listen``: the middleware's own thread
    calls ``visit`` between them. ``publishers_found()`` returns the number of publishers found so far. ``close()`` is
    called after the end.
    """

    def take(self, visit: Visit) -> None:
        """Visit all messages that have arrived, or as many as ``most_per_take`` of the class allows. Never blocks."""

    def wait(self, timeout_s: float) -> bool:
        """Block as the middleware prefers until a message may have arrived. Return true if ``take`` may find one."""


class Exchange(Publisher, Subscriber, Protocol):
    """A client or a server. ``publish`` of a server answers the request that it visits."""


class Adapter:
    """Opens the middleware for this process, once.

    Optional, for the middleware's own request and reply: ``client(service, index)`` and ``server(service, index)``.
    Both return an object of the class ``client_type``.
    """

    subscriber_type: ClassVar[type]
    """The class of the subscribers. Its ``most_per_take`` is the number of messages after which ``take`` returns; its
    ``resends_within_ms`` (default 0) is the longest time after which a lost reliable message is sent again."""
    client_type: ClassVar[type | None] = None
    """The class of clients and servers; None: the middleware has no request and reply of its own."""

    def __init__(self, settings: Settings) -> None:
        """Open the middleware."""
        self.settings = settings

    @staticmethod
    def description() -> Description:
        """Return the description. Must not open the middleware, because every ``middlemark list`` calls it."""
        raise NotImplementedError

    @staticmethod
    def check(settings: Settings) -> None:
        """Raise AdapterError for settings that the description cannot exclude. Must not open the middleware."""

    @staticmethod
    def companions(settings: Settings) -> list[Companion]:  # noqa: ARG004
        """Return the daemons that this trial needs. Called in a process of its own."""
        return []

    def publisher(self, topic: Topic, index: int) -> Publisher:
        """Return the publisher with this number among all publishers of the topic."""
        raise NotImplementedError

    def subscriber(self, topic: Topic, index: int) -> Subscriber:
        """Return the subscriber with this number among all subscribers of the topic."""
        raise NotImplementedError

    def notes(self) -> list[str]:
        """Return notes for the user on how the settings were applied. Called once, after matching."""
        return []

    def own_settings(self) -> OwnSettings | None:
        """Return the settings in the middleware's own form, made from the values that were passed to it."""
        return None

    def protected_by(self) -> str:
        """Return the algorithms in force. Required if a transport lists a level of security."""
        return ""

    def shared_segment(self) -> tuple[int, str]:
        """Return the bytes of the shared-memory segment for messages (0: no limit), and the setting for its size."""
        return 0, ""

    def refusals(self) -> str:
        """Return the middleware's messages about rejected peers; empty if there were none."""
        return ""

    def close(self) -> None:
        """Close the middleware. Called after ``close()`` of all publishers and subscribers."""


class Rendezvous:
    """Files in the trial's folder with which workers find each other if their middleware has no discovery."""

    def __init__(self, settings: Settings) -> None:
        """Use the folder of this trial."""
        self._folder = Path(settings.scratch)

    def leave(self, name: str, content: str = "") -> None:
        """Write a note for the other workers. They never see a partly written note."""
        aside = self._folder / f"new.{os.getpid()}.{name}"
        aside.write_text(content)
        aside.rename(self._folder / name)

    def find(self, name: str) -> str | None:
        """Return the content of a note; None if it does not exist yet."""
        try:
            return (self._folder / name).read_text()
        except FileNotFoundError:
            return None

    def join(self, name: str, content: str) -> list[str]:
        """Write the note ``name.N``, N the lowest free number. Return the notes of all lower numbers, in order."""
        aside = self._folder / f"new.{os.getpid()}.{name}"
        aside.write_text(content)
        before: list[str] = []
        while True:
            taken = self._folder / f"{name}.{len(before)}"
            try:
                os.link(aside, taken)
            except FileExistsError:
                before.append(taken.read_text())
                continue
            aside.unlink()
            return before


class Attendance:
    """Counts the subscribers of a topic for a middleware that does not report them to the publisher."""

    def __init__(self, settings: Settings, topic: Topic) -> None:
        """``topic``: the topic whose subscribers are counted."""
        self._notes = Rendezvous(settings)
        self._topic = topic
        self._found = 0

    def attend(self, index: int) -> None:
        """Call in the subscriber with this index, when its subscription is complete."""
        self._notes.leave(f"{self._topic.name}.subscriber.{index}")

    def count(self) -> int:
        """Return the number of subscribers that have called ``attend``, for ``matched()``."""
        while self._found < self._topic.subscribers:
            if self._notes.find(f"{self._topic.name}.subscriber.{self._found}") is None:
                break
            self._found += 1
        return self._found


def free_port(address: str) -> int:
    """Return a TCP port of this address that no process uses now."""
    with socket.socket() as held:
        held.bind((address, 0))
        return int(held.getsockname()[1])
