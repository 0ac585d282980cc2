"""Warnings about one trial from its raw samples."""

from collections.abc import Sequence

from middlemark.model.cell import Cell
from middlemark.model.outcome import RunWarning, TrialOutcome
from middlemark.model.times import Summary
from middlemark.stats.quantiles import SAMPLES_BEYOND, Numbers
from middlemark.stats.shape import drift, incidents, modes, slow_start, thinned

OF_TRIALS = 0.5
"""A cell has a warning of ``WHERE_MOST`` if at least this share of its trials has it. Fewer trials do not change the
cell's figure, which is the median over its trials."""

FEWEST_INCIDENTS = 5
"""A p99 needs at least this number of incidents (clusters of samples above it), half of ``SAMPLES_BEYOND``. With fewer
incidents, one incident is a large part of the tail."""

FEWEST_BEYOND_P99 = 30
"""Number of samples above p99, over all trials, with which the share of 1 % is accurate to a third (30 ± √30,
two sigma)."""

P99_DISAGREE = 3.0
"""The trials disagree if their p99s differ by more than this factor: twice the factor for medians, because a p99 varies
more."""

_TIME_SLICE_NS = 500_000
"""If a mode is above this time, and ten times the other mode, it is a wait for a processor (a time slice is
about 1 ms)."""

WHERE_MOST = (
    *("bimodal", "drift", "warm-up-short", "p99-few-incidents"),
    *("time-unaccounted", "reception-not-in-force", "mostly-idle"),
)
"""Codes of warnings that a cell gets only if at least half of its trials have the warning."""


def sample_warnings(
    cell: Cell, outcome: TrialOutcome, series: Sequence[Numbers], latency: Summary | None
) -> tuple[RunWarning, ...]:
    """Return the warnings about a measured trial. ``series``: for each measuring role, its latencies in order, in ns.

    A stream at full rate or in bursts gets none of these warnings: its latency is the state of its queues, which rise
    and fall.
    """
    if cell.pattern == "stream" and (cell.rate in ("max", "curve") or cell.burst is not None):
        return ()
    found: list[RunWarning | None] = []
    for each in series:
        looked_at = thinned(each)
        found += (_bimodal(cell, looked_at), _drift(looked_at), _warm_up_short(cell, looked_at, outcome))
    found.append(_few_incidents(series, latency))
    return tuple({each.code: each for each in reversed(found) if each}.values())[::-1]


def of_most(of_trials: Sequence[tuple[RunWarning, ...]]) -> list[tuple[RunWarning, ...]]:
    """Return the trials' warnings. A warning of ``WHERE_MOST`` is left out if fewer than half of the trials have it."""
    times: dict[str, int] = {}
    for warnings in of_trials:
        for code in {each.code for each in warnings}:
            times[code] = times.get(code, 0) + 1
    return [
        tuple(
            each for each in warnings if each.code not in WHERE_MOST or times[each.code] >= OF_TRIALS * len(of_trials)
        )
        for warnings in of_trials
    ]


def tail_warnings(samples: Sequence[int], summaries: Sequence[Summary | None]) -> tuple[RunWarning, ...]:
    """Return the warnings about the p99 of a cell. The sequences have one item for each trial.

    Empty if most trials have no p99, because the cell then has no p99.
    """
    present = [(count, each.p99) for count, each in zip(samples, summaries, strict=True) if each]
    with_p99 = [(count, p99) for count, p99 in present if p99 is not None]
    if 2 * len(with_p99) <= len(present):
        return ()
    found: list[RunWarning] = []
    beyond = sum(count // 100 for count, _ in with_p99)
    known = all(count for count, _ in with_p99)  # an imported log may lack the number of samples
    if known and beyond < FEWEST_BEYOND_P99:
        trials = "one trial" if len(with_p99) == 1 else f"{len(with_p99)} trials"
        found.append(
            RunWarning(
                "p99-few-samples",
                f"its p99 depends on the {beyond} slowest samples of {trials}: one stall can slow that many samples",
                "measure longer or more often: --duration 2s, --samples 10k, --trials 10",
            )
        )
    least, most = min(p99 for _, p99 in with_p99), max(p99 for _, p99 in with_p99)
    if most > P99_DISAGREE * least:
        found.append(
            RunWarning(
                "p99-disagrees",
                f"the p99s of its {len(with_p99)} trials go from {_us(least)} to {_us(most)} µs",
                "only some trials were disturbed: quiet the machine, and quote the range (--trials 10)",
            )
        )
    return tuple(found)


def _bimodal(cell: Cell, values: Numbers) -> RunWarning | None:
    found = modes(values)
    if found is None:
        return None
    low, high = _us(found.low_ns), _us(found.high_ns)
    first = "pin the roles (--pin 0,1); then " if cell.pin is None else ""
    switches = (
        "see which other processes use the processors (top), and get priority over these processes: --priority fifo:80"
        if found.high_ns > max(_TIME_SLICE_NS, 10 * found.low_ns)
        else "find what switches between the modes (idle states, frequency, a thread of the middleware): --receive "
        "poll and --priority fifo:80 keep processors awake; otherwise quote both modes"
    )
    return RunWarning(
        "bimodal",
        f"{100 * found.share:.0f} % of its samples lie around {low} µs and the others around {high} µs: "
        "the latency is bimodal, and a single median describes at most one of the two modes",
        first + switches,
    )


def _drift(values: Numbers) -> RunWarning | None:
    found = drift(values)
    if found is None:
        return None
    rose = found.part > 0
    return RunWarning(
        "drift",
        f"its latency {'rose' if rose else 'fell'} to {1 + found.part:.2g} times its value at the start of the trial: "
        "the median depends on the length of the trial",
        "a queue or memory grows, or a processor throttles: see whether the latency levels off (--duration 10s)"
        if rose
        else "the latency has not settled: use a longer warm-up (--warmup 2s)",
    )


def _warm_up_short(cell: Cell, values: Numbers, outcome: TrialOutcome) -> RunWarning | None:
    found = slow_start(values)
    if found is None:
        return None
    first, later = found.part * found.first_ns, (1 - found.part) * found.later_ns
    part = (
        first / (first + later) if cell.rate == "max" else found.part
    )  # as a share of the time, because samples of a closed loop follow each other
    lasted = f" ({part * outcome.measured_s:.2g} s)" if outcome.measured_s else ""
    return RunWarning(
        "warm-up-short",
        f"the first {100 * found.part:.2g} % of its samples{lasted} took {_us(found.first_ns)} µs (median) and the "
        f"later ones {_us(found.later_ns)} µs: the system was still warming up",
        "use a longer warm-up: --warmup 2s",
    )


def _few_incidents(series: Sequence[Numbers], latency: Summary | None) -> RunWarning | None:
    if latency is None or latency.p99 is None:
        return None
    found = [incidents(each, latency.p99) for each in series]
    beyond, clusters = (sum(each) for each in zip(*found, strict=True))
    if clusters >= FEWEST_INCIDENTS or beyond < SAMPLES_BEYOND:
        return None
    times = {1: "once", 2: "twice"}.get(clusters, f"{clusters} times")
    return RunWarning(
        "p99-few-incidents",
        f"the {beyond:,} samples beyond its p99 came in {clusters} {'cluster' if clusters == 1 else 'clusters'}: "
        f"something happened {times}, and p99 shows how long it lasted, not how often it happens",
        "measure longer (--duration 10s), so that it happens more often; or quote the median and the maximum",
    )


def _us(ns: float) -> str:
    return f"{ns / 1000:.3g}" if ns < 999_500 else f"{ns / 1000:,.0f}"
