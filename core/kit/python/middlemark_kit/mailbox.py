"""Keeps the messages that a client library delivers by a callback on its own thread."""

import queue
import threading
import time
from typing import Any

from middlemark_kit.contract import Topic, Visit

KEPT_BYTES = 64 << 20
"""Memory of a mailbox without a depth; a flood would fill any. Then the library's thread waits."""
PAUSE_S = 0.0002


class Mailbox:
    """Passes messages to the listener. Without one, keeps them in a queue for the role's thread, as programs do.

    With a depth a full mailbox drops its oldest message. With keep-all the library's thread waits for room.
    """

    most_per_take = 1024

    def __init__(self, topic: Topic, writers: int = 1) -> None:
        """Messages that arrive before ``listen`` are kept. There is room for the depth of each of the ``writers``."""
        depth = None if topic.service else topic.depth
        self._drops = depth is not None
        self._room = max(64, KEPT_BYTES // topic.message_bytes) if depth is None else depth * writers
        self._kept: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._held: Any = None
        self._visit: Visit | None = None
        self._delivering = threading.Lock()
        self._closed = False

    def deliver(self, message: Any) -> None:
        """Pass on or keep one message. Call this from the library's callback."""
        while self._visit is None and self._kept.qsize() >= self._room and not self._closed:
            self._make_room()
        with self._delivering:
            if self._visit is not None:
                self.show(self._visit, message)
            elif not self._closed:
                self._kept.put(message)

    def show(self, visit: Visit, message: Any) -> None:
        """Visit the message; a class whose library delivers other objects visits their content."""
        visit(message)

    def _make_room(self) -> None:
        if not self._drops:
            time.sleep(PAUSE_S)
            return
        try:
            self._kept.get_nowait()
        except queue.Empty:
            return

    def take(self, visit: Visit) -> None:
        """Visit the message that ended ``wait`` and all messages that are kept."""
        if self._held is not None:
            held, self._held = self._held, None
            self.show(visit, held)
        for _ in range(self.most_per_take):
            try:
                message = self._kept.get_nowait()
            except queue.Empty:
                return
            self.show(visit, message)

    def wait(self, timeout_s: float) -> bool:
        """Block until a message is kept."""
        if self._held is None:
            try:
                self._held = self._kept.get(timeout=timeout_s)
            except queue.Empty:
                return False
        return True

    def listen(self, visit: Visit) -> None:
        """Visit the messages that are kept. From now on, visit each new message on the library's thread."""
        with self._delivering:
            self.take(visit)
            self._visit = visit

    def silence(self) -> None:
        """Stop visiting. Waits until a visit that is running has ended. Later messages are dropped."""
        self._closed = True
        with self._delivering:
            self._visit = None

    def close(self) -> None:
        """Let the library's thread continue if it waits for room."""
        self._closed = True
