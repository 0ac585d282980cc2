"""The result for programs: one JSON document, schema 1. A figure that was not measured is null."""

from collections.abc import Sequence
from typing import Any

import msgspec

from middlemark.launch.outcome import Doubt, Failure
from middlemark.report.numbers import exact
from middlemark.report.run_facts import RunFacts
from middlemark.stats.result import Best, CellResult, Part, Summary

SCHEMA = 1


def render(facts: RunFacts, results: Sequence[CellResult]) -> str:
    """Return the document, indented by two, keys always in the same order, ending in a newline."""
    document = {"schema": SCHEMA, "run": msgspec.to_builtins(facts), "cells": [cell_document(each) for each in results]}
    return msgspec.json.format(msgspec.json.encode(_unicode(document)), indent=2).decode() + "\n"


def cell_document(result: CellResult) -> dict[str, Any]:
    """Return one cell. ``depth`` and ``pin`` are written as the command line takes them: null is kept for figures.

    Of an imported cell, null is also what its log does not tell.
    """
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
        "receive": cell.receive,
        "reliability": cell.reliability,
        "depth": "all" if cell.depth is None else cell.depth,
        "loan": cell.loan,
        "processes": cell.processes,
        "subscribers": cell.subscribers,
        "echo": cell.echo,
        "payload": cell.payload,
        "pin": "off" if cell.pin is None else list(cell.pin),
        "priority": cell.priority,
        "mlock": cell.mlock,
        "native": dict(cell.native),
        "publishers": cell.publishers,
        "topics": cell.topics,
        "rate": cell.rate,
        "arrivals": cell.arrivals,
        "burst": cell.burst,
        "recovery_s": cell.recovery_s,
        "max_loss": cell.max_loss,
        "max_p99_s": cell.max_p99_s,
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
        "trial_values": [exact(each) for each in result.trial_values],
        "interval": None if result.interval is None else [exact(each) for each in result.interval],
        "breakdown": None if result.breakdown is None else [_part(each) for each in result.breakdown],
        "breakdown_absent": result.breakdown_absent,
        "times_floor": result.times_floor,
        "floor": result.floor,
        "best": _best(result.best),
        **_throughput(result),
        "noise": msgspec.to_builtins(result.noise),
        "warnings": [_doubt(each) for each in result.warnings],
        "failed": None if result.failed is None else _doubt(result.failed),
        "imported": None if result.imported is None else {"tool": result.imported.tool, "files": result.imported.files},
        **_not_known(result),
    }


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
        "one_way_from_sent_absent": result.one_way_from_sent_absent,
        "in_histogram": result.in_histogram,
        "round_trip_from_intended_ns": _summary(result.round_trip_from_intended_ns),
        "blocked_ns": exact(result.blocked_ns),
        "blocked_share": result.blocked_share,
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


def _doubt(doubt: Doubt | Failure) -> dict[str, str]:
    return {"code": doubt.code, "text": doubt.text, "advice": doubt.advice}


def _unicode(value: object) -> object:
    """Return the value with text that is no Unicode (a path, a crashed program's last words) made so, visibly."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_unicode(key): _unicode(each) for key, each in value.items()}
        case list() | tuple():
            return [_unicode(each) for each in value]
        case _:
            return value
