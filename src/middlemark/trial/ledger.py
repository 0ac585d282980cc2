"""Record the workers' resource reports of a trial, and the network's counters at the same times."""

from collections.abc import Callable, Iterable, Sequence

from middlemark.model.crowd import IdleUse
from middlemark.model.outcome import NetworkCost
from middlemark.model.protocol import Account, MeasuringEvent, TickEvent
from middlemark.sites import evidence
from middlemark.sites.witness import Waited
from middlemark.trial.costs import WorkerAccounts, account, waited
from middlemark.trial.following import Following
from middlemark.trial.idle import idle_use

_EARLY_S = 0.5
"""Reports are about a second apart, so the next report after a step may be early by half of that."""


class Ledger:
    """The resource reports of the workers, and the network's counters at each report of the first worker."""

    def __init__(self, network: Callable[[], NetworkCost], step_s: float | None = None) -> None:
        """Create the ledger. ``network``: reads the counters.

        ``step_s``: keep only one report in this time, so that the memory for a long trial is small. None: keep all.

        Set ``first`` to the worker at whose reports ``network`` is called.
        """
        self.first: Following | None = None
        self._network = network
        self._step_ns = 0.0 if step_s is None else (step_s - _EARLY_S) * 1e9
        self._events: dict[int, list[Account]] = {}
        self._readings: list[NetworkCost] = []
        self._begin: NetworkCost | None = None
        self.moved: NetworkCost | None = None

    def hear(self, who: Following, event: Account) -> None:
        """Record an event with resource usage."""
        heard = self._events.get(id(who), ())
        if isinstance(event, TickEvent) and heard and event.at_ns - heard[-1].at_ns < self._step_ns:
            return
        begins = isinstance(event, MeasuringEvent) and self._begin is None
        if begins or who is self.first:
            reading = self._network()
            self._begin = reading if begins else self._begin
            if who is self.first:
                self._readings.append(reading)
        self._events.setdefault(id(who), []).append(event)

    def end(self) -> None:
        """Read the network's counters one last time."""
        if self._begin is not None:
            self.moved = evidence.moved(self._begin, self._network())

    def waited(self, roles: Sequence[str]) -> Waited:
        """Return how long the threads named in ``roles`` waited for a processor, and the workers' context switches."""
        return waited(tuple(self._events.values()), roles)

    def idle(self) -> tuple[IdleUse | None, str | None]:
        """Return the use of all workers together while they were idle, or None and the reason."""
        first = id(self.first)
        others = [events for who, events in self._events.items() if who != first]
        return idle_use([self._events.get(first, []), *others], self._readings)

    def accounts(self, following: Iterable[Following]) -> list[WorkerAccounts]:
        """Return the reports of each worker that measured."""
        return [
            found
            for each in following
            if (
                found := account(
                    each.worker.who,
                    each.worker.pid,
                    self._events.get(id(each), ()),
                    self._readings if each is self.first else (),
                )
            )
        ]
