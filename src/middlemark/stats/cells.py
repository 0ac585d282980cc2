"""Trials → cells. A cell's figure is the median of its trials' figures; samples of several trials are never pooled."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from middlemark.launch.outcome import Counts, Failure, TrialOutcome
from middlemark.plan.cell import Cell, Limits, Plan
from middlemark.stats.doubts import NOT_MEASURED as UNREACHED
from middlemark.stats.doubts import cell_doubts, faster_than_floor, joined, merged, trial_doubts
from middlemark.stats.floors import floors
from middlemark.stats.quantiles import Numbers, summarise
from middlemark.stats.result import CellResult, Summary
from middlemark.stats.samples import NOT_MEASURED, Samples, SamplesError
from middlemark.workers.description import Description

SamplesOf = Callable[[TrialOutcome], Samples | None]
"""The samples of a trial; None when there are none. May raise SamplesError, which costs the trial."""

TIMES = ("round_trip_ns", "first_reply_ns", "write_ns", "take_ns", "loan_ns", "fill_ns", "check_ns")
"""The fields of a sample that become a summary each, under the same name."""

_ALWAYS_MEASURED = ("round_trip_ns", "first_reply_ns")


class TrialSummary(msgspec.Struct, frozen=True):
    """One trial: its outcome (failed, if its samples could not be read) and a summary a field; None: not measured."""

    outcome: TrialOutcome
    times: dict[str, Summary | None]


def cell_results(
    plan: Plan, outcomes: Sequence[TrialOutcome], samples: SamplesOf, descriptions: Mapping[str, Description]
) -> tuple[CellResult, ...]:
    """Return a result a cell of the plan, in its order. One trial's samples are in memory at a time."""
    of_cell: list[list[TrialSummary]] = [[] for _ in plan.cells]
    limits = {trial.order: trial.limits for trial in plan.trials}
    for outcome in sorted(outcomes, key=lambda each: each.order):
        of_cell[outcome.cell].append(trial_summary(plan.cells[outcome.cell], outcome, samples))
    results = [
        _result(cell, name, trials, limits, descriptions)
        for cell, name, trials in zip(plan.cells, plan.names, of_cell, strict=True)
    ]
    return _held_against_floors(results, descriptions)


def samples_by_cell(
    plan: Plan, outcomes: Sequence[TrialOutcome], samples: SamplesOf
) -> Callable[[int], Iterator[Samples]]:
    """Return a function from a cell's index to the samples of its measured trials, in order, one at a time."""
    of_cell: list[list[TrialOutcome]] = [[] for _ in plan.cells]
    for outcome in sorted(outcomes, key=lambda each: each.order):
        if outcome.failed is None:
            of_cell[outcome.cell].append(outcome)

    def of(index: int) -> Iterator[Samples]:
        for outcome in of_cell[index]:
            try:
                kept = samples(outcome)
            except SamplesError:
                continue  # cell_results tells it: the trial has failed there
            if kept is not None and len(kept) == outcome.samples:
                yield kept

    return of


def trial_summary(cell: Cell, outcome: TrialOutcome, samples: SamplesOf) -> TrialSummary:
    """Return one trial's summaries. A trial whose samples cannot be read has failed, whatever its outcome says."""
    nothing: dict[str, Summary | None] = dict.fromkeys(TIMES)
    if outcome.failed is not None:
        return TrialSummary(outcome, nothing)
    try:
        kept = samples(outcome)
    except SamplesError as error:
        failure = Failure("samples", str(error), error.advice)
        return TrialSummary(msgspec.structs.replace(outcome, failed=failure), nothing)
    found = 0 if kept is None else len(kept)
    if found != outcome.samples:
        text = f"{outcome.samples:,} samples were measured and {found:,} are in the file"
        failure = Failure("samples", text, "measure that trial again")
        return TrialSummary(msgspec.structs.replace(outcome, failed=failure), nothing)
    if kept is None:
        return TrialSummary(outcome, nothing)
    several = cell.subscribers > 1 and cell.echo == "all"
    fields = [field for field in TIMES if field != "first_reply_ns" or several]
    return TrialSummary(outcome, nothing | {field: _summary(kept, field) for field in fields})


