"""What is doubtful about a cell, as values: what was found, and what to do next."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from middlemark.launch.outcome import Counts, Doubt, Placed, TrialOutcome
from middlemark.plan.cell import Cell, Limits
from middlemark.stats.floors import carrier_of
from middlemark.stats.rates import counts as counts_of
from middlemark.stats.result import Summary
from middlemark.workers.description import Description

NOT_MEASURED = "not-measured"
"""The code of the failure of a cell that the run did not come to."""

DISAGREE = 1.5
"""Medians of a cell's trials that lie further apart than this factor belong to more than one state of the system."""

FASTER = 0.9
"""A cell that takes less than this part of its floor's time does less than the floor does, or was placed better."""

_ENDED_SHORT = 0.98
"""A duration counts as kept from this part of it on: the last round trip may end a little before the time does."""


def trial_doubts(
    cell: Cell, limits: Limits, outcome: TrialOutcome, descriptions: Mapping[str, Description]
) -> tuple[Doubt, ...]:
    """Return the doubts about one measured trial: the launcher's own first, then what its outcome gives away."""
    found = (
        _transport_contradicted(cell, outcome, descriptions),
        _ended_early(cell, limits, outcome),
        _not_in_force(cell, outcome.placed),
    )
    return (*outcome.warnings, *(each for each in found if each))


def merged(trials: Sequence[tuple[Doubt, ...]]) -> tuple[Doubt, ...]:
    """Return one doubt a code, in the words of the first, with the number of trials it occurred in."""
    first: dict[str, Doubt] = {}
    times: dict[str, int] = {}
    for doubts in trials:
        for doubt in {each.code: each for each in reversed(doubts)}.values():
            first.setdefault(doubt.code, doubt)
            times[doubt.code] = times.get(doubt.code, 0) + 1
    return tuple(
        Doubt(code, doubt.text + in_trials(times[code], len(trials)), doubt.advice) for code, doubt in first.items()
    )


def joined(of_cell: Sequence[Doubt], of_trials: Sequence[Doubt]) -> tuple[Doubt, ...]:
    """Return one doubt a code, the trials' first; where both have it, the cell's total is told before their words."""
    total = {each.code: each for each in of_cell}
    known = [
        Doubt(each.code, f"{total[each.code].text}; {each.text}", total[each.code].advice or each.advice)
        if each.code in total
        else each
        for each in of_trials
    ]
    codes = {each.code for each in known}
    return (*known, *(each for each in of_cell if each.code not in codes))


def in_trials(occurred: int, trials: int) -> str:
    """Return `` (in 2 of 3 trials)``; nothing when there was only one."""
    return f" (in {occurred} of {trials} trials)" if trials > 1 else ""


def _transport_contradicted(cell: Cell, outcome: TrialOutcome, descriptions: Mapping[str, Description]) -> Doubt | None:
    due = carrier_of(cell, descriptions)
    if due is None or outcome.carried_by in (None, due):
        return None
    should = "" if due == cell.transport else f" (which is {due})"
    # Where the reason is known (a segment too small, a type that does not fit), the adapter has noted it.
    known = f"; its adapter says: {'; '.join(outcome.notes)}" if outcome.notes else ""
    return Doubt(
        "transport-contradicted",
        f"asked for {cell.transport}{should}, carried by {outcome.carried_by}{known}",
        "do not quote it as the transport in its name: the middleware took another way, or a neighbour's traffic was "
        "counted; quiet the machine, and see in the adapter's README what rules a transport out",
    )


def _ended_early(cell: Cell, limits: Limits, outcome: TrialOutcome) -> Doubt | None:
    if cell.rate in ("sustainable", "curve"):  # a step lasts as long as the search gives it
        return None
    due = limits.samples * cell.publishers if limits.samples is not None else None
    counts = counts_of(outcome)
    if due is not None and counts is not None and _attempted(outcome, counts) < due:
        text = f"ended after {counts.sent:,} of {due:,} messages"
    elif limits.duration_s is not None and (outcome.measured_s or 0.0) < limits.duration_s * _ENDED_SHORT:
        text = f"ended after {outcome.measured_s or 0.0:.3g} of {limits.duration_s:.3g} s"
    else:
        return None
    return Doubt(
        "ended-early",
        text,
        f"what was measured by then is kept; measure fewer samples, or raise the limit of {limits.limit_s:g} s",
    )


