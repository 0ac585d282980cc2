"""Warnings about one trial that ended early, used another transport, was placed differently or has unexplained time."""

from collections.abc import Iterable, Mapping, Sequence

from middlemark.model.cell import Cell
from middlemark.model.description import Description
from middlemark.model.outcome import Placed, RunWarning, TrialCounts, TrialOutcome
from middlemark.model.plan import Limits
from middlemark.model.units import format_size
from middlemark.model.user_file import KEY
from middlemark.stats.baselines import carrier_of, used_another_transport
from middlemark.stats.rates import counts as counts_of

_ENDED_SHORT = 0.98
"""A trial counts as complete from this share of its duration on: the last round trip may end a little earlier."""


def trial_warnings(
    cell: Cell, limits: Limits, outcome: TrialOutcome, descriptions: Mapping[str, Description]
) -> tuple[RunWarning, ...]:
    """Return the warnings about one measured trial.

    The launcher's warnings (``outcome.warnings``) come first, then those that this module finds in the outcome.
    """
    found = (
        _transport_contradicted(cell, outcome, descriptions),
        _exceeds_segment(cell, outcome),
        _own_configuration(cell, outcome),
        _ended_early(cell, limits, outcome),
        not_in_force(cell, outcome.placed),
    )
    return (*outcome.warnings, *(each for each in found if each))


def _transport_contradicted(
    cell: Cell, outcome: TrialOutcome, descriptions: Mapping[str, Description]
) -> RunWarning | None:
    if not used_another_transport(cell, outcome, descriptions):
        return None
    due = carrier_of(cell, descriptions)
    should = "" if due == cell.transport else f" (which is {due})"
    # The adapter's notes may have the reason (a segment too small, a type that does not fit).
    notes = f"; its adapter reports: {'; '.join(outcome.notes)}" if outcome.notes else ""
    return RunWarning(
        "transport-contradicted",
        f"asked for {cell.transport}{should}; the actual transport is {outcome.actual_transport}{notes}",
        "do not quote it under that transport's name: the middleware used another one, or other traffic was "
        "counted; quiet the machine, and see in the adapter's README when a transport cannot be used",
    )


def _own_configuration(cell: Cell, outcome: TrialOutcome) -> RunWarning | None:
    """Return the warning about a user's own file: the settings in place of the file, and the middleware's remarks."""
    if KEY not in dict(cell.native) or not outcome.notes:
        return None
    return RunWarning(
        "own-configuration",
        "; ".join(outcome.notes),
        "`middlemark show RUN --settings` prints the settings in force",
    )


def _exceeds_segment(cell: Cell, outcome: TrialOutcome) -> RunWarning | None:
    """Return the warning about messages as large as the segment or larger. A segment also contains headers."""
    largest = max((each.size for each in cell.workload.topics), default=0) if cell.workload else cell.size
    segment = outcome.segment
    if segment is None or largest < segment.bytes:
        return None
    if outcome.actual_transport in (None, "shared-memory"):
        effect = "its parts wait for room in the segment, or are dropped and sent again"
    else:
        effect = f"the actual transport is {outcome.actual_transport}"
    return RunWarning(
        "message-exceeds-segment",
        f"a message of {format_size(largest)} does not fit into the shared-memory segment of"
        f" {format_size(segment.bytes)}: {effect}",
        f"make the segment several messages large: {segment.setting}",
    )


def _ended_early(cell: Cell, limits: Limits, outcome: TrialOutcome) -> RunWarning | None:
    if cell.rate in ("sustainable", "curve"):  # the search decides how long a step lasts
        return None
    due = limits.samples * cell.publishers if limits.samples is not None else None
    counts = counts_of(outcome)
    if due is not None and counts is not None and _attempted(outcome, counts) < due:
        text = f"ended after {counts.sent:,} of {due:,} messages"
    elif limits.duration_s is not None and (outcome.measured_s or 0.0) < limits.duration_s * _ENDED_SHORT:
        text = f"ended after {outcome.measured_s or 0.0:.3g} of {limits.duration_s:.3g} s"
    else:
        return None
    return RunWarning(
        "ended-early",
        text,
        f"the figures until then are kept; measure fewer samples, or raise the limit of {limits.limit_s:g} s",
    )


def _attempted(outcome: TrialOutcome, counts: TrialCounts) -> int:
    """Return the number of messages that were sent or failed to be sent.

    In a stream, each attempt counts as a sample.
    """
    return counts.sent + sum(each.timed_out + each.publish_failed for each in outcome.publishers)


def not_in_force(cell: Cell, placed: Iterable[Placed]) -> RunWarning | None:
    """Return the warning about a trial whose actual placement is not the cell's."""
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
    return RunWarning("placement-not-in-force", "; ".join(dict.fromkeys(found)), "; ".join(dict.fromkeys(advice)))


