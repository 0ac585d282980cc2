"""The limits of the machine that rows met, found in the evidence of the rows' trials.

Rows are examined if they lost messages, if their p99 is far above their p50, or if their rate is far below the raw
transport's. Configurations that could not be measured are examined too.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from middlemark.model.cell import Cell
from middlemark.model.description import Description
from middlemark.model.outcome import TrialOutcome
from middlemark.model.units import format_percent, format_size
from middlemark.stats.baselines import carrier_of
from middlemark.stats.result import CellResult

TAIL = 5.0
"""A row's p99 is far above its p50 if the ratio is at least this."""
SLOW = 3.0
"""A row's rate is far below the raw transport's if the raw transport's rate is at least this many times as high."""
SOME = 0.001
"""If a larger share of datagrams or segments than this was dropped, the drops explain a symptom."""
HELD = 0.02
"""If a limit took at least this share of the measured time, it explains a symptom."""
WAITING = 0.25
_NO_ROOM = re.compile(r"SIGBUS|signal 7\b|bus error|no space left|not enough (space|memory)|ENOSPC|out of memory", re.I)
_STOPS = ("cgroup_cpu", "cgroup_rt", "sched_rt_runtime_us")
"""Checks of limits that stop threads. ``_run_queue`` leaves these out, because stopped threads also wait in the
run queue."""
_LEAST_ROOM = 16 << 20
_LARGE = 64 << 10


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """A limit that a row met."""

    cell: int
    """Index into the plan's cells."""
    check: str
    """The machine check for this limit (``middlemark.system``)."""
    symptom: str
    """The symptom in words: ``lost 59 % of its messages``."""
    seen: str
    """The evidence in words, as the end of a sentence."""
    setting: str = ""
    """The file or sysctl with the limit, if the trials name it."""
    advice: str = ""
    """How to lift the limit, if no setting of the machine lifts it."""
    weight: float
    """Severity of the symptom. Limits are sorted by it."""


class _Trials(msgspec.Struct, frozen=True):
    cell: Cell
    outcomes: Sequence[TrialOutcome]
    carrier: str | None

    def network(self, field: str) -> int:
        """Return the sum of a counter of the network over all trials."""
        return sum(getattr(each.network, field) for each in self.outcomes if each.network is not None)

    def often(self, holds: Callable[[TrialOutcome], bool]) -> bool:
        """Say whether the condition is true in at least half of the trials; False without trials."""
        return bool(self.outcomes) and 2 * sum(map(holds, self.outcomes)) >= len(self.outcomes)


Found = tuple[str, str, str, str]
"""(check, evidence, setting, advice)."""
Rule = Callable[[_Trials], Found | None]


def limits_of(
    results: Sequence[CellResult], outcomes: Sequence[TrialOutcome], descriptions: Mapping[str, Description]
) -> tuple[Limit, ...]:
    """Return the limits that the rows met, the worst symptom first. ``results``: a plan's cells in order."""
    found: list[Limit] = []
    for index, result in enumerate(results):
        symptom = _symptom(result)
        if symptom is None or result.imported is not None:
            continue
        text, weight = symptom
        mine = [each for each in outcomes if each.cell == index]
        failing = result.failed is not None
        trials = _Trials(
            result.cell,
            [each for each in mine if (each.failed is not None) == failing],
            carrier_of(result.cell, descriptions),
        )
        for rule in (_no_room,) if failing else _RULES:
            stopped = any(each.cell == index and each.check in _STOPS for each in found)
            if not (rule is _run_queue and stopped) and (hit := rule(trials)) is not None:
                check, seen, setting, advice = hit
                found.append(
                    Limit(
                        cell=index, check=check, symptom=text, seen=seen, setting=setting, advice=advice, weight=weight
                    )
                )
    return tuple(sorted(found, key=lambda each: -each.weight))


