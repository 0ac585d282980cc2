"""A run's folder: written data is read back, and a killed run is a shorter run."""

import errno
import fcntl
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

import msgspec
import pytest

from middlemark.model.cell import Cell
from middlemark.model.outcome import Evidence, Failure, Placed, RunWarning, Segment, TrialCounts, TrialOutcome
from middlemark.model.plan import Limits, Note, Plan, Trial
from middlemark.model.protocol import Clock
from middlemark.model.run import Machine, RunFile
from middlemark.sites.machine import read_machine
from middlemark.store import RunWriter, StoreError, list_runs, open_run, read_run, reopen_run

MACHINE = Machine(
    host="bench",
    cpu="a processor",
    processors=2,
    memory_bytes=1 << 34,
    kernel="6.1",
    system="Debian",
    virtual=None,
    clocksource="tsc",
    governor=None,
)
CELL = Cell(adapter="shm", transport="shm", size=64, depth=None, pin=(0, 1), native=(("key", "näive"),))
PLAN = Plan(
    cells=(CELL,),
    trials=tuple(Trial(order=i, cell=0, number=i + 1, limits=Limits(samples=10), domain=i) for i in range(3)),
    names=("days",),
    notes=(Note("place", "text"),),
    seed=7,
)
FILE = RunFile(
    middlemark="0.1.0",
    suites=("days", "lan"),
    suite_texts={"days": "[[sweep]]\n"},
    command=("middlemark", "run"),
    started="2026-01-02T03:04:05.678+00:00",
    seed=7,
    machine=MACHINE,
    adapters=(),
    plan=PLAN,
)


def outcome(order: int) -> TrialOutcome:
    return TrialOutcome(
        cell=0,
        number=order + 1,
        order=order,
        started="2026-01-02T03:04:06.000+00:00",
        seconds=0.25,
        samples_file=f"samples/{order:05d}.npy",
        samples=10,
        warmup_samples=3,
        measured_s=0.125,
        counts=TrialCounts(sent=10, received=9, lost=1),
        discovery_ns=12345,
        first_sample_ns=-1,
        clock=Clock(source="tsc", ticks_per_second=2.6e9, cost_ns=20.5, resolution_ns=0.4),
        placed=(Placed(role="ping", pid=7, cpus=(0,), policy="fifo", priority=80, mlocked=True),),
        version="0.10.2",
        actual_transport="udp",
        evidence=Evidence(
            udp_datagrams=20,
            tcp_segments=0,
            loopback_bytes=4000,
            segments=(Segment("a b", 4096),),
            unix_sockets=1,
            udp_sockets=2,
            tcp_sockets=0,
        ),
        warnings=(RunWarning("loss", "1 lost", "wait"),),
        notes=("kept on lo",),
    )


FAILED = TrialOutcome(
    cell=0,
    number=2,
    order=1,
    started="2026-01-02T03:04:06.000+00:00",
    seconds=1.0,
    failed=Failure("crashed", "ä\n\x1b"),
)


@pytest.fixture
def writer(tmp_path: Path) -> RunWriter:
    return open_run(tmp_path, FILE)


def test_written_trials_are_read_back(writer: RunWriter) -> None:
    kept = [outcome(0), FAILED, outcome(2)]
    for each in kept:
        writer.append(each)
    writer.close()
    run = read_run(writer.folder)
    assert run.outcomes == tuple(kept)
    assert run.damaged_lines == 0
    assert msgspec.structs.replace(run.file, ended=None) == FILE
    assert run.file.ended is not None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"order": 7}, "the plan has no trial 7"),
        ({"samples": -1}, "samples"),
        ({"samples_file": "/tmp/x"}, "samples_file"),
    ],
)
def test_an_outcome_that_could_not_be_read_is_stored_as_a_failure(
    writer: RunWriter, change: dict[str, Any], reason: str
) -> None:
    kept = writer.append(msgspec.structs.replace(outcome(1), **change))
    assert kept.failed is not None
    assert reason in kept.failed.text
    if kept.order == 1:
        assert read_run(writer.folder).outcomes == (kept,)


