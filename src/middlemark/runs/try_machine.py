"""Measure the machine for a few seconds, because /proc and /sys say little about a virtual machine.

The raw transports and the witness measure the machine with the same code as during a run.
"""

import os
import statistics
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from middlemark import interrupts
from middlemark.model.cell import Cell
from middlemark.model.description import Worker
from middlemark.model.plan import Plan
from middlemark.model.protocol import Still
from middlemark.model.units import MIB
from middlemark.plan import make_plan
from middlemark.runs.scratch import measure_in_scratch
from middlemark.sites.witness import MOST_CPUS, still
from middlemark.stats.baselines import memcpy_bytes_per_s
from middlemark.stats.cells import results_of
from middlemark.stats.result import CellResult
from middlemark.suite import load, raw_options
from middlemark.system.tried import Tried
from middlemark.workers.find import witness

LONG: dict[str, Any] = {"trials": "1", "duration": "0.25s", "warmup": "0.1s", "baseline": False}
STILL_NS = 1_000_000_000
LARGE = 16 * MIB
SELDOM = 100.0
"""A rate in messages per second. It is so low that every receiver sleeps when a message arrives."""


class RawTransportProbe(NamedTuple):
    """A raw transport that measures a property of the machine: its p50 of a round trip, divided by ``times``."""

    name: str
    adapter: str
    receive: str
    times: int
    rate: float | str = "max"

    def is_of(self, cell: Cell) -> bool:
        """Say whether ``cell`` measures the probe's property."""
        return (cell.adapter, cell.receive, cell.rate) == (self.adapter, self.receive, self.rate)


ASKED = (
    RawTransportProbe("line_ns", "shm", "poll", 1),
    RawTransportProbe("wake_up_polled_ns", "shm", "poll", 2, rate=SELDOM),
    RawTransportProbe("wake_up_asleep_ns", "shm", "block", 2, rate=SELDOM),
    RawTransportProbe("loopback_udp_ns", "udp", "block", 1),
    RawTransportProbe("loopback_tcp_ns", "tcp", "block", 1),
)


def try_machine(workers: Mapping[str, Worker], *, quiet: bool) -> Tried | None:
    """Measure the machine; None: the user interrupted."""
    found: dict[str, float | None] = {}
    cpus = tuple(sorted(os.sched_getaffinity(0)))[:MOST_CPUS]
    program = witness()
    absent = [] if program else ["middlemark-witness is not built, so gaps and timers are not measured"]
    if program:
        stillness, why = interrupts.run(still(program, cpus, STILL_NS))
        found |= _of_stillness(stillness)
        absent += [why] if why else []
    asked = [each for each in ASKED if each.adapter in workers and (each.receive == "block" or len(cpus) > 1)]
    plan = _plan(asked, workers, cpus)
    if missing := sorted({"shm", "udp", "tcp", "memcpy"} - workers.keys()):
        absent.append(f"not built: {', '.join(missing)}")
    if plan is None:
        return Tried(absent=tuple(absent), **found)
    trials = measure_in_scratch(plan, workers, quiet=quiet)
    if trials is None:
        return None
    results = results_of(plan, trials, {name: each.description for name, each in workers.items()})
    for each in asked:
        p50 = next((row.round_trip_ns.p50 for row in results if each.is_of(row.cell) and row.round_trip_ns), None)
        found[each.name] = None if p50 is None else p50 / each.times
    found["memory_bytes_per_s"] = memcpy_bytes_per_s(results, LARGE)
    clocks = [trial.outcome.clock.cost_ns for some in trials for trial in some if trial.outcome.clock]
    found["clock_ns"] = statistics.median(clocks) if clocks else None
    absent += _failed(results) or [f"{name}: too few replies came" for name, figure in found.items() if figure is None]
    return Tried(absent=tuple(absent), **found)


def _plan(asked: Iterable[RawTransportProbe], workers: Mapping[str, Worker], cpus: tuple[int, ...]) -> Plan | None:
    """Return the plan for these probes; None: none of their raw transports is built."""
    suites = [
        suite
        for each in asked
        for suite in load(
            (), raw_options(adapter=each.adapter, size="64", receive=each.receive, rate=str(each.rate), **LONG)
        )
    ]
    if "memcpy" in workers:
        suites += load((), raw_options(adapter="memcpy", size=str(LARGE), receive="poll", **LONG))
    if not suites:
        return None
    return make_plan(suites, [each.description for each in workers.values()], cpus=sorted(cpus), seed=1)


def _of_stillness(found: Iterable[Still]) -> dict[str, float | None]:
    all_cpus = list(found)
    spun_s = sum(each.spun_ns for each in all_cpus) / 1e9
    wakes = sum(each.wakes for each in all_cpus)
    gaps = [counted for each in all_cpus for counted in (each.gaps, each.taken)]
    count = sum(number for each in gaps for _, number in each.counts)
    return {
        "gaps_hz": count / spun_s if spun_s else None,
        "longest_gap_ns": max((each.longest_ns for each in gaps), default=None),
        "timer_late_ns": sum(each.late.total_ns for each in all_cpus) / wakes if wakes else None,
    }


def _failed(results: Iterable[CellResult]) -> list[str]:
    return [f"{each.cell.adapter}: {each.failed.text}" for each in results if each.failed]
