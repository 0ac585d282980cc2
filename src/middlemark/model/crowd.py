"""The result of one trial of a crowd, and how its participants are distributed over processes."""

import math
from collections import Counter
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


class Join(msgspec.Struct, frozen=True, kw_only=True):
    """One more participant, which opened after the idle phase, and what this cost the others.

    A cost is the use while the newcomer opened, less the use in an equal time before, in which the same probes were
    sent. 0: not more than before.
    """

    complete_ns: Count
    """Time from its opening until the newcomer had heard all publishers of its topics."""
    seconds: SecondsOrZero
    """Time over which the cost was counted."""
    cpu_s: SecondsOrZero
    """Processor time of the other processes, in s."""
    packets: Count
    """Packets on the interfaces of the trial's namespace, also those of the newcomer."""
    bytes: Count


class LeftBehind(msgspec.Struct, frozen=True, kw_only=True):
    """Paths that killed processes had open or mapped, that still exist, and that no other process of the trial uses."""

    segments: Count
    """Files in /dev/shm."""
    sockets: Count
    """Unix sockets with a path."""
    files: Count
    """Other files."""
    bytes: Count
    """Disk space or memory of all of them."""

    @property
    def paths(self) -> int:
        """The number of paths."""
        return self.segments + self.sockets + self.files


class Leave(msgspec.Struct, frozen=True, kw_only=True):
    """The end of participants whose processes were killed."""

    killed: Several
    """Number of killed participants."""
    noticed_ns: Count | None
    """Time from the kill until the publishers of all other participants no longer matched the killed subscribers. None:
    for the reason in ``Crowd.absent``."""
    left: LeftBehind


class Storm(msgspec.Struct, frozen=True, kw_only=True):
    """A pause of the network, after which all participants found each other again."""

    pause_s: SecondsOrZero
    complete_ns: Count
    """Time from the end of the pause until every participant had again heard all its publishers."""
    packets: Count
    """Packets on the interfaces of the trial's namespace in this time, which include the probes."""
    bytes: Count


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
    join: Join | None = None
    leave: Leave | None = None
    storm: Storm | None = None
    absent: dict[str, str] = {}
    """Phase (join, leave, storm) without a time → the reason."""
    discovery_by: str = ""
    """How the participants found each other, if not by the middleware's own discovery."""


def probe_s(participants: int, topics: int) -> float:
    """Return the time in s between two probes of a topic."""
    return max(SHORTEST_PROBE_S, participants * topics / MOST_PROBES_HZ)


def in_processes(participants: int, per_process: int) -> Iterator[range]:
    """Yield the participants of each process. Only the last process may have fewer than ``per_process``."""
    for first in range(0, participants, per_process):
        yield range(first, min(first + per_process, participants))


def leavers(participants: int, per_process: int) -> tuple[int, ...]:
    """Return the participants that are killed in the phase *leave*: those of the last processes, at least a tenth.

    The first process always remains. Empty: there is no other process.
    """
    due = math.ceil(participants / 10)
    leaving: tuple[int, ...] = ()
    for group in reversed(list(in_processes(participants, per_process))[1:]):
        if len(leaving) >= due:
            break
        leaving = (*group, *leaving)
    return leaving


def bereaved(participants: int, subscribe: Subscribe, leaving: tuple[int, ...]) -> dict[int, int]:
    """Return the other participants to whose topics a leaving participant subscribes → by how many it is fewer."""
    lost = Counter(source for each in leaving for source in sources(participants, subscribe, each))
    return {each: number for each, number in sorted(lost.items()) if each not in leaving}


def sources(participants: int, subscribe: Subscribe, participant: int) -> tuple[int, ...]:
    """Return the participants to whose topics a participant subscribes.

    The core has the same rule (roles/topics.hpp).
    """
    if participants < 2:
        return ()
    if subscribe == "next":
        return ((participant + 1) % participants,)
    return tuple(each for each in range(participants) if each != participant)
