"""A damaged run is shown without the damaged parts, which are counted and named with their place."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from middlemark.commands import group
from middlemark.problems import MeasureError
from middlemark.runs.read import read_measured
from middlemark.store import StoreError, read_run, reopen_run

FIXTURES = Path(__file__).parents[1] / "fixtures" / "run"
DEEP = "[" * 3_000


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of six trials of three patterns, in a folder that also contains an undamaged run."""
    shutil.copytree(FIXTURES / "search", tmp_path / "runs" / "neighbour")
    return Path(shutil.copytree(FIXTURES / "patterns", tmp_path / "runs" / "damaged"))


def set_in(value: Any, place: str, new: object) -> None:
    *path, last = [int(each) if each.isdigit() else each for each in place.split(".")]
    for each in path:
        value = value[each]
    value[last] = new


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("cell", 999, "cell, number: 999, 1; trial 2 has 2, 1"),
        ("order", 999, "order: the plan has no trial 999"),
        ("order", 0, "cell, number: 2, 1; trial 0 has 0, 1"),
        ("order", -1, "order"),
        ("files.0.role", "nobody", "files[0].role"),
        ("files.0.samples", -1, "files[0].samples"),
        ("starts.0.ticks", -1, "starts[0].ticks"),
        ("starts.0.ticks", 1 << 63, "starts[0].ticks"),
        ("measured_s", 5e-324, "measured_s: 4.94066e-324 s is too short for a measurement"),
        ("samples_file", "../neighbour/samples/00000-publisher-0.npy", "samples_file: is not inside the run's folder"),
        ("files.0.path", "/etc/passwd", "files[0].path: is not inside the run's folder"),
        ("stamps.0.path", "samples/../../x", "stamps[0].path: is not inside the run's folder"),
    ],
)
def test_a_wrong_value_discards_its_line_and_its_place_is_named(
    run: Path, place: str, value: object, reason: str
) -> None:
    path = run / "trials.jsonl"
    lines = path.read_text().splitlines()
    trial = json.loads(lines[2])
    set_in(trial, place, value)
    lines[2] = json.dumps(trial)
    path.write_text("\n".join(lines) + "\n")
    read = read_run(run)
    assert [each.order for each in read.outcomes] == [0, 1, 3, 4, 5]
    assert len(read.damaged) == 1
    assert read.damaged[0].startswith("line 3: ")
    assert reason in read.damaged[0]
    assert sum(each.trials for each in read_measured(run).results) == 5


def test_the_first_of_two_lines_of_one_trial_counts(run: Path) -> None:
    path = run / "trials.jsonl"
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines, lines[2]]) + b"\n")
    read = read_run(run)
    assert len(read.outcomes) == 6
    assert read.damaged == ("line 7: order: trial 2 is in an earlier line",)


@pytest.mark.parametrize(
    "line", [b"\xff", b'{"x":"\xff"}', DEEP.encode(), b'{"cell":' * 3_000, b"\x00", b"", b'{"x":' + DEEP.encode()]
)
def test_a_line_of_binary_data_or_without_an_end_discards_only_itself(run: Path, line: bytes) -> None:
    path = run / "trials.jsonl"
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]) + b"\n")
    read = read_run(run)
    assert len(read.outcomes) == 6
    assert [each.partition(":")[0] for each in read.damaged] == ["line 3"]


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("plan.names", ["one"], "plan.names: there are 1 names for 3 configurations"),
        ("plan.cells.1.priority", "fifo:x", "plan.cells[1].priority: 'fifo:x' is not a priority"),
        ("plan.cells.1.size", -1, "plan.cells[1].size"),
        ("plan.cells.2.rate", "quick", "plan.cells[2].rate"),
        ("plan.cells.0.pin", [-1], "plan.cells[0].pin"),
        ("plan.trials.4.cell", 3, "plan.trials[4].cell: there is no configuration 3"),
        ("plan.trials.4.order", 3, "plan.trials[4].order: another trial also has 3"),
        ("plan.baselines", [7], "plan.baselines: there is no configuration 7"),
        ("plan.precision", {"part": 0.1, "budget_s": 1.0, "focus": [3]}, "plan.precision.focus"),
        ("reached", {"rounds": 1, "seconds": 1.0, "met": True, "undecided": [3]}, "reached.undecided"),
        ("machine.cpu", "DEEP", "nested too deep"),
        ("suites", "x", "suites"),
    ],
)  # fmt: skip
def test_a_damaged_run_file_is_refused_with_the_place(run: Path, place: str, value: object, reason: str) -> None:
    path = run / "run.json"
    described = json.loads(path.read_text())
    if value == "DEEP":
        described["further"] = value
    else:
        set_in(described, place, value)
    path.write_text(json.dumps(described).replace('"DEEP"', DEEP))
    with pytest.raises(StoreError) as error:
        read_run(run)
    assert str(error.value).startswith(f"{path}: ")
    assert reason in str(error.value)