def test_a_line_changed_by_another_process_ends_the_run(writer: RunWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    def further(descriptor: int) -> None:
        os.write(descriptor, b"of another process")

    monkeypatch.setattr(os, "fsync", further)
    with pytest.raises(StoreError, match="another process writes to the file"):
        writer.append(outcome(0))


def test_removed_trials_end_the_run_instead_of_being_forgotten(writer: RunWriter) -> None:
    writer.append(outcome(0))
    (writer.folder / "trials.jsonl").unlink()
    with pytest.raises(StoreError, match=r"trials\.jsonl: No such file"):
        writer.append(outcome(1))


def test_trials_removed_after_the_last_one_are_noticed_at_the_end(writer: RunWriter) -> None:
    writer.append(outcome(0))
    (writer.folder / "trials.jsonl").unlink()
    with pytest.raises(StoreError, match="was removed while the run was measured"):
        writer.close()


def test_the_folder_is_named_by_time_and_suites_and_complete_from_the_start(writer: RunWriter) -> None:
    assert writer.folder.name.endswith("-days+lan")
    assert sorted(path.name for path in writer.folder.iterdir()) == ["run.json", "samples", "trials.jsonl"]
    run = read_run(writer.folder)
    assert (run.outcomes, run.file.ended) == ((), None)


def test_a_run_that_was_not_closed_is_read_as_a_shorter_run(writer: RunWriter) -> None:
    writer.append(outcome(0))
    run = read_run(writer.folder)
    assert [each.order for each in run.outcomes] == [0]
    assert run.file.ended is None


def test_a_run_is_under_way_until_it_is_closed(writer: RunWriter) -> None:
    assert read_run(writer.folder).running
    assert read_run(writer.folder).running, "reading a run does not change it"
    writer.append(outcome(0))
    assert read_run(writer.folder).running
    writer.close()
    assert read_run(writer.folder).running is False


def test_a_run_whose_end_could_not_be_written_is_not_under_way(
    writer: RunWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(StoreError):
            writer.close()
    run = read_run(writer.folder)
    assert (run.file.ended, run.running) == (None, False)


def test_a_run_without_a_living_writer_is_not_under_way(tmp_path: Path) -> None:
    folder = open_run(tmp_path, FILE).folder
    run = read_run(folder)
    assert (run.file.ended, run.running) == (None, False)


def test_without_file_locks_it_is_unknown_if_a_run_is_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    writer = open_run(tmp_path, FILE)
    writer.append(outcome(0))
    assert read_run(writer.folder).running is None
    writer.close()
    assert read_run(writer.folder).running is False, "run.json contains the end of the run"


def test_a_run_under_way_is_seen_if_locks_need_a_file_open_for_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock

    def as_on_nfs(file: int | IO[bytes], operation: int) -> None:
        if operation & fcntl.LOCK_EX and fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", as_on_nfs)
    writer = open_run(tmp_path, FILE)
    assert read_run(writer.folder).running
    writer.close()
    assert read_run(writer.folder).running is False


def test_a_run_being_measured_cannot_be_resumed(writer: RunWriter) -> None:
    writer.append(outcome(0))
    before = [(writer.folder / name).read_bytes() for name in ("run.json", "trials.jsonl")]
    with pytest.raises(StoreError, match=rf"is being measured by process {os.getpid()}$"):
        reopen_run(writer.folder)
    assert [(writer.folder / name).read_bytes() for name in ("run.json", "trials.jsonl")] == before
    writer.close()
    assert reopen_run(writer.folder).run.outcomes == (outcome(0),)


def test_a_run_being_resumed_cannot_be_resumed_again_and_its_new_trials_are_read(tmp_path: Path) -> None:
    folder = open_run(tmp_path, FILE).folder
    first = reopen_run(folder)
    with pytest.raises(StoreError, match="is being measured by process"):
        reopen_run(folder)
    writer = first.writer()
    writer.append(outcome(0))
    del first
    with pytest.raises(StoreError, match="is being measured by process"):
        reopen_run(folder)
    writer.close()
    assert reopen_run(folder).run.outcomes == (outcome(0),)


def test_a_lock_of_a_dead_process_does_not_block(tmp_path: Path) -> None:
    folder = open_run(tmp_path, FILE).folder
    hold = "import fcntl, sys, time; file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_EX); print(flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", f"{hold}; time.sleep(60)", folder / "trials.jsonl"], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(StoreError, match=rf"is being measured by process {other.pid}$"):
            reopen_run(folder)
        other.kill()
        other.wait()
    assert reopen_run(folder).run.outcomes == ()


def test_reading_a_run_does_not_block_resuming_it(tmp_path: Path) -> None:
    folder = open_run(tmp_path, FILE).folder
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            read_run(folder)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(50):
            reopen_run(folder)
    finally:
        done.set()
        looking.join()


@pytest.mark.parametrize("cut", [1, 2, 50, 200, -1])
def test_a_truncated_line_discards_only_its_trial(writer: RunWriter, cut: int) -> None:
    writer.append(outcome(0))
    path = writer.folder / "trials.jsonl"
    whole = path.read_bytes()
    writer.append(outcome(1))
    second = path.read_bytes()[len(whole) : -1]
    path.write_bytes(whole + second[:cut])
    run = read_run(writer.folder)
    assert run.outcomes == (outcome(0),)
    assert run.damaged_lines == 1


@pytest.mark.parametrize("bad", [b"", b"\0\0\0\0", b"{}", b"[1]", b'{"cell": "none"}', b"\xff\xfe"])
def test_a_damaged_line_discards_only_its_trial(writer: RunWriter, bad: bytes) -> None:
    for order in range(3):
        writer.append(outcome(order))
    path = writer.folder / "trials.jsonl"
    first, _, third = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first, bad, third, b""]))
    run = read_run(writer.folder)
    assert run.outcomes == (outcome(0), outcome(2))
    assert run.damaged_lines == 1


