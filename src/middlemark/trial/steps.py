"""Choose the rates that a search tries, and decide whether a rate passes. Pure."""

from collections.abc import Generator
from statistics import fmean

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.outcome import Step, TrialOutcome, received_hz
from middlemark.model.protocol import SubscriberResult
from middlemark.trial.patterns import Heard, results_of
from middlemark.trial.warnings import list_all, schedules

PRECISION = 1.02
"""A search ends if the lowest rate that failed, divided by the highest rate that passed, is at most this."""
MOST_HALVINGS = 12
UP = 1.25
MOST_UP = 4
"""The most higher rates that are tried if the bound itself passes. A schedule may be faster than a stream at
full rate."""
DOWN = (0.5, 0.1, 0.01, 0.001)
"""Fractions of the bound, tried in this order until one passes. If all fail, the search ends."""
CONFIRMATIONS = (1.0, 0.95, 0.85, 0.7, 0.5)
"""Fractions of the rate that a search found. Each is measured over the full duration until one passes."""
CURVE = (0.01, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.1)
"""The offered loads of a curve, as fractions of the saturation rate."""

Search = Generator[float, bool, float | None]
"""Yields rates to try, and receives for each rate whether it passed. Returns the highest rate that passed, or None."""


def highest_held(bound: float) -> Search:
    """Search for the highest rate that passes. Starts at ``bound``, the rate that was received at rate max."""
    low: float | None = None
    high: float | None = None
    if (yield bound):
        low = bound
        for _ in range(MOST_UP):
            if not (yield low * UP):
                high = low * UP
                break
            low *= UP
    else:
        high = bound
        for part in DOWN:
            if (yield bound * part):
                low = bound * part
                break
            high = bound * part
    if low is None or high is None:
        return low
    for _ in range(MOST_HALVINGS):
        if high <= low * PRECISION:
            break
        middle = (low * high) ** 0.5
        if (yield middle):
            low = middle
        else:
            high = middle
    return low


def first_confirmed(rate: float) -> Search:
    """Try the fractions CONFIRMATIONS of ``rate`` until one passes."""
    for part in CONFIRMATIONS:
        if (yield rate * part):
            return rate * part
    return None


BEHIND = 0.01
"""The part of its schedule that a publisher may be behind at the end; less than the precision of the search."""


def step_of(cell: Cell, rate_hz: float | None, outcome: TrialOutcome, heard: Heard | None) -> Step:
    """Return the step that an outcome measured. ``rate_hz``: the rate of each publisher (None: as fast as possible)."""
    if outcome.failed is not None or heard is None:
        why = outcome.failed.text if outcome.failed is not None else "no result"
        return Step(
            rate_hz=rate_hz,
            sent_hz=0.0,
            received_hz=0.0,
            expected=0,
            lost=0,
            late_sends=None,
            unsent=None,
            p50_ns=None,
            p99_ns=None,
            held=False,
            failed=why,
        )
    publishers = outcome.publishers
    subscribers = results_of(SubscriberResult, heard.receivers)
    step = Step(
        rate_hz=rate_hz,
        sent_hz=fmean(each.sent for each in publishers) / (outcome.measured_s or 1.0),
        received_hz=mean_received_hz(outcome),
        expected=sum(each.expected for each in outcome.subscribers),
        lost=sum(each.lost for each in outcome.subscribers),
        late_sends=_total([each.late_sends for each in publishers]),
        unsent=_total([each.unsent for each in publishers]),
        p50_ns=_worst([each.one_way_p50_ns for each in subscribers]),
        p99_ns=_worst([each.one_way_p99_ns for each in subscribers]),
        held=False,
    )
    return msgspec.structs.replace(step, held=not why_not(cell, step, outcome))


def why_not(cell: Cell, step: Step, outcome: TrialOutcome) -> tuple[str, ...]:
    """Return the limits that a step exceeds; empty: the rate passes.

    Loss is the loss of all subscribers together. p99 is the highest p99 of a subscriber, from the intended instants. A
    step also fails if a publisher is behind its schedule at the end, because the rate was then never offered. Late
    sends only increase the latency, which ``max_p99_s`` limits. A publish that failed or timed out is not a lost
    message, but the rate does not pass.
    """
    if step.failed is not None:
        return (step.failed,)
    reasons: list[str] = []
    if step.expected == 0:
        reasons.append("nothing was sent")
    elif step.lost > cell.max_loss * step.expected:
        reasons.append(f"{step.lost:,} of {step.expected:,} messages were lost (allowed: {cell.max_loss:.3g} of them)")
    refused = sum(each.timed_out + each.publish_failed for each in outcome.publishers)
    if refused:
        reasons.append(f"{refused:,} publishes failed or took longer than the write timeout")
    if cell.max_p99_s is not None and (step.p99_ns is None or step.p99_ns > cell.max_p99_s * 1e9):
        found = "unknown" if step.p99_ns is None else f"{step.p99_ns / 1000:,.1f} µs"
        reasons.append(f"p99 was {found} (allowed: {cell.max_p99_s * 1e6:,.6g} µs)")
    behind = [each for each in schedules("publisher", outcome.publishers) if each.unsent > BEHIND * each.scheduled]
    if behind:
        reasons.append(
            list_all(behind, lambda each: f"{each.who} did not send {each.unsent:,} of {each.scheduled:,} due messages")
        )
    return tuple(reasons)


def mean_received_hz(outcome: TrialOutcome) -> float:
    """Return the intact messages per second at one subscriber, as the mean over subscribers; 0: nothing was sent."""
    rates = [received_hz(each, outcome.publishers) or 0.0 for each in outcome.subscribers]
    return fmean(rates) if rates else 0.0


def bound_hz(cell: Cell, saturated: Step) -> float:
    """Return the rate per publisher at which all publishers together send the rate that was received at rate max."""
    return saturated.received_hz * cell.topics / cell.publishers


def _total(counts: list[int | None]) -> int | None:
    present = [each for each in counts if each is not None]
    return sum(present) if present else None


def _worst(times_ns: list[int | None]) -> float | None:
    present = [float(each) for each in times_ns if each is not None]
    return max(present) if present else None
