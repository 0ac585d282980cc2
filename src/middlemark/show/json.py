"""The result for programs: one JSON document, schema 1. A figure that was not measured is null."""

from typing import Any

import msgspec

from middlemark.document.document import Document
from middlemark.document.numbers import exact
from middlemark.document.published import published
from middlemark.document.runs import clock_of, notes_of, sources_of
from middlemark.model.cell import FACTORS, Cell
from middlemark.model.factors import Factor
from middlemark.model.link import parse_link
from middlemark.model.outcome import Failure, RunWarning
from middlemark.model.run import HostMachine, Machine
from middlemark.model.times import Summary
from middlemark.show import View
from middlemark.stats.metrics import METRICS
from middlemark.stats.result import Best, CellResult, Part
from middlemark.verdicts.growth import Grown

SCHEMA = 1


_NAMED = ("adapter", "pattern", "size", "transport")
FURTHER = tuple(each for name, each in FACTORS.items() if not each.later and name not in _NAMED)
"""The factors that follow those four, and those that follow everything else that is asked for."""
LATER = tuple(each for each in FACTORS.values() if each.later)


def written(cell: Cell, factor: Factor) -> object:
    """Return the level as the command line takes it, a list of processors; null is kept for figures that are absent."""
    level = getattr(cell, factor.field)
    return factor.none if level is None else list(level) if isinstance(level, tuple) else level


def render(document: Document, _view: View) -> str:
    """Return the document, indented by two, keys always in the same order, ending in a newline."""
    cells = [cell_document(row.result) for row in document.rows]
    growth = [
        {"factor": each.factor, "line": each.line, "metric": each.metric, "unit": each.unit}
        | {"points": [_grown(point) for point in each.points]}
        for each in document.growths
    ]
    found = {"schema": SCHEMA, "run": run_document(document), "expectations": expectations_document(document)}
    found |= {"not_tried": msgspec.to_builtins(document.not_tried)}
    found |= {
        "experiments": msgspec.to_builtins(published(document)),
        "cells": cells,
        "growth": growth,
        "scorecards": msgspec.to_builtins(document.scorecards),
    }
    return msgspec.json.format(msgspec.json.encode(readable(found)), indent=2).decode() + "\n"


_EXPECTED = ("id", "say", "kind", "claimed", "measured", "low", "high", "verdict", "trials_needed", "why")


def expectations_document(document: Document) -> list[dict[str, Any]]:
    """Return what was expected and what came of it, those that do not hold first."""
    return [{name: getattr(each, name) for name in _EXPECTED} for each in document.expectations]


def run_document(document: Document) -> dict[str, Any]:
    """Return its run as a whole."""
    run = document.runs[0]
    file, machine = run.file, run.machine
    return {
        "suites": file.suites,
        "started": file.started,
        "seconds": document.took,
        "middlemark": file.middlemark,
        "machine": _machine(machine),
        "machines": [_host(each) for each in file.machines],
        "clock": msgspec.to_builtins(clock_of(run)),
        "adapters": [
            {name: getattr(each, name) for name in ("name", "title", "version", "licence", "floor")}
            for each in file.adapters
        ],
        "folder": str(run.folder),
        "seed": file.seed,
        "interrupted": file.interrupted,
        "planned_trials": run.planned_trials,
        "done_trials": len(run.outcomes),
        "notes": notes_of(run),
        "precision": msgspec.to_builtins(file.plan.precision),
        "reached": msgspec.to_builtins(file.reached),
        "imported": sources_of(run),
    }


def _machine(machine: Machine | None) -> dict[str, Any]:
    return {
        "hostname": machine and machine.host,
        "cpu_model": machine and machine.cpu,
        "processors": machine and machine.processors,
        "kernel": machine and machine.kernel,
        "os": machine and machine.system,
    }


def _host(host: HostMachine) -> dict[str, Any]:
    return {**msgspec.to_builtins(host), "machine": _machine(host.machine)}


