"""Warnings about all trials of a cell together, and the merging of the warnings about each trial."""

import statistics
from collections.abc import Callable, Sequence

import msgspec

from middlemark.model.cell import ONE_WAY, Cell
from middlemark.model.outcome import RunWarning, TrialCounts, TrialOutcome
from middlemark.model.times import Summary
from middlemark.stats.interval import exact_median_interval
from middlemark.stats.rates import counts as counts_of

NOT_MEASURED = "not-measured"
"""Code of the failure of a cell that was not measured because the run ended before."""

SERIOUS = frozenset(
    {
        "above-memcpy",
        "bimodal",
        "actual-transport-varies",
        "drift",
        "faster-than-baseline",
        "loss-behind-latency",
        "placement-not-in-force",
        "protection-contradicted",
        "reception-not-in-force",
        "size-costs-nothing",
        "time-unaccounted",
        "transport-contradicted",
        "trials-disagree",
    }
)
"""Codes of warnings that make the median of a row doubtful: it may belong to another transport or state than the row
says.

A disturbed machine is not among them: rounds are interleaved, so a disturbance only widens the intervals of the
verdict."""

SCATTER = frozenset({"bimodal", "drift", "trials-disagree"})
"""Codes of those serious warnings that say only how much the figures of a row scatter."""

DISAGREE = 1.5
"""If the medians of a cell's trials differ by at least this factor, the trials belong to more than one state of the
system."""
STRAY = 8
"""One in this number of trials may be far off, which the median over trials and paired rounds tolerate. More such
trials are tolerated if the 95 % interval of the median is within the factor ``DISAGREE``."""

_OF_TRIALS = frozenset({"bimodal", "drift"})
"""Codes of the warnings about single trials. Such a warning may come from a single trial that is far off."""

FASTER = 0.9
"""A cell that takes less than this share of the raw transport's time probably does less work than it, or had better
processors."""


def merged(trials: Sequence[tuple[RunWarning, ...]]) -> tuple[RunWarning, ...]:
    """Return one warning for each code: the text of the first trial that has it, and the number of such trials."""
    first: dict[str, RunWarning] = {}
    times: dict[str, int] = {}
    for warnings in trials:
        for warning in {each.code: each for each in reversed(warnings)}.values():
            first.setdefault(warning.code, warning)
            times[warning.code] = times.get(warning.code, 0) + 1
    found: dict[str, RunWarning] = {}
    for code, warning in first.items():
        stray = code in _OF_TRIALS and times[code] <= len(trials) // STRAY
        text = warning.text + in_trials(times[code], len(trials))
        merged_warning = RunWarning("stray-trial" if stray else code, text, warning.advice)
        found.setdefault(merged_warning.code, merged_warning)
    return tuple(found.values())


def joined(of_cell: Sequence[RunWarning], of_trials: Sequence[RunWarning]) -> tuple[RunWarning, ...]:
    """Return one warning for each code, the trials' first. If a code is in both lists, the cell's text comes first.

    The advice comes from the trials' warning, because it contains the depth and the middleware's own words.
    """
    total = {each.code: each for each in of_cell}
    combined = [
        RunWarning(each.code, f"{total[each.code].text}; {each.text}", each.advice or total[each.code].advice)
        if each.code in total
        else each
        for each in of_trials
    ]
    codes = {each.code for each in combined}
    return (*combined, *(each for each in of_cell if each.code not in codes))


def in_trials(occurred: int, trials: int) -> str:
    """Return `` (in 2 of 3 trials)``; empty: there was only one trial."""
    return f" (in {occurred} of {trials} trials)" if trials > 1 else ""


def cell_warnings(
    cell: Cell,
    outcomes: Sequence[TrialOutcome],
    summaries: Sequence[Summary | None],
    rates: Sequence[float | None] = (),
) -> tuple[RunWarning, ...]:
    """Return the warnings about all trials together.

    The sequences have one item for each trial, failed trials included. ``summaries``: of the cell's main latency.
    ``rates``: of the trials, if the rate is the cell's main figure.
    """
    measured = [each for each in outcomes if each.failed is None]
    found = (
        *(warning for code in _COUNTED if (warning := _counted(code, cell, measured))),
        _few_samples(measured, summaries),
        _trials_failed(outcomes),
        _rates_disagree(cell, rates) if rates else _trials_disagree(cell, summaries),
        _actual_transport_varies(measured),
        _protection_contradicted(cell, measured),
    )
    return tuple(each for each in found if each)


_CONTRADICTED = {
    "payload-not-seen": "its payload was seen in a capture",
    "stranger-refused": "a stranger without a certificate of the trial was let in",
    "unauthorised-refused": "a participant without permission was let in",
}
"""Check that failed → the observation that contradicts the protection."""