def _attempted(outcome: TrialOutcome, counts: Counts) -> int:
    """Messages that were sent or could not be: of a stream each attempt counts towards its number of samples."""
    return counts.sent + sum(each.timed_out + each.publish_failed for each in outcome.publishers)


def _not_in_force(cell: Cell, placed: Iterable[Placed]) -> Doubt | None:
    policy, _, priority = cell.priority.partition(":")
    found: list[str] = []
    advice: list[str] = []
    for each in placed:
        if cell.pin is not None and not set(each.cpus) <= set(cell.pin):
            found.append(f"the {each.role} was on processors {_list(each.cpus)} instead of {_list(cell.pin)}")
            advice.append("see which processors this process may use: taskset -pc $$")
        if policy != "other" and (each.policy, each.priority) != (policy, int(priority)):
            real = each.policy if each.policy == "other" else f"{each.policy}:{each.priority}"
            found.append(f"the {each.role} ran under {real} instead of {cell.priority}")
            advice.append(f"allow real-time priorities (ulimit -r {priority}, or run as root)")
        if cell.mlock and not each.mlocked:
            found.append(f"the memory of the {each.role} was not locked")
            advice.append("allow locked memory (ulimit -l unlimited, or run as root)")
    if not found:
        return None
    return Doubt("placement-not-in-force", "; ".join(dict.fromkeys(found)), "; ".join(dict.fromkeys(advice)))


def cell_doubts(
    cell: Cell,
    outcomes: Sequence[TrialOutcome],
    summaries: Sequence[Summary | None],
    rates: Sequence[float | None] = (),
) -> tuple[Doubt, ...]:
    """Return the doubts about all trials together. The sequences hold one item a trial, failed ones included.

    ``summaries`` are of the latency that stands for the cell, ``rates`` its rates where those stand for it.
    """
    measured = [each for each in outcomes if each.failed is None]
    found = (
        *(doubt for code in _COUNTED if (doubt := _counted(code, cell, measured))),
        _few_samples(measured, summaries),
        _trials_failed(outcomes),
        _rates_disagree(cell, rates) if rates else _trials_disagree(cell, summaries),
        _carried_by_varies(measured),
    )
    return tuple(each for each in found if each)


_COUNTED = {
    "loss": ("lost", "of {of:,} replies never arrived ({part}); the latency is that of the others"),
    "late": ("late", "of {of:,} replies arrived after their timeout ({part}) and are no samples"),
    "publish-failed": ("publish_failed", "of {of:,} messages were not taken by the middleware ({part})"),
    "damaged": ("damaged", "of {of:,} messages arrived with wrong content ({part}); what the ping found is no sample"),
    "duplicated": ("duplicated", "of {of:,} messages arrived more than once ({part})"),
    "reordered": ("reordered", "of {of:,} messages arrived out of order ({part})"),
}
"""Doubts that are a count above zero: the field of Counts, and the words after the number."""

_COUNTED_IN_STREAMS = {
    "loss": "of {of:,} messages never arrived ({part}); rate and latency are those of the others",
    "damaged": "of {of:,} messages arrived with wrong content ({part}); they are in no rate and no latency",
}
"""Words that differ there."""


def _counted(code: str, cell: Cell, outcomes: Sequence[TrialOutcome]) -> Doubt | None:
    field, words = _COUNTED[code]
    stream = cell.pattern == "stream"
    words = _COUNTED_IN_STREAMS.get(code, words) if stream else words
    counts = [counts_of(each) or Counts() for each in outcomes]
    if stream and code == "publish-failed":  # there it counts those that timed out too, which back-pressure tells
        counts = [
            msgspec.structs.replace(each, publish_failed=_refused(of))
            for each, of in zip(counts, outcomes, strict=True)
        ]
    number = sum(getattr(each, field) for each in counts)
    if number == 0:
        return None
    if code == "publish-failed":
        of = sum(each.sent for each in counts)
    elif code == "damaged" and not stream:  # pongs that do not echo find damage too
        of = cell.subscribers * sum(each.sent for each in counts)
    else:
        of = sum(each.received + each.lost for each in counts)
    occurred = sum(getattr(each, field) > 0 for each in counts)
    text = f"{number:,} " + words.format(of=of, part=_part(number, of)) + in_trials(occurred, len(counts))
    return Doubt(code, text, _advice(code, cell))


def _refused(outcome: TrialOutcome) -> int:
    return sum(each.publish_failed for each in outcome.publishers)


