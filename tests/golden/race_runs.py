"""Stored races, made without workers: each candidate has a typical round trip, around which its trials vary."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from middlemark.model.description import Description, Transport
from middlemark.model.outcome import TrialCounts, TrialOutcome, WorkerCost
from middlemark.model.plan import Plan, Raced, Trial, Wanted
from middlemark.model.protocol import OwnSettings
from middlemark.model.run import Machine, RunFile
from middlemark.model.samples import SAMPLE
from middlemark.plan import make_plan
from middlemark.plan.rounds import racing
from middlemark.runs.until import Until
from middlemark.store import RunWriter, open_run, reopen_run
from middlemark.suite import load, raw_options

SAMPLES = 200
MACHINE = Machine(
    host="bench", cpu="A processor", processors=2, memory_bytes=1 << 34, kernel="6.1", system="Debian", virtual=False,
    clocksource="tsc", governor=None,
)  # fmt: skip
COMMAND = ("middlemark", "which", "--budget", "30s", "--quiet")
RAW_TRANSPORT = "ring"
RAW_TRANSPORT_US = 40.0


class Truth(msgspec.Struct, frozen=True):
    """The true behaviour of a candidate. ``late``: the share of its messages that take 2 ms."""

    us: float
    scatter: float = 0.03
    late: float = 0.0
    lost: int = 0
    unsent: int = 0
    memory_mb: float = 10.0
    fails: bool = False
    settings: OwnSettings | None = None


def described(name: str) -> Description:
    transport = Transport(
        name="shm", carrier="shared-memory", processes=(2,), receive=("block",), reliability=("reliable",),
        loan=(False,), max_bytes=1 << 20,
    )  # fmt: skip
    return Description(
        protocol=1, name=name, title=name, version="3", library="", licence="MIT", bench_only=False,
        is_raw_transport=name == RAW_TRANSPORT, transports=(transport,), request_reply=False, own_threads=False,
        residue=(), native={},
    )  # fmt: skip


class Bench:
    """Replaces the measurement: a trial's result depends only on its candidate and its round."""

    def __init__(self, truths: Mapping[str, Truth], seed: int) -> None:
        self.truths = {RAW_TRANSPORT: Truth(RAW_TRANSPORT_US), **truths}
        self.seed = seed

    def measure(self, writer: RunWriter, plan: Plan, trial: Trial) -> TrialOutcome:
        truth = self.truths[plan.cells[trial.cell].adapter]
        draw = random.Random(f"{self.seed}/{trial.cell}/{trial.number}")
        outcome: dict[str, Any] = {
            "cell": trial.cell, "number": trial.number, "order": trial.order, "started": "", "seconds": 0.5,
        }  # fmt: skip
        if truth.fails:
            failed = {"code": "crashed", "text": "it crashed"}
            return writer.append(msgspec.convert({**outcome, "failed": failed}, TrialOutcome))
        raw = np.zeros(SAMPLES, dtype=SAMPLE)
        raw["round_trip_ns"] = truth.us * 1000 * draw.lognormvariate(0, truth.scatter)
        raw["round_trip_ns"][: round(truth.late * SAMPLES)] = 2_000_000
        path = f"samples/{trial.order:05d}.npy"
        np.save(writer.folder / path, raw)
        sent = SAMPLES - truth.unsent
        counts = TrialCounts(sent=sent, received=sent - truth.lost, lost=truth.lost)
        cost = WorkerCost(
            who="ping", pid=1, seconds=0.2, rss_bytes=round(truth.memory_mb * 1e6 * draw.lognormvariate(0, 0.01)),
            peak_rss_bytes=0, user_ns=1000, system_ns=0, voluntary_switches=0, involuntary_switches=0, minor_faults=0,
            major_faults=0, threads=(),
        )  # fmt: skip
        return writer.append(
            TrialOutcome(
                **outcome, costs=(cost,), samples=SAMPLES, samples_file=path, counts=counts, measured_s=0.2,
                actual_transport="shared-memory", settings=truth.settings,
            )
        )  # fmt: skip


def plan_of(
    names: Sequence[str],
    *,
    budget_s: float = 1000.0,
    wanted: Wanted | None = None,
    seed: int = 1,
    rate: str = "1k",
    size: str = "1k",
    metric: Raced = "p50",
) -> Plan:
    plan = make_plan(
        load((), raw_options(adapter="all", size=size, rate=rate, trials="2", duration="0.2s", warmup="30ms")),
        [described(each) for each in (*names, RAW_TRANSPORT)],
        cpus=(0, 1),
        seed=seed,
    )
    return racing(
        plan, {RAW_TRANSPORT}, budget_s, wanted or Wanted(max_loss=0.0), question=rate != "max", metric=metric
    )


def race(
    root: Path, truths: Mapping[str, Truth], *, seed: int = 1, command: Sequence[str] = COMMAND, **asked: Any
) -> Path:
    """Run a race to its end, and return its folder."""
    plan = plan_of([*truths], seed=seed, **asked)
    file = RunFile(
        middlemark="0", suites=("which",), command=tuple(command), started="2026-11-21T12:00:00.000+00:00", seed=seed,
        machine=MACHINE, adapters=tuple(described(each) for each in (*truths, RAW_TRANSPORT)), plan=plan,
    )  # fmt: skip
    writer = open_run(root, file)
    return end(writer, Bench(truths, seed), [])


def resume(folder: Path, truths: Mapping[str, Truth], seed: int = 1) -> Path:
    """Resume the race where it stopped."""
    reopened = reopen_run(folder)
    return end(reopened.writer(), Bench(truths, seed), [*reopened.run.outcomes])


def end(writer: RunWriter, bench: Bench, outcomes: list[TrialOutcome]) -> Path:
    plan = writer.file.plan
    until = Until(
        writer.folder, plan, writer.file.adapters, outcomes, clock=lambda: sum(each.seconds for each in outcomes)
    )
    done = {each.order for each in outcomes}
    outcomes += [bench.measure(writer, plan, each) for each in plan.trials if each.order not in done]

    def extend(longer: Plan) -> bool:
        writer.extend(longer)
        outcomes.extend(bench.measure(writer, longer, each) for each in longer.trials[len(outcomes) :])
        return True

    _, reached = until.settle(plan, outcomes, extend)
    writer.close(reached=reached)
    return writer.folder
