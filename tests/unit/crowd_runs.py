"""Invented runs of crowds: each adapter has a law for each figure, and a size at which it breaks."""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from report_runs import ADAPTERS, MACHINE, measured_run

from middlemark.model.cell import Cell
from middlemark.model.crowd import Crowd, IdleUse
from middlemark.model.outcome import TrialCounts, TrialOutcome
from middlemark.model.plan import Limits, Plan, Race, Raced, Trial
from middlemark.model.run import RunFile
from middlemark.model.times import Summary, Times
from middlemark.stats.trials import TrialSummary
from middlemark.verdicts.rows import MeasuredRun

S = 1_000_000_000


class Law(NamedTuple):
    """How a middleware's crowds grow: exponents of the start, of the idle crowd's bytes, and of its processor time."""

    start: float = 0.5
    bytes: float = 1.0
    cpu: float = 1.0
    breaks_at: int | None = None
    """From this number of participants on, publishers are never heard."""
    scatter: float = 0.02


def crowd_cell(adapter: str, participants: int, transport: str = "udp", topics: int = 10) -> Cell:
    return Cell(
        adapter=adapter, transport=transport, pattern="crowd", size=64, rate=1.0, participants=participants,
        topics=topics, processes=2,
    )  # fmt: skip


def outcome_of(cell: Cell, trial: Trial, law: Law, draw: random.Random) -> TrialOutcome:
    """Return the outcome of a trial of a crowd with this law."""

    def scattered() -> float:
        return draw.lognormvariate(0, law.scatter)

    n = cell.participants
    due = n if n > 1 else 0
    never = n // 4 + 1 if law.breaks_at is not None and n >= law.breaks_at else 0
    start_ns = 0.05 * S * n**law.start * scattered()
    complete = [round(start_ns * (0.4 + 0.6 * (at + 1) / n)) for at in range(n)]
    crowd = Crowd(
        participants=n,
        topics=cell.topics,
        subscribe=cell.subscribe,
        processes=n,
        opened_ns=(1000,) * n,
        complete_ns=tuple(at if due and index < n - never else None for index, at in enumerate(complete)),
        publishers_due=due * cell.topics,
        publishers_heard=(due - never) * cell.topics if due else 0,
        resolution_ns=10_000_000,
        probes=100,
        idle=IdleUse(
            seconds=4.5,
            cpu=0.002 * n**law.cpu * scattered(),
            switches_hz=40.0 * n,
            packets_hz=10 * n**law.bytes * scattered(),
            bytes_hz=900 * n**law.bytes * scattered(),
            rss_bytes=round((12 << 20) * n * scattered()),
            threads=6 * n,
        ),
    )
    return TrialOutcome(
        cell=trial.cell,
        number=trial.number,
        order=trial.order,
        started="",
        seconds=8.0,
        samples=1000,
        measured_s=5.0,
        counts=TrialCounts(sent=50 * n, received=50 * n if due else 0),
        actual_transport="udp",
        crowd=crowd,
    )


def summary_of(outcome: TrialOutcome) -> TrialSummary:
    crowd = outcome.crowd
    latency = 90_000.0 * (crowd.participants if crowd else 1) ** 0.3
    times = Summary(
        min=latency / 2, mean=latency, stdev=1.0, p50=latency, p90=latency * 1.2, p99=latency * 2, max=latency * 9
    )
    alone = crowd is None or not crowd.publishers_due
    return TrialSummary(outcome=outcome, times=Times() if alone else Times(one_way_ns=times), samples=1000)


def planned(cells: Sequence[Cell], rounds: int) -> Plan:
    trials = [
        Trial(order=number * len(cells) + index, cell=index, number=number + 1, limits=Limits(duration_s=5.0))
        for number in range(rounds)
        for index in range(len(cells))
    ]
    return Plan(cells=tuple(cells), trials=tuple(trials), names=("crowd",) * len(cells))


def crowds(
    laws: Mapping[str, Law],
    levels: Sequence[int] = (1, 4, 10, 30, 100),
    rounds: int = 6,
    raced_by: Raced | None = None,
) -> MeasuredRun:
    """Return a run of crowds. ``laws``: adapter → its law. ``raced_by``: the metric of a race of all; None: no race."""
    plan = planned([crowd_cell(adapter, level) for adapter in laws for level in levels], rounds)
    if raced_by is not None:
        race = Race(experiments=(tuple(range(len(plan.cells))),), budget_s=600.0, metric=raced_by, question=True)
        plan = msgspec.structs.replace(plan, race=race)
    draw = random.Random(7)
    trials: list[list[TrialSummary]] = [[] for _ in plan.cells]
    for trial in plan.trials:
        cell = plan.cells[trial.cell]
        trials[trial.cell].append(summary_of(outcome_of(cell, trial, laws[cell.adapter], draw)))
    file = RunFile(
        middlemark="0.1",
        suites=("crowd",),
        suite_texts={},
        command=("/usr/bin/middlemark", "run", "crowd"),
        started="2026-11-21T10:00:00.000+00:00",
        ended="2026-11-21T10:20:00.000+00:00",
        seed=7,
        machine=MACHINE,
        adapters=tuple(
            msgspec.structs.replace(
                each,
                transports=tuple(
                    msgspec.structs.replace(one, patterns=(*one.patterns, "crowd")) for one in each.transports
                ),
            )
            for each in ADAPTERS
        ),
        plan=plan,
    )
    return measured_run("crowd", file, trials)
