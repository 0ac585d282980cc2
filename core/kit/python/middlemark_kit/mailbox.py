"""Keeps the messages that a client library delivers by a callback on its own thread."""

import queue
import threading
from typing import Any

from middlemark_kit.contract import Visit


class Mailbox:
    """Passes messages to the listener. Without one, keeps them in a queue for the role's thread, as programs do."""

    most_per_take = 1024

    def __init__(self) -> None:
        """Begin without a listener: messages that arrive before ``listen`` are kept."""
        self._kept: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._held: Any = None
        self._visit: Visit | None = None
        self._delivering = threading.Lock()

    def deliver(self, message: Any) -> None:
        """Pass on or keep one message. Call this from the library's callback."""
        with self._delivering:
            if self._visit is None:
                self._kept.put(message)
            else:
                self._visit(message)

    def take(self, visit: Visit) -> None:
        """Visit the message that ended ``wait`` and all messages that are kept."""
        if self._held is not None:
            held, self._held = self._held, None
            visit(held)
        for _ in range(self.most_per_take):
            try:
                visit(self._kept.get_nowait())
            except queue.Empty:
                return

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
        """Stop visiting. Waits until a visit that is running has ended."""
        with self._delivering:
            self._visit = None
