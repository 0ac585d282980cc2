"""One worker of a trial, listened to from its start until the results of all its roles are in."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from middlemark.launch.channel import CONTROL_SILENCE_S, WorkerFailedError, WorkerProcess
from middlemark.launch.request import Role, role_name

RESULT_S = 60.0
"""Between ``done`` and the results a worker writes its samples and may not tick."""

Event = Mapping[str, Any]


class Following:
    """One worker that is measuring. :meth:`run` is awaited in a task of its own, once it has been started."""

    def __init__(
        self, worker: WorkerProcess, roles: Sequence[Role], hear: Callable[["Following", Event], None]
    ) -> None:
        """``hear`` is told every event as it comes; it must not raise."""
        self.worker = worker
        self.roles = tuple(roles)
        self.ticked = asyncio.Event()
        """Its roles are in their loops."""
        self.done = asyncio.Event()
        """Its roles have ended; the results are on their way."""
        self._hear = hear
        self._results: dict[tuple[str, int], Event] = {}
        self._counts: Sequence[Event] = ()
        self._until = math.inf
        self._late = ""

    def start(self, patience_s: float = math.inf) -> None:
        """Have its roles begin; they must have ended ``patience_s`` from now."""
        self._allow(patience_s, "its start")
        self.worker.send({"command": "start"})

    def stop(self, expected: int | None, patience_s: float) -> None:
        """Have its receivers end: at once, or when they have as many different messages as they can expect."""
        self._allow(patience_s, "it was told to stop")
        self.worker.send({"command": "stop"} if expected is None else {"command": "stop", "expected": expected})

    def _allow(self, patience_s: float, since: str) -> None:
        self._until = time.monotonic() + patience_s
        self._late = f"{patience_s:.3g} s after {since}"

    async def run(self) -> None:
        """Listen until every role's result is in. Raises WorkerFailedError."""
        while len(self._results) < len(self.roles):
            event = await self._next()
            name = event["event"]
            if name == "tick":
                self.ticked.set()
            elif name == "done":
                self._counts = event.get("roles", ())
                self.done.set()
            elif name == "result":
                self._results[event["role"], event.get("index", 0)] = event
                self.done.set()
            self._hear(self, event)

    async def _next(self) -> Event:
        if self.done.is_set():
            return await self.worker.event("result", timeout_s=RESULT_S)
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise WorkerFailedError(
                "hung",
                f"{self.worker.who} (pid {self.worker.pid}) did not end: {self._late}, beyond every limit of its own,"
                f" it has not come back from the middleware{self.worker.last_words()}",
            )
        # While it measures it ticks; only silence counts.
        return await self.worker.event(
            "tick", "done", also=("measuring", "result"), timeout_s=left_s + CONTROL_SILENCE_S, ticking=True
        )

    def result(self, role: Role) -> Event:
        """Return that role's result, once it is in. Raises KeyError."""
        return self._results[role["role"], role.get("index", 0)]

    def sent(self, role: Role) -> int | None:
        """Return how many measured messages that role has sent in all, as far as it has said so."""
        if (role["role"], role.get("index", 0)) in self._results:
            return int(self.result(role)["sent"])
        for counts in self._counts:
            if role_name({"index": 0, **counts}) == role_name(role) and counts.get("sent") is not None:
                return int(counts["sent"])
        return None
