"""Results of cells from their trials.

A cell's figure is the median of its trials' figures; samples are never pooled.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from middlemark.model.cell import ONE_WAY, Cell
from middlemark.model.description import Description
from middlemark.model.outcome import Failure, RunWarning, SamplesFile, TrialCounts, TrialOutcome, bytes_sent
from middlemark.model.pairs import SAME
from middlemark.model.plan import Limits, Plan
from middlemark.model.times import Summary, Times
from middlemark.stats import breakdown, costs, rates, workload
from middlemark.stats.baselines import (
    RawTransport,
    baselines,
    by_rate,
    common_actual_transport,
    hands_over,
    memcpy_bytes_per_s,
    nearest_raw_transports,
)
from middlemark.stats.coding import with_coding
from middlemark.stats.crowd_result import crowd_result
from middlemark.stats.curve import curve, search, sustainable
from middlemark.stats.interval import median_interval
from middlemark.stats.metrics import by_trial
from middlemark.stats.noise import with_noise
from middlemark.stats.rates import representative
from middlemark.stats.result import Baseline, CellResult, Delivery, Origin, Part, Versions
from middlemark.stats.samples import Kept, Samples, SamplesError
from middlemark.stats.signed_rank import signed_rank
from middlemark.stats.trials import KeptOf, SamplesOf, TrialSummary, figures, trial_summary
from middlemark.stats.warnings.between_cells import with_warnings_between
from middlemark.stats.warnings.cells import NOT_MEASURED as UNREACHED
from middlemark.stats.warnings.cells import (
    SERIOUS,
    below_baseline,
    cell_warnings,
    faster_than_raw_transport,
    joined,
    merged,
)
from middlemark.stats.warnings.samples import of_most, tail_warnings
from middlemark.stats.warnings.streams import stream_cell_warnings, stream_trial_warnings
from middlemark.stats.warnings.trials import trial_warnings


def _no_files(file: SamplesFile) -> Kept:
    raise SamplesError(Path(file.path), "its folder is not known", "measure that trial again")


def cell_results(
    plan: Plan,
    outcomes: Sequence[TrialOutcome],
    samples: SamplesOf,
    descriptions: Mapping[str, Description],
    kept: KeptOf = _no_files,
) -> tuple[CellResult, ...]:
    """Return one result for each cell of the plan, in its order. Only one trial's samples are in memory at a time."""
    return results_of(plan, trials_by_cell(plan, outcomes, samples, kept), descriptions)


def trials_by_cell(
    plan: Plan, outcomes: Sequence[TrialOutcome], samples: SamplesOf, kept: KeptOf = _no_files
) -> list[list[TrialSummary]]:
    """Return for each cell the summaries of its trials. Nearly all the time of ``cell_results`` is spent here."""
    of_cell: list[list[TrialSummary]] = [[] for _ in plan.cells]
    for outcome in sorted(outcomes, key=lambda each: each.order):
        of_cell[outcome.cell].append(trial_summary(plan.cells[outcome.cell], outcome, samples, kept, in_full=True))
    return of_cell


def results_of(
    plan: Plan, of_cell: Sequence[Sequence[TrialSummary]], descriptions: Mapping[str, Description]
) -> tuple[CellResult, ...]:
    """Return one result for each cell of the plan, in its order, from the summaries of all trials."""
    limits = {trial.order: trial.limits for trial in plan.trials}
    results = [
        _result(cell, name, trials, limits, descriptions)
        for cell, name, trials in zip(plan.cells, plan.names, of_cell, strict=True)
    ]
    with_baselines_of_cells = _with_baselines(with_noise(results, of_cell, descriptions), of_cell, descriptions)
    return with_warnings_between(with_baselines_of_cells, descriptions, memcpy_bytes_per_s)


