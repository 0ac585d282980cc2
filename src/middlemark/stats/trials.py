"""Summary of one trial: a summary of each field of the samples, and for a stream the rates."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from middlemark.model.cell import ONE_WAY, Cell
from middlemark.model.imported import Imported
from middlemark.model.outcome import Failure, RunWarning, SamplesFile, TrialCounts, TrialOutcome
from middlemark.model.samples import NOT_MEASURED
from middlemark.model.times import Summary, Times
from middlemark.stats.baselines import by_rate
from middlemark.stats.breakdown import Breakdown, round_trip_breakdown, stream_breakdown
from middlemark.stats.buckets import joined, summarise_both
from middlemark.stats.one_way import OneWay, certain_times, one_way, round_trips, without_times
from middlemark.stats.outliers import Outliers, of_round_trips, of_stream
from middlemark.stats.quantiles import Numbers, summarise
from middlemark.stats.rates import Rates, rates, replies_hz
from middlemark.stats.samples import Kept, Samples, SamplesError
from middlemark.stats.tally import MANY, tallied_fields
from middlemark.stats.warnings.samples import sample_warnings
from middlemark.stats.warnings.trials import mostly_idle, never_slept, time_unaccounted
from middlemark.stats.workload import GraphTrial, graph_trial

SamplesOf = Callable[[TrialOutcome], Samples | None]
"""Returns the ping's samples of a trial, or None. If it raises SamplesError, the trial counts as failed."""

KeptOf = Callable[[SamplesFile], Kept]
"""Returns the samples of one role of a stream, or of one client. If it raises SamplesError, the trial counts as
failed."""

TIMES = ("round_trip_ns", "first_reply_ns", "write_ns", "take_ns", "loan_ns", "fill_ns", "check_ns")
"""Fields of a sample that are summarised, each under its own name."""

LONGEST_NS = 1 << 53
"""A time in ns that no trial takes (104 days). A double represents every integer up to this value."""

_ALWAYS_MEASURED = ("round_trip_ns", "first_reply_ns")


class TrialSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One trial: its outcome (failed if its samples could not be read), and its summaries (None: not measured)."""

    outcome: TrialOutcome
    times: Times = Times()
    samples: int = 0
    rates: Rates | None = None
    """Rates of a stream; None: another pattern."""
    one_way: OneWay | None = None
    replies_hz: float | None = None
    """Replies per second of request-reply; None: another pattern."""
    outliers: Outliers | None = None
    """Samples above p99.9, with their causes by the witness's record; None: there is no record."""
    warnings: tuple[RunWarning, ...] = ()
    """Warnings from the trial's raw samples."""
    breakdown: Breakdown | None = None
    graph: GraphTrial | None = None
    """Result of a workload; None: the cell has no workload."""


def trial_summary(
    cell: Cell,
    outcome: TrialOutcome,
    samples: SamplesOf,
    kept: KeptOf,
    *,
    times: Sequence[str] = TIMES,
    in_full: bool = False,
) -> TrialSummary:
    """Return one trial's summaries. A trial whose samples cannot be read counts as failed.

    ``times``: the fields of round trips to summarise; the computing time is proportional to their number. ``in_full``:
    also compute outliers, warnings and the breakdown, for which all fields are read.
    """
    if outcome.failed is not None:
        return TrialSummary(outcome=outcome)
    if outcome.imported is not None and not (outcome.files or outcome.samples_file):
        return _imported(outcome, outcome.imported)
    try:
        if cell.pattern in ONE_WAY:
            found = _stream(cell, outcome, kept, in_full)
        else:
            found = _trips(cell, outcome, samples, kept, times, in_full)
    except SamplesError as error:
        return _without_samples(outcome, Failure("samples", str(error), error.advice))
    longest = max(
        (each.max for each in msgspec.structs.astuple(found.times) if each and each.max is not None), default=0
    )
    if longest > LONGEST_NS:
        text = f"its samples are damaged: they contain a time of {longest / 1e9:,.0f} s"
        return _without_samples(outcome, Failure("samples", text, "measure that trial again"))
    return found


def _imported(outcome: TrialOutcome, imported: Imported) -> TrialSummary:
    found = None
    if imported.rate_hz is not None or imported.sent_hz is not None:
        found = Rates(
            rate_hz=imported.rate_hz,
            total_hz=imported.rate_total_hz,
            sent_hz=imported.sent_hz,
            by_subscriber=(),
            blocked_ns=None,
            blocked_share=None,
        )
    return TrialSummary(outcome=outcome, times=imported.times, samples=outcome.samples, rates=found)


def _stream(cell: Cell, outcome: TrialOutcome, kept: KeptOf, in_full: bool) -> TrialSummary:
    of_roles = [kept(each) for each in outcome.files]
    found = one_way(of_roles)
    if outcome.stamps_absent:
        return TrialSummary(
            outcome=outcome,
            times=Times(write_ns=found.write),
            samples=found.samples,
            rates=rates(outcome, cell),
            one_way=without_times(found, outcome.stamps_absent),
            breakdown=stream_breakdown(outcome, of_roles, found.absent) if in_full else None,
        )
    if outcome.clocks is not None:
        found = certain_times(found, outcome.clocks)
    series = [each.raw["one_way_ns"] for each in of_roles if each.role == "subscriber"]
    return TrialSummary(
        outcome=outcome,
        times=Times(one_way_ns=found.all, one_way_from_sent_ns=found.from_sent, write_ns=found.write),
        samples=found.samples,
        rates=rates(outcome, cell),
        one_way=found,
        graph=graph_trial(cell, outcome, of_roles, found.by_subscriber) if cell.workload else None,
        outliers=of_stream(of_roles, found.all, outcome) if in_full else None,
        warnings=sample_warnings(cell, outcome, series, found.all) if in_full else (),
        breakdown=stream_breakdown(outcome, of_roles, found.absent) if in_full else None,
    )


