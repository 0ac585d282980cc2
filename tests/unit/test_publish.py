"""``middlemark publish``: what a published result contains, what it must not contain, and how edits are found."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from report_runs import cell as made_cell
from report_runs import robot, run_of
from test_compare import cell, write

from middlemark.commands.publish import command
from middlemark.model.outcome import RunWarning
from middlemark.publish.files import (
    InvalidResult,
    digest_of,
    finished,
    name_of,
    problems_of,
    read_result,
    refusals,
    text_of,
)
from middlemark.publish.private import private_parts
from middlemark.publish.result import document_again, published, stated
from middlemark.runs.read import read_measured
from middlemark.show.json.published import Published
from middlemark.verdicts.rows import MeasuredRun
from outputs import read_output

RAW = cell(adapter="socket", transport="socket")
FASTER = cell(adapter="lyra")
SLOWER = cell(adapter="lyra", transport="shm")


def run_in(root: Path, **machine: Any) -> MeasuredRun:
    folder = write(root, {RAW: 20_000, FASTER: 30_000, SLOWER: 60_000}, trials=8, baselines=(0,), **machine)
    path = folder / "run.json"
    content = json.loads(path.read_text()) | {"ended": "2026-11-21T12:05:00.000+00:00"}
    path.write_text(json.dumps(content))
    return read_measured(folder)


def result_of(run: MeasuredRun) -> Published:
    return finished(published(run, (), None))


def publish(*words: str) -> Result:
    return CliRunner().invoke(command, words, catch_exceptions=False, standalone_mode=False)


def test_a_run_becomes_a_small_file_that_follows_its_schema_and_its_own_check(tmp_path: Path) -> None:
    run = run_in(tmp_path / "runs")
    found = publish(str(run.folder), "--to", str(tmp_path / "results"))
    [path] = (tmp_path / "results").iterdir()
    assert found.output == f"{path}\n"
    assert path.name.startswith("2026-11-21-try-")
    text = path.read_text()
    assert len(text) < 20_000
    read_output("published", text)
    assert publish("--check", str(tmp_path / "results")).return_value == 0


def test_the_file_has_ratios_and_standings_of_the_report(tmp_path: Path) -> None:
    result = result_of(run_in(tmp_path))
    raw, faster, slower = result.cells
    assert raw.standing is None
    assert (faster.standing, slower.standing) == ("best", "slower")
    assert faster.ratio == pytest.approx(1.5, rel=0.01)
    assert faster.baseline == 0
    assert faster.low is not None
    [experiment] = result.experiments
    assert (experiment.verdict, experiment.ranked[0]) == ("best", 1)


def test_a_published_result_gives_the_report_again(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    again = document_again(result_of(run))
    assert [row.name for row in again.rows] == [each.name for each in result_of(run).cells]
    assert again.runs[0].file.machine.host == ""


@pytest.mark.parametrize("levels", [{"pattern": "stream"}, {"rate": 1000.0}, {"subscribers": 4}, {"loan": True}])
def test_every_pattern_survives_the_way_through_a_file(levels: dict[str, Any]) -> None:
    times = [1000.0 + each for each in range(8)]
    result = result_of(run_of({made_cell("lyra", **levels): times, made_cell("udp", **levels): times}))
    again = msgspec.json.decode(text_of(result), type=Published)
    assert again == result
    assert problems_of(again) == []


def test_a_workload_survives_the_way_through_a_file() -> None:
    result = result_of(run_of({robot("lyra"): [0.2, 0.3] * 4, robot("vega"): [0.5, 0.6] * 4}))
    assert result.cells[0].metric == "deadline"
    assert result.cells[0].figure == pytest.approx(0.25, rel=0.3)
    assert problems_of(msgspec.json.decode(text_of(result), type=Published)) == []


def test_no_name_path_or_address_of_the_machine_is_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "katarina")
    folder = run_in(tmp_path / "katarina", host="secret-robot").folder
    text = (folder / "run.json").read_text()
    file = json.loads(text)
    file["command"] = ["/home/katarina/bin/middlemark", "--hosts", "a=10.1.2.3"]
    file["suite_texts"] = {"try": "# /home/katarina/suite.toml on 10.1.2.3"}
    for adapter in file["adapters"]:
        adapter["library"] = "/opt/secret/lib.so"
    (folder / "run.json").write_text(json.dumps(file))
    trials = folder / "trials.jsonl"
    lines = [json.loads(each) for each in trials.read_text().splitlines()]
    for line in lines:
        line["warnings"] = [{"code": "odd", "text": "process /home/katarina/x on secret-robot, 10.1.2.3"}]
        line["notes"] = ["/home/katarina"]
        line["placed"] = [{"role": "ping", "pid": 77, "cpus": [0], "policy": "other", "priority": 0, "mlocked": False}]
    trials.write_text("".join(json.dumps(each) + "\n" for each in lines))
    found = text_of(result_of(read_measured(folder)))
    for private in ("secret", "katarina", "10.1.2.3", "/home", "/opt", str(tmp_path), folder.name, '"pid"'):
        assert private not in found


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("file /home/me/robot.xml", "a path"),
        ("~/robot.xml", "a path"),
        ("peer 192.168.7.20", "an address"),
        ("tcp://10.0.0.1:7447", "an address"),
        ("fe80::1ff:fe23:4567:890a", "an address"),
        ("00:1a:2b:3c:4d:5e", "an address"),
        ("on secret-robot", "the name of the host or the user"),
    ],
)
def test_private_text_in_a_level_is_found_with_its_place(label: str, kind: str) -> None:
    result = result_of(run_of({made_cell("lyra", label=label): [1000.0] * 8}))
    found = private_parts(result, ("secret-robot",))
    assert f"cells[0].levels.label contains {kind}" in found


@pytest.mark.parametrize("label", ["1/2 load", "msgs/s", "a:b", "12:30", "v1.2.3", "a/b"])
def test_ordinary_text_is_not_private(label: str) -> None:
    assert private_parts(result_of(run_of({made_cell("lyra", label=label): [1000.0] * 8})), ("robot",)) == []


def test_a_users_file_keeps_its_name_and_hash_only() -> None:
    value = f"/home/me/cyclone.xml sha256:{'a' * 64}"
    result = result_of(run_of({made_cell("lyra", native=(("config", value),)): [1000.0] * 8}))
    assert f"cyclone.xml sha256:{'a' * 64}" in text_of(result)
    assert "/home" not in text_of(result)


def edited(result: Published, change: Any) -> Published:
    content = json.loads(text_of(result))
    change(content)
    return msgspec.json.decode(json.dumps(content).encode(), type=Published)


def test_an_edited_figure_ratio_verdict_or_version_is_named(tmp_path: Path) -> None:
    result = result_of(run_in(tmp_path))

    def figure(content: Any) -> None:
        content["cells"][1]["figure"] = 10.0

    def standing(content: Any) -> None:
        content["cells"][2]["standing"] = "best"

    def ranked(content: Any) -> None:
        content["experiments"][0]["ranked"] = [2, 1]

    def version(content: Any) -> None:
        content["cells"][1]["version"] = "99"

    def trial(content: Any) -> None:
        for each in content["cells"][1]["trials"]:
            each["latency_ns"]["p50"] *= 0.5

    for change, expected in (
        (figure, "cells[1].figure (lyra udp): the file says 10.0; its trials give 30"),
        (standing, "cells[2].standing (lyra shm): the file says best; its trials give slower"),
        (ranked, "experiments[0]: the file says best, ranked [2, 1]; its trials give best, ranked [1, 2]"),
        (version, "digest: the file was edited"),
        (trial, "cells[1].figure"),
    ):
        problems = problems_of(edited(result, change))
        assert any(each.startswith(expected) for each in problems), (expected, problems)
        assert problems[-1].startswith("digest: ")


def test_a_digest_that_was_made_again_does_not_hide_a_wrong_verdict(tmp_path: Path) -> None:
    def best(content: Any) -> None:
        content["cells"][2]["standing"] = "best"

    result = edited(result_of(run_in(tmp_path)), best)
    problems = problems_of(msgspec.structs.replace(result, digest=digest_of(result)))
    assert [each.partition(" (")[0] for each in problems] == ["cells[2].standing"]


def test_inconsistent_trials_are_a_problem_and_no_traceback(tmp_path: Path) -> None:
    result = result_of(run_in(tmp_path))

    def outside(content: Any) -> None:
        content["baselines"] = [99]
        content["cells"][1]["levels"]["size"] = "many"

    [problem] = problems_of(edited(result, outside))
    assert problem.startswith("its trials are inconsistent")


def test_a_file_that_is_no_result_is_refused(tmp_path: Path) -> None:
    for name, text, why in (
        ("a", "{", "is not a published result"),
        ("b", '{"format": 2}', "format 2; this Middlemark reads format 1"),
        ("c", '{"format": 1}', "missing required field"),
    ):
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(InvalidResult, match=why):
            read_result(path)
        assert publish("--check", str(path)).return_value == 4
    with pytest.raises(InvalidResult, match="No such file"):
        read_result(tmp_path / "none")


def test_a_run_that_is_too_doubtful_is_refused_with_the_reason(tmp_path: Path) -> None:
    few = run_of({made_cell("lyra"): [1000.0] * 3})
    assert refusals(few) == [
        "no configuration has 6 trials, the fewest for an interval (the most is 3); add --trials 10"
    ]
    doubtful = run_of({made_cell("lyra"): [1000.0] * 8}, warnings=[RunWarning("drift", "it drifts")])
    assert refusals(doubtful)[0].startswith("1 of 1 configuration are doubtful (drift)")
    interrupted = run_of({made_cell("lyra"): [1000.0] * 8}, interrupted=True)
    assert refusals(interrupted) == ["the run is not complete: interrupted"]
    stored = write(tmp_path / "runs", {FASTER: 1000.0}, trials=3)
    assert publish(str(stored), "--to", str(tmp_path / "results")).return_value == 4
    assert [*(tmp_path / "results").iterdir()] == []


def test_a_full_disk_leaves_no_part_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_in(tmp_path / "runs")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_bytes", full)
    assert publish(str(run.folder), "--to", str(tmp_path / "results")).return_value == 1
    assert [*(tmp_path / "results").iterdir()] == []


def test_the_name_of_a_file_has_its_day_suite_and_digest(tmp_path: Path) -> None:
    result = result_of(run_in(tmp_path))
    assert name_of(result) == f"2026-11-21-try-{result.digest[:8]}.json"
    assert stated(result) == result
