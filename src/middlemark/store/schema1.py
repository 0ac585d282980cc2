"""Conversion of runs that were stored with schema 1. Schema 2 has the same values under other names."""

from typing import Any

import msgspec

_OPTIONS = {"--floors": "--baseline", "--no-floors": "--no-baseline"}


def converted_run(text: bytes) -> bytes:
    """Return a ``run.json`` of schema 1 as a ``run.json`` of schema 2. Raises msgspec.DecodeError."""
    run = msgspec.json.decode(text)
    plan = run.get("plan")
    for adapter in _objects(run.get("adapters")):
        _rename(adapter, "floor", "is_raw_transport")
    if isinstance(plan, dict):
        _rename(plan, "floors", "baselines")
        for race in _objects([plan.get("race")]):
            _rename(race, "heats", "experiments")
        plan["names"] = [_name(each) for each in _list(plan.get("names"))]
    for reached in _objects([run.get("reached")]):
        _rename(reached, "wide", "undecided")
    run["command"] = [_OPTIONS.get(each, each) if isinstance(each, str) else each for each in _list(run.get("command"))]
    run["schema"] = 2
    return msgspec.json.encode(run)


def converted_trial(line: bytes) -> bytes:
    """Return a line of ``trials.jsonl`` in schema 2; a resumed run has lines of both schemas.

    Raises msgspec.DecodeError.
    """
    if b'"carried_by"' not in line:
        return line
    outcome = msgspec.json.decode(line)
    for each in _objects([outcome]):
        _rename(each, "carried_by", "actual_transport")
    return msgspec.json.encode(outcome)


def _name(suite: object) -> object:
    return (
        f"{suite.removesuffix(': floors')}: baseline"
        if isinstance(suite, str) and suite.endswith(": floors")
        else suite
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: object) -> list[dict[str, Any]]:
    return [each for each in _list(value) if isinstance(each, dict)]


def _rename(values: dict[str, Any], old: str, new: str) -> None:
    if old in values:
        values[new] = values.pop(old)
