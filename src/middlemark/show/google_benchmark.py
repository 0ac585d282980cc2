"""Google Benchmark's JSON: an iteration for each trial, and aggregates as with ``--benchmark_repetitions``.

``real_time``, in ns, is the figure by which the trials are compared: the p50 of the latency. For a stream as fast as
possible, ``real_time`` is the time per message (1e9 / received rate). ``cpu_time``: processor time of all workers per
message. The format: docs/user_guide.md of github.com/google/benchmark, "Output Formats", and its
tools/gbench/report.py, which reads ``name``, ``run_type``, ``real_time``, ``cpu_time``, ``time_unit``, ``repetitions``
and ``aggregate_name``.
"""

import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from middlemark.document.document import Document
from middlemark.document.runs import clock_of
from middlemark.model.cell import Cell
from middlemark.model.run import Run
from middlemark.show import View
from middlemark.show.naming import cell_name
from middlemark.stats.baselines import by_rate
from middlemark.stats.costs import trial_cpu_ns_per_message
from middlemark.stats.result import CellResult
from middlemark.stats.trials import TrialSummary, figures
from middlemark.stats.warnings.cells import NOT_MEASURED

_AGGREGATES: dict[str, tuple[Callable[[Sequence[float]], float], str]] = {
    "mean": (statistics.fmean, "time"),
    "median": (statistics.median, "time"),
    "stddev": (lambda values: statistics.stdev(values) if len(values) > 1 else 0.0, "time"),
    "cv": (
        lambda values: statistics.stdev(values) / statistics.fmean(values) if len(values) > 1 else 0.0,
        "percentage",
    ),
}


def render(document: Document, _view: View) -> str:
    """Return the document. A failed cell has ``error_occurred``. A cell that the run did not reach is left out."""
    entries: list[dict[str, Any]] = []
    for row in document.rows:
        name = cell_name(row.result.cell)
        common = {"family_index": row.index, "per_family_instance_index": 0, "run_name": name, "threads": 1}
        entries += _of_cell(name, common, row.result, row.trials)
    found = {"context": _context(document.runs[0]), "benchmarks": entries}
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _context(run: Run) -> dict[str, Any]:
    file, machine, clock = run.file, run.machine, clock_of(run)
    return {
        "date": file.started,
        "host_name": machine.host if machine else "unknown",
        "executable": "middlemark",
        "num_cpus": machine and machine.processors,
        "mhz_per_cpu": round(clock.ticks_per_second / 1e6) if clock else 0,
        "caches": [],
        "load_avg": [],
        "library_build_type": "release",
        "middlemark_version": file.middlemark,
        "suites": ", ".join(file.suites),
        "kernel": machine and machine.kernel,
        "cpu_model": machine.cpu if machine else "unknown",
        "adapters": ", ".join(f"{each.name} {each.version}" for each in file.adapters),
    }


def _of_cell(
    name: str, common: dict[str, Any], result: CellResult, trials: Sequence[TrialSummary]
) -> Iterator[dict[str, Any]]:
    cell = result.cell
    measured = [
        (trial, time, trial_cpu_ns_per_message(trial.outcome))
        for trial, figure in zip(trials, figures(cell, trials), strict=True)
        if figure and (time := 1e9 / figure if by_rate(cell) else figure)
    ]

    def entry(kind: str, time: float, cpu: float, **more: Any) -> dict[str, Any]:
        own = {"run_type": kind, "repetitions": len(measured), "real_time": time, "cpu_time": cpu, "time_unit": "ns"}
        return {"name": name, **common, **own, **more}

    if not measured and result.failed is not None and result.failed.code != NOT_MEASURED:
        failed = {"error_occurred": True, "error_message": result.failed.text}
        yield entry("iteration", 0.0, 0.0, repetition_index=0, iterations=0, **failed)
    for index, (trial, time, cpu) in enumerate(measured):
        counted = {"repetition_index": index, "iterations": trial.samples, **_counters(cell, trial)}
        yield entry("iteration", time, cpu or 0.0, **counted)
    cpus = [cpu for _, _, cpu in measured if cpu]
    for aggregate, (over, unit) in _AGGREGATES.items() if measured else ():
        described: dict[str, Any] = {"aggregate_name": aggregate, "aggregate_unit": unit, "iterations": len(measured)}
        time = over([time for _, time, _ in measured])
        yield entry("aggregate", time, over(cpus) if cpus else 0.0, name=f"{name}_{aggregate}", **described)


def _counters(cell: Cell, trial: TrialSummary) -> dict[str, float]:
    """Return the measured counters of an entry: rates in Hz and bytes per second, p99 and maximum in ns."""
    rate = trial.rates.rate_hz if trial.rates else trial.replies_hz
    times = trial.times.latency_of(cell)
    found = {
        "items_per_second": rate,
        "bytes_per_second": rate * cell.size if rate else None,
        "p99_ns": times.p99 if times else None,
        "max_ns": times.max if times else None,
    }
    return {key: value for key, value in found.items() if value is not None}