def _advice(code: str, cell: Cell) -> str:
    if code == "loss":
        if cell.reliability == "best-effort":
            return "--reliability reliable asks the middleware to send again what was lost"
        return "give the history more room (--depth all) and the kernel's socket buffers too (sysctl net.core.rmem_max)"
    if code == "late":
        return "raise the suite's timeout to keep them, or look for what stalls: --priority fifo:80, --pin 0,1"
    if code == "publish-failed":
        return "the middleware has no room for another message: --depth all, or fewer subscribers"
    if code == "damaged":
        return "the content is not what was sent: report it to the middleware's authors, with this run's folder"
    if code == "duplicated":
        return "see whether another run shares the domain: leave --domain out"
    if cell.pattern == "stream":
        return "an application would see the order: a single publisher a topic, or the middleware's own ordering"
    return "a round trip is matched by its number and stays right; an application would see the order"


def _few_samples(outcomes: Sequence[TrialOutcome], summaries: Sequence[Summary | None]) -> Doubt | None:
    if any(each.imported for each in outcomes):  # what its tool does not tell is not for want of samples
        return None
    if not outcomes or any(each and each.p50 is not None for each in summaries):
        return None
    most = max(each.samples for each in outcomes)
    trials = f"no trial has more than {most}" if len(outcomes) > 1 else f"there are {most}"
    return Doubt(
        "few-samples", f"a median needs 20 samples and {trials}", "measure longer: --duration 2s or --samples 1000"
    )


def _trials_failed(outcomes: Sequence[TrialOutcome]) -> Doubt | None:
    failures = [each.failed for each in outcomes if each.failed]
    if not failures or len(failures) == len(outcomes):
        return None
    first = failures[0]
    return Doubt(
        "trials-failed", f"{len(failures)} of {len(outcomes)} trials failed; the first: {first.text}", first.advice
    )


def _trials_disagree(cell: Cell, summaries: Sequence[Summary | None]) -> Doubt | None:
    medians = [each.p50 for each in summaries if each and each.p50 is not None]
    if not medians or max(medians) <= DISAGREE * min(medians):
        return None
    text = f"the medians of its {len(medians)} trials go from {_us(min(medians))} to {_us(max(medians))} µs"
    return Doubt("trials-disagree", text, _quiet(cell))


def _quiet(cell: Cell) -> str:
    if cell.pin is None and "pin" not in cell.unknown:
        return "pin the roles (--pin 0,1): unpinned, each start may land elsewhere"
    return "quiet the machine, or measure more trials (--trials 10) and quote the spread with the median"


def _rates_disagree(cell: Cell, rates: Sequence[float | None]) -> Doubt | None:
    known = [each for each in rates if each is not None]
    if not known or max(known) <= DISAGREE * min(known):
        return None
    text = f"the rates of its {len(known)} trials go from {min(known):,.0f} to {max(known):,.0f} messages/s"
    return Doubt("trials-disagree", text, _quiet(cell))


def _us(ns: float) -> str:
    return f"{ns / 1000:.3g}" if ns < 999_500 else f"{ns / 1000:,.0f}"


def _carried_by_varies(outcomes: Sequence[TrialOutcome]) -> Doubt | None:
    carriers = sorted({each.carried_by for each in outcomes if each.carried_by})
    if len(carriers) <= 1:
        return None
    return Doubt(
        "carried-by-varies",
        f"carried by {' in some trials and '.join(carriers)} in others",
        "the trials are not of one kind: fix the transport in the middleware's own settings and measure again",
    )


def faster_than_floor(times_floor: float | None, label: str | None, *, rate: bool = False) -> Doubt | None:
    """Return the doubt about a cell that does clearly better than its floor: in latency, or by ``rate``."""
    if times_floor is None or times_floor >= FASTER:
        return None
    return Doubt(
        "faster-than-floor",
        f"receives {1 / times_floor:.2g} times what its floor does ({label})"
        if rate
        else f"takes {times_floor:.2g} of the time of its floor ({label})",
        "either the floor was disturbed or less was moved than was asked: measure both again with --trials 10",
    )


def _part(number: int, of: int) -> str:
    return "no total" if of == 0 else f"{100 * number / of:.2g} %" if number * 2 < of else f"{100 * number / of:.3g} %"


def _list(processors: Sequence[int]) -> str:
    return ",".join(map(str, processors))