def _summary(samples: Samples, field: str) -> Summary | None:
    values: Numbers = samples[field]
    if field not in _ALWAYS_MEASURED:
        values = values[values != NOT_MEASURED]
    return summarise(values) if len(values) else None


def _result(
    cell: Cell,
    name: str,
    trials: Sequence[TrialSummary],
    limits: Mapping[int, Limits],
    descriptions: Mapping[str, Description],
) -> CellResult:
    outcomes = [each.outcome for each in trials]
    measured = [each for each in outcomes if each.failed is None]
    doubts = [trial_doubts(cell, limits[each.order], each, descriptions) for each in measured]
    described = descriptions.get(cell.adapter)
    carriers = {each.carried_by for each in measured if each.carried_by}
    times = {field: over_trials([each.times[field] for each in trials]) for field in TIMES}
    return CellResult(
        cell=cell,
        name=name,
        version=next((each.version for each in measured if each.version), described.version if described else None),
        trials=len(measured),
        failed_trials=len(outcomes) - len(measured),
        samples=sum(each.samples for each in measured),
        counts=_added([each.counts for each in measured if each.counts]),
        carried_by=carriers.pop() if len(carriers) == 1 else None,
        round_trip_ns=times["round_trip_ns"],
        first_reply_ns=times["first_reply_ns"],
        write_ns=times["write_ns"],
        take_ns=times["take_ns"],
        loan_ns=times["loan_ns"],
        fill_ns=times["fill_ns"],
        check_ns=times["check_ns"],
        discovery_ns=_median([float(each.discovery_ns) for each in measured if each.discovery_ns is not None]),
        times_floor=None,
        floor=None,
        warnings=joined(cell_doubts(cell, outcomes, [each.times["round_trip_ns"] for each in trials]), merged(doubts)),
        failed=None if measured else _why_nothing(outcomes),
    )


def over_trials(summaries: Sequence[Summary | None]) -> Summary | None:
    """Return the medians of the trials' figures, the least minimum and the greatest maximum.

    A figure that some trials lack is the median of those that have it: one that ended early must not hide the others.
    """
    present = [each for each in summaries if each is not None]
    if not present:
        return None

    def figures(field: str) -> list[float]:
        return [value for each in present if (value := getattr(each, field)) is not None]

    medians = {field: _median(figures(field)) for field in Summary.__struct_fields__ if field not in ("min", "max")}
    return Summary(min=min(figures("min"), default=None), max=max(figures("max"), default=None), **medians)


def _held_against_floors(
    results: Sequence[CellResult], descriptions: Mapping[str, Description]
) -> tuple[CellResult, ...]:
    medians = [each.round_trip_ns.p50 if each.round_trip_ns else None for each in results]
    held = []
    for result, median, floor in zip(
        results, medians, floors([each.cell for each in results], medians, descriptions), strict=True
    ):
        base = medians[floor.cell] if floor else None
        times = median / base if median is not None and base else None
        label = floor.label if floor and times is not None else None
        doubt = faster_than_floor(times, label)
        warnings = (*result.warnings, doubt) if doubt else result.warnings
        held.append(msgspec.structs.replace(result, times_floor=times, floor=label, warnings=warnings))
    return tuple(held)


def _why_nothing(outcomes: Sequence[TrialOutcome]) -> Failure:
    first = next((each.failed for each in outcomes if each.failed), None)
    return first or Failure(UNREACHED, "the run ended before it was measured", "run it again, alone with --only")


def _added(counts: Sequence[Counts]) -> Counts:
    return Counts(**{field: sum(getattr(each, field) for each in counts) for field in Counts.__struct_fields__})


def _median(figures: Sequence[float]) -> float | None:
    return statistics.median(figures) if figures else None