def _trips(
    cell: Cell, outcome: TrialOutcome, samples: SamplesOf, kept: KeptOf, wanted: Sequence[str], in_full: bool
) -> TrialSummary:
    clients = [kept(each) for each in outcome.files]
    trips = round_trips(clients) if outcome.files else samples(outcome)
    later = joined([each.histogram for each in (*clients, *_ping(outcome, kept)) if each.histogram is not None])
    found = 0 if trips is None else len(trips)
    if not outcome.files and found != outcome.samples:
        text = f"{outcome.samples:,} samples were measured and {found:,} are in the file"
        return _without_samples(outcome, Failure("samples", text, "measure that trial again"))
    hz = replies_hz(outcome) if cell.pattern == "request-reply" else None
    if trips is None:
        return TrialSummary(outcome=outcome, replies_hz=hz)
    several = cell.subscribers > 1 and cell.echo == "all"
    fields = [field for field in wanted if field != "first_reply_ns" or several]
    paced = cell.rate != "max" and found
    latencies = trips["round_trip_ns"] + trips["late_ns"].astype(np.uint64) if paced else trips["round_trip_ns"]
    latency = summarise_both(latencies, later) if paced or later is not None else None
    found += 0 if later is None else int(later["count"].sum())
    times = Times(round_trip_from_intended_ns=latency if paced else None, **_summaries(trips, fields))
    if later is not None and not paced:
        times = msgspec.structs.replace(times, round_trip_ns=latency)
    senders = [each.raw for each in clients if each.role == "client"] if clients else [trips]
    callers = {each.index: each.raw for each in clients if each.role == "client"} or {0: trips}
    return TrialSummary(
        outcome=outcome,
        times=times,
        samples=found,
        replies_hz=hz,
        outliers=of_round_trips(senders, times.round_trip_ns, outcome) if in_full else None,
        warnings=_warnings_of_trips(cell, outcome, clients, trips, times) if in_full else (),
        breakdown=round_trip_breakdown(cell, outcome, callers, kept) if in_full else None,
    )


def _ping(outcome: TrialOutcome, kept: KeptOf) -> list[Kept]:
    """Return the ping with its histogram of later round trips; empty: it has none."""
    if outcome.histogram_file is None or outcome.samples_file is None:
        return []
    file = SamplesFile(
        role="ping",
        index=0,
        path=outcome.samples_file,
        samples=outcome.samples,
        histogram_path=outcome.histogram_file,
        in_histogram=outcome.in_histogram,
    )
    return [kept(file)]


def _warnings_of_trips(
    cell: Cell,
    outcome: TrialOutcome,
    clients: Sequence[Kept],
    trips: Samples,
    times: Times,
) -> tuple[RunWarning, ...]:
    each_client = [each.raw["round_trip_ns"] for each in clients if each.role == "client"] or [trips["round_trip_ns"]]
    parts = (times.round_trip_ns, times.loan_ns, times.fill_ns, times.check_ns)
    spent = len(trips) * sum(each.mean or 0.0 for each in parts if each)
    loop = (
        time_unaccounted(cell, outcome, spent, len(trips)),
        never_slept(cell, outcome),
        mostly_idle(cell, outcome, len(trips)),
    )
    return (
        *(each for each in loop if each),
        *sample_warnings(cell, outcome, each_client, times.round_trip_ns),
    )


def _summaries(samples: Samples, fields: Sequence[str]) -> dict[str, Summary | None]:
    found = dict(tallied_fields(samples, fields)) if len(samples) >= MANY else {}
    for field in fields:
        if found.get(field) is None:
            values: Numbers = samples[field]
            found[field] = summarise(values if field in _ALWAYS_MEASURED else values[values != NOT_MEASURED])
    return {field: None if summary == Summary() else summary for field, summary in found.items()}


def _without_samples(outcome: TrialOutcome, failure: Failure) -> TrialSummary:
    return TrialSummary(outcome=msgspec.structs.replace(outcome, failed=failure))


def figures(cell: Cell, trials: Sequence[TrialSummary]) -> list[float | None]:
    """Return each trial's main figure: its rate if ``by_rate``, else its p50. None: the trial has no such figure."""
    if by_rate(cell):
        return [each.rates.rate_hz if each.rates else None for each in trials]
    return [summary.p50 if (summary := each.times.latency_of(cell)) else None for each in trials]


def at_edge(trial: TrialSummary, edge: int) -> TrialSummary:
    """Return the trial with the figures of one edge of its workload, and no others."""
    if trial.graph is None or trial.one_way is None:
        return trial
    mine = trial.graph.edges[edge]
    counted = TrialCounts(sent=mine.sent, received=mine.received, lost=mine.lost + mine.unsent)
    of_edge = Rates(
        rate_hz=mine.received_hz,
        total_hz=mine.received_hz,
        sent_hz=None,
        by_subscriber=(mine.received_hz,),
        blocked_ns=None,
        blocked_share=None,
    )
    return msgspec.structs.replace(
        trial,
        outcome=msgspec.structs.replace(trial.outcome, counts=counted),
        times=Times(one_way_ns=trial.one_way.by_subscriber.get(edge)),
        rates=of_edge,
        graph=GraphTrial(edges=(mine,), chains=(), measured_s=trial.graph.measured_s),
    )
