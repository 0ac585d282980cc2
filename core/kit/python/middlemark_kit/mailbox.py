"""Messages that a client library delivers by a callback on its own thread."""

import queue
import threading
from typing import Any

from middlemark_kit.contract import Visit


class Mailbox:
    """Passes messages to the listener, or keeps them for the role's thread, as a program does with ``queue``."""

    most_per_take = 1024

    def __init__(self) -> None:
        """Messages that arrive before ``listen`` are kept."""
        self._kept: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._held: Any = None
        self._visit: Visit | None = None
        self._delivering = threading.Lock()

    def deliver(self, message: Any) -> None:
        """Call from the library's callback, for one message."""
        with self._delivering:
            if self._visit is None:
                self._kept.put(message)
            else:
                self._visit(message)

    def take(self, visit: Visit) -> None:
        """Visit the message that ended ``wait``, and those that are kept."""
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
        """Visit the messages that are kept, and from now on each message on the library's thread."""
        with self._delivering:
            self.take(visit)
            self._visit = visit

    def silence(self) -> None:
        """End the visits; waits for the one that is running."""
        with self._delivering:
            self._visit = None
