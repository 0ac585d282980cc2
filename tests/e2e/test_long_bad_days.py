"""Long trials on bad days: a full disk, a folder that is moved, and a machine that sleeps in mid-trial."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from product import Bench, Ended, Mount, Run
from test_bad_disks import fill
from test_long_trials import recorded, suite

from middlemark.store import read_run

pytestmark = pytest.mark.usefixtures("null_worker")


def started(bench: Bench, out: Path, seconds: int) -> Run:
    text = suite(duration=f"{seconds}s")
    words = ("--no-baseline", "--format", "json", "--out", str(out))
    return bench.start("run", bench.suite(text), *words, out=out)


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def codes(ended: Ended) -> set[str]:
    [cell] = ended.document["cells"]
    return {each["code"] for each in cell["warnings"]}


def test_a_disk_that_is_full_for_a_while_ends_the_records_and_the_figures_are_kept(bench: Bench, mount: Mount) -> None:
    disk = mount("size=4m")
    run = started(bench, disk, 20)
    recorded(run, 6)
    fill(disk)
    time.sleep(4)
    (disk / "full").unlink()
    ended = run.ended()
    assert ended.code == 0, ended.err
    assert "records-lost" in codes(ended)
    [cell] = ended.document["cells"]
    assert cell["samples"] > 3000, "200 a second for 20 s"
    kept = read_run(ended.folder)
    assert 6 <= len(kept.records) < 36
    assert len(kept.damaged) <= 1, "the record that the full disk cut off"


def test_a_folder_that_is_moved_in_mid_trial_keeps_its_records_and_ends_the_run_with_its_path(bench: Bench) -> None:
    out = bench.folder / "here"
    run = started(bench, out, 12)
    recorded(run, 6)
    folder, moved = run.folder, bench.folder / "moved"
    folder.rename(moved)
    ended = run.ended()
    assert ended.code in (1, 3)
    assert str(folder) in ended.err
    assert len(records(moved)) >= 6


def test_a_launcher_that_slept_goes_on_and_its_records_cover_the_whole_trial(bench: Bench) -> None:
    run = started(bench, bench.folder / "runs", 14)
    recorded(run, 4)
    run.signal(signal.SIGSTOP)
    time.sleep(4)
    run.signal(signal.SIGCONT)
    ended = run.ended()
    assert ended.code == 0, ended.err
    pings = [each for each in records(ended.folder) if each["who"] == "ping"]
    assert sum(each["seconds"] for each in pings) == pytest.approx(14, abs=1.5)
    assert sum(each["roles"][0]["sent"] for each in pings) == pytest.approx(2800, rel=0.1)