def samples_by_cell(
    plan: Plan, outcomes: Sequence[TrialOutcome], samples: SamplesOf
) -> Callable[[int], Iterator[Samples]]:
    """Return a function from a cell's index to the samples of its measured trials, in order, one trial at a time."""
    of_cell: list[list[TrialOutcome]] = [[] for _ in plan.cells]
    for outcome in sorted(outcomes, key=lambda each: each.order):
        if outcome.failed is None:
            of_cell[outcome.cell].append(outcome)

    def samples_of_cell(index: int) -> Iterator[Samples]:
        for outcome in of_cell[index]:
            try:
                kept = samples(outcome)
            except SamplesError:
                continue  # cell_results reports the error, and counts the trial as failed
            if kept is not None and len(kept) == outcome.samples:
                yield kept

    return samples_of_cell


def _result(
    cell: Cell,
    name: str,
    trials: Sequence[TrialSummary],
    limits: Mapping[int, Limits],
    descriptions: Mapping[str, Description],
) -> CellResult:
    outcomes = [each.outcome for each in trials]
    measured = [each for each in outcomes if each.failed is None]
    described, receiving = map(descriptions.get, cell.sides)
    version = next((each.version for each in measured if each.version), described.version if described else None)
    times = Times(
        **{field: over_trials([getattr(each.times, field) for each in trials]) for field in Times.__struct_fields__}
    )
    counts = _added([counted for each in measured if (counted := rates.counts(each))])
    values = tuple(each for each in figures(cell, trials) if each is not None)
    parts, absent, coding_absent = _breakdown(cell, trials)
    alive = [each for each in trials if each.outcome.failed is None]
    chosen = representative([each.outcome for each in alive], figures(cell, alive))
    reported = [each.settings for each in ((chosen,) if chosen else ()) + tuple(measured) if each.settings]
    settings = reported[0] if reported else None
    result = CellResult(
        cell=cell,
        name=name,
        version=version,
        versions=Versions(version, version if cell.pair == SAME else receiving.version if receiving else None),
        language=described.language if described else None,
        trials=len(measured),
        failed_trials=len(outcomes) - len(measured),
        samples=sum(each.samples for each in trials),
        counts=counts,
        actual_transport=common_actual_transport(measured),
        discovery_ns=_median(each.discovery_ns for each in measured),
        handshake_ns=_median(each.handshake_ns for each in measured),
        protected_by="; ".join(dict.fromkeys(each.protected_by for each in measured if each.protected_by)) or None,
        settings=settings,
        settings_absent=None if settings else _why_no_settings(outcomes),
        proof=next((each.proof for each in measured if each.proof), None),
        times_raw_transport=None,
        raw_transport=None,
        warnings=_warnings(cell, trials, limits, descriptions),
        failed=None if measured else _why_nothing(outcomes),
        failures=tuple(each.failed for each in outcomes if each.failed),
        resources=costs.resources(cell, measured),
        link_how=next((each.link_how for each in measured if each.link_how), None),
        trial_values=values,
        metrics=by_trial(cell, trials),
        interval=median_interval(values),
        imported=_origin(outcomes),
        breakdown=parts,
        breakdown_absent=absent,
        coding_absent=coding_absent,
        series=chosen.series if chosen else (),
        series_trial=chosen.number if chosen else None,
        series_subscribers=chosen.subscribers if chosen else (),
        **msgspec.structs.asdict(times),
    )
    if not measured:
        return result
    result = _with_throughput(result, alive)
    if cell.pattern == "crowd":
        result = msgspec.structs.replace(result, crowd=crowd_result(result, [each.outcome for each in alive]))
    return _with_workload(result, alive) if cell.workload else result


def _why_no_settings(outcomes: Sequence[TrialOutcome]) -> str:
    if any(each.imported for each in outcomes):
        return "another tool measured it"
    if all(each.failed for each in outcomes):
        return "it has no result"
    return "its adapter does not report them"


def _with_workload(result: CellResult, trials: Sequence[TrialSummary]) -> CellResult:
    found_times = [each.one_way for each in trials if each.one_way]

    def latency(edge: int) -> workload.EdgeLatency:
        return workload.EdgeLatency(
            over_trials([each.by_subscriber.get(edge) for each in found_times]),
            next(filter(None, (each.absent_of.get(edge) for each in found_times)), None),
        )

    found = workload.over_trials(
        result.cell,
        [(each.outcome, each.graph) for each in trials if each.graph],
        latency,
        over_trials,
        result.resources,
        result.discovery_ns,
    )
    return msgspec.structs.replace(result, workload=found)