def _protection_contradicted(cell: Cell, outcomes: Sequence[TrialOutcome]) -> RunWarning | None:
    failed = dict.fromkeys(name for each in outcomes if each.proof for name in each.proof.failed)
    if not failed:
        return None
    return RunWarning(
        "protection-contradicted",
        f"asked for security {cell.security}, but {' and '.join(_CONTRADICTED[each] for each in failed)}",
        f"do not quote it as {cell.security}: the level was not in force; the adapter's README says what it needs",
    )


_COUNTED = {
    "loss": ("lost", "of {total:,} replies never arrived ({part}); the latency includes only the replies that arrived"),
    "late": ("late", "of {total:,} replies arrived after their timeout ({part}) and do not count as samples"),
    "publish-failed": ("publish_failed", "of {total:,} messages were refused by the middleware ({part})"),
    "damaged": (
        "damaged",
        "of {total:,} messages arrived with wrong content ({part}); messages that the ping found damaged do not "
        "count as samples",
    ),
    "duplicated": ("duplicated", "of {total:,} messages arrived more than once ({part})"),
    "reordered": ("reordered", "of {total:,} messages arrived out of order ({part})"),
}
"""Warnings about a count above zero: code → (field of TrialCounts, the words after the number)."""

_COUNTED_IN_STREAMS = {
    "loss": "of {total:,} messages never arrived ({part}); rate and latency include only the messages that arrived",
    "damaged": "of {total:,} messages arrived with wrong content ({part}); they count in no rate and no latency",
}


def _counted(code: str, cell: Cell, outcomes: Sequence[TrialOutcome]) -> RunWarning | None:
    field, words = _COUNTED[code]
    stream = cell.pattern in ONE_WAY
    words = _COUNTED_IN_STREAMS.get(code, words) if stream else words
    theirs = code == "late" and any(each.imported for each in outcomes)
    if theirs:
        words = "of {total:,} messages were too late for the tool that measured them ({part})"
    counts = [counts_of(each) or TrialCounts() for each in outcomes]
    if stream and code == "publish-failed":  # includes publishes that timed out; back-pressure has its own warning
        counts = [
            msgspec.structs.replace(each, publish_failed=_refused(outcome))
            for each, outcome in zip(counts, outcomes, strict=True)
        ]
    number = sum(getattr(each, field) for each in counts)
    if number == 0:
        return None
    if code == "publish-failed":
        total = sum(each.sent for each in counts)
    elif code == "damaged" and not stream:  # pongs that do not echo also find damage
        total = cell.subscribers * sum(each.sent for each in counts)
    else:
        total = sum(each.received + each.lost for each in counts)
    occurred = sum(getattr(each, field) > 0 for each in counts)
    text = f"{number:,} " + words.format(total=total, part=_part(number, total)) + in_trials(occurred, len(counts))
    return RunWarning(code, text, "" if theirs else _advice(code, cell))


def _refused(outcome: TrialOutcome) -> int:
    return sum(each.publish_failed for each in outcome.publishers)


def _advice(code: str, cell: Cell) -> str:
    if code == "loss":
        if cell.reliability == "best-effort":
            return "--reliability reliable makes the middleware resend lost messages"
        return "use a deeper history (--depth all) and larger socket buffers (sysctl net.core.rmem_max)"
    if code == "late":
        return "raise the suite's timeout to count them, or find the cause of the stalls: --priority fifo:80, --pin 0,1"
    if code == "publish-failed":
        return "the middleware has no room for another message: --depth all, or fewer subscribers"
    if code == "damaged":
        return "the received content differs from what was sent: report this to its authors, with this run's folder"
    if code == "duplicated":
        return "check that no other run uses the same domain: leave --domain out"
    if cell.pattern in ONE_WAY:
        return "an application would see the wrong order: use one publisher per topic, or the middleware's ordering"
    return "round trips are matched by number, so their times are right; an application would see the wrong order"


def _few_samples(outcomes: Sequence[TrialOutcome], summaries: Sequence[Summary | None]) -> RunWarning | None:
    if any(each.imported for each in outcomes):  # in another tool's log, a missing figure does not mean too few samples
        return None
    if not outcomes or any(each and each.p50 is not None for each in summaries):
        return None
    if any(each.crowd is not None and not each.crowd.publishers_due for each in outcomes):  # no publisher to hear
        return None
    most = max(each.samples for each in outcomes)
    trials = f"no trial has more than {most}" if len(outcomes) > 1 else f"there are {most}"
    return RunWarning(
        "few-samples", f"a median needs 20 samples and {trials}", "measure longer: --duration 2s or --samples 1000"
    )


