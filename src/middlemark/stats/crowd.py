"""The figures of a crowd: those of one trial, each declared once, and the result over its trials."""

import math
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from middlemark.model.crowd import Crowd, IdleUse
from middlemark.model.times import Summary

Part = TypeVar("Part")


class CrowdFigure(msgspec.Struct, frozen=True):
    """One figure of a trial: ``figure`` returns it, or None if it was not measured. Less is always better."""

    figure: Callable[[Crowd], float | None]
    unit: str
    means: str


def complete_p50_ns(crowd: Crowd) -> float | None:
    """Return the time until half of the participants were complete; None: fewer were, or there is nobody to hear."""
    if not crowd.publishers_due:
        return None
    times = sorted(math.inf if each is None else float(each) for each in crowd.complete_ns)
    middle = (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2
    return middle if math.isfinite(middle) else None


def complete_max_ns(crowd: Crowd) -> float | None:
    """Return the time until all participants were complete; None: some never were, or there is no publisher to hear."""
    times = [each for each in crowd.complete_ns if each is not None]
    return float(max(times)) if times and len(times) == len(crowd.complete_ns) else None


def join_ns(crowd: Crowd) -> float | None:
    """Return the time until the newcomer was complete; None: for the reason in ``Crowd.absent``."""
    return None if crowd.join is None else float(crowd.join.complete_ns)


def leave_ns(crowd: Crowd) -> float | None:
    """Return the time until all others had noticed that the killed participants were gone; None: as above."""
    return None if crowd.leave is None or crowd.leave.noticed_ns is None else float(crowd.leave.noticed_ns)


def storm_ns(crowd: Crowd) -> float | None:
    """Return the time from the end of the pause until all participants had found each other again; None: as above."""
    return None if crowd.storm is None else float(crowd.storm.complete_ns)


def never_matched(crowd: Crowd) -> float | None:
    """Return the share of the publishers that their subscribers never heard; None: there is no publisher to hear."""
    return 1 - crowd.publishers_heard / crowd.publishers_due if crowd.publishers_due else None


def _of_idle(figure: Callable[[IdleUse], float], unit: str, means: str) -> CrowdFigure:
    def per_participant(crowd: Crowd) -> float | None:
        return None if crowd.idle is None else figure(crowd.idle) / crowd.participants

    return CrowdFigure(per_participant, unit, f"{means}, for each participant of a crowd, while nothing is sent")


def _of_part(
    part: Callable[[Crowd], Part | None], figure: Callable[[Part], float], unit: str, means: str
) -> CrowdFigure:
    def of_crowd(crowd: Crowd) -> float | None:
        found = part(crowd)
        return None if found is None else float(figure(found))

    return CrowdFigure(of_crowd, unit, means)


_JOIN = "that one more participant costs while it opens"
_LEFT = "that killed participants leave behind"
_STORM = "from the end of a pause of the network until all participants have found each other again"

FIGURES: Mapping[str, CrowdFigure] = {
    "complete": CrowdFigure(
        complete_p50_ns,
        "ns",
        "from the opening of the first participant until half of them have heard all their publishers",
    ),
    "complete_max": CrowdFigure(
        complete_max_ns, "ns", "from the opening of the first participant until all have heard all their publishers"
    ),
    "never_matched": CrowdFigure(never_matched, "1", "the share of the publishers that their subscribers never heard"),
    "idle_cpu": _of_idle(lambda idle: idle.cpu, "processors", "processors used"),
    "idle_switches": _of_idle(lambda idle: idle.switches_hz, "switches/s", "context switches"),
    "idle_packets": _of_idle(lambda idle: idle.packets_hz, "packets/s", "packets"),
    "idle_bytes": _of_idle(lambda idle: idle.bytes_hz, "bytes/s", "bytes on the network"),
    "idle_memory": _of_idle(lambda idle: float(idle.rss_bytes), "bytes", "resident memory"),
    "idle_threads": _of_idle(lambda idle: float(idle.threads), "threads", "threads, including the bench's own"),
    "join": CrowdFigure(
        join_ns, "ns", "from the opening of one more participant until it has heard all its publishers"
    ),
    "join_cpu": _of_part(lambda each: each.join, lambda join: join.cpu_s, "s", f"processor time of the others {_JOIN}"),
    "join_packets": _of_part(lambda each: each.join, lambda join: join.packets, "packets", f"packets {_JOIN}"),
    "join_bytes": _of_part(lambda each: each.join, lambda join: join.bytes, "bytes", f"bytes on the network {_JOIN}"),
    "leave": CrowdFigure(
        leave_ns,
        "ns",
        "from the kill of a tenth of the participants until the publishers of all others no longer match them",
    ),
    "left_behind": _of_part(
        lambda each: each.leave, lambda leave: leave.left.paths, "paths", f"segments, sockets and files {_LEFT}"
    ),
    "left_bytes": _of_part(lambda each: each.leave, lambda leave: leave.left.bytes, "bytes", f"bytes {_LEFT}"),
    "storm": CrowdFigure(storm_ns, "ns", _STORM),
    "storm_packets": _of_part(lambda each: each.storm, lambda storm: storm.packets, "packets", f"packets {_STORM}"),
    "storm_bytes": _of_part(
        lambda each: each.storm, lambda storm: storm.bytes, "bytes", f"bytes on the network {_STORM}"
    ),
}
"""Name of a metric → its figure."""


class CompleteTimes(msgspec.Struct, frozen=True):
    """Times from the opening of the first participant of a crowd until participants had heard all their publishers."""

    p50: float | None
    """Half of the participants; null: fewer were complete before the talk."""
    max: float | None
    """The last participant; null: some were never complete."""


class IdleResult(msgspec.Struct, frozen=True, kw_only=True):
    """Resources that a crowd uses while nothing is sent, divided by the number of its participants."""

    cpu_per_participant: float
    context_switches_hz: float
    packets_hz: float
    bytes_hz: float
    rss_bytes_per_participant: float
    threads_per_participant: float


class JoinCost(msgspec.Struct, frozen=True):
    """The cost of one more participant while it opens, beyond the use of an equal time before. 0: none was seen."""

    cpu_s: float
    """Processor time of the others, in s."""
    packets: float
    """Packets on the trial's network."""
    bytes: float


class LeftResult(msgspec.Struct, frozen=True):
    """Paths of killed participants that still exist and that no other process of the trial uses."""

    paths: float
    """Segments in /dev/shm, Unix sockets and files."""
    bytes: float


class StormCost(msgspec.Struct, frozen=True):
    """Traffic from the end of a pause of the network until all participants have found each other, with the probes."""

    packets: float
    bytes: float


class TalkResult(msgspec.Struct, frozen=True):
    """The latency in a crowd in which each topic has a low rate."""

    one_way_ns: Summary


class CrowdResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a crowd. Figures are medians over trials."""

    participants: int
    topics: int
    """Number of topics of each participant."""
    subscribe: str
    processes: int
    discovery_by: str
    """How the participants found each other; empty: by the middleware's own discovery."""
    resolution_ns: float
    """Time between two probes of a topic; the times in ``complete_ns`` may be late by this time."""
    complete_ns: CompleteTimes
    never_matched: float | None
    """Share of the publishers that were never heard; a publisher counts for each of its subscribers."""
    idle: IdleResult | None
    join_ns: float | None
    """Time from the opening of one more participant until it had heard all publishers of its topics."""
    join: JoinCost | None
    talk: TalkResult | None
    leave_ns: float | None
    """Time from the kill of a tenth of the participants until the publishers of all others no longer matched them."""
    left: LeftResult | None
    storm_ns: float | None
    """Time from the end of a pause of the network until all participants had heard all their publishers again."""
    storm: StormCost | None
    absent: dict[str, str]
    """Field that is null → the reason."""