def test_a_run_without_all_optional_fields_is_read(writer: RunWriter) -> None:
    """Every field that was ever added has a default, so a run of an older version can be read."""
    writer.append(outcome(0))

    def gained(struct: type[msgspec.Struct]) -> set[str]:
        return {each.encode_name for each in msgspec.structs.fields(struct) if not each.required}

    path = writer.folder / "run.json"
    old = {"schema": 1} | {
        key: each for key, each in json.loads(path.read_text()).items() if key not in gained(RunFile)
    }
    old["plan"]["cells"] = [
        {key: each for key, each in cell.items() if key not in gained(Cell)} for cell in old["plan"]["cells"]
    ]
    path.write_text(json.dumps(old))
    line = json.loads((writer.folder / "trials.jsonl").read_text())
    kept = {key: each for key, each in line.items() if key not in gained(TrialOutcome)}
    (writer.folder / "trials.jsonl").write_text(json.dumps(kept) + "\n")
    run = read_run(writer.folder)
    assert run.damaged_lines == 0
    assert [(each.order, each.number, each.samples) for each in run.outcomes] == [(0, 1, 0)]
    assert run.file.plan.cells == (Cell(adapter="shm", transport="shm", size=64),)
    assert (run.file.seed, run.file.suites, run.file.machine) == (FILE.seed, FILE.suites, FILE.machine)


def test_an_interrupted_run_is_marked(writer: RunWriter) -> None:
    writer.close(interrupted=True)
    assert read_run(writer.folder).file.interrupted


def test_the_error_that_ended_a_run_is_kept(writer: RunWriter) -> None:
    writer.close(error="trials.jsonl: No space left on device")
    assert read_run(writer.folder).file.error == "trials.jsonl: No space left on device"


def test_a_run_of_a_newer_version_is_refused_with_its_schema_and_version(writer: RunWriter) -> None:
    path = writer.folder / "run.json"
    path.write_text(json.dumps({"schema": 3, "middlemark": "9.9", "all": "different"}))
    with pytest.raises(StoreError, match=r"run\.json: schema 3 was written by a newer Middlemark \(9\.9\)"):
        read_run(writer.folder)


def test_unknown_fields_are_ignored(writer: RunWriter) -> None:
    path = writer.folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "weather": "fine"}))
    assert read_run(writer.folder).file == FILE


@pytest.mark.parametrize("text", ["", "{", "null", "[]", '{"schema": 1}', '{"schema": "one"}', "\xff"])
def test_a_file_that_is_no_run_is_refused_with_its_path(writer: RunWriter, text: str) -> None:
    (writer.folder / "run.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreError, match=r"run\.json: "):
        read_run(writer.folder)


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"run\.json: No such file or directory"):
        read_run(tmp_path)


def test_two_runs_in_one_second_have_separate_folders(tmp_path: Path) -> None:
    folders = {open_run(tmp_path, FILE).folder for _ in range(3)}
    assert len(folders) == 3
    assert set(list_runs(tmp_path)) == folders


def test_runs_are_listed_from_the_oldest(tmp_path: Path) -> None:
    for age, name in ((30, "old"), (10, "new"), (20, "middle")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "run.json").touch()
        os.utime(folder, (1_000_000 - age, 1_000_000 - age))
    assert [folder.name for folder in list_runs(tmp_path)] == ["old", "middle", "new"]


def test_a_missing_folder_has_no_runs(tmp_path: Path) -> None:
    assert list_runs(tmp_path / "nowhere") == []


def test_a_suite_of_any_name_makes_a_valid_folder_name(tmp_path: Path) -> None:
    folder = open_run(tmp_path, msgspec.structs.replace(FILE, suites=("../../etc/ä b",))).folder
    assert folder.parent == tmp_path
    assert "/" not in folder.name


def test_a_file_instead_of_a_folder_of_runs_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="file"):
        open_run(tmp_path / "file", FILE)


def test_a_removed_folder_is_an_error_with_its_path(writer: RunWriter) -> None:
    for path in (writer.folder / "run.json", writer.folder / "trials.jsonl"):
        path.unlink()
    (writer.folder / "samples").rmdir()
    writer.folder.rmdir()
    with pytest.raises(StoreError, match=r"trials\.jsonl: No such file or directory"):
        writer.append(outcome(0))
    with pytest.raises(StoreError, match=r"run\.json: No such file or directory"):
        writer.close()


def test_the_run_file_is_replaced_atomically(writer: RunWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    before = (writer.folder / "run.json").read_bytes()
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StoreError, match=r"run\.json: No space left on device"):
        writer.close()
    assert (writer.folder / "run.json").read_bytes() == before
    assert not list(writer.folder.glob("*.new"))


def test_this_machine_can_be_described() -> None:
    machine = read_machine()
    assert machine.processors >= 1
    assert machine.memory_bytes > 1 << 20
    assert machine.kernel
    assert machine.cpu
    assert msgspec.json.decode(msgspec.json.encode(machine), type=Machine) == machine