def _trials_failed(outcomes: Sequence[TrialOutcome]) -> RunWarning | None:
    failures = [each.failed for each in outcomes if each.failed]
    if not failures or len(failures) == len(outcomes):
        return None
    first = failures[0]
    return RunWarning(
        "trials-failed", f"{len(failures)} of {len(outcomes)} trials failed; the first: {first.text}", first.advice
    )


def _trials_disagree(cell: Cell, summaries: Sequence[Summary | None]) -> RunWarning | None:
    medians = [each.p50 for each in summaries if each and each.p50 is not None]
    return _apart(cell, medians, "medians", _us, "µs")


def _rates_disagree(cell: Cell, rates: Sequence[float | None]) -> RunWarning | None:
    hertz = [each for each in rates if each is not None]
    return _apart(cell, hertz, "rates", lambda rate: f"{rate:,.0f}", "messages/s")


def _apart(
    cell: Cell, figures: Sequence[float], name: str, show: Callable[[float], str], unit: str
) -> RunWarning | None:
    if not figures or max(figures) <= DISAGREE * min(figures):
        return None
    trials, middle = len(figures), statistics.median(figures)
    near = sorted(figures, key=lambda each: abs(each - middle))
    near, strays = near[: trials - trials // STRAY], near[trials - trials // STRAY :]
    code, text = "trials-disagree", f"the {name} of its {trials} trials"
    interval = exact_median_interval(figures, 0.95) if trials >= STRAY else None
    end = ""
    if max(near) <= DISAGREE * min(near):
        code, text = (
            "stray-trial",
            f"{' and '.join(map(show, strays))} {unit} in {len(strays)} of {trials} trials, the others",
        )
        figures = near
    elif interval and interval[1] <= DISAGREE * interval[0]:
        code, end = "stray-trial", f"; their median lies between {' and '.join(map(show, interval))} {unit} (95 %)"
    return RunWarning(code, f"{text} go from {show(min(figures))} to {show(max(figures))} {unit}{end}", _quiet(cell))


def _quiet(cell: Cell) -> str:
    if cell.pin is None and "pin" not in cell.unknown:
        return "pin the roles (--pin 0,1): without pinning, each trial may use other processors"
    return "quiet the machine, or measure more trials (--trials 10) and quote the spread with the median"


def _us(ns: float) -> str:
    return f"{ns / 1000:.3g}" if ns < 999_500 else f"{ns / 1000:,.0f}"


def _actual_transport_varies(outcomes: Sequence[TrialOutcome]) -> RunWarning | None:
    carriers = sorted({each.actual_transport for each in outcomes if each.actual_transport})
    if len(carriers) <= 1:
        return None
    return RunWarning(
        "actual-transport-varies",
        f"the actual transport is {' in some trials and '.join(carriers)} in others",
        "the trials are not comparable: fix the transport in the middleware's own settings and measure again",
    )


def faster_than_raw_transport(times: float | None, label: str | None, *, rate: bool = False) -> RunWarning | None:
    """Return the warning about a cell that is clearly better than its raw transport.

    ``rate``: by rate, else by latency.
    """
    if times is None or times >= FASTER:
        return None
    return RunWarning(
        "faster-than-baseline",
        f"receives {1 / times:.2g} times as much as the raw transport ({label})"
        if rate
        else f"takes {times:.2g} of the time of the raw transport ({label})",
        "measure both again with --awake --trials 10: the middleware's threads may keep the processors awake, the raw "
        "transport may have been disturbed, or fewer bytes were moved than asked",
    )


def below_baseline(times: float, label: str, doubted: str | None, *, untouched: bool) -> RunWarning:
    """Return the warning about a cell that is significantly faster than its baseline, with a possible reason.

    ``doubted``: the code of a warning that makes the baseline's own median doubtful.
    """
    if doubted is not None:
        why = f"the baseline's own median is doubtful ({doubted}): measure both again with --trials 10"
    elif untouched:
        why = "no role wrote or read the payload, so fewer bytes may have been moved than asked: use --payload filled"
    else:
        why = (
            "measure both again with --awake --trials 10: the middleware's threads may keep processors awake, or its "
            "transport passes a pointer although its description says that it copies"
        )
    return RunWarning("faster-than-baseline", f"takes {times:.2g} of the time of its baseline ({label})", why)


def _part(number: int, total: int) -> str:
    return (
        "no total"
        if total == 0
        else f"{100 * number / total:.2g} %"
        if number * 2 < total
        else f"{100 * number / total:.3g} %"
    )