def _origin(outcomes: Sequence[TrialOutcome]) -> Origin | None:
    imported = [each.imported for each in outcomes if each.imported is not None]
    if not imported:
        return None
    counted = set.intersection(*(set(each.counted) for each in imported))
    return Origin(
        tool=imported[0].tool,
        files=tuple(dict.fromkeys(each.file for each in imported)),
        not_counted=tuple(each for each in TrialCounts.__struct_fields__ if each not in counted),
        loss=_median(each.loss for each in imported),
    )


def _warnings(
    cell: Cell,
    trials: Sequence[TrialSummary],
    limits: Mapping[int, Limits],
    descriptions: Mapping[str, Description],
) -> tuple[RunWarning, ...]:
    outcomes = [each.outcome for each in trials]
    measured = [each for each in outcomes if each.failed is None]
    stream = cell.pattern in ONE_WAY
    of_trials = [trial_warnings(cell, limits[each.order], each, descriptions) for each in measured]
    summaries = [each.times.latency_of(cell) for each in trials]
    of_cell = cell_warnings(cell, outcomes, summaries, figures(cell, trials) if by_rate(cell) else ())
    if stream:
        of_trials = [
            (*warnings, *stream_trial_warnings(cell, each)) for warnings, each in zip(of_trials, measured, strict=True)
        ]
        counts = _added([counted for each in measured if (counted := rates.counts(each))])
        of_cell += stream_cell_warnings(cell, counts, over_trials(summaries))
    of_samples = of_most([each.warnings for each in trials if each.outcome.failed is None])
    of_cell += tail_warnings([each.samples for each in trials], summaries)
    return joined(of_cell, merged([(*a, *b) for a, b in zip(of_trials, of_samples, strict=True)]))


def _breakdown(cell: Cell, trials: Sequence[TrialSummary]) -> tuple[tuple[Part, ...] | None, str | None, str | None]:
    """Return the parts, why there are none, and why (de)serialising is not among them. Each may be None."""
    if any(each.outcome.imported for each in trials):
        return None, "another tool measured it", None
    found = breakdown.over_trials([each.breakdown for each in trials if each.breakdown is not None])
    parts, coding_absent = with_coding(found, cell)
    return parts or None, found.absent, coding_absent


def _with_throughput(result: CellResult, trials: Sequence[TrialSummary]) -> CellResult:
    """Return the result with the fields of patterns with a rate."""
    cell = result.cell
    native = {each.outcome.native_request_reply for each in trials} - {None}
    result = msgspec.structs.replace(
        result,
        offered_hz=rates.offered_hz(cell),
        native_request_reply=native.pop() if len(native) == 1 else None,
    )
    if cell.pattern == "request-reply":
        replies_hz = _median(each.replies_hz for each in trials)
        result = msgspec.structs.replace(result, rate_hz=replies_hz, rate_total_hz=replies_hz)
    if cell.pattern in ONE_WAY:
        result = _of_stream(result, trials)
    if result.rate_hz is None or "size" in cell.unknown:
        return result
    return msgspec.structs.replace(
        result, bytes_per_s=result.rate_hz * _mean_size(cell, trials), link_share=rates.link_share(cell, result.rate_hz)
    )


def _mean_size(cell: Cell, trials: Sequence[TrialSummary]) -> float:
    """Return the mean size of a message in bytes: the cell's size, or for a workload the mean of all sent messages."""
    if cell.workload is None:
        return cell.size
    graph = cell.workload.under(cell.scale, cell.copies)
    sent = [each for trial in trials for each in trial.outcome.publishers]
    messages = sum(each.sent for each in sent)
    return bytes_sent(sent, graph) / messages if messages else 0.0


