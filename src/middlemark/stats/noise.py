"""Disturbances by the machine during a cell's trials: shares of the roles' processor time, and a warning."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Description
from middlemark.model.noise import Witnessed
from middlemark.model.outcome import RunWarning, ThreadCost, TrialOutcome
from middlemark.model.protocol import Still
from middlemark.stats.outliers import Stillness, middlewares, stillness
from middlemark.stats.rates import representative
from middlemark.stats.result import Attribution, CellResult, Noise, Preemptor, TrialNoise
from middlemark.stats.trials import TrialSummary, figures

TAKEN = 0.01
"""Other processes may take this share of the processors' time. A larger share affects the trial's p99, and not only its
tail."""

DELAYED = 0.05
"""Roles may wait for a processor for this share of the time; used if only this wait is known. A woken thread waits even
on an idle machine. The probes measure that wait, and it is subtracted, but it varies between wake-ups."""

RESTLESS = 3.0
"""A trial is disturbed if its processors were interrupted for a share of the time, before and after it, that exceeds
both TAKEN and this many times the share of the run's median trial."""

MORE_IRQ = 0.05
"""The share of a trial's time in interrupts may exceed the share of the cell's median trial by this difference."""

MOST_PREEMPTORS = 8
MOST_NAMED = 4
MOST_DISTURBED = 100

TICK_NS = 10_000_000
"""Unit in which the kernel counts stolen time (USER_HZ)."""

DISTURBED = "machine-disturbed"
CROWDED = "there are more roles than processors, so roles wait for a processor"
NO_WAKES = "the probes before and after the run's trials never slept: the time that a wake-up takes is unknown"
DAEMON = "the roles also wait for the middleware's daemon"

_ROLES = ("ping", "pong", "publisher", "subscriber", "client", "server")
"""First words of the names of the roles' threads. A number may follow."""


class Usual(msgspec.Struct, frozen=True):
    """Figures of the run's probes, each as the median over its trials. None: no probe measured the figure."""

    still_share: float | None
    wake_ns: float | None
    """Time in ns that a woken thread waits for a processor that no other thread has."""


def with_noise(
    results: Sequence[CellResult],
    of_cell: Sequence[Sequence[TrialSummary]],
    descriptions: Mapping[str, Description],
) -> list[CellResult]:
    """Return the results with their noise.

    A result also gets a warning if the machine disturbed one of its trials too much.
    """
    seen = [each.outcome.noise for trials in of_cell for each in trials if each.outcome.noise]
    still = stillness(seen)
    usual = Usual(still_share=_median(map(_restless, seen)), wake_ns=_median(map(_wake_ns, seen)))
    found = []
    for result, trials in zip(results, of_cell, strict=True):
        noise = noise_of(result.cell, trials, still, usual, has_daemon=_has_daemon(result.cell, descriptions))
        warning = disturbed(noise) if noise is not None else None
        warnings = (*result.warnings, warning) if warning else result.warnings
        found.append(msgspec.structs.replace(result, noise=noise, warnings=warnings))
    return found


def _has_daemon(cell: Cell, descriptions: Mapping[str, Description]) -> bool:
    """Say whether the bench runs a daemon for the cell.

    The daemon's time counts as the middleware's time, not as another process's.
    """
    described = descriptions.get(cell.adapter)
    transport = described.transport(cell.transport) if described else None
    return transport is not None and transport.has_companions(cell.via)


def noise_of(
    cell: Cell, trials: Sequence[TrialSummary], still: Stillness, usual: Usual, *, has_daemon: bool = False
) -> Noise | None:
    """Return the noise of a cell's measured trials; None: no noise was observed. ``still``: from the run's probes."""
    watched = [(each, each.outcome.noise) for each in trials if each.outcome.failed is None and each.outcome.noise]
    if not watched:
        return None
    irq = _median(_irq(seen) for _, seen in watched)
    irq = irq if len(watched) > 2 else None
    no_delay = DAEMON if has_daemon else NO_WAKES if usual.wake_ns is None else None
    usual = msgspec.structs.replace(usual, wake_ns=None) if has_daemon else usual
    of_trials = tuple(_trial(each, seen, still, usual, irq) for each, seen in watched)
    measured = [each for each in trials if each.outcome.failed is None]
    chosen = representative([each.outcome for each in measured], figures(cell, measured))
    chosen = chosen if chosen is not None and chosen.noise is not None else watched[0][0].outcome
    shares = [name for name in Noise.__struct_fields__ if name.endswith("_share")]
    found: dict[str, Any] = {name: _median(getattr(each, name) for each in of_trials) for name in shares}
    for name in ("longest_gap_ns", "longest_spell_ns"):
        found[name] = max((ns for each in of_trials if (ns := getattr(each, name)) is not None), default=None)
    attributed = [each.above_p99_9 for each in of_trials if each.above_p99_9]
    return Noise(
        **found,
        throttled_ns=_sum(each.throttled_ns for each in of_trials),
        above_p99_9=_added_up(attributed) if attributed else None,
        trials=of_trials,
        disturbed=_intervals(chosen),
        disturbed_trial=chosen.number,
        absent={field: reason for _, seen in watched for field, reason in seen.absent.items()}
        | ({"delay_share": no_delay} if no_delay and any(seen.switches is None for _, seen in watched) else {})
        | ({"delay_share": CROWDED} if any(_crowded(each.outcome) for each, _ in watched) else {}),
    )


