"""The phases of a crowd after its start: their figures, and what killed processes leave behind."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from middlemark.model.crowd import Crowd, Join, Leave, LeftBehind, Storm
from middlemark.model.outcome import NetworkCost
from middlemark.model.protocol import Peers, PeersEvent
from middlemark.sites.channel import WorkerFailedError
from middlemark.sites.crowd_ground import CrowdGround
from middlemark.sites.namespace import OWN, Holder
from middlemark.sites.processes import Processes
from middlemark.stats.crowd import FIGURES
from middlemark.trial.crowd_course import _beyond, _Leaving, _Storm, _Use

NETWORK = NetworkCost(**dict.fromkeys(NetworkCost.__struct_fields__, 0))
CROWD = Crowd(
    participants=2,
    topics=1,
    subscribe="next",
    processes=2,
    opened_ns=(1, 1),
    complete_ns=(2, 2),
    publishers_due=2,
    publishers_heard=2,
    resolution_ns=1,
    probes=1,
)
LEFT = LeftBehind(segments=2, sockets=1, files=1, bytes=4096)


def use(at_ns: int, cpu_ns: int) -> _Use:
    return _Use(at_ns, cpu_ns, NETWORK)


def test_a_cost_is_the_increase_beyond_the_rate_before() -> None:
    first, begin = use(0, 0), use(100, 10)
    assert _beyond(first, begin, use(300, 50), lambda each: each.cpu_ns) == pytest.approx(20)
    assert _beyond(first, begin, use(300, 30), lambda each: each.cpu_ns) == 0
    assert _beyond(first, begin, use(300, 11), lambda each: each.cpu_ns) == 0


def peers(at_ns: int, **found: int) -> PeersEvent:
    return PeersEvent(
        at_ns=at_ns, participants=tuple(Peers(index=int(name[1:]), found=number) for name, number in found.items())
    )


def test_a_storm_ends_when_the_last_participant_has_heard_all() -> None:
    async def heard() -> _Storm:
        storm = _Storm(publishers=2, participants=3)
        for event in (peers(10, p0=0, p1=2), peers(20, p2=2), peers(30, p0=1), peers(40, p0=1)):
            storm.hear(event)
        assert not storm.complete.is_set()
        assert storm.missing == 1
        storm.hear(peers(50, p0=2))
        storm.hear(peers(60, p0=2))
        return storm

    storm = asyncio.run(heard())
    assert (storm.complete.is_set(), storm.missing, storm.last_ns) == (True, 0, 50)


class Worker:
    """A worker that sends the events of a list, and then nothing."""

    def __init__(self, *events: PeersEvent | WorkerFailedError) -> None:
        self.events = list(events)

    async def event(self, *_: object, timeout_s: float) -> PeersEvent:
        if not self.events:
            await asyncio.sleep(timeout_s)
            raise AssertionError("the test waited too long")
        event = self.events.pop(0)
        if isinstance(event, WorkerFailedError):
            raise event
        return event


def leaving(*events: PeersEvent | WorkerFailedError, lost: dict[int, int]) -> tuple[int | None, bool]:
    """Return what ``noticed`` returns for a process with the participants 0 and 1, and whether it awaits anything."""

    class Role(msgspec.Struct):
        index: int

    class Follower:
        worker: Any = Worker(*events)
        roles: Any = (Role(0), Role(1))

    async def watched() -> tuple[int | None, bool]:
        watch = _Leaving(Follower(), lost)  # type: ignore[arg-type]
        await watch.begin()
        return await watch.noticed(time.monotonic() + 0.05), watch.awaits

    return asyncio.run(watched())


def test_a_leave_is_noticed_when_the_killed_subscribers_are_gone() -> None:
    events = (peers(1, p0=4, p1=4), peers(20, p0=3, p1=4), peers(30, p0=2, p1=4), peers(40, p0=0, p1=4))
    assert leaving(*events, lost={0: 2}) == (30, True)


def test_a_process_without_a_killed_peer_awaits_nothing() -> None:
    assert leaving(peers(1, p0=4, p1=4), lost={7: 2}) == (0, False)


def test_a_leave_that_is_not_noticed_in_time_has_no_instant() -> None:
    assert leaving(peers(1, p0=4, p1=4), peers(20, p0=3, p1=4), lost={0: 2}) == (None, True)


def test_a_publisher_that_did_not_match_the_killed_subscribers_cannot_notice() -> None:
    with pytest.raises(WorkerFailedError, match="did not match all the subscribers"):
        leaving(peers(1, p0=1, p1=4), lost={0: 2})


def figure(name: str, crowd: Crowd) -> float | None:
    return FIGURES[name].figure(crowd)


def test_the_figures_of_the_phases_are_those_of_the_trial() -> None:
    crowd = msgspec.structs.replace(
        CROWD,
        join=Join(complete_ns=7, seconds=2.0, cpu_s=0.5, packets=30, bytes=4000),
        leave=Leave(killed=1, noticed_ns=9, left=LEFT),
        storm=Storm(pause_s=3.0, complete_ns=11, packets=5, bytes=600),
    )
    assert [figure(each, crowd) for each in ("join", "join_cpu", "join_packets", "join_bytes")] == [7, 0.5, 30, 4000]
    assert [figure(each, crowd) for each in ("leave", "left_behind", "left_bytes")] == [9, 4, 4096]
    assert [figure(each, crowd) for each in ("storm", "storm_packets", "storm_bytes")] == [11, 5, 600]


def test_a_leave_that_nobody_noticed_still_leaves_something_behind() -> None:
    crowd = msgspec.structs.replace(CROWD, leave=Leave(killed=1, noticed_ns=None, left=LEFT))
    assert (figure("leave", crowd), figure("left_behind", crowd)) == (None, 4)
    assert [figure(each, CROWD) for each in ("join", "leave", "storm", "left_behind")] == [None] * 4


HOLDS = """
import mmap, os, socket, sys
kept = open(sys.argv[1], "w+b")
kept.write(b"x" * 8192); kept.flush()
mapped = mmap.mmap(kept.fileno(), 8192)
bound = socket.socket(socket.AF_UNIX); bound.bind(sys.argv[2])
shared = open(sys.argv[3], "w+b")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def ground() -> CrowdGround:
    return CrowdGround(Processes(), OWN)