def _of_stream(result: CellResult, trials: Sequence[TrialSummary]) -> CellResult:
    cell, outcomes = result.cell, [each.outcome for each in trials]
    of_trials = [each.rates for each in trials if each.rates]
    publishers = [each for outcome in outcomes for each in outcome.publishers]
    reasons = [each.one_way.absent for each in trials if each.one_way and each.one_way.absent]
    from_sent = any(each.times.one_way_from_sent_ns for each in trials)
    return msgspec.structs.replace(
        result,
        rate_hz=_median(each.rate_hz for each in of_trials),
        rate_total_hz=_median(each.total_hz for each in of_trials),
        sent_hz=_median(each.sent_hz for each in of_trials),
        blocked_ns=_median(each.blocked_ns for each in of_trials),
        blocked_share=_median(each.blocked_share for each in of_trials),
        scheduled=_sum(each.scheduled for each in publishers),
        late_sends=_sum(each.late_sends for each in publishers),
        unsent=_sum(each.unsent for each in publishers),
        timed_out=_sum(each.timed_out for each in publishers),
        in_histogram=sum(each.one_way.in_histogram for each in trials if each.one_way),
        one_way_absent=next(filter(None, (each.one_way.all_absent for each in trials if each.one_way)), None),
        clock_uncertainty_ns=_uncertainty(outcomes),
        one_way_from_sent_absent=reasons[0] if reasons and not from_sent else None,
        per_subscriber=_deliveries(trials),
        steps=curve(cell, outcomes) if cell.rate == "curve" else search(outcomes),
        sustainable=sustainable(outcomes) if cell.rate == "sustainable" else None,
    )


def _deliveries(trials: Sequence[TrialSummary]) -> tuple[Delivery, ...]:
    indices = sorted({each.index for trial in trials for each in trial.outcome.subscribers})

    def delivery(index: int) -> Delivery:
        found = [
            (each, trial.rates.by_subscriber[at] if trial.rates else None, trial.one_way)
            for trial in trials
            for at, each in enumerate(trial.outcome.subscribers)
            if each.index == index
        ]
        expected = sum(each.expected for each, _, _ in found)
        received = sum(each.received for each, _, _ in found)
        times = over_trials([kept.by_subscriber.get(index) for _, _, kept in found if kept]) or Summary()
        return Delivery(
            index=index,
            topic=found[0][0].topic,
            expected=expected,
            received=received,
            lost=sum(each.lost for each, _, _ in found),
            ratio=received / expected if expected else None,
            rate_hz=_median(rate for _, rate, _ in found),
            p50_ns=times.p50,
            p99_ns=times.p99,
        )

    return tuple(delivery(index) for index in indices)


def over_trials(summaries: Sequence[Summary | None]) -> Summary | None:
    """Return the medians of the trials' figures, the lowest minimum and the highest maximum.

    A median is taken over the trials that have the figure. It is None unless more than half of the trials have the
    figure. So a trial that ended early does not hide the figure of the others, and the p99 of one trial never appears
    with the p50 of all trials.
    """
    present = [each for each in summaries if each is not None]
    if not present:
        return None

    def values_of(field: str) -> list[float]:
        return [value for each in present if (value := getattr(each, field)) is not None]

    medians = {
        field: _median(values) if 2 * len(values := values_of(field)) > len(present) else None
        for field in Summary.__struct_fields__
        if field not in ("min", "max")
    }
    return Summary(min=min(values_of("min"), default=None), max=max(values_of("max"), default=None), **medians)


_BOUND = 3
"""The number of the raw transport's trials that the warning "faster than its raw transport" needs. If the cell has
fewer trials, as many trials as the cell has are enough."""


def _with_baselines(
    results: Sequence[CellResult], of_cell: Sequence[Sequence[TrialSummary]], descriptions: Mapping[str, Description]
) -> tuple[CellResult, ...]:
    medians = [_compared_ns(each) for each in results]
    cells = [each.cell for each in results]
    nearest = nearest_raw_transports(cells, medians, descriptions, [each.actual_transport for each in results])
    fastest = baselines(cells, medians, descriptions)
    with_baselines = []
    for at, (result, median, raw, baseline) in enumerate(zip(results, medians, nearest, fastest, strict=True)):
        raw_median = medians[raw.cell] if raw else None
        times = median / raw_median if median is not None and raw_median else None
        label = raw.label if raw and times is not None else None
        # The raw transport is a bound for the cell only if it has enough trials; in a race it has one or two. It is no
        # bound for a workload: many processes compete for the processors, and chance decides which process waits.
        measured = raw is not None and results[raw.cell].trials >= min(_BOUND, result.trials)
        alike = raw is not None and hands_over(cells[raw.cell], descriptions) == hands_over(result.cell, descriptions)
        is_bound = measured and alike and result.workload is None
        warning = faster_than_raw_transport(times, label, rate=by_rate(result.cell)) if is_bound else None
        if baseline is not None and baseline.cell != at and result.workload is None and warning is None:
            warning = _below_baseline(
                result, results[baseline.cell], of_cell[at], of_cell[baseline.cell], baseline.label
            )
        warnings = (*result.warnings, warning) if warning else result.warnings
        figures_of_baseline = {
            "times_raw_transport": times,
            "raw_transport": label,
            "warnings": warnings,
            "baseline": _baseline(result, median, baseline, medians),
        }
        with_baselines.append(msgspec.structs.replace(result, **figures_of_baseline))
    return tuple(with_baselines)