def _trial(summary: TrialSummary, seen: Witnessed, still: Stillness, usual: Usual, irq: float | None) -> TrialNoise:
    seconds = max(seen.to_ns - seen.from_ns, 1) / 1e9
    time_ns = seconds * 1e9 * max(len(seen.cpus), 1)
    moved = seen.moved
    counted_ns = moved.seconds * 1e9 * max(len(moved.processors), 1) if moved else 0.0
    switches = seen.switches
    delay = None
    if seen.delay_ns is not None and switches is None and usual.wake_ns is not None and not _crowded(summary.outcome):
        own_ns = usual.wake_ns * (seen.voluntary or 0) + _own_threads_ns(summary.outcome)
        delay = max(0.0, seen.delay_ns - own_ns) / time_ns
    noise = TrialNoise(
        trial=summary.outcome.number,
        others_share=(sum(ns for _, ns in switches.others_ns) - switches.own_ns) / time_ns if switches else None,
        own_share=switches.own_ns / time_ns if switches else None,
        delay_share=delay,
        steal_share=sum(each.steal_ns for each in moved.processors) / counted_ns if moved and counted_ns else None,
        irq_share=sum(each.irq_ns for each in moved.processors) / counted_ns if moved and counted_ns else None,
        softirq_share=sum(each.softirq_ns for each in moved.processors) / counted_ns if moved and counted_ns else None,
        pressure_share=moved.pressure_some_ns / (moved.seconds * 1e9)
        if moved and moved.pressure_some_ns is not None and moved.seconds > 0
        else None,
        throttled_ns=moved.throttled_ns if moved else None,
        still_share=_restless(seen),
        longest_gap_ns=max((each.gaps.longest_ns for each in _probes(seen)), default=None),
        longest_spell_ns=max((length for _, length, _ in switches.spells), default=None) if switches else None,
        preemptors=_preemptors(seen, time_ns),
        above_p99_9=_attribute(summary, seen, still),
    )
    more = None if irq is None else _irq(seen) - irq
    throttled = moved.throttled if moved else None
    # The kernel counts stolen time in ticks, so one tick may be chance.
    certain = moved is not None and sum(each.steal_ns for each in moved.processors) > TICK_NS
    steal = (noise.steal_share or 0.0) if certain else 0.0
    return msgspec.structs.replace(noise, marked=_marks(noise, steal, throttled, usual.still_share, more))


def _crowded(outcome: TrialOutcome) -> bool:
    """Say whether there are more roles than processors, as in a robot with many nodes.

    The roles then wait for each other, so ``delay_share`` would not be noise of the machine.
    """
    roles = [each for cost in outcome.costs for each in cost.threads if _is_role(each)]
    return outcome.noise is not None and sum(each.threads or 0 for each in roles) > len(outcome.noise.cpus)


def _is_role(thread: ThreadCost) -> bool:
    return thread.name.partition(" ")[0] in _ROLES


def _own_threads_ns(outcome: TrialOutcome) -> int:
    """Return the time in ns of the middleware's own threads, which are all threads except the roles'."""
    threads = [thread for cost in outcome.costs for thread in cost.threads]
    return sum(each.cpu_ns for each in threads if not _is_role(each))


def _attribute(summary: TrialSummary, seen: Witnessed, still: Stillness) -> Attribution | None:
    found = summary.outliers
    if found is None:
        return None
    shorter = seen.switches.longest_of_the_shorter_ns if seen.switches else 0
    ours = middlewares(found, still, least_ns=2.0 * shorter)
    return Attribution(
        samples=found.above,
        machine=found.machine,
        middleware=ours,
        unknown=found.above - found.machine - ours,
        why=found.blind,
    )


def _added_up(trials: Sequence[Attribution]) -> Attribution:
    return Attribution(
        samples=sum(each.samples for each in trials),
        machine=sum(each.machine for each in trials),
        middleware=sum(each.middleware for each in trials),
        unknown=sum(each.unknown for each in trials),
        why=next((each.why for each in trials if each.why), None),
    )


def _preemptors(seen: Witnessed, time_ns: float) -> tuple[Preemptor, ...]:
    if seen.switches is None or seen.switches.scope != "processors":
        return ()
    by_name: dict[str | None, int] = {}
    for each in seen.switches.others:
        by_name[each.name] = by_name.get(each.name, 0) + each.ns
    pids = {each.name: each.pid for each in reversed(seen.switches.others)}
    ranked = sorted(by_name.items(), key=lambda item: -item[1])[:MOST_PREEMPTORS]
    return tuple(Preemptor(name=name, pid=pids.get(name), share=ns / time_ns) for name, ns in ranked)


