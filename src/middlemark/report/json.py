"""The result for programs: one JSON document, schema 1. A figure that was not measured is null."""

from collections.abc import Sequence
from typing import Any

import msgspec

from middlemark.launch.outcome import Doubt, Failure
from middlemark.report.numbers import exact
from middlemark.report.run_facts import RunFacts
from middlemark.stats.result import CellResult, Summary

SCHEMA = 1


def render(facts: RunFacts, results: Sequence[CellResult]) -> str:
    """Return the document, indented by two, keys always in the same order, ending in a newline."""
    document = {"schema": SCHEMA, "run": msgspec.to_builtins(facts), "cells": [cell_document(each) for each in results]}
    return msgspec.json.format(msgspec.json.encode(_unicode(document)), indent=2).decode() + "\n"


def cell_document(result: CellResult) -> dict[str, Any]:
    """Return one cell. ``depth`` and ``pin`` are written as the command line takes them: null is kept for figures."""
    cell, counts = result.cell, result.counts
    return {
        "name": result.name,
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
        "times_floor": result.times_floor,
        "floor": result.floor,
        "warnings": [_doubt(each) for each in result.warnings],
        "failed": None if result.failed is None else _doubt(result.failed),
    }


def _summary(summary: Summary | None) -> dict[str, int | float | None] | None:
    if summary is None:
        return None
    return {name: exact(figure) for name, figure in msgspec.to_builtins(summary).items()}


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