def _list(processors: Sequence[int]) -> str:
    return ",".join(map(str, processors))


UNACCOUNTED = 0.20
"""At most this share of a closed loop's time may pass between round trips. An overbooked machine has about 10 %."""

OWN_NS = 500
"""The bench's own time in ns for a message between two round trips: six stamps, a record and the counters (100
to 400)."""

SLEPT = 0.1
"""Workers that sleep less often than this per message count as polling. If both ends wait, a message has two sleeps."""

_FEWEST = 100


def time_unaccounted(cell: Cell, outcome: TrialOutcome, spent_ns: float, samples: int) -> RunWarning | None:
    """Return the warning about a closed loop whose round trips take much less than the measured time.

    ``spent_ns``: the time of all round trips of the trial, with obtaining, filling and checking their messages. None
    unless every message is a sample: lost or damaged messages also take time, and have their own warnings.
    """
    if not _closed(cell) or outcome.counts is None or not outcome.measured_s or samples < _FEWEST:
        return None
    measured_ns = outcome.measured_s * 1e9 * cell.publishers
    unaccounted_ns = measured_ns - spent_ns - samples * OWN_NS
    if outcome.counts.sent != samples or unaccounted_ns <= UNACCOUNTED * measured_ns:
        return None
    return RunWarning(
        "time-unaccounted",
        f"its {samples:,} round trips, with writing and checking the payloads, make up {spent_ns / 1e9:.3g} of the "
        f"{measured_ns / 1e9:.3g} s measured: {100 * unaccounted_ns / measured_ns:.0f} % of the time passed "
        "between round trips",
        "an application would also wait for this time: quote messages per second with the latency, and find what "
        "the middleware does before and after a message: perf record -g -p PID",
    )


def never_slept(cell: Cell, outcome: TrialOutcome) -> RunWarning | None:
    """Return the warning about a blocking round trip without any sleep: the roles polled, as with ``poll``."""
    if (
        not _closed(cell)
        or cell.receive != "block"
        or cell.subscribers == 0
        or not outcome.costs
        or outcome.counts is None
    ):
        return None
    slept = sum(each.voluntary_switches for each in outcome.costs)
    messages = outcome.counts.received
    if messages < _FEWEST or slept >= SLEPT * messages:
        return None
    return RunWarning(
        "reception-not-in-force",
        f"asked to block, but its roles slept {slept:,} times in {messages:,} round trips: the middleware waits by "
        "spinning, as under --receive poll",
        "compare it with rows that poll, not with rows that block; the adapter's README says how it waits",
    )


MOSTLY = 0.5
"""The warning needs at least this share of a round trip in which no worker ran and no role waited for a busy
processor."""

HALTS_NS = 10_000
"""If timed sleeps end late by at least this mean time in ns, idle processors halt. If not, sleeps end late by some 2
µs."""

_SMALL = 4096
"""For messages up to this size, in bytes, the copies take a small part of the time."""


def mostly_idle(cell: Cell, outcome: TrialOutcome, samples: int) -> RunWarning | None:
    """Return the warning about a blocking round trip that consists mostly of processors that halt and wake up.

    Only for one message at a time between two roles and without loss, because a timeout is idle time too.
    """
    is_one_to_one = cell.publishers == 1 and cell.subscribers == 1
    if not (_closed(cell) and is_one_to_one and cell.receive == "block" and cell.size <= _SMALL) or cell.awake:
        return None
    counts, seen = outcome.counts, outcome.noise
    if counts is None or seen is None or not outcome.costs or samples < _FEWEST:
        return None
    if counts != TrialCounts(sent=samples, received=samples):
        return None
    probes = seen.before or ()
    wakes = sum(each.wakes for each in probes)
    late_ns = sum(each.late.total_ns for each in probes) / wakes if wakes else 0.0
    ran = sum((each.user_ns + each.system_ns) / (each.seconds * 1e9) for each in outcome.costs if each.seconds)
    waited = (seen.delay_ns or 0) / max(seen.to_ns - seen.from_ns, 1)
    idle = 1 - ran - waited
    if idle < MOSTLY or late_ns < HALTS_NS:
        return None
    return RunWarning(
        "mostly-idle",
        f"for {100 * idle:.0f} % of its time no thread ran: the processors halt between messages, and on this "
        f"machine they wake up {late_ns / 1000:.0f} µs late with any middleware",
        "measure with --awake, which keeps the processors from halting: the remaining time is the middleware's",
    )


def _closed(cell: Cell) -> bool:
    return cell.pattern != "stream" and cell.rate == "max"
