"""The witness names a process that really disturbs a trial, and marks no other trial."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from product import Bench, Ended, Run, marked, tasks, until

from middlemark.workers.find import executables, witness

pytestmark = [
    pytest.mark.usefixtures("null_worker"),
    pytest.mark.skipif("shm" not in executables(), reason="the raw transport shm was not built here"),
]

ONE = ("run", "--adapter", "shm", "--size", "64", "--warmup", "50ms", "--trials", "1", "--quiet", "--format", "json")
LIFE_S = 60


@contextmanager
def neighbour(folder: Path, name: str, does: str) -> Iterator[None]:
    """Start a process called ``name`` on the first processor, with ordinary priority, that runs this shell command."""
    path = folder / name
    path.symlink_to("/bin/sh")
    command = ["timeout", str(LIFE_S), "taskset", "-c", str(min(os.sched_getaffinity(0))), str(path), "-c", does]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.terminate()  # the command `timeout` passes the signal on
        process.wait()


def cell_of(ended: Ended) -> Any:
    [cell] = ended.document["cells"]
    assert cell["failed"] is None, ended.err
    return cell


def warning_of(cell: Any) -> str | None:
    return next((each["text"] for each in cell["warnings"] if each["code"] == "machine-disturbed"), None)


def watched(cell: Any) -> None:
    if "switches" in cell["noise"]["absent"]:
        pytest.skip(f"this kernel shows no context switches: {cell['noise']['absent']['switches']}")


def test_the_witness_was_built_with_the_workers() -> None:
    assert witness() is not None


def test_a_competing_process_is_named_and_marks_its_trial(bench: Bench) -> None:
    with neighbour(bench.folder, "loud-neighbour", "while :; do :; done"):
        cell = cell_of(bench.run(*ONE, "--receive", "poll", "--duration", "2s"))
    watched(cell)
    noise = cell["noise"]
    [trial] = noise["trials"]
    [loud] = [each for each in trial["preemptors"] if each["name"] == "loud-neighbour"]
    assert 0.001 < loud["share"] <= noise["others_share"] + noise["own_share"]
    assert "in trial 1: other processes had" in (warning_of(cell) or "")
    assert noise["longest_spell_ns"] > 100_000
    assert noise["disturbed"]
    assert noise["disturbed_trial"] == 1
    # The process runs for milliseconds at a time, so the longest round trips are those during which it ran.
    assert noise["above_p99_9"]["machine"] > 0


def test_an_idle_process_marks_nothing(bench: Bench) -> None:
    with neighbour(bench.folder, "quiet-neighbour", f"sleep {LIFE_S}; :"):
        cell = cell_of(bench.run(*ONE, "--receive", "poll", "--duration", "500ms"))
    watched(cell)
    [trial] = cell["noise"]["trials"]
    assert "quiet-neighbour" not in [each["name"] for each in trial["preemptors"]]
    assert "quiet-neighbour" not in (warning_of(cell) or "")


def test_time_used_by_the_trial_itself_is_not_attributed_to_others(bench: Bench) -> None:
    cell = cell_of(bench.run(*ONE, "--receive", "poll", "--duration", "300ms"))
    watched(cell)
    [trial] = cell["noise"]["trials"]
    assert trial["others_share"] < 1.0
    assert not [each for each in trial["preemptors"] if each["name"] in ("ping", "pong 0")]
    if trial["others_share"] + trial["steal_share"] <= 0.01:
        assert "other processes had" not in (warning_of(cell) or "")


def test_sleeping_roles_report_their_own_waiting_and_no_switches(bench: Bench) -> None:
    cell = cell_of(bench.run(*ONE, "--receive", "block", "--duration", "300ms"))
    noise = cell["noise"]
    assert "sleep" in noise["absent"]["switches"]
    assert noise["others_share"] is None
    [trial] = noise["trials"]
    assert trial["delay_share"] is not None or noise["absent"].keys() & {"delay_ns", "delay_share"}


def test_every_trial_records_its_noise_and_leaves_no_process_behind(bench: Bench) -> None:
    run = bench.start(*ONE, "--receive", "poll", "--duration", "100ms")
    kept = run.ended().kept
    assert marked(run.mark) == []
    [trial] = kept
    seen = trial["noise"]
    assert seen["to_ns"] - seen["from_ns"] == pytest.approx(trial["measured_s"] * 1e9, rel=0.01)
    for which in ("before", "after"):
        assert {each["cpu"] for each in seen[which]} == set(seen["cpus"])
        assert all(each["spun_ns"] > 0 for each in seen[which])
    assert len(seen["moved"]["processors"]) == len(seen["cpus"])


def test_a_trial_without_a_witness_is_measured_and_names_the_missing_parts(bench: Bench) -> None:
    only = f"{executables()['shm']}"
    bare = bench.folder / "bare"
    bare.mkdir()
    (bare / "middlemark-worker-shm").symlink_to(only)
    cell = cell_of(
        bench.run(*ONE, "--receive", "poll", "--duration", "100ms", environment={"MIDDLEMARK_WORKERS": str(bare)})
    )
    noise = cell["noise"]
    assert "middlemark-witness" in noise["absent"]["switches"]
    assert (noise["others_share"], noise["still_share"], noise["longest_gap_ns"]) == (None, None, None)
    assert noise["steal_share"] is not None


def awake(run: Run) -> list[Path]:
    """Return the threads of a run that keep a processor from halting."""
    found = []
    for task in [task for pid in run.children() for task in tasks(pid)]:
        with suppress(OSError):  # the process has ended in the meantime
            if (task / "comm").read_text().startswith("awake "):
                found.append(task)
    return found


def test_a_row_measured_with_awake_is_marked(bench: Bench) -> None:
    ended = bench.run(*ONE, "--awake", "--duration", "200ms")
    assert cell_of(ended)["awake"] is True
    assert ended.run_file["plan"]["cells"][0]["awake"] is True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_processor_is_kept_awake_after_the_run(bench: Bench, number: signal.Signals) -> None:
    run = bench.start(*ONE, "--awake", "--rate", "1k", "--duration", "60s")
    until(lambda: len(awake(run)) == len(os.sched_getaffinity(0)))
    spinning = awake(run)
    run.signal(number)
    run.process.communicate()
    until(lambda: not any(task.exists() for task in spinning))
    until(lambda: run.children() == [])