def _marks(
    noise: TrialNoise, steal: float, periods: int | None, usual: float | None, more_irq: float | None
) -> tuple[str, ...]:
    """Return in words the disturbances that exceed their limits; empty: no disturbance does."""
    found = []
    if (noise.others_share or 0.0) + steal > TAKEN and (noise.others_share or 0.0) >= steal:
        found.append(f"other processes had {percent(noise.others_share or 0.0)} of its processors' time{_who(noise)}")
    elif (noise.others_share or 0.0) + steal > TAKEN:
        found.append(f"the hypervisor stole {percent(steal)} of its processors' time")
    if noise.delay_share is not None and noise.delay_share > DELAYED:
        found.append(
            f"its roles waited {percent(noise.delay_share)} of the time for a processor that another thread had"
        )
    if periods:
        found.append(f"its control group was throttled in {periods} periods, {(noise.throttled_ns or 0) / 1e6:,.1f} ms")
    restless = noise.still_share
    if restless is not None and usual is not None and restless > max(TAKEN, RESTLESS * usual):
        found.append(
            f"before and after it the processors were interrupted for {percent(restless)} of the time,"
            f" usually for {percent(usual)}"
        )
    if more_irq is not None and more_irq > MORE_IRQ:
        found.append(f"interrupts took {percent(more_irq)} more of the time than in the cell's median trial")
    return tuple(found)


def _who(noise: TrialNoise) -> str:
    named = [each for each in noise.preemptors if each.share >= 0.1 * (noise.others_share or 0.0)]
    names = [
        f"{each.name or 'an ended process'}{'' if each.pid is None else f' (pid {each.pid})'} {percent(each.share)}"
        for each in named[:MOST_NAMED]
    ]
    return f" ({', '.join(names)})" if names else ""


_ADVICE = {
    "other processes": "end the other processes, or move them to other processors: taskset -cp OTHER_CPU PID",
    "its roles waited": "end the other processes, or move them to other processors: `top` shows them",
    "the hypervisor": "the host also runs other guests: measure on a dedicated machine, or at another time",
    "its control group": "raise the container's cpu limit (cpu.max), or remove it",
    "before and after it": "firmware or the hypervisor took the time: measure that trial again",
    "interrupts": "move interrupts to other processors: /proc/irq/*/smp_affinity",
}


def disturbed(noise: Noise) -> RunWarning | None:
    """Return the warning about the trials that the machine disturbed too much; None: there are no such trials."""
    marked = [each for each in noise.trials if each.marked]
    if not marked:
        return None
    most = max(marked, key=lambda each: (each.others_share or 0) + (each.steal_share or 0) + (each.delay_share or 0))
    trials = ", ".join(str(each.trial) for each in marked)
    which = f"in trial {trials}" if len(marked) == 1 else f"in {len(marked)} of {len(noise.trials)} trials ({trials})"
    worst = "" if len(marked) == 1 else f"; most in trial {most.trial}"
    advice = dict.fromkeys(
        text for each in marked for mark in each.marked for start, text in _ADVICE.items() if mark.startswith(start)
    )
    return RunWarning(DISTURBED, f"{which}{worst}: {'; '.join(most.marked)}", "; ".join(advice))


def _intervals(outcome: TrialOutcome) -> tuple[tuple[float, float], ...]:
    """Return the longest intervals in which another process used a role's processor, in s since the measuring began."""
    seen = outcome.noise
    if seen is None or seen.switches is None:
        return ()
    longest = sorted(seen.switches.spells, key=lambda spell: -spell[1])[:MOST_DISTURBED]
    return tuple(sorted((begin / 1e9, (begin + length) / 1e9) for begin, length, _ in longest))


def _probes(seen: Witnessed) -> tuple[Still, ...]:
    return (*(seen.before or ()), *(seen.after or ()))


def _restless(seen: Witnessed) -> float | None:
    """Return the share of the probes' time in which the probing thread was interrupted. None: nothing was probed."""
    probes = _probes(seen)
    spun = sum(each.spun_ns - each.taken.total_ns for each in probes)
    return min(1.0, sum(each.gaps.total_ns for each in probes) / spun) if spun > 0 else None


def _wake_ns(seen: Witnessed) -> float | None:
    probes = _probes(seen)
    wakes = sum(each.wakes for each in probes)
    return sum(each.waited_ns for each in probes) / wakes if wakes else None


def _irq(seen: Witnessed) -> float:
    moved = seen.moved
    if moved is None or not moved.processors or moved.seconds <= 0:
        return 0.0
    took = sum(each.irq_ns + each.softirq_ns for each in moved.processors)
    return took / (moved.seconds * 1e9 * len(moved.processors))


def percent(share: float) -> str:
    """Format a share of the time: ``0.3 %``, ``12 %``; a share above zero is never shown as 0."""
    return "0 %" if share <= 0 else f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def _median(figures_of: Iterable[float | None]) -> float | None:
    present = [each for each in figures_of if each is not None]
    return statistics.median(present) if present else None


def _sum(figures_of: Iterable[int | None]) -> int | None:
    present = [each for each in figures_of if each is not None]
    return sum(present) if present else None
