"""``middlemark history``: series of runs, their changes, and damaged folders."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result
from test_compare import cell, write

from middlemark.commands.history import command
from middlemark.commands.view import _histories
from middlemark.history.figures import RunFigures, SeriesFigure
from middlemark.history.series import history_of
from middlemark.problems import MeasureError, RequestError
from middlemark.runs import history as stored
from middlemark.runs.conduct import RunOptions, _commit
from middlemark.runs.printing import print_run
from middlemark.runs.read import read_measured
from middlemark.show.html.history import history_lines, svg_line
from middlemark.stats.change_points import change_points, shift
from middlemark.store import list_runs
from outputs import read_output

NOW = "2026-12-01T00:00:00+00:00"
SPREAD = 0.03


def runs_of(values: list[float], facts: Callable[[int], dict[str, str]] = lambda _: {}) -> list[RunFigures]:
    figure = SeriesFigure("c", "lyra", "udp", 64, "", "p50", "ratio", 1.0, None, None, "3.1", "udp udp")
    return [
        RunFigures(
            run=f"run-{at}",
            started=f"2026-10-{at + 1:02d}T10:00:00+00:00",
            repeats=("suite", "host", "cpu", "2"),
            facts=facts(at),
            figures=(msgspec.structs.replace(figure, value=value),),
        )
        for at, value in enumerate(values)
    ]


def noisy(count: int, seed: int = 1) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.exp(np.random.default_rng(seed).normal(0, SPREAD, count))


def test_a_change_is_placed_between_two_runs_with_its_size_and_what_the_runs_record_differently() -> None:
    values = noisy(25)
    values[18:] *= 1.2
    [series] = history_of(
        "runs", runs_of([*values], lambda at: {"kernel": "6.1" if at < 18 else "6.2"}), now=NOW
    ).series
    [change] = series.changes
    assert (change.before, change.after, change.at) == ("run-17", "run-18", "2026-10-19T10:00:00+00:00")
    assert change.suspect == "kernel 6.1 → 6.2"
    assert change.low < change.shift < change.high
    assert change.shift == pytest.approx(0.2, abs=0.03)
    assert change.is_worse


def test_a_change_back_is_a_second_change() -> None:
    values = noisy(30)
    values[10:20] *= 1.3
    [series] = history_of("runs", runs_of([*values]), now=NOW).series
    assert [each.after for each in series.changes] == ["run-10", "run-20"]
    assert [each.is_worse for each in series.changes] == [True, False]


def test_a_change_smaller_than_the_margin_does_not_count() -> None:
    values = np.exp(np.random.default_rng(1).normal(0, 0.002, 24))
    values[12:] *= 1.03
    assert history_of("runs", runs_of([*values]), now=NOW).series[0].changes == ()
    assert len(history_of("runs", runs_of([*values]), now=NOW, margin=0.01).series[0].changes) == 1


def test_one_run_that_is_far_off_is_no_change() -> None:
    values = noisy(24)
    values[12] = 10.0
    assert change_points([*values]) == ()


def test_too_few_runs_say_so() -> None:
    found = history_of("runs", runs_of([1.0, 2.0, 3.0]), now=NOW)
    assert found.series[0].why == "3 runs; a change needs 12"
    assert "too few" in found.sentence


def test_series_that_are_searched_together_need_more_evidence() -> None:
    values = noisy(12)
    values[6:] *= 1.5
    assert change_points([*values]) == (6,)
    assert change_points([*values], series=10_000) == ()


def test_the_shift_is_the_median_of_all_differences() -> None:
    found = shift([1.0, 1.0, 1.0, 1.1], [2.0, 2.0, 2.2, 2.0])
    assert found.part == pytest.approx(1.0)
    assert found.low <= found.part <= found.high


def test_runs_on_other_machines_and_of_other_suites_are_other_series() -> None:
    here, there = (
        runs_of([1.0]),
        [msgspec.structs.replace(each, repeats=("suite", "b", "cpu", "2")) for each in runs_of([1.0])],
    )
    found = history_of("runs", [*here, *there, RunFigures(run="x", started="", repeats=())], now=NOW)
    assert (len(found.series), found.runs, found.others) == (2, 2, 1)


def test_a_run_from_the_future_is_named_because_the_clock_jumped() -> None:
    [note] = history_of("runs", runs_of([1.0, 2.0]), now="2026-10-01T12:00:00+00:00").notes
    assert note.startswith("run-1 began in the future (2026-10-02T10:00:00): the clock jumped")


def nightly(root: Path, factor: float = 1.4, count: int = 14) -> list[Path]:
    """Store runs of one suite. From the ninth on they are slower."""
    found = []
    for number in range(count):
        folder = write(root, {cell(): 50_000 * (factor if number >= 8 else 1) + 90 * (number * 5 % 7)}, trials=6)
        path = folder / "run.json"
        content = json.loads(path.read_text())
        content["started"] = f"2026-10-{number + 1:02d}T10:00:00.000+00:00"
        content["commit"] = f"abc{number:04d}"
        path.write_text(json.dumps(content))
        found.append(folder)
    return found


def history(*words: str) -> Result:
    return CliRunner().invoke(command, words, catch_exceptions=False, standalone_mode=False)


def test_the_verb_names_the_change_its_commit_and_the_command_that_compares(tmp_path: Path) -> None:
    folders = nightly(tmp_path)
    text = history(str(tmp_path)).output
    assert "1 series of 14 runs: 1 change" in text
    assert "commit abc0007 → abc0008" in " ".join(text.split())
    assert f"compare {folders[7]}" in " ".join(text.replace("\\\n", " ").split())
    again = history(str(tmp_path), "--format", "markdown").output
    assert "**Changes**" in again
    assert "**Series**" in again


def test_fail_if_change_exits_with_4_only_if_the_newest_change_is_worse(tmp_path: Path) -> None:
    slower, faster = tmp_path / "slower", tmp_path / "faster"
    nightly(slower)
    nightly(faster, factor=0.7)
    assert history(str(slower), "--fail-if", "change").return_value == 4
    assert history(str(faster), "--fail-if", "change").return_value == 0
    assert history(str(slower)).return_value == 0


def test_the_runs_of_several_folders_are_one_history_and_single_runs_may_be_named(tmp_path: Path) -> None:
    folders = nightly(tmp_path / "old")
    moved = tmp_path / "new"
    moved.mkdir()
    for each in folders[8:]:
        each.rename(moved / each.name)
    text = " ".join(history(str(tmp_path / "old"), str(moved)).output.replace("\\\n", " ").split())
    assert "1 series of 14 runs: 1 change" in text
    assert f"compare {folders[7]} {moved / folders[8].name}" in text
    named = [str(each) for each in folders[:8]] + [str(moved), str(folders[0])]
    assert stored.history(*map(Path, named)).runs == 14, "a run that is named twice counts once"
    assert stored.history(*folders[:3]).runs == 3


def test_ten_thousand_kept_runs_are_read_without_their_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [model] = nightly(tmp_path, count=1)
    stored.history(tmp_path)
    figures = msgspec.msgpack.decode((tmp_path / stored.KEPT / f"{model.name}.msgpack").read_bytes(), type=stored._Kept)
    for number in range(10_000):
        folder = tmp_path / f"run-{number:05d}"
        folder.mkdir()
        (folder / "run.json").write_bytes(b"{}")
        (folder / "trials.jsonl").write_bytes(b"")
        run = msgspec.structs.replace(figures.figures, run=folder.name, started=f"2026-11-01T{number:06d}")
        stored._write(folder, stored._Kept(stored.FORMAT, stored._state(folder), run))
    monkeypatch.setattr(stored, "measured", lambda _: pytest.fail("samples were read"))
    found = stored.history(tmp_path, warn=pytest.fail)
    [series] = found.series
    assert (len(series.points), series.points[-1].run) == (500, "run-09999")


def test_json_and_csv_have_every_point(tmp_path: Path) -> None:
    nightly(tmp_path)
    found = read_output("history", history(str(tmp_path), "--format", "json").output)
    [series] = found["series"]
    assert len(series["points"]) == 14
    assert series["changes"][0]["suspect"] == "commit abc0007 → abc0008"
    lines = history(str(tmp_path), "--format", "csv").output.splitlines()
    assert len(lines) == 15


def test_samples_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nightly(tmp_path)
    first = stored.history(tmp_path)
    monkeypatch.setattr(stored, "measured", lambda _: pytest.fail("samples were read again"))
    assert stored.history(tmp_path) == first


def test_figures_of_a_run_that_was_resumed_are_made_again(tmp_path: Path) -> None:
    folders = nightly(tmp_path, count=2)
    before = stored.history(tmp_path)
    trials = folders[1] / "trials.jsonl"
    trials.write_text("".join(trials.read_text().splitlines(keepends=True)[:3]))
    assert stored.history(tmp_path) != before


def test_keeping_figures_does_not_change_which_run_is_the_newest(tmp_path: Path) -> None:
    nightly(tmp_path, count=3)
    before = list_runs(tmp_path)
    stored.history(tmp_path)
    assert list_runs(tmp_path) == before


def test_damaged_kept_figures_are_made_again(tmp_path: Path) -> None:
    nightly(tmp_path, count=2)
    first = stored.history(tmp_path)
    for each in (tmp_path / stored.KEPT).iterdir():
        each.write_bytes(b"\x93damaged")
    assert stored.history(tmp_path) == first


def test_a_full_disk_costs_only_the_kept_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nightly(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(stored, "_write", full)
    said: list[str] = []
    assert len(stored.history(tmp_path, warn=said.append).changed) == 1
    assert said == [f"{tmp_path / stored.KEPT}: figures are not kept: No space left on device"]


def test_a_run_that_is_moved_or_damaged_meanwhile_is_left_out_and_named(tmp_path: Path) -> None:
    folders = nightly(tmp_path)
    (folders[3] / "run.json").write_text("{")
    listed = list_runs(tmp_path)
    said: list[str] = []

    def vanish(number: int, _: int) -> None:
        if number == 1 and folders[5].exists():
            folders[5].rename(tmp_path.parent / f"{tmp_path.name}-moved")

    found = stored.history(tmp_path, warn=said.append, begun=vanish)
    assert found.runs == len(listed) - 2
    assert len(said) == 2
    assert all(each.startswith("left out: ") for each in said)


def test_a_run_prints_the_changes_of_its_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = nightly(tmp_path)
    stored.history(tmp_path)
    print_run(read_measured(folders[-1]), RunOptions("lo", "text", quiet=True))
    text = " ".join(capsys.readouterr().out.split())
    assert "History (14 runs): lyra udp, 1 KiB +4" in text
    assert "slower since 2026-10-09" in text


def test_the_report_and_the_list_of_runs_draw_the_points_of_a_change(tmp_path: Path) -> None:
    nightly(tmp_path)
    stored.history(tmp_path)
    found = stored.history_of_kept(tmp_path)
    [drawn] = history_lines(found)
    assert drawn["text"].startswith("History (14 runs): lyra udp, 1 KiB +")
    assert len(drawn["line"]["points"]) == 14
    assert len(drawn["line"]["changes"]) == 1
    svg = svg_line({**drawn["line"], "label": "<lyra>"})
    assert svg.count("<circle") == 1
    assert "&lt;lyra&gt;" in svg
    [(text, _)] = _histories(tmp_path)
    assert text == drawn["text"]


def test_without_the_library_the_verb_says_so_and_a_run_ends_as_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = nightly(tmp_path)
    monkeypatch.setitem(sys.modules, "ruptures", None)
    with pytest.raises(MeasureError, match="need the package ruptures"):
        history(str(tmp_path))
    assert stored.kept_history(read_measured(folders[-1])) is None


def test_a_folder_that_does_not_exist_and_wrong_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match="there is no such folder"):
        history(str(tmp_path / "none"))
    for words in (("--last", "0"), ("--fail-if", "slower"), ("--margin", "much")):
        with pytest.raises(RequestError):
            history(str(tmp_path), *words)


def test_the_commit_of_the_work_tree_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    assert _commit() == ""
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "file").write_text("1")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    assert len(_commit()) == 12
    (tmp_path / "file").write_text("2")
    assert _commit().endswith("-dirty")


TRIALS = json.loads((Path(__file__).parents[1] / "fixtures" / "trials-of-history.json").read_text())
RUNS, TRIALS_OF_A_RUN, SERIES = 40, 8, 200


def resampled(draw: np.random.Generator) -> tuple["np.ndarray[tuple[int], np.dtype[np.float64]]", float]:
    """Return the medians of a series of runs and their spread. A run's trials are drawn from one cell's stored ones."""
    trials = np.asarray([*TRIALS.values()][draw.integers(len(TRIALS))])
    medians = np.median(draw.choice(trials, (2000, TRIALS_OF_A_RUN)), axis=1)
    return draw.choice(medians, RUNS), float(np.std(np.log(medians)))


@pytest.mark.slow
def test_twice_the_spread_is_found_in_90_percent_and_false_changes_in_one_of_200() -> None:
    draw = np.random.default_rng(41)
    found = false = 0
    for _ in range(SERIES):
        series, spread = resampled(draw)
        false += bool(change_points([*series]))
        at = int(draw.integers(10, RUNS - 9))
        series[at:] *= np.exp(2 * spread)
        found += any(abs(each - at) <= 5 for each in change_points([*series]))
    assert found >= 0.9 * SERIES, found
    assert false <= SERIES / 200, false
