"""Latency by offered load: merge the steps of several trials, find the knee, and find the highest sustainable rate."""

import statistics
from collections.abc import Iterable, Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.outcome import Step, TrialOutcome
from middlemark.stats.result import CurveStep, Sustainable

KNEE_LOSS = 0.01
"""A load with a larger loss is past the knee, whatever its latency."""


def curve(cell: Cell, outcomes: Sequence[TrialOutcome]) -> tuple[CurveStep, ...]:
    """Return the steps of all measured trials by rising load, with the knee marked. The step at full rate is the last.

    Each load is a share of the rate at its trial's saturation. Steps with the same share are merged.
    """
    together: dict[float | None, list[Step]] = {}
    for outcome in outcomes:
        saturation = next((_bound_hz(cell, each) for each in outcome.steps if each.rate_hz is None), 0.0)
        for step in outcome.steps:
            if step.rate_hz is None or saturation > 0:
                part = None if step.rate_hz is None else round(step.rate_hz / saturation, 3)
                together.setdefault(part, []).append(step)
    found = [_step(part, together[part]) for part in sorted(together, key=lambda part: (part is None, part or 0.0))]
    at = knee(found)
    return tuple(msgspec.structs.replace(each, knee=index == at) for index, each in enumerate(found))


def search(outcomes: Sequence[TrialOutcome]) -> tuple[CurveStep, ...]:
    """Return the steps, in order, of the search whose rate is the median over the trials (the lower of the middle two).

    Each search tries its own rates, so the steps of several searches cannot be merged.
    """
    found = sorted((each for each in outcomes if _held_hz(each) is not None), key=lambda each: _held_hz(each) or 0.0)
    return tuple(_step(None, [each]) for each in found[(len(found) - 1) // 2].steps) if found else ()


def knee(curve: Sequence[CurveStep]) -> int | None:
    """Return the index of the step with the highest power: the received rate divided by the p99.

    None: no step has a p99 and loses at most ``KNEE_LOSS``.

    Power, and its maximum as the best load: L. Kleinrock, "Power and Deterministic Rules of Thumb for Probabilistic
    Problems in Computer Communications", ICC 1979. Kleinrock divides by the mean response time. We divide by the p99,
    because deadlines depend on the tail. For M/M/1 the maximum is at half of the capacity, where the latency has
    doubled. Rejected: Kneedle (Satopää et al., 2011), which needs a smoothed curve and a sensitivity that ten steps
    cannot give. The step at full rate is not considered: without a schedule, latency counts from the call of publish
    and leaves out the wait before that call.
    """
    candidates = [
        (each.received_hz / each.p99_ns, -index)
        for index, each in enumerate(curve)
        if each.offered_hz is not None and each.p99_ns and (each.lost or 0.0) <= KNEE_LOSS
    ]
    return -max(candidates)[1] if candidates else None


def sustainable(outcomes: Sequence[TrialOutcome]) -> Sustainable | None:
    """Return the sustainable rate over the trials; None if no trial found a sustainable rate."""
    held = [rate for each in outcomes if (rate := _held_hz(each)) is not None]
    if not held:
        return None
    return Sustainable(rate_hz=statistics.median(held), least_hz=min(held), most_hz=max(held))


def _held_hz(outcome: TrialOutcome) -> float | None:
    """Return the rate that a search found: that of its last step. Higher rates passed only for a short time."""
    last = outcome.steps[-1] if outcome.steps else None
    return last.rate_hz if last and last.held and last.failed is None else None


def _bound_hz(cell: Cell, saturated: Step) -> float:
    """Return the rate of each publisher at which the offered load equals the received load at saturation."""
    return saturated.received_hz * cell.topics / cell.publishers


def _step(part: float | None, alike: Sequence[Step]) -> CurveStep:
    measured = [each for each in alike if each.failed is None]
    if not measured:
        rate = _median(each.rate_hz for each in alike)
        return CurveStep(
            part=part,
            offered_hz=rate,
            sent_hz=0.0,
            received_hz=0.0,
            lost=None,
            p50_ns=None,
            p99_ns=None,
            held=False,
            trials=0,
            failed=alike[0].failed,
        )
    return CurveStep(
        part=part,
        offered_hz=_median(each.rate_hz for each in measured),
        sent_hz=statistics.median(each.sent_hz for each in measured),
        received_hz=statistics.median(each.received_hz for each in measured),
        lost=_median(each.lost / each.expected if each.expected else None for each in measured),
        p50_ns=_median(each.p50_ns for each in measured),
        p99_ns=_median(each.p99_ns for each in measured),
        held=all(each.held for each in measured),
        trials=len(measured),
    )


def _median(figures: Iterable[float | None]) -> float | None:
    present = [each for each in figures if each is not None]
    return statistics.median(present) if present else None
