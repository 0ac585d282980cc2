"""The witness to the noise: what really disturbs a trial is seen and named, and what does not marks nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from product import Bench, Ended, marked

from middlemark.workers.find import executables, witness

pytestmark = [
    pytest.mark.usefixtures("null_worker"),
    pytest.mark.skipif("shm" not in executables(), reason="the shared memory floor was not built here"),
]

ONE = ("run", "--adapter", "shm", "--size", "64", "--warmup", "50ms", "--trials", "1", "--quiet", "--format", "json")
HOG = "import os; os.sched_setaffinity(0, [{cpu}])\nwhile True: pass"
LIFE_S = 60


@contextmanager
def hog(cpu: int) -> Iterator[int]:
    """A process that wants one processor for itself, under no priority. Yields its pid."""
    process = subprocess.Popen(["timeout", str(LIFE_S), sys.executable, "-IS", "-c", HOG.format(cpu=cpu)])
    try:
        yield process.pid
    finally:
        process.terminate()  # timeout passes it on
        process.wait()


def cell_of(ended: Ended) -> Any:
    [cell] = ended.document["cells"]
    assert cell["failed"] is None, ended.err
    return cell


def doubt_of(cell: Any) -> str | None:
    return next((each["text"] for each in cell["warnings"] if each["code"] == "machine-disturbed"), None)


def watched(cell: Any) -> None:
    if "switches" in cell["noise"]["absent"]:
        pytest.skip(f"this kernel shows no context switches: {cell['noise']['absent']['switches']}")


def test_the_witness_was_built_with_the_workers() -> None:
    assert witness() is not None


def test_a_process_that_competes_for_a_roles_processor_is_seen_and_named_and_marks_the_trial(bench: Bench) -> None:
    cpu = min(os.sched_getaffinity(0))
    with hog(cpu):
        cell = cell_of(bench.run(*ONE, "--receive", "poll", "--duration", "500ms"))
    watched(cell)
    noise = cell["noise"]
    assert noise["others_share"] > 0.1
    [trial] = noise["trials"]
    assert os.path.basename(os.path.realpath(sys.executable))[:6] in {each["name"][:6] for each in trial["takers"]}
    assert "other processes had" in (doubt_of(cell) or "")
    assert noise["longest_spell_ns"] > 100_000
    assert noise["disturbed"]
    assert noise["disturbed_trial"] == 1
    # A turn of the hog's takes milliseconds: the longest round trips are those under which it ran.
    if noise["above_p99_9"]["samples"]:
        assert noise["above_p99_9"]["machine"] > 0


def test_time_that_was_the_trials_own_is_nobody_elses(bench: Bench) -> None:
    cell = cell_of(bench.run(*ONE, "--receive", "poll", "--duration", "300ms"))
    watched(cell)
    [trial] = cell["noise"]["trials"]
    assert trial["others_share"] < 1.0
    assert not [each for each in trial["takers"] if each["name"] in ("ping", "pong 0")]
    if trial["others_share"] + trial["steal_share"] <= 0.01:
        assert "other processes had" not in (doubt_of(cell) or "")


def test_where_roles_sleep_their_own_waiting_is_told_and_switches_are_not_watched(bench: Bench) -> None:
    cell = cell_of(bench.run(*ONE, "--receive", "block", "--duration", "300ms"))
    noise = cell["noise"]
    assert "sleep" in noise["absent"]["switches"]
    assert noise["others_share"] is None
    [trial] = noise["trials"]
    assert trial["delay_share"] is not None or "delay_ns" in noise["absent"]


def test_every_trial_says_what_was_seen_and_nobody_stays_behind(bench: Bench) -> None:
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


def test_without_a_witness_a_trial_is_measured_and_says_what_is_not_known(bench: Bench) -> None:
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
