"""Who is put through the course: every worker that was found, on each of its transports."""

import functools
import os
from collections.abc import Sequence
from typing import Any

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import BrokenWorker, Transport, Worker
from middlemark.model.protocol import Security
from middlemark.plan.pinning import count_roles
from middlemark.workers.find import find_workers

KIB = 1 << 10
MIB = 1 << 20
CPUS = sorted(os.sched_getaffinity(0))
_options: dict[str, Any] = {"adapters": frozenset(), "brief": False}


class Contender(msgspec.Struct, frozen=True):
    """A worker on one of its transports."""

    worker: Worker
    transport: Transport

    @property
    def name(self) -> str:
        """As it stands in a test's name."""
        adapter = self.worker.description.name
        return adapter if adapter == self.transport.name else f"{adapter}-{self.transport.name}"

    @property
    def scripted(self) -> bool:
        """It tests the bench itself; what it says of its transport may be a lie."""
        return self.worker.description.bench_only

    def cell(self, **factors: object) -> Cell:
        """Make a cell of what it can do: its first way where it has no choice of the bench's default."""
        offered = self.transport
        values: dict[str, object] = {
            "adapter": self.worker.description.name,
            "transport": offered.name,
            "size": KIB,
            "receive": "block" if "block" in offered.receive else offered.receive[0],
            "reliability": offered.reliability[0],
            "loan": offered.loan[0],
            "security": offered.security[0],
            "processes": 2 if 2 in offered.processes else 1,
            "subscribers": 0 if offered.alone else 1,
            **factors,
        }
        cell = Cell(**values)  # type: ignore[arg-type]
        # Pollers sleep never: each wants a processor. Whoever blocks goes where the scheduler pleases.
        if cell.receive == "poll" and cell.processes == 2 and len(CPUS) >= roles_of(cell):
            return msgspec.structs.replace(cell, pin=tuple(CPUS[: roles_of(cell)]))
        return cell


def roles_of(cell: Cell) -> int:
    return count_roles(cell.pattern, cell.publishers, cell.subscribers)


def choose(adapters: Sequence[str], *, brief: bool) -> None:
    """Choose the adapters beside the scripted one; none: all. Called before anything asks for workers."""
    _options.update(adapters=frozenset(adapters), brief=brief)


@functools.cache
def found() -> tuple[tuple[Worker, ...], tuple[BrokenWorker, ...]]:
    """Return the workers there are and those that could not describe themselves; asked once."""
    workers, broken = find_workers()
    adapters = _options["adapters"]
    if not adapters:
        return workers, broken
    chosen = [each for each in workers if each.description.bench_only or each.description.name in adapters]
    missing = adapters - {each.description.name for each in chosen}
    assert not missing, f"not built: {', '.join(sorted(missing))}"
    return tuple(chosen), broken


def contenders() -> list[Contender]:
    return [Contender(worker, transport) for worker in found()[0] for transport in worker.description.transports]


def selected() -> list[Contender]:
    """Return whom a test of one behaviour takes: all, or with ``--brief`` each adapter on its first transport."""
    if not _options["brief"]:
        return contenders()
    return [each for each in contenders() if each.scripted or each.transport is each.worker.description.transports[0]]


def levels_of_security(transport: Transport) -> Sequence[Security]:
    """Return those that tests of security take: all that protect, or with ``--brief`` the last, which protects most."""
    levels = [level for level in transport.security if level != "none"]
    return levels[-1:] if _options["brief"] else levels


def scripted() -> Contender:
    """Return the null adapter, which does wrong what a cell's native settings tell it to."""
    found_here = [who for who in contenders() if who.scripted]
    assert found_here, "./check builds it and sets MIDDLEMARK_WORKERS"
    return found_here[0]
