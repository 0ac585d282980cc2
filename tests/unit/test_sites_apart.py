"""A trial across two hosts, simulated: both actors are in this process, and all messages between them are pickled."""

import asyncio
import contextlib
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from launching import Launching

from middlemark import __version__
from middlemark.model.outcome import TrialOutcome
from middlemark.model.protocol import Message
from middlemark.model.run import HostMachine
from middlemark.sites import apart, host
from middlemark.sites.apart import CLOCKS, Apart
from middlemark.sites.channel import WorkerFailedError, WorkerProcess
from middlemark.sites.cluster import Cluster, HostGoneError
from middlemark.sites.domains import Domains
from middlemark.sites.here import Here
from middlemark.sites.host import Begun, Facts, Host
from middlemark.sites.machine import read_machine
from middlemark.trial.observe import Shared

NAMES = ("base", "robot")


class InProcess(Cluster):
    """A cluster of two actors in this process. Actors in ``gone`` no longer answer."""

    def __init__(self, launching: Launching) -> None:
        super().__init__(None, dict.fromkeys(NAMES, "127.0.0.1"))
        self.gone: set[str] = set()
        self.verbs: list[tuple[str, str]] = []
        self.begun: list[Begun] = []
        self.before: Callable[[str, str], None] = lambda _name, _verb: None
        self._hosts: dict[str, Host] = {}
        self._worker = launching.worker
        for name in NAMES:
            machine = HostMachine(
                name=name, address="127.0.0.1", machine=read_machine(), middlemark=__version__, interface="lo"
            )
            self.facts[name] = Facts(machine, {"fake": "1"}, {"fake": "one build"})
        self._builds = {"fake": "one build"}

    async def connect(self, name: str) -> None:
        if name in self.gone:
            raise HostGoneError("its Dask worker did not appear")
        if name not in self._hosts:
            self._hosts[name] = Host(name)
            self._hosts[name]._workers = {"fake": self._worker}

    async def call(self, name: str, verb: str, *arguments: Any, timeout_s: float, scope: str | None = None) -> Any:
        self.verbs.append((name, verb))
        self.before(name, verb)
        if name in self.gone:
            await self._hosts[name].do("close", 0.0)  # as an actor does when its launcher is gone
            raise HostGoneError("it did not answer")
        received = pickle.loads(pickle.dumps(arguments))
        answer = pickle.loads(pickle.dumps(await self._hosts[name].do(verb, *received, scope=scope)))
        if isinstance(answer, Begun):
            self.begun.append(answer)
        return answer


class Across:
    """Trials of the fake worker across both actors."""

    def __init__(self, launching: Launching) -> None:
        self.launching = launching
        self.cluster = InProcess(launching)
        here = launching.shared.here
        assert isinstance(here, Here)
        launching.shared = Shared(launching.shared.folder, launching.shared.token, Apart(self.cluster, here))

    def trial(self, native: dict[str, str] | None = None, **factors: Any) -> TrialOutcome:
        return self.launching.trial(native, across="base-robot", **{"pattern": "ping-pong", **factors})


