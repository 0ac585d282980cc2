"""Tests of pairs: a sender and a receiver of different adapters with the same wire format, with 64 B and fragments."""

import asyncio
import itertools
import os

import pytest
from candidate import KIB, found, levels_of_security
from runner import Runner

from middlemark.model.cell import Cell
from middlemark.model.description import DEFAULT_CONFIGURATION, Transport, Worker
from middlemark.model.outcome import TrialOutcome
from middlemark.model.pairs import NO_INTEROP, together, why_apart, worker_of
from middlemark.model.plan import Limits, Trial
from middlemark.trial.observe import observe_trial

FRAGMENTED = 200 * KIB
"""A size that no middleware sends in one datagram."""
LIMITS = Limits(duration_s=0.2, warmup_s=0.05)
KNOWN = {
    frozenset(("fastdds", "dust-dds")): "Dust DDS reads an infinite duration that Fast DDS sends as a finite one, so "
    "DEADLINE and LIVELINESS do not fit: adapters/dust-dds/README.md",
}
"""Pairs that do not interoperate, and why."""


def pairs() -> list[object]:
    """Return each ordered pair of workers with transports of the same wire format."""
    usual = [worker for worker in found()[0] if "@" not in worker.description.name]
    return [
        pytest.param(senders, receivers, each.name, id=f"{senders.description.name}:{receivers.description.name}")
        for senders, receivers in itertools.permutations(usual, 2)
        for each in senders.description.transports
        if each.name != DEFAULT_CONFIGURATION
        and why_apart(senders.description, receivers.description, each.name) is None
    ]


def shared(senders: Worker, receivers: Worker, transport: str) -> Transport:
    """Return what both sides support."""
    about = together(senders.description, receivers.description).transport(transport)
    assert about is not None
    return about


def measured(runner: Runner, senders: Worker, receivers: Worker, cell: Cell) -> TrialOutcome:
    workers = {each.description.name: each for each in (senders, receivers)}
    runner.trials += 1
    trial = Trial(order=runner.trials - 1, cell=0, number=1, limits=LIMITS)
    worker = worker_of(cell.sides, workers)
    return asyncio.run(observe_trial(cell, trial, worker, runner.shared, lambda _: None)).outcome


def cell_of(senders: Worker, receivers: Worker, transport: str, **factors: object) -> Cell:
    names = senders.description.name, receivers.description.name
    via = shared(senders, receivers, transport).via[0]
    return Cell(adapter=names[0], pair=":".join(names), transport=transport, via=via, **factors)  # type: ignore[arg-type]


@pytest.mark.parametrize("reliability", ["reliable", "best-effort"])
@pytest.mark.parametrize("size", [64, FRAGMENTED])
@pytest.mark.parametrize(("senders", "receivers", "transport"), pairs())
def test_a_pair_exchanges_every_message_or_says_why_not(
    runner: Runner, senders: Worker, receivers: Worker, transport: str, size: int, reliability: str
) -> None:
    about = shared(senders, receivers, transport)
    if reliability not in about.reliability:
        pytest.skip(f"{transport} of one side is not {reliability}")
    cell = cell_of(senders, receivers, transport, size=size, reliability=reliability)
    outcome = measured(runner, senders, receivers, cell)
    if frozenset(cell.sides) in KNOWN:
        assert outcome.failed is not None
        assert outcome.failed.code == NO_INTEROP
        assert "no match within the deadline" in outcome.failed.text
        return
    assert outcome.failed is None, outcome.failed
    assert outcome.counts is not None
    assert outcome.samples > 0
    assert outcome.counts.damaged == outcome.counts.reordered == outcome.counts.duplicated == 0
    assert outcome.actual_transport == about.carrier
    if reliability == "reliable":
        assert outcome.counts.lost == 0


@pytest.mark.parametrize(("senders", "receivers", "transport"), pairs())
def test_a_stream_crosses_the_pair(runner: Runner, senders: Worker, receivers: Worker, transport: str) -> None:
    best = shared(senders, receivers, transport).reliability[0]
    kinds = {"size": KIB, "pattern": "stream", "rate": 1000.0, "depth": 100, "reliability": best}
    cell = cell_of(senders, receivers, transport, **kinds)
    outcome = measured(runner, senders, receivers, cell)
    if frozenset(cell.sides) in KNOWN:
        assert outcome.failed is not None
        assert outcome.failed.code == NO_INTEROP
        return
    assert outcome.failed is None, outcome.failed
    assert outcome.counts is not None
    assert outcome.counts.received > 0
    assert outcome.counts.damaged == 0


@pytest.mark.parametrize(("senders", "receivers", "transport"), pairs())
def test_security_of_a_pair_is_in_force_or_not_offered(
    runner: Runner, senders: Worker, receivers: Worker, transport: str
) -> None:
    levels = levels_of_security(shared(senders, receivers, transport))
    if not levels:
        pytest.skip("the two have no level of security in common")
    level = levels[-1]
    outcome = measured(runner, senders, receivers, cell_of(senders, receivers, transport, size=64, security=level))
    assert outcome.failed is None or outcome.failed.code == NO_INTEROP, outcome.failed
    if outcome.failed is None:
        assert outcome.protected_by


def test_a_crash_of_one_side_is_named(runner: Runner) -> None:
    [parameters, *_] = pairs() or [None]
    if parameters is None:
        pytest.skip("no two workers share a wire")
    senders, receivers, transport = parameters.values  # type: ignore[attr-defined]
    dying = Worker("/bin/false", receivers.description)
    best = shared(senders, receivers, transport).reliability[0]
    outcome = measured(runner, senders, dying, cell_of(senders, receivers, transport, size=64, reliability=best))
    assert outcome.failed is not None
    assert outcome.failed.code != NO_INTEROP
    assert "pong 0" in outcome.failed.text
    assert not [name for name in os.listdir("/dev/shm") if runner.shared.token in name]
