"""Follow one worker of a trial from its start until the results of all its roles have arrived."""

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
    PeersEvent,
    RoleRequest,
    RoleResult,
    StartCommand,
    StopCommand,
    SubscriberRequest,
    TickEvent,
)
from middlemark.sites.channel import CONTROL_SILENCE_S, Channel, WorkerFailedError

RESULT_S = 60.0
"""The timeout between ``done`` and the results, in s. In this time the worker writes samples and may not tick."""


class Following:
    """A measuring worker. After :meth:`start`, await :meth:`run` in its own task."""

    def __init__(
        self, worker: Channel, roles: Sequence[AnyRoleRequest], hear: Callable[["Following", Message], None]
    ) -> None:
        """Create the follower of ``worker``. ``hear``: called with every event when it arrives; must not raise."""
        self.worker = worker
        self.roles = tuple(roles)
        self.ticked = asyncio.Event()
        """Set when all roles of the worker measure."""
        self.done = asyncio.Event()
        """Set when all roles of the worker have ended. Their results follow."""
        self.on_end: Callable[[EndedEvent], None] = lambda _: None
        """Called when a role of a workload has ended."""
        self.on_peers: Callable[[PeersEvent], None] = lambda _: None
        """Called with the peers of a crowd's participants."""
        self._hear = hear
        self._due = {(role.role, role.index): role for role in self.roles}
        self._forwards = [each for role in self.roles if isinstance(role, SubscriberRequest) for each in role.forwards]
        self._results: dict[tuple[str, int], AnyRoleResult] = {}
        self._counts: Sequence[Counts] = ()
        self._until = math.inf
        self._late = ""

    def start(self, patience_s: float = math.inf) -> None:
        """Start the worker's roles. The roles must end within ``patience_s``."""
        self._allow(patience_s, "its start")
        self.worker.send(StartCommand())

    def stop(self, expected: int, patience_s: float, subscribers: tuple[int, ...] = ()) -> None:
        """Stop the worker's receivers when they have ``expected`` different messages; 0: stop at once.

        ``subscribers``: stop only these subscribers. The deadline of the other subscribers does not change.
        """
        if not subscribers:
            self._allow(patience_s, "the stop command")
        self.worker.send(StopCommand(expected=expected, subscribers=subscribers))

    def _allow(self, patience_s: float, since: str) -> None:
        self._until = time.monotonic() + patience_s
        self._late = f"{patience_s:.3g} s after {since}"

    async def run(self) -> None:
        """Listen until all roles' results have arrived. Raises WorkerFailedError."""
        while len(self._results) < len(self.roles) + len(self._forwards):
            event = await self._next()
            if isinstance(event, TickEvent):
                self.ticked.set()
            elif isinstance(event, EndedEvent):
                self.on_end(event)
            elif isinstance(event, PeersEvent):
                self.on_peers(event)
            elif isinstance(event, DoneEvent):
                self._counts = event.roles
                self.done.set()
            elif isinstance(event, AnyRoleResult):
                self._take(event)
                self.done.set()
            self._hear(self, event)

    def _take(self, result: AnyRoleResult) -> None:
        key = (result.role, result.index)
        expected_role = next((each for each in self._forwards if key == ("publisher", each.index)), self._due.get(key))
        if expected_role is None or key in self._results:
            which = "a second one" if expected_role is not None else "the worker has no such role"
            raise self.worker.protocol_error(f"result: {result.role} {result.index}: {which}")
        topic, asked = getattr(result, "topic", None), getattr(expected_role, "topic", None)
        if topic != asked:
            raise self.worker.protocol_error(
                f"result: {result.role} {result.index}: its topic is {topic}, expected {asked}"
            )
        self._results[key] = result

    async def _next(self) -> Message:
        if self.done.is_set():
            return await self.worker.event(RoleResult, timeout_s=RESULT_S)
        remaining_s = self._until - time.monotonic()
        if remaining_s <= 0:
            raise WorkerFailedError(
                "hung",
                f"{self.worker.who} (pid {self.worker.pid}) did not end: {self._late} the middleware had still "
                f"not returned from a call, although the worker's own limits had passed{self.worker.stderr_end()}",
            )
        # A measuring worker ticks every second, so a silent worker has failed.
        wanted: tuple[type[Message], ...] = (TickEvent, DoneEvent)
        return await self.worker.event(
            *wanted,
            also=(MeasuringEvent, EndedEvent, PeersEvent, RoleResult),
            timeout_s=remaining_s + CONTROL_SILENCE_S,
            ticking=True,
        )

    def result(self, role: RoleRequest) -> AnyRoleResult:
        """Return the result of a role. Raises KeyError if the result has not arrived."""
        return self._results[role.role, role.index]

    def forwarded(self) -> list[AnyRoleResult]:
        """Return the results for the topics on which the worker's subscribers forward, if they have arrived."""
        return [self._results["publisher", each.index] for each in self._forwards]

    def sent(self, role: RoleRequest) -> int | None:
        """Return the number of measured messages that this role has sent; None: the role has not reported yet."""
        key = (role.role, role.index)
        counts = next((each for each in self._counts if (each.role, each.index) == key), None)
        sent: int | None = getattr(self._results.get(key, counts), "sent", None)
        return sent