def _below_baseline(
    result: CellResult,
    baseline: CellResult,
    own: Sequence[TrialSummary],
    others: Sequence[TrialSummary],
    label: str,
) -> RunWarning | None:
    """Return the warning about a cell that is significantly faster than its baseline in the rounds that both have."""
    ours, theirs = _by_round(result.cell, own), _by_round(baseline.cell, others)
    rounds = sorted(ours.keys() & theirs.keys())
    if not rounds:
        return None
    shift = signed_rank([math.log(ours[number] / theirs[number]) for number in rounds])
    if not shift.high < 0:
        return None
    doubted = next((each.code for each in baseline.warnings if each.code in SERIOUS), None)
    return below_baseline(math.exp(shift.shift), label, doubted, untouched=result.cell.payload == "untouched")


def _by_round(cell: Cell, trials: Sequence[TrialSummary]) -> dict[int, float]:
    """Return round → the time per message if ``by_rate``, else the p50, in ns. Only measured trials have one."""
    rated = by_rate(cell)
    return {
        each.outcome.number: 1e9 / figure if rated else figure
        for each, figure in zip(trials, figures(cell, trials), strict=True)
        if each.outcome.failed is None and figure
    }


def _baseline(
    result: CellResult, median: float | None, fastest: RawTransport | None, medians: Sequence[float | None]
) -> Baseline | None:
    base_ns = medians[fastest.cell] if fastest else None
    if fastest is None or not base_ns or median is None or result.workload is not None:
        return None
    rated = by_rate(result.cell)
    figure = {"p50_ns": None if rated else base_ns, "rate_hz": 1e9 / base_ns if rated else None}
    return Baseline(label=fastest.label, times=median / base_ns, **figure)


def _compared_ns(result: CellResult) -> float | None:
    """Return the figure to compare with a raw transport, in ns: the time per message if ``by_rate``, else the p50."""
    if result.workload is not None:
        return result.workload.worst_share
    if by_rate(result.cell):
        return 1e9 / result.rate_hz if result.rate_hz else None
    latency = result.latency_of(result.cell)
    return latency.p50 if latency else None


def _why_nothing(outcomes: Sequence[TrialOutcome]) -> Failure:
    first = next((each.failed for each in outcomes if each.failed), None)
    return first or Failure(UNREACHED, "the run ended before it was measured", "measure it again; --only selects it")


def _added(counts: Sequence[TrialCounts]) -> TrialCounts:
    return TrialCounts(
        **{field: sum(getattr(each, field) for each in counts) for field in TrialCounts.__struct_fields__}
    )


def _median(figures: Iterable[float | None]) -> float | None:
    present = [float(each) for each in figures if each is not None]
    return statistics.median(present) if present else None


def _sum(figures: Iterable[int | None]) -> int | None:
    present = [each for each in figures if each is not None]
    return sum(present) if present else None


def _uncertainty(outcomes: Sequence[TrialOutcome]) -> float | None:
    """Return the largest error of times from one end's clock to the other's, in ns. 0: one clock; None: unknown."""
    measured = [each for each in outcomes if each.failed is None and each.imported is None]
    if not measured or any(each.stamps_absent for each in measured):
        return None
    return max((each.clocks.uncertainty_ns for each in measured if each.clocks), default=0.0)