def test_an_imported_run_may_exceed_the_limits_of_this_tool(run: Path) -> None:
    path = run / "run.json"
    described = json.loads(path.read_text())
    described["plan"]["cells"][1]["publishers"] = 1_000
    log = {"file": "x", "bytes": 1, "sha256": "", "tool": "x", "format": "x", "lines": 1, "unread": 0}
    path.write_text(json.dumps({**described, "imported": [log]}))
    assert read_run(run).file.plan.cells[1].publishers == 1_000
    path.write_text(json.dumps(described))
    with pytest.raises(StoreError, match="1000 is not a number of publishers"):
        read_run(run)


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


@pytest.mark.parametrize("becomes", [pipe, endless, folder])
@pytest.mark.parametrize("name", ["run.json", "trials.jsonl"])
def test_a_file_of_another_kind_is_refused_without_blocking(
    run: Path, name: str, becomes: Callable[[Path], None]
) -> None:
    becomes(run / name)
    reason = "Is a directory" if becomes is folder else "is not a regular file"
    with pytest.raises(StoreError, match=f"{name}: {reason}"):
        read_run(run)
    with pytest.raises(StoreError, match=f"{name}: {reason}"):
        reopen_run(run)


def test_a_terabyte_without_a_line_end_is_one_damaged_line(run: Path) -> None:
    with (run / "trials.jsonl").open("r+b") as file:
        file.truncate(1 << 40)
    read = read_run(run)
    assert len(read.outcomes) == 6
    assert len(read.damaged) == 1


@pytest.mark.parametrize("becomes", [pipe, endless, folder])
def test_samples_of_another_kind_of_file_fail_their_trial(run: Path, becomes: Callable[[Path], None]) -> None:
    becomes(run / "samples" / "00000.npy")
    measured = read_measured(run)
    assert [(each.trials, each.failed_trials) for each in measured.results] == [(1, 1), (2, 0), (2, 0)]


@pytest.mark.parametrize("filled", [b"\xff", b"\x80"])
@pytest.mark.parametrize("name", ["00000.npy", "00001-subscriber-0.npy", "00002-client-0.npy"])
def test_samples_with_impossible_times_fail_their_trial(run: Path, name: str, filled: bytes) -> None:
    path = run / "samples" / name
    content = path.read_bytes()
    data = content.index(b"\n") + 1
    path.write_bytes(content[:data] + filled * (len(content) - data))
    results = read_measured(run).results
    assert sorted(each.failed_trials for each in results) == [0, 0, 1]
    (failure,) = (each for result in results for each in result.failures)
    assert "its samples are damaged: they contain a time of" in failure.text


def test_the_content_of_a_foreign_file_is_never_shown(run: Path) -> None:
    (run / "samples" / "00000.npy").write_text("secret: 1234\n" * 30)
    (failure,) = (each for result in read_measured(run).results for each in result.failures)
    assert "secret" not in failure.text


@pytest.mark.parametrize("damage", ["", "\xff", "{" * 3_000, '{"schema":1}'])
def test_the_neighbours_of_a_damaged_run_are_still_read(run: Path, damage: str) -> None:
    (run / "run.json").write_bytes(damage.encode("latin-1"))
    listed = CliRunner().invoke(group, ["list", "runs", str(run.parent)])
    assert listed.exit_code == 0
    assert "neighbour" in listed.stdout
    assert "damaged/run.json" in listed.stderr
    page = run.parent / "page.html"
    both = CliRunner().invoke(
        group, ["report", str(run), str(run.parent / "neighbour"), "--html", str(page)], standalone_mode=False
    )
    assert both.exception is None
    assert both.return_value == 1
    assert f"left out: {run}/run.json" in both.stderr
    assert page.exists()
    single = CliRunner().invoke(group, ["report", str(run)], standalone_mode=False)
    assert isinstance(single.exception, MeasureError)


def test_a_report_is_not_written_into_an_unnamed_pipe(run: Path) -> None:
    pipe(run / "report.html")
    done = CliRunner().invoke(group, ["report", str(run)], standalone_mode=False)
    assert done.return_value == 1
    assert "report.html: is not a regular file" in done.stderr