def cell_document(result: CellResult) -> dict[str, Any]:
    """Return one cell. Of an imported one, null is also what its log does not tell."""
    cell, counts = result.cell, result.counts
    return {
        "name": result.name,
        **({} if cell.label is None else {"label": cell.label}),
        "adapter": cell.adapter,
        "version": result.version,
        "pattern": cell.pattern,
        "size": cell.size,
        "transport": cell.transport,
        "carried_by": result.carried_by,
        "protected_by": result.protected_by,
        "protection_proof": msgspec.to_builtins(result.proof),
        **{each.field: written(cell, each) for each in FURTHER},
        "link": _link(result),
        "native": dict(cell.native),
        **{each.field: written(cell, each) for each in LATER},
        "trials": result.trials,
        "failed_trials": result.failed_trials,
        "samples": result.samples,
        "sent": counts.sent,
        "received": counts.received,
        "lost": counts.lost,
        "late": counts.late,
        "duplicated": counts.duplicated,
        "reordered": counts.reordered,
        "damaged": counts.damaged,
        "publish_failed": counts.publish_failed,
        "round_trip_ns": _summary(result.round_trip_ns),
        "first_reply_ns": _summary(result.first_reply_ns),
        "write_ns": _summary(result.write_ns),
        "take_ns": _summary(result.take_ns),
        "loan_ns": _summary(result.loan_ns),
        "fill_ns": _summary(result.fill_ns),
        "check_ns": _summary(result.check_ns),
        "discovery_ns": exact(result.discovery_ns),
        "handshake_ns": exact(result.handshake_ns),
        "trial_values": [exact(each) for each in result.trial_values],
        "metrics": {name: _metric(result, name) for name in result.metrics},
        "interval": None if result.interval is None else [exact(each) for each in result.interval],
        "breakdown": None if result.breakdown is None else [_part(each) for each in result.breakdown],
        "breakdown_absent": result.breakdown_absent,
        "coding_absent": result.coding_absent,
        "times_floor": result.times_floor,
        "floor": result.floor,
        "best": _best(result.best),
        **_throughput(result),
        "noise": msgspec.to_builtins(result.noise),
        "workload": msgspec.to_builtins(result.workload),
        "warnings": [_warning(each) for each in result.warnings],
        "failed": None if result.failed is None else _warning(result.failed),
        "imported": None if result.imported is None else {"tool": result.imported.tool, "files": result.imported.files},
        **_not_known(result),
    }


def _link(result: CellResult) -> dict[str, Any] | None:
    if result.cell.link is None:
        return None
    link = msgspec.to_builtins(parse_link(result.cell.link))
    return {"text": result.cell.link, **link, "how": result.link_how}


def _not_known(result: CellResult) -> dict[str, None]:
    """Return the fields of which an imported cell knows nothing: they take the place of what stands in the cell."""
    if result.imported is None:
        return {}
    uncounted = result.imported.not_counted
    samples = [] if result.samples else ["samples"]
    return dict.fromkeys((*result.cell.unknown, *samples, *uncounted, *(["loss"] if "lost" in uncounted else [])))


def _throughput(result: CellResult) -> dict[str, Any]:
    counts = result.counts
    expected = counts.received + counts.lost
    return {
        "native_request_reply": result.native_request_reply,
        "offered_hz": exact(result.offered_hz),
        "sent_hz": exact(result.sent_hz),
        "rate_hz": exact(result.rate_hz),
        "rate_total_hz": exact(result.rate_total_hz),
        "bytes_per_s": exact(result.bytes_per_s),
        "loss": counts.lost / expected if expected else None,
        "one_way_ns": _summary(result.one_way_ns),
        "one_way_from_sent_ns": _summary(result.one_way_from_sent_ns),
        "one_way_absent": result.one_way_absent,
        "clock_uncertainty_ns": exact(result.clock_uncertainty_ns),
        "one_way_from_sent_absent": result.one_way_from_sent_absent,
        "in_histogram": result.in_histogram,
        "round_trip_from_intended_ns": _summary(result.round_trip_from_intended_ns),
        "blocked_ns": exact(result.blocked_ns),
        "blocked_share": result.blocked_share,
        "link_share": result.link_share,
        "scheduled": result.scheduled,
        "late_sends": result.late_sends,
        "unsent": result.unsent,
        "timed_out": result.timed_out,
        "per_subscriber": msgspec.to_builtins(result.per_subscriber),
        "resources": msgspec.to_builtins(result.resources),
        "series_trial": result.series_trial,
        "series": msgspec.to_builtins(result.series),
        "steps": msgspec.to_builtins(result.steps),
        "knee_hz": next((each.offered_hz or each.received_hz for each in result.steps if each.knee), None),
        "sustainable": msgspec.to_builtins(result.sustainable),
    }


def _summary(summary: Summary | None) -> dict[str, int | float | None] | None:
    if summary is None:
        return None
    return {name: exact(figure) for name, figure in msgspec.to_builtins(summary).items()}


def _metric(result: CellResult, name: str) -> dict[str, Any]:
    return {
        "unit": METRICS[name].unit,
        "median": exact(result.median(name)),
        "trials": [exact(each) for each in result.metrics[name]],
    }


def _grown(point: Grown) -> dict[str, Any]:
    ratios = {name: exact(getattr(point, name)) for name in ("median", "times", "low", "high")}
    return {"cell": point.row, "level": point.level, **ratios}


def _best(best: Best | None) -> dict[str, Any] | None:
    if best is None:
        return None
    return {
        "floor": best.floor,
        "p50_ns": exact(best.p50_ns),
        "rate_hz": exact(best.rate_hz),
        "times": best.times,
    }


def _part(part: Part) -> dict[str, Any]:
    return {"part": part.part, "ns": exact(part.ns), "share": part.share}


def _warning(warning: RunWarning | Failure) -> dict[str, str]:
    return {"code": warning.code, "text": warning.text, "advice": warning.advice}


def readable(value: object) -> object:
    """Return the value with text that is no Unicode (a path, a crashed program's last words) made so, visibly."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {readable(key): readable(each) for key, each in value.items()}
        case list() | tuple():
            return [readable(each) for each in value]
        case _:
            return value
