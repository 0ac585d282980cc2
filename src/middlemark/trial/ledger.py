"""Who said what of their resources in a trial, and what the network's counters were meanwhile."""

from collections.abc import Callable, Iterable, Sequence

from middlemark.model.outcome import NetworkCost
from middlemark.model.protocol import Account, MeasuringEvent
from middlemark.sites import evidence
from middlemark.sites.witness import Waited
from middlemark.trial.costs import WorkerAccounts, account, waited
from middlemark.trial.following import Following


class Ledger:
    """Who said what of their resources, and the network's counters each time the first worker said something."""

    def __init__(self, network: Callable[[], NetworkCost]) -> None:
        """``network``: what reads the counters. ``first``: the worker whose words they are read at."""
        self.first: Following | None = None
        self._network = network
        self._events: dict[int, list[Account]] = {}
        self._readings: list[NetworkCost] = []
        self._begin: NetworkCost | None = None
        self.moved: NetworkCost | None = None

    def hear(self, who: Following, event: Account) -> None:
        """Keep what costs are made of."""
        begins = isinstance(event, MeasuringEvent) and self._begin is None
        if begins or who is self.first:
            reading = self._network()
            self._begin = reading if begins else self._begin
            if who is self.first:
                self._readings.append(reading)
        self._events.setdefault(id(who), []).append(event)

    def end(self) -> None:
        """Read the counters for the last time."""
        if self._begin is not None:
            self.moved = evidence.moved(self._begin, self._network())

    def waited(self, roles: Sequence[str]) -> Waited:
        """Return for how long threads of these names waited for a processor, and how often the workers switched."""
        return waited(tuple(self._events.values()), roles)

    def accounts(self, following: Iterable[Following]) -> list[WorkerAccounts]:
        """Return what each worker said of itself, as far as it measured."""
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
