"""A killed run is resumed with its original design, and every trial is measured once."""

import json
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from product import Bench, Ended, until

ASKED = ("run", "--adapter", "null", "--transport", "memory", "--size", "16,1k", "--warmup", "10ms", "--trials", "3")
TRIALS = 6


def killed(bench: Bench, after: int) -> Path:
    """Kill the launcher with SIGKILL when this number of trials is stored. Return the run's folder."""
    run = bench.start(*ASKED, "--duration", "300ms", "--quiet")
    while run.trials() < after or not list(run.out.glob("*/run.json")):
        assert run.process.poll() is None
        time.sleep(0.01)
    run.signal(signal.SIGKILL)
    run.process.communicate()
    return run.folder


def resumed(bench: Bench, folder: Path) -> Ended:
    return bench.run_leaving("run", "--resume", str(folder), "--format", "json", "--quiet")


@pytest.mark.parametrize("after", [0, 1, 3])
def test_resume_measures_the_missing_trials_of_a_killed_run_and_none_twice(bench: Bench, after: int) -> None:
    folder = killed(bench, after)
    design = json.loads((folder / "run.json").read_text())["plan"]
    before = (folder / "trials.jsonl").read_text()
    ended = resumed(bench, folder)
    assert ended.code == 0, ended.err
    document = json.loads((folder / "run.json").read_text())
    assert (document["plan"], document["interrupted"]) == (design, False)
    assert document["ended"] is not None
    kept = (folder / "trials.jsonl").read_text()
    assert kept.startswith(before)
    assert Counter(json.loads(line)["order"] for line in kept.splitlines()) == Counter(range(TRIALS))
    assert [cell["trials"] for cell in ended.document["cells"]] == [3, 3]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_killed_repeatedly_at_random_moments_ends_with_its_original_design(bench: Bench, seed: int) -> None:
    draw = random.Random(seed)
    folder = killed(bench, 0)
    design = json.loads((folder / "run.json").read_text())["plan"]
    for _ in range(3):
        again = bench.start("run", "--resume", str(folder), "--quiet")
        time.sleep(draw.uniform(0.0, 1.5))  # at start, between trials, within a trial, or after the end
        again.signal(signal.SIGKILL)
        again.process.communicate()
        assert json.loads((folder / "run.json").read_text())["plan"] == design
    ended = resumed(bench, folder)
    assert ended.code == 0, ended.err
    assert json.loads((folder / "run.json").read_text())["plan"] == design
    whole = [line for line in (folder / "trials.jsonl").read_text().splitlines() if line.endswith("}")]
    assert Counter(json.loads(line)["order"] for line in whole) == Counter(range(TRIALS))
    assert [(cell["trials"], cell["failed_trials"]) for cell in ended.document["cells"]] == [(3, 0), (3, 0)]


def test_a_truncated_line_discards_its_trial_which_is_measured_again(bench: Bench) -> None:
    folder = killed(bench, 2)
    trials = folder / "trials.jsonl"
    trials.write_bytes(trials.read_bytes().rstrip(b"\n")[:-30])
    ended = resumed(bench, folder)
    assert ended.code == 0, ended.err
    assert [cell["trials"] for cell in ended.document["cells"]] == [3, 3]


def test_a_run_of_another_machine_or_version_is_refused_with_all_differences(bench: Bench) -> None:
    folder = killed(bench, 1)
    path = folder / "run.json"
    document = json.loads(path.read_text())
    document["middlemark"] = "0.0.1"
    document["machine"]["kernel"] = "2.6"
    document["adapters"][0]["version"] = "0"
    path.write_text(json.dumps(document))
    ended = resumed(bench, folder)
    assert ended.code == 2
    for difference in ("Middlemark was 0.0.1 then", "kernel was 2.6 then", "null was 0 then and is 1 now"):
        assert difference in ended.err


def test_resume_refuses_other_factors_and_a_run_under_way(bench: Bench) -> None:
    run = bench.start(*ASKED[:-1], "100", "--duration", "300ms", "--quiet")
    until(run.trials)
    with_factors = bench.run_leaving("run", "--resume", str(run.folder), "--size", "64")
    assert with_factors.code == 2
    assert "leave suites, factors" in with_factors.err
    under_way = bench.run_leaving("run", "--resume", str(run.folder))
    assert under_way.code == 3
    assert f"is being measured by process {run.process.pid}" in under_way.err
    run.kill()


@pytest.mark.parametrize("apart_s", [0.0, 0.3])
def test_if_two_resume_a_run_one_measures_and_the_other_is_refused_with_its_pid(bench: Bench, apart_s: float) -> None:
    folder = killed(bench, 1)
    both = []
    for _ in range(2):
        both.append(bench.start("run", "--resume", str(folder), "--quiet"))
        time.sleep(apart_s)
    done = [each.process.communicate(timeout=300) for each in both]
    codes = [each.process.returncode for each in both]
    assert sorted(codes) == [0, 3], done
    refused = codes.index(3)
    assert f"is being measured by process {both[1 - refused].process.pid}" in done[refused][1]
    assert Counter(json.loads(line)["order"] for line in (folder / "trials.jsonl").read_text().splitlines()) == Counter(
        range(TRIALS)
    )