@pytest.fixture
def across(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Across:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(apart, "SETTLE_S", 0.2)
    return Across(Launching(tmp_path))


def test_a_trial_across_two_hosts_is_measured_and_its_samples_are_fetched(across: Across) -> None:
    outcome = across.trial()
    assert outcome.failed is None
    assert outcome.samples_file == "samples/00007.npy"
    assert "00007.npy" in across.launching.kept()
    assert not [name for name in across.launching.kept() if name.endswith(".part")]
    assert outcome.stamps_absent == CLOCKS
    assert outcome.first_sample_ns is None
    assert ("base", "start") in across.cluster.verbs
    assert ("robot", "start") in across.cluster.verbs


def test_a_trial_on_one_remote_host_reads_one_clock(across: Across) -> None:
    outcome = across.launching.trial(None, across="robot", pattern="stream")
    assert outcome.failed is None
    assert (outcome.clocks, outcome.stamps_absent) == (None, None)
    assert outcome.first_sample_ns is None, (
        "the trial's start is by this machine's clock, and its samples are by the other host's"
    )
    assert {name for name, _ in across.cluster.verbs} == {"robot"}
    assert [name for name in across.launching.kept() if name.endswith(".npy")]


def test_receivers_are_configured_before_senders(across: Across) -> None:
    assert across.trial(subscribers=2).failed is None
    commanded_hosts = [name for name, verb in across.cluster.verbs if verb == "tell"]
    assert commanded_hosts[:3] == ["robot", "robot", "base"]


def test_each_end_has_its_own_folder_and_neither_remains(across: Across, tmp_path: Path) -> None:
    assert across.trial().failed is None
    assert len({each.scratch for each in across.cluster.begun}) == 2
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_host_that_stops_answering_fails_the_trial_and_is_named(across: Across) -> None:
    def before(name: str, verb: str) -> None:
        if (name, verb) == ("robot", "tell") and ("base", "tell") in across.cluster.verbs:
            across.cluster.gone.add("robot")

    across.cluster.before = before
    failed = across.trial().failed
    assert failed is not None
    assert failed.code == "lost"
    assert "robot (127.0.0.1) is gone: it did not answer" in failed.text


def test_a_missing_host_is_reported_when_a_trial_begins(across: Across) -> None:
    across.cluster.gone.add("robot")
    failed = across.trial().failed
    assert failed is not None
    assert (failed.code, failed.text) == ("lost", "robot (127.0.0.1) cannot be reached: its Dask worker did not appear")


def test_a_worker_that_dies_is_reported_with_its_host(across: Across) -> None:
    failed = across.trial({"at": "pong 0", "does": "die"}).failed
    assert failed is not None
    assert failed.code == "crashed"
    assert "(on robot)" in failed.text


def test_another_build_is_a_warning_of_every_trial(across: Across) -> None:
    across.cluster._builds = {"fake": "another build"}
    outcome = across.trial()
    assert outcome.failed is None
    texts = [each.text for each in outcome.warnings if each.code == "versions-differ"]
    assert texts == [
        f"the worker of fake on {name} is a different build from the one on this machine" for name in NAMES
    ]


def test_incomplete_samples_fail_the_trial_and_leave_nothing_behind(
    across: Across, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = host._Trial.kept

    async def more(trial: Any) -> list[tuple[str, int]]:
        return [(name, size + 1) for name, size in await whole(trial)]

    monkeypatch.setattr(host._Trial, "kept", more)
    failed = across.trial().failed
    assert failed is not None
    assert "became shorter on base while it was fetched" in failed.text
    assert across.launching.kept() == []


def test_a_host_ends_its_trial_when_its_launcher_stops_asking(across: Across, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "LEASE_S", 0.2)

    async def abandoned() -> int:
        actor = Host("robot")
        actor._workers = {"fake": across.launching.worker}
        await actor.do("begin", across.launching.cell({}), "fake", "mm_abandoned", "127.0.0.1")
        pid: int = await actor.do("start", "publisher 0", {})
        deadline = time.monotonic() + 60
        while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        with contextlib.suppress(WorkerFailedError):
            await actor.do("hear")
            pytest.fail("it has a trial still")
        return pid

    pid = asyncio.run(abandoned())
    assert not Path(f"/proc/{pid}").exists()


def test_a_trial_of_another_actor_of_the_process_ends_before_the_next_begins(across: Across) -> None:
    async def begun() -> list[bool]:
        actors = [Host("robot"), Host("robot")]
        pids = []
        for number, actor in enumerate(actors):
            actor._workers = {"fake": across.launching.worker}
            await actor.do("begin", across.launching.cell({}), "fake", f"mm_begun_{number}", "127.0.0.1")
            pids.append(await actor.do("start", "publisher 0", {}))
        await actors[0].do("close", 0.0)  # the launcher's last request before it gave up the first host
        alive = [Path(f"/proc/{pid}").exists() for pid in pids]
        await actors[1].do("close", 0.0)
        return alive

    assert asyncio.run(begun()) == [False, True]


def test_a_message_of_an_earlier_trial_reaches_no_worker_of_this_one(across: Across) -> None:
    async def late() -> bool:
        actor = Host("robot")
        actor._workers = {"fake": across.launching.worker}
        await actor.do("begin", across.launching.cell({}), "fake", "mm_late_1", "127.0.0.1")
        await actor.do("start", "publisher 0", {}, scope="mm_late_1")
        await actor.do("begin", across.launching.cell({}), "fake", "mm_late_2", "127.0.0.1")
        pid: int = await actor.do("start", "publisher 0", {}, scope="mm_late_2")
        with pytest.raises(WorkerFailedError, match="does not run this trial any more"):
            await actor.do("tell", 0, msgspec.json.encode({"cmd": "quit"}), scope="mm_late_1")
        assert await actor.do("close", 0.0, scope="mm_late_1") == []
        await asyncio.sleep(0.3)
        alive = Path(f"/proc/{pid}").exists()
        await actor.do("close", 0.0, scope="mm_late_2")
        return alive

    assert asyncio.run(late())


def test_a_copied_note_never_replaces_an_existing_one(across: Across) -> None:
    async def noted() -> tuple[list[Any], str]:
        actor = Host("robot")
        actor._workers = {"fake": across.launching.worker}
        begun = await actor.do("begin", across.launching.cell({}), "fake", "mm_noted", "127.0.0.1")
        try:
            await actor.do("start", "publisher 0", {})
            Path(begun.scratch, "topic.subscriber.0").write_text("mine")
            heard = []
            while not any(isinstance(each, host.LeftFile) for each in heard):
                heard += await actor.do("hear")
            await actor.do("note", "topic.subscriber.0", b"theirs")
            await actor.do("note", "topic.subscriber.1", b"theirs")
            await asyncio.sleep(0.1)
            heard += await actor.do("hear")
            return heard, Path(begun.scratch, "topic.subscriber.1").read_text() + Path(
                begun.scratch, "topic.subscriber.0"
            ).read_text()
        finally:
            await actor.do("close", 0.0)

    heard, contents = asyncio.run(noted())
    notes = [each for each in heard if isinstance(each, host.LeftFile)]
    assert notes == [host.LeftFile("topic.subscriber.0", b"mine")]  # not sent back to the host of its origin
    assert contents == "theirsmine"


def test_domains_in_use_elsewhere_are_skipped() -> None:
    used = set(range(1, 102)) - {42}
    assert Domains(0).next(used) == 42


def test_a_remote_worker_receives_the_same_messages_as_a_local_one(
    across: Across, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[bytes] = []
    send = WorkerProcess.send

    def sent(worker: WorkerProcess, command: Message) -> None:
        written.append(msgspec.json.encode(command))
        send(worker, command)

    monkeypatch.setattr(WorkerProcess, "send", sent)
    assert across.trial().failed is None
    [configured] = [each for each in map(msgspec.json.decode, written) if "ping" in str(each.get("roles"))]
    assert "rate_hz" not in configured["roles"][0]["load"]  # a default value, which a worker need not support