def test_what_a_killed_process_leaves_is_counted_by_kind(ground: CrowdGround, tmp_path: Path) -> None:
    segment = Path(f"/dev/shm/middlemark-test-{os.getpid()}")
    bound, shared = tmp_path / "socket", tmp_path / "shared"
    argv = [sys.executable, "-c", HOLDS, str(segment), str(bound), str(shared)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process, shared.open("wb"):
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            before = ground.used_paths([process.pid])
            assert {str(segment), str(bound), str(shared)} <= before
            process.send_signal(signal.SIGKILL)
            process.wait()
            left = ground.left_behind(before, [])
            assert (left.segments, left.sockets) == (1, 1)
            assert left.bytes >= 8192
            staying = ground.left_behind(before, [os.getpid()])
            assert left.files - staying.files >= 1  # this process has the file open, and the same libraries
        finally:
            segment.unlink(missing_ok=True)


def test_the_processor_time_of_another_process_is_read(ground: CrowdGround) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "sum(range(3_000_000)); print('done', flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert ground.cpu_ns([process.pid]) > 10_000_000
        process.kill()
        process.wait()
        assert ground.cpu_ns([process.pid]) == 0


def test_a_crowd_without_a_network_of_its_own_does_not_pause(ground: CrowdGround) -> None:
    with pytest.raises(WorkerFailedError, match="no network of its own"):
        asyncio.run(ground.pause_network(1.0))


def test_the_network_is_up_again_after_a_pause() -> None:
    async def states() -> list[str]:
        holder = await Holder.isolated()
        try:
            ground = CrowdGround(Processes(), holder.namespace)
            pausing = asyncio.create_task(ground.pause_network(0.4))
            await asyncio.sleep(0.25)
            during = flags(holder)
            await pausing
            return [during, flags(holder)]
        finally:
            holder.end()

    def flags(holder: Holder) -> str:
        argv = [*holder.namespace.prefix, sys.executable, "-IS", "-c", SENDS]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()

    try:
        assert asyncio.run(states()) == ["down", "up"]
    except WorkerFailedError as error:
        pytest.skip(error.text)


SENDS = """
import socket
to = socket.socket(type=socket.SOCK_DGRAM)
to.bind(("127.0.0.1", 0))
to.settimeout(0.2)
try:
    socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", to.getsockname())
    to.recv(1)
    print("up")
except OSError:
    print("down")
"""
