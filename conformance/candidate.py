"""The candidates of the conformance tests: each transport of every worker that was found."""

import functools
import os
from collections.abc import Sequence
from typing import Any

import msgspec
from declared import declared

from middlemark.model.cell import Cell
from middlemark.model.description import BrokenWorker, Transport, Worker
from middlemark.model.protocol import Security
from middlemark.plan.pinning import count_roles
from middlemark.workers.find import find_workers

KIB = 1 << 10
MIB = 1 << 20
CPUS = sorted(os.sched_getaffinity(0))
_options: dict[str, Any] = {"adapters": frozenset(), "brief": False, "every": False}


class Candidate(msgspec.Struct, frozen=True):
    """A worker with one of its transports."""

    worker: Worker
    transport: Transport

    @property
    def name(self) -> str:
        """The candidate's name, which is part of the ids of tests."""
        adapter = self.worker.description.name
        return adapter if adapter == self.transport.name else f"{adapter}-{self.transport.name}"

    @property
    def scripted(self) -> bool:
        """True for the null adapter, whose faults test Middlemark itself. One of its transports has a false name."""
        return self.worker.description.bench_only

    def cell(self, **factors: object) -> Cell:
        """Return a cell with ``factors``; every other factor has its default or else its first supported level."""
        offered = self.transport
        values: dict[str, object] = {
            "adapter": self.worker.description.name,
            "transport": offered.name,
            "size": KIB,
            "receive": "block" if "block" in offered.receive else offered.receive[0],
            "reliability": offered.reliability[0],
            "loan": offered.loan[0],
            "security": offered.security[0],
            "via": offered.via[0],
            "processes": 2 if 2 in offered.processes else 1,
            "subscribers": 0 if offered.alone else 1,
            **factors,
        }
        cell = Cell(**values)  # type: ignore[arg-type]
        # Pin roles that poll, because they never sleep and each needs a processor.
        if cell.receive == "poll" and cell.processes == 2 and len(CPUS) >= roles_of(cell):
            return msgspec.structs.replace(cell, pin=tuple(CPUS[: roles_of(cell)]))
        return cell


def roles_of(cell: Cell) -> int:
    return count_roles(cell.pattern, cell.publishers, cell.subscribers)


def choose(adapters: Sequence[str], *, brief: bool, every: bool) -> None:
    """Select the adapters to test. The null adapter is always selected, and an empty list selects all.

    ``brief`` and ``every``: fewer and more trials, see ``variants.Extent``. Must be called before ``found``.
    """
    _options.update(adapters=frozenset(adapters), brief=brief, every=every)


@functools.cache
def found() -> tuple[tuple[Worker, ...], tuple[BrokenWorker, ...]]:
    """Return the selected workers, and the workers that printed no description. The first call searches for them."""
    workers, broken = find_workers()
    adapters = _options["adapters"]
    if not adapters:
        return workers, broken
    chosen = [each for each in workers if each.description.bench_only or each.description.name in adapters]
    missing = adapters - {each.description.name for each in chosen}
    assert not missing, f"not built: {', '.join(sorted(missing))}"
    return tuple(chosen), broken


def candidates() -> list[Candidate]:
    return [Candidate(worker, transport) for worker in found()[0] for transport in worker.description.transports]


def selected() -> list[Candidate]:
    """Return the candidates for tests that vary few factors.

    An adapter that declares ``levels_once`` has only its first transport here. With ``--brief`` every adapter has only
    its first transport, and with ``--every-level`` every adapter has all.
    """
    return [each for each in candidates() if each.scripted or _is_first(each) or not _is_once(each)]


def once() -> list[Candidate]:
    """Return the candidates for tests of what an adapter does in the same way over all transports.

    That is each adapter's first transport, and with ``--every-level`` every transport.
    """
    return [each for each in candidates() if _is_first(each) or _options["every"]]


def _is_first(who: Candidate) -> bool:
    return who.transport is who.worker.description.transports[0]


def _is_once(who: Candidate) -> bool:
    return is_brief() or (not _options["every"] and bool(declared(who.worker.description.name).levels_once))


def is_brief() -> bool:
    """Return true with ``--brief``."""
    return bool(_options["brief"])


def levels_of_security(transport: Transport) -> Sequence[Security]:
    """Return the levels for tests of security: all but ``none``, or with ``--brief`` only the strongest."""
    levels = [level for level in transport.security if level != "none"]
    return levels[-1:] if is_brief() else levels


def scripted() -> Candidate:
    """Return the candidate of the null adapter, which makes the faults that native settings request."""
    null = [who for who in candidates() if who.scripted]
    assert null, "the null worker was not found; ./check builds it and sets MIDDLEMARK_WORKERS"
    return null[0]
