"""One worker of a trial, listened to from its start until the results of all its roles are in."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence

from middlemark.model.protocol import (
    AnyRoleRequest,
    AnyRoleResult,
    Counts,
    DoneEvent,
    EndedEvent,
    MeasuringEvent,
    Message,
    RoleRequest,
    RoleResult,
    StartCommand,
    StopCommand,
    SubscriberRequest,
    TickEvent,
)
from middlemark.sites.channel import CONTROL_SILENCE_S, Channel, WorkerFailedError

RESULT_S = 60.0
"""Between ``done`` and the results a worker writes its samples and may not tick."""


class Following:
    """One worker that is measuring. :meth:`run` is awaited in a task of its own, once it has been started."""

    def __init__(
        self, worker: Channel, roles: Sequence[AnyRoleRequest], hear: Callable[["Following", Message], None]
    ) -> None:
        """``hear`` is told every event as it comes; it must not raise."""
        self.worker = worker
        self.roles = tuple(roles)
        self.ticked = asyncio.Event()
        """Its roles are in their loops."""
        self.done = asyncio.Event()
        """Its roles have ended; the results are on their way."""
        self.on_end: Callable[[EndedEvent], None] = lambda _: None
        """Is told at once when a role of a workload has ended."""
        self._hear = hear
        self._due = {(role.role, role.index): role for role in self.roles}
        self._forwards = [each for role in self.roles if isinstance(role, SubscriberRequest) for each in role.forwards]
        self._results: dict[tuple[str, int], AnyRoleResult] = {}
        self._counts: Sequence[Counts] = ()
        self._until = math.inf
        self._late = ""

    def start(self, patience_s: float = math.inf) -> None:
        """Have its roles begin; they must have ended ``patience_s`` from now."""
        self._allow(patience_s, "its start")
        self.worker.send(StartCommand())

    def stop(self, expected: int, patience_s: float, subscribers: tuple[int, ...] = ()) -> None:
        """Have its receivers end: when they have as many different messages as they can expect; with 0 at once.

        ``subscribers``: only these; then it is for the others, too, that it is waited for as long as before.
        """
        if not subscribers:
            self._allow(patience_s, "it was told to stop")
        self.worker.send(StopCommand(expected=expected, subscribers=subscribers))

    def _allow(self, patience_s: float, since: str) -> None:
        self._until = time.monotonic() + patience_s
        self._late = f"{patience_s:.3g} s after {since}"

    async def run(self) -> None:
        """Listen until every role's result is in. Raises WorkerFailedError."""
        while len(self._results) < len(self.roles) + len(self._forwards):
            event = await self._next()
            if isinstance(event, TickEvent):
                self.ticked.set()
            elif isinstance(event, EndedEvent):
                self.on_end(event)
            elif isinstance(event, DoneEvent):
                self._counts = event.roles
                self.done.set()
            elif isinstance(event, AnyRoleResult):
                self._take(event)
                self.done.set()
            self._hear(self, event)

    def _take(self, result: AnyRoleResult) -> None:
        key = (result.role, result.index)
        mine = next((each for each in self._forwards if key == ("publisher", each.index)), self._due.get(key))
        if mine is None or key in self._results:
            which = "a second one" if mine is not None else "it has no such role"
            raise self.worker.beside_the_protocol(f"result: of {result.role} {result.index}: {which}")
        told, asked = getattr(result, "topic", None), getattr(mine, "topic", None)
        if told != asked:
            raise self.worker.beside_the_protocol(
                f"result: of {result.role} {result.index}: topic {told}, and it has {asked}"
            )
        self._results[key] = result

    async def _next(self) -> Message:
        if self.done.is_set():
            return await self.worker.event(RoleResult, timeout_s=RESULT_S)
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise WorkerFailedError(
                "hung",
                f"{self.worker.who} (pid {self.worker.pid}) did not end: {self._late}, beyond every limit of its own,"
                f" it has not come back from the middleware{self.worker.last_words()}",
            )
        # While it measures it ticks; only silence counts.
        wanted: tuple[type[Message], ...] = (TickEvent, DoneEvent)
        return await self.worker.event(
            *wanted, also=(MeasuringEvent, EndedEvent, RoleResult), timeout_s=left_s + CONTROL_SILENCE_S, ticking=True
        )

    def result(self, role: RoleRequest) -> AnyRoleResult:
        """Return that role's result, once it is in. Raises KeyError."""
        return self._results[role.role, role.index]

    def forwarded(self) -> list[AnyRoleResult]:
        """Return the results of what its subscribers published on, once they are in."""
        return [self._results["publisher", each.index] for each in self._forwards]

    def sent(self, role: RoleRequest) -> int | None:
        """Return how many measured messages that role has sent in all, as far as it has said so."""
        key = (role.role, role.index)
        counts = next((each for each in self._counts if (each.role, each.index) == key), None)
        sent: int | None = getattr(self._results.get(key, counts), "sent", None)
        return sent
