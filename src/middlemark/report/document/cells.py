"""A row and its distribution → what the document says of the cell."""

from collections.abc import Mapping
from typing import Any

import msgspec

from middlemark.launch.outcome import Doubt, Failure
from middlemark.report.document.distributions import Distribution
from middlemark.report.document.model import Cell, Heat, Latency, Said, Step, brief, rounded
from middlemark.report.document.rows import Row, latency_of
from middlemark.stats.floors import by_rate
from middlemark.stats.result import CellResult, CurveStep, Resources, Summary

MOST_STEPS = 40
MOST_DISTURBED = 30
"""Of a map of 24 bins more marks would hide it."""


def cell_of(row: Row, levels: Mapping[str, Any], found: Distribution) -> Cell:
    """Return what the document says of the cell."""
    result = row.result
    counts = result.counts
    expected = counts.received + counts.lost
    costs = result.resources
    noise = _plain(result.noise)
    return Cell(
        i=row.index,
        run=f"r{row.run}",
        suite=result.name,
        label=row.label,
        series=row.series,
        floor=row.floor,
        f=dict(levels),
        version=result.version,
        carried_by=result.carried_by,
        trials=result.trials,
        failed_trials=result.failed_trials,
        failed=None if result.failed is None else _said(result.failed),
        samples=result.samples,
        kind="one_way" if result.cell.pattern == "stream" else "round_trip",
        latency=_latency(latency_of(result)),
        interval=None if result.interval is None else (brief(result.interval[0]), brief(result.interval[1])),
        trial_values=tuple(map(brief, result.trial_values)),
        by_rate=by_rate(result.cell),
        times_floor=rounded(result.times_floor),
        floor_label=result.floor,
        floor_cell=row.floor_row,
        rate_hz=rounded(result.rate_hz),
        bytes_per_s=rounded(result.bytes_per_s),
        offered_hz=rounded(result.offered_hz),
        sent_hz=rounded(result.sent_hz),
        loss=rounded(counts.lost / expected) if expected and _counted_losses(result) else None,
        **_costs(costs),
        sustainable_hz=rounded(result.sustainable.rate_hz) if result.sustainable else None,
        steps=tuple(map(_step, result.steps[:MOST_STEPS])),
        breakdown=_breakdown(result),
        best=_compact(_plain(result.best)),
        noise=_compact(noise),
        doubts=tuple(map(_said, result.warnings)),
        curve=found.curve,
        heat=_heat(found, noise),
    )


def _counted_losses(result: CellResult) -> bool:
    """Say whether anybody counted what was lost: the logs of some tools do not tell."""
    return result.imported is None or "lost" not in result.imported.not_counted


def _latency(summary: Summary | None) -> Latency | None:
    if summary is None:
        return None
    return Latency(**{field: rounded(getattr(summary, field)) for field in Latency.__struct_fields__})


def _costs(costs: Resources | None) -> dict[str, Any]:
    if costs is None:
        return {}
    return {
        "cpu_ns_per_message": rounded(costs.ns_per_message),
        **{
            field: rounded(getattr(costs, field))
            for field in ("cpu", "rss_bytes", "bytes_per_subscriber", "voluntary_hz", "involuntary_hz")
        },
    }


def _step(step: CurveStep) -> Step:
    return Step(
        offered_hz=rounded(step.offered_hz),
        sent_hz=rounded(step.sent_hz) if step.trials else None,
        received_hz=rounded(step.received_hz) if step.trials else None,
        lost=rounded(step.lost),
        p50_ns=rounded(step.p50_ns),
        p99_ns=rounded(step.p99_ns),
        knee=step.knee,
        held=step.held,
    )


def _said(doubt: Doubt | Failure) -> Said:
    return Said(code=doubt.code, text=doubt.text, advice=doubt.advice)


def _breakdown(result: CellResult) -> Any:
    return [{"part": each.part, "ns": rounded(each.ns)} for each in result.breakdown or ()] or None


def _heat(found: Distribution, noise: Any) -> Heat | None:
    """Mark when the machine was disturbed, where a witness saw it in the very trial that is shown."""
    if found.heat is None or not isinstance(noise, dict) or noise.get("disturbed_trial", found.trial) != found.trial:
        return found.heat
    longest = sorted(noise.get("disturbed") or (), key=lambda each: each[0] - each[1])[:MOST_DISTURBED]
    told = tuple((brief(float(begin)), brief(float(end))) for begin, end in sorted(longest))
    return msgspec.structs.replace(found.heat, disturbed=told)


def _compact(value: Any) -> Any:
    """Return the figures and words of a mapping; its lists and its reasons are in the JSON of the run."""
    if not isinstance(value, dict):
        return None
    kept = {name: _compact(each) if isinstance(each, dict) else each for name, each in value.items()}
    return {
        name: rounded(each) if isinstance(each, float) else each
        for name, each in kept.items()
        if each is not None and not isinstance(each, list | tuple) and name != "absent"
    }


def _plain(value: object) -> Any:
    return None if value is None else msgspec.to_builtins(value)
