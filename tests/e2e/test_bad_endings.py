"""Workers that hang or are stopped, interrupts by the user, and launchers that are killed."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from product import Bench, Ended, Run, until

pytestmark = pytest.mark.usefixtures("null_worker")

BEHAVES_WITHIN_S = 30.0
"""Seconds within which a run must end after Ctrl-C. Normally it takes at most 2 s, but machines may be busy."""


def suite(native: str = "", **keys: object) -> str:
    values = {
        "adapter": "null",
        "transport": "memory",
        "size": 64,
        "samples": 100,
        "warmup": "10ms",
        "trials": 1,
        "pin": "off",
        **keys,
    }
    return (
        "[[sweep]]\n"
        + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
        + (f"[sweep.native.null]\n{native}\n")
    )


ENDLESS = suite('every_delay_us = "200"', samples=1_000_000, limit="100s")
"""A run of one long trial."""

HANGS = {
    # name: the script, the limits, the failure's code and text
    "ping in publish": (
        suite('at = "ping"\nhang = "5"', timeout="50ms", limit="1s"),
        "hung",
        "had still not returned from a call",
    ),
    "pong in publish": (suite('at = "pong"\nhang = "5"', timeout="50ms"), "silent", "brought no reply"),
    "opening": (suite('fail = "open-hang"', match_timeout="200ms"), "hung", "did not answer in time (awaited: ready)"),
    "ping stopped": (ENDLESS, "hung", "it is stopped (SIGSTOP or a debugger)"),
    "pong stopped": (ENDLESS, "hung", "it is stopped (SIGSTOP or a debugger)"),
}


@pytest.fixture(scope="module")
def hanging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    """A run for each entry of HANGS. All start at once, because waiting for deadlines needs little processor time."""
    places = {name: Bench(tmp_path_factory.mktemp(name.replace(" ", "-"))) for name in HANGS}
    runs = {name: place.start("run", place.suite(HANGS[name][0]), "--format", "json") for name, place in places.items()}
    for name, index in (("ping stopped", 0), ("pong stopped", 1)):
        workers = until(runs[name].measuring)
        os.kill(workers[index], signal.SIGSTOP)
    yield runs
    for place in places.values():
        place.close()


@pytest.mark.parametrize("name", HANGS)
def test_deadlines_are_kept_despite_a_hanging_worker(hanging: dict[str, Run], name: str) -> None:
    _, code, words = HANGS[name]
    ended = hanging[name].ended()
    [cell] = ended.document["cells"]
    assert cell["failed"]["code"] == code
    assert words in cell["failed"]["text"]
    assert ended.code == 3


@pytest.mark.parametrize("name", ["ping stopped", "pong stopped"])
def test_a_stopped_worker_is_named_by_its_role(hanging: dict[str, Run], name: str) -> None:
    [line] = (hanging[name].folder / "trials.jsonl").read_text().splitlines()
    role = name.removesuffix(" stopped")
    assert json.loads(line)["failed"]["text"].startswith(role)


def test_figures_are_kept_when_a_worker_hangs_at_its_end(bench: Bench) -> None:
    ended = bench.run("run", bench.suite(suite('fail = "close-hang"')), "--format", "json")
    [cell] = ended.document["cells"]
    assert (ended.code, cell["failed"], cell["samples"]) == (0, None, 100)
    [warning] = [each for each in cell["warnings"] if each["code"] == "unclean-exit"]
    assert "did not exit within 10 s of its result and was killed" in warning["text"]


def interrupt(run: Run, number: int) -> Ended:
    """Signal the launcher. Check that it ends soon, stores only complete lines and reports that it was interrupted."""
    asked = run.signal(number)
    ended = run.ended()
    assert time.monotonic() - asked < BEHAVES_WITHIN_S
    assert ended.code == 130
    assert ended.document["run"]["interrupted"] is True
    assert ended.run_file["interrupted"] is True
    assert len(ended.kept) == ended.document["run"]["done_trials"]
    return ended


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_run_and_keeps_the_measured_trials(bench: Bench, number: int) -> None:
    text = suite('every_delay_us = "500"', samples=200, trials=1000)
    run = bench.start("run", bench.suite(text), "--format", "json")
    until(lambda: run.trials() >= 3)
    ended = interrupt(run, number)
    assert 3 <= len(ended.kept) < 1000
    [cell] = ended.document["cells"]
    assert cell["samples"] == 200 * len(ended.kept)
    assert bench.leftovers() == []
    assert "interrupted" in bench.run("list", "runs", str(run.out)).out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_does_not_wait_for_a_worker_that_hangs_or_is_stopped(bench: Bench, number: int) -> None:
    run = bench.start("run", bench.suite(ENDLESS), "--format", "json")
    workers = until(run.measuring)
    os.kill(workers[1], signal.SIGSTOP)
    interrupt(run, number)
    assert bench.leftovers() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_two_interrupts_while_workers_are_queried_end_the_run_silently(bench: Bench, number: int) -> None:
    workers = bench.folder / "workers"
    workers.mkdir()
    for name in ("one", "two", "three"):
        worker = workers / f"middlemark-worker-{name}"
        worker.write_text("#!/bin/sh\nsleep 60 & wait\n")
        worker.chmod(0o755)
    for moment in range(4):
        run = bench.start("run", environment={"MIDDLEMARK_WORKERS": str(workers)})
        until(lambda run=run: len(run.children()) >= 3)
        run.signal(number)
        time.sleep(0.002 * moment)
        if run.process.poll() is None:
            run.signal(number)
        code, err = run.interrupted()
        # If the second SIGINT comes late, nothing is left to remove.
        assert (code in (130, -number), err.strip()) == (True, "")


def test_an_interrupt_while_a_trial_is_being_closed_keeps_that_trial(bench: Bench) -> None:
    run = bench.start("run", bench.suite(suite('fail = "close-hang"', trials=5)), "--format", "json")
    until(lambda: list(run.out.glob("*/samples/00000.npy")))
    time.sleep(1.0)  # now the trial has its result, and its workers hang in their destructors
    ended = interrupt(run, signal.SIGINT)
    assert [line["samples"] for line in ended.kept] == [100]
    assert bench.leftovers() == []


@pytest.mark.parametrize("moment", range(6))
def test_an_interrupt_at_any_moment_leaves_nothing_behind(bench: Bench, moment: int) -> None:
    run = bench.start("run", bench.suite(suite(trials=1000)), "--format", "json")
    until(lambda: run.trials() >= 1)
    time.sleep(0.025 * moment)  # a trial takes about a tenth of a second
    interrupt(run, signal.SIGINT)
    assert bench.leftovers() == []
    assert segments(run) == set()


def segments(run: Run) -> set[str]:
    """Return the files of the run's null workers in /dev/shm. Their names contain the token in the samples' names."""
    found = set()
    for pid in run.workers("null"):
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            if "/dev/shm/middlemark-null." in line:
                found.add(line.split(maxsplit=5)[-1].removesuffix(" (deleted)"))
    return {path for path in found if Path(path).exists()}


def test_workers_end_with_a_killed_launcher_and_its_trials_are_kept(bench: Bench) -> None:
    run = bench.start(
        "run", bench.suite(suite('every_delay_us = "2000"', samples=200, trials=1000)), "--format", "json"
    )
    until(lambda: run.trials() >= 2)
    until(run.measuring)
    run.signal(signal.SIGKILL)
    assert run.ended().code == -signal.SIGKILL
    until(lambda: run.children() == [])
    listed = bench.run_leaving("list", "runs", str(run.out)).out
    assert "killed" in listed
    assert f"{run.trials()} of 1,000 trials" in listed


def test_a_run_under_way_is_listed_as_running_until_it_ends(bench: Bench) -> None:
    half_a_second = suite('every_delay_us = "1000"', samples=500, trials=1000)
    run = bench.start("run", bench.suite(half_a_second), "--format", "json")
    until(lambda: run.trials() >= 2)
    listed = bench.run_leaving("list", "runs", str(run.out)).out
    workers = until(run.measuring)
    assert re.search(r" [1-9]\d* of 1,000 trials, running$", listed, re.MULTILINE)
    os.kill(workers[0], signal.SIGSTOP)  # a worker that outlives the launcher must not count as the launcher
    run.signal(signal.SIGKILL)
    run.process.wait()
    assert re.search(r" of 1,000 trials, killed$", bench.run_leaving("list", "runs", str(run.out)).out, re.MULTILINE)
    run.kill()


def test_the_next_run_removes_the_files_of_a_killed_launcher(bench: Bench) -> None:
    run = bench.start("run", bench.suite(ENDLESS))
    until(run.measuring)
    left = segments(run)
    assert left
    run.signal(signal.SIGKILL)
    run.ended()
    until(lambda: run.children() == [])
    assert len(bench.leftovers()) == 1, "without the trial's scratch folder this test could not fail"
    assert all(Path(path).exists() for path in left)
    assert bench.run("run", bench.suite(suite())).code == 0
    assert not [path for path in left if Path(path).exists()]


def test_a_second_run_does_not_disturb_the_first(bench: Bench) -> None:
    first = bench.start("run", bench.suite(suite('every_delay_us = "1000"', samples=2000)), "--format", "json")
    until(first.measuring)
    second = bench.start("run", bench.suite(suite(), "second"), "--format", "json")
    assert second.ended().code == 0
    ended = first.ended()
    assert ended.code == 0
    assert ended.document["cells"][0]["samples"] == 2000
    assert bench.leftovers() == []
