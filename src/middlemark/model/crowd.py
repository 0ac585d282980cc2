"""The result of one trial of a crowd, and how its participants are distributed over processes."""

from collections.abc import Iterator

import msgspec

from middlemark.model.protocol import Count, SecondsOrZero, Several, Subscribe

MOST_PROBES_HZ = 10_000
"""The most probes per second of all participants together."""
SHORTEST_PROBE_S = 0.01


class IdleUse(msgspec.Struct, frozen=True, kw_only=True):
    """The use of resources by all processes of a crowd together while no messages were sent."""

    seconds: SecondsOrZero
    cpu: float
    """Processors used: 1.0 is one processor all the time."""
    switches_hz: float
    packets_hz: float
    """Packets per second on the interfaces of the trial's namespace, which include those of other processes in it."""
    bytes_hz: float
    rss_bytes: Count
    """Resident memory at the end, without the bench's records. A page that processes share counts once for each."""
    threads: Count


class Crowd(msgspec.Struct, frozen=True, kw_only=True):
    """One trial of a crowd. Times count from the moment at which the first participant began to open its session."""

    participants: Several
    topics: Several
    """Number of topics of each participant."""
    subscribe: Subscribe
    processes: Several
    opened_ns: tuple[Count, ...]
    """For each participant: when all its publishers and subscribers existed."""
    complete_ns: tuple[Count | None, ...]
    """For each participant: when it had heard the last publisher of its topics. None: it did not hear all of them
    before the talk, or it has nobody to hear."""
    publishers_due: Count
    """Number of publishers that all participants together must hear; a publisher counts for each subscriber."""
    publishers_heard: Count
    resolution_ns: Count
    """Time between two probes of a topic. ``complete_ns`` may be late by this time."""
    probes: Count
    idle: IdleUse | None = None
    idle_absent: str | None = None
    """Why there is no ``idle``."""
    discovery_by: str = ""
    """How the participants found each other, if not by the middleware's own discovery."""


def probe_s(participants: int, topics: int) -> float:
    """Return the time in s between two probes of a topic."""
    return max(SHORTEST_PROBE_S, participants * topics / MOST_PROBES_HZ)


def in_processes(participants: int, per_process: int) -> Iterator[range]:
    """Yield the participants of each process. Only the last process may have fewer than ``per_process``."""
    for first in range(0, participants, per_process):
        yield range(first, min(first + per_process, participants))


def sources(participants: int, subscribe: Subscribe, participant: int) -> tuple[int, ...]:
    """Return the participants to whose topics a participant subscribes.

    The core has the same rule (roles/topics.hpp).
    """
    if participants < 2:
        return ()
    if subscribe == "next":
        return ((participant + 1) % participants,)
    return tuple(each for each in range(participants) if each != participant)