def _symptom(result: CellResult) -> tuple[str, float] | None:
    """Return a row's symptom in words, and its severity; None: there is no symptom."""
    if result.failed is not None:
        return "could not be measured", 1e9
    sent, lost = result.counts.sent, result.counts.lost
    if lost > 0 and sent > 0:
        share = min(1.0, lost / max(sent, lost))
        return f"lost {format_percent(float(f'{share:.2g}'))} of its messages", 1e6 * share + 1
    if any(each.code == "missed-instants" for each in result.warnings):
        return "did not keep its rate", 1e5
    slow = result.times_raw_transport
    if result.cell.rate == "max" and result.cell.pattern == "stream" and slow is not None and slow >= SLOW:
        return f"is {slow:.1f} times slower than the raw transport", slow
    p50, p99 = result.median("p50"), result.median("p99")
    if p50 and p99 and p99 >= TAIL * p50:
        return f"has a p99 of {p99 / p50:.0f} times its p50", p99 / p50
    return None


def _receive_buffer(trials: _Trials) -> Found | None:
    cell = trials.cell
    if cell.rate == "max" and cell.reliability == "best-effort" and cell.pattern == "stream" and cell.size < _LARGE:
        return None  # at full rate, every buffer is full
    text = "datagrams found a socket's receive buffer full (RcvbufErrors)"
    return _dropped(trials, "rmem_max", "udp_rcvbuf_errors", text)


def _send_buffer(trials: _Trials) -> Found | None:
    text = "datagrams found a socket's send buffer full (SndbufErrors)"
    return _dropped(trials, "wmem_max", "udp_sndbuf_errors", text)


def _fragments(trials: _Trials) -> Found | None:
    late = trials.network("ip_reasm_timeouts")
    text = f"datagrams were not reassembled from their fragments (ReasmFails; {late:,} of them timed out)"
    return _dropped(trials, "ipfrag_high_thresh", "ip_reasm_fails", text)


def _backlog(trials: _Trials) -> Found | None:
    text = "packets found a processor's backlog full (softnet_stat)"
    return _dropped(trials, "netdev_max_backlog", "softnet_dropped", text, "loopback_packets")


def _queue(trials: _Trials) -> Found | None:
    dropped = sum((each.evidence.qdisc_dropped or 0) for each in trials.outcomes if each.evidence is not None)
    if dropped <= SOME * trials.network("loopback_packets") or not dropped:
        return None
    advice = "a longer queue of the link (queue=), a faster link, or a lower --rate"
    return "qdisc", f"{dropped:,} packets found the link's queue full (qdisc drops)", "", advice


def _again(trials: _Trials) -> Found | None:
    again = trials.network("tcp_retransmitted")
    segments = sum(each.evidence.tcp_segments for each in trials.outcomes if each.evidence is not None)
    if trials.carrier != "tcp" or again <= SOME * segments or not again:
        return None
    advice = "avoid packet loss: use a link without loss, or a longer queue"
    return "tcp", f"TCP sent {again:,} of {segments:,} segments again", "", advice


def _quota(trials: _Trials) -> Found | None:
    def held(each: TrialOutcome) -> bool:
        moved = each.noise.moved if each.noise else None
        return moved is not None and (moved.throttled_ns or 0) >= HELD * moved.seconds * 1e9

    if not trials.often(held):
        return None
    moved = [each.noise.moved for each in trials.outcomes if each.noise and each.noise.moved]
    share = sum((each.throttled_ns or 0) / 1e9 for each in moved) / sum(each.seconds for each in moved)
    group = moved[0].group
    where = f" {group}" if group else ""
    text = f"the quota of control group{where} stopped threads for {share:.2f} s in each second (sum over the threads)"
    return "cgroup_cpu", text, group, "run outside of that group, or give it more" if not group else ""


def _real_time(trials: _Trials) -> Found | None:
    """Find whether the limit for real-time threads stopped threads: they waited at the highest priority."""
    if trials.cell.priority == "other":
        return None

    def held(each: TrialOutcome) -> bool:
        noise = each.noise
        moved = noise.moved if noise else None
        if noise is None or moved is None or not moved.rt_runtime_us or not moved.rt_period_us or not noise.delay_ns:
            return False
        denied = (1 - moved.rt_runtime_us / moved.rt_period_us) * (noise.to_ns - noise.from_ns)
        return noise.delay_ns >= max(0.3 * denied, 1e7)

    if not trials.often(held):
        return None
    noise = next(each.noise for each in trials.outcomes if held(each) and each.noise)
    moved = noise.moved
    assert moved is not None
    text = (
        f"its real-time threads may run {moved.rt_runtime_us} µs of every {moved.rt_period_us} µs, and waited"
        f" {(noise.delay_ns or 0) / 1e6:,.0f}ms although no thread has a higher priority"
    )
    check = "cgroup_rt" if moved.rt_limit.startswith("/") else "sched_rt_runtime_us"
    return check, text, moved.rt_limit, ""


def _steal(trials: _Trials) -> Found | None:
    def stolen(each: TrialOutcome) -> float:
        moved = each.noise.moved if each.noise else None
        if moved is None or not moved.processors:
            return 0.0
        return sum(cpu.steal_ns for cpu in moved.processors) / (1e9 * moved.seconds * len(moved.processors))

    if not trials.often(lambda each: stolen(each) >= HELD):
        return None
    share = sum(map(stolen, trials.outcomes)) / len(trials.outcomes)
    text = f"the hypervisor gave processors to others for {format_percent(float(f'{share:.2g}'))} of the time (steal)"
    return "steal", text, "", "measure on a host with dedicated processors"


def _run_queue(trials: _Trials) -> Found | None:
    def waited(each: TrialOutcome) -> float:
        noise = each.noise
        return 0.0 if noise is None else (noise.middleware_delay_ns or 0) / max(noise.to_ns - noise.from_ns, 1)

    if not trials.often(lambda each: waited(each) >= WAITING):
        return None
    seconds = sum(map(waited, trials.outcomes)) / len(trials.outcomes)
    text = f"the middleware's own threads waited {seconds:.2f} s in each second for a processor (schedstat)"
    return "run_queue", text, "", "more processors, --pin off, or --receive block where roles poll"


def _faults(trials: _Trials) -> Found | None:
    def faults(each: TrialOutcome) -> float:
        return sum((cost.major_faults or 0) / max(cost.seconds, 1e-9) for cost in each.costs)

    if not trials.often(lambda each: faults(each) >= 10):
        return None
    hz = sum(map(faults, trials.outcomes)) / len(trials.outcomes)
    return "mlock", f"{hz:,.0f} pages per second had to be read from disk (major faults)", "", "--mlock, or more memory"


def _no_room(trials: _Trials) -> Found | None:
    """Find whether /dev/shm was full, so that a trial was refused, died, or used another transport."""
    need = max(_LEAST_ROOM, 8 * trials.cell.size)

    def full(each: TrialOutcome) -> str:
        """Return the evidence; empty: there is no evidence."""
        little = each.shm is not None and each.shm.least_free_bytes < need
        if each.failed is not None:
            if "/dev/shm" in each.failed.text:
                return each.failed.text
            words = _NO_ROOM.search(f"{each.failed.text} {each.failed.advice} {' '.join(each.notes)}")
            return f"it ended with “{words[0]}”" if words and little else ""
        other = trials.carrier == "shared-memory" and each.actual_transport not in (None, trials.carrier)
        return f"the actual transport was {each.actual_transport}" if other and little else ""

    if not trials.often(lambda each: bool(full(each))):
        return None
    outcome = next(filter(full, trials.outcomes))
    text = full(outcome)
    if outcome.shm is not None and "/dev/shm" not in text:
        free, size = format_size(outcome.shm.least_free_bytes), format_size(outcome.shm.size_bytes)
        text = f"{free} of {size} were free in /dev/shm, and {text}"
    return "dev_shm", text, "", ""


def _dropped(trials: _Trials, check: str, dropped: str, text: str, total: str = "udp_in_datagrams") -> Found | None:
    """Find whether more than the share ``SOME`` was dropped in most trials.

    ``dropped``, ``total``: names of counters.
    """

    def many(each: TrialOutcome) -> bool:
        count, arrived = (getattr(each.network, name, 0) for name in (dropped, total))
        return bool(count / max(1, count + arrived) > SOME)

    return (check, f"{trials.network(dropped):,} {text}", "", "") if trials.often(many) else None


_RULES: tuple[Rule, ...] = (
    *(_receive_buffer, _fragments, _backlog, _queue, _send_buffer, _again),
    *(_quota, _real_time, _steal, _run_queue, _faults, _no_room),
)


def by_check(limits: Sequence[Limit]) -> Iterator[tuple[str, list[Limit]]]:
    """Yield each check with its limits, in the order of the worst symptom."""
    for check in dict.fromkeys(each.check for each in limits):
        yield check, [each for each in limits if each.check == check]
