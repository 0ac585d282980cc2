"""``middlemark import``: what it stores, prints and refuses, and how other commands read the run."""

import csv
import hashlib
import io
import json
import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from imports_cases import FIXTURES, PASTED, READ, fixture
from test_compare import cell as measured_cell
from test_compare import write as write_measured

from middlemark.commands.compare import command as compare
from middlemark.commands.export import command as export
from middlemark.commands.import_ import command
from middlemark.commands.list import command as list_
from middlemark.problems import MeasureError, RequestError
from middlemark.runs.measure import differences
from middlemark.store import list_runs, read_run
from outputs import read_output

PING = FIXTURES / "ddsperf" / "ping.log"


def imported(out: Path, *arguments: object) -> Result:
    return CliRunner().invoke(command, ["--out", str(out), *map(str, arguments)], standalone_mode=False)


def kept(result: Result, out: Path) -> Path:
    assert result.exception is None, result.exception
    (folder,) = list_runs(out)
    return folder


def problems(result: Result) -> list[str]:
    assert isinstance(result.exception, RequestError), result.exception
    return [str(each) for each in result.exception.problems]


def test_a_log_becomes_a_run_that_names_its_source(tmp_path):
    run = read_run(kept(imported(tmp_path, PING), tmp_path))
    (source,) = run.file.imported
    assert (source.file, source.tool) == ("ping.log", "ddsperf")
    assert source.sha256 == hashlib.sha256(PING.read_bytes()).hexdigest()
    assert source.bytes == PING.stat().st_size
    assert (source.lines, source.unread) == (13, 0)
    assert run.file.ended
    (outcome,) = run.outcomes
    assert outcome.imported is not None
    assert outcome.imported.times.round_trip_ns.p50 == pytest.approx(20_310)
    assert outcome.samples_file is None
    assert (run.file.machine.host, run.file.machine.processors) == ("unknown", 0)


def test_logs_of_one_configuration_are_trials_of_one_cell(tmp_path):
    again = tmp_path / "again.log"
    again.write_bytes(PING.read_bytes())
    run = read_run(kept(imported(tmp_path, PING, again, FIXTURES / "ddsperf" / "sub.log"), tmp_path))
    assert len(run.file.plan.cells) == 2
    assert [(each.cell, each.number) for each in run.outcomes] == [(0, 1), (0, 2), (1, 1)]
    assert [each.imported.file for each in run.outcomes if each.imported] == ["ping.log", "again.log", "sub.log"]


@pytest.mark.parametrize("path", READ, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_log_can_be_printed_as_a_table_json_and_csv(path, tmp_path):
    table = imported(tmp_path / "table", path, "--rows")
    assert table.exception is None
    assert path.name in table.output
    assert path.name in imported(tmp_path / "summary", path).output
    assert "machine    not known" in table.output
    assert "\nWarnings\n" in table.output
    document = read_output("run", imported(tmp_path / "json", path, "--format", "json").stdout)
    assert document["run"]["machine"] == dict.fromkeys(("hostname", "cpu_model", "processors", "kernel", "os"))
    rows = list(csv.DictReader(io.StringIO(imported(tmp_path / "csv", path, "--format", "csv").stdout)))
    assert len(rows) == len(document["cells"])
    for cell in document["cells"]:
        assert cell["imported"]["files"] == [path.name]
        assert cell["receive"] is None, "the log does not contain the reception"
        assert cell["duplicated"] is None, "a missing count is null, not zero"
        assert cell["failed"] or "imported" in [each["code"] for each in cell["warnings"]]


def test_counts_in_the_log_are_kept_and_missing_counts_are_null(tmp_path):
    subscriber = FIXTURES / "ddsperf" / "flood-sub.log"
    (cell,) = read_output("run", imported(tmp_path, subscriber, "--format", "json").stdout)["cells"]
    assert (cell["lost"], cell["received"], cell["sent"]) == (30_089, 36_583, None)
    assert cell["loss"] == pytest.approx(30_089 / 66_672)
    (ping,) = read_output("run", imported(tmp_path, PING, "--format", "json").stdout)["cells"]
    assert (ping["lost"], ping["loss"], ping["samples"]) == (None, None, 174_148)
    assert ping["round_trip_ns"]["p99.9"] is None


def test_damage_of_a_log_is_reported_in_its_row_and_on_stderr(tmp_path):
    log = tmp_path / "torn.log"
    log.write_bytes(PING.read_bytes()[:-10])
    result = imported(tmp_path, log)
    assert "torn.log: 1 of 13 lines could not be read; the first, line 13: [20704] 6.000  rss" in result.stderr
    assert "13 lines, 1 of them not read" in result.output
    assert "log damaged in 1 row" in result.output
    assert "log damaged" not in imported(tmp_path, PING).output


def test_all_files_that_are_no_logs_are_refused_at_once_and_nothing_is_written(tmp_path):
    for name, content in {
        "a.txt": b"hello\n",
        "b.txt": b"",
        "ours.txt": b"# x\n# As ddsperf 0.10 prints them; the differences",
    }.items():
        (tmp_path / name).write_bytes(content)
    out = tmp_path / "runs"
    found = problems(
        imported(out, *(tmp_path / name for name in ("a.txt", "b.txt", "ours.txt", "none.log")), tmp_path, PING)
    )
    assert len(found) == 5
    assert "a.txt: line 1 is not from a known log: 'hello'; known logs: performance_test's JSON" in found[0]
    assert "b.txt: the file is empty" in found[1]
    assert "Middlemark printed this file" in found[2]
    assert "there is no such file" in found[3]
    assert "a.txt: it is not a file of the probe: it begins with 'hello'; b.txt: it is empty" in found[4]
    assert not out.exists()


def test_an_unknown_table_is_refused_with_the_nearest_format(tmp_path):
    log = tmp_path / "x.log"
    log.write_text("my bench\n Bytes Samples stdev mean min 50% 90% max\n 16 500 1 2 3 4 5 6\n")
    (problem,) = problems(imported(tmp_path, log))
    assert "line 1 is not from a known log: 'my bench'; the nearest is LatencyTest's table;" in problem
    log.write_text("my bench\nnothing that any tool prints\n")
    (problem,) = problems(imported(tmp_path, log))
    assert "nearest" not in problem


def test_a_log_without_a_complete_figure_is_refused_with_its_tool(tmp_path):
    (problem,) = problems(imported(tmp_path, FIXTURES / "ddsperf" / "pong.log"))
    assert "has ddsperf's lines, but no complete figure" in problem


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    result = imported(tmp_path / "file", PING)
    assert isinstance(result.exception, MeasureError)
    assert "--out" in result.exception.advice


def test_a_failed_benchmark_becomes_a_failed_row_and_exit_code(tmp_path):
    result = imported(tmp_path, FIXTURES / "google-benchmark" / "single.json")
    assert result.return_value == 1
    assert "no such transport" in " ".join(result.output.split())


def test_hostile_names_in_a_log_are_escaped(tmp_path):
    document = {"benchmarks": [{"name": "\x1b[31m<script>\ud800/64", "real_time": 5, "time_unit": "ns"}]}
    log = tmp_path / "x.json"
    log.write_text(json.dumps(document))
    result = imported(tmp_path, log)
    assert result.exception is None
    assert "\x1b" not in result.output
    assert "<script>" in result.output


def test_a_log_from_a_pipe_is_read_to_its_end(tmp_path):
    pipe = tmp_path / "ping.log"
    os.mkfifo(pipe)
    data = PING.read_bytes() * 3_000
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    run = read_run(kept(imported(tmp_path / "runs", pipe), tmp_path / "runs"))
    writer.join()
    assert run.file.imported[0].bytes == len(data)
    assert run.outcomes[0].samples == 3_000 * 174_148


def test_two_logs_with_one_name_are_distinguished_by_their_folders(tmp_path):
    result = imported(tmp_path, PING, FIXTURES / "roundtripping" / "ping.log", FIXTURES / "ddsperf" / "sub.log")
    run = read_run(kept(result, tmp_path))
    assert [each.file for each in run.file.imported] == ["ddsperf/ping.log", "roundtripping/ping.log", "sub.log"]


def test_an_imported_run_cannot_be_resumed(tmp_path):
    run = read_run(kept(imported(tmp_path, PING), tmp_path))
    assert list(differences(run.file, {})) == ["the run was imported, so it has no trials to measure"]


def test_exports_of_an_imported_run_contain_no_default_for_unknown_factors(tmp_path):
    folder = kept(imported(tmp_path / "runs", PING, FIXTURES / "google-benchmark" / "single.json"), tmp_path / "runs")
    for form in ("csv-long", "google-benchmark"):
        out = tmp_path / form
        result = CliRunner().invoke(export, [str(folder), "--to", form, "--out", str(out)], standalone_mode=False)
        assert result.exception is None, result.exception
    rows = list(csv.DictReader(io.StringIO((tmp_path / "csv-long").read_text())))
    assert {row["receive"] for row in rows} == {""}
    assert {row["metric"] for row in rows} >= {"round_trip_p50", "received"}
    assert not {row["metric"] for row in rows} & {"sent", "lost", "loss", "duplicated"}
    names = [each["name"] for each in json.loads((tmp_path / "google-benchmark").read_text())["benchmarks"]]
    assert names[0] == "ping-pong/adapter:cyclonedds_(ddsperf)/transport:unknown/size:1024/receive:unknown"
    (problem,) = problems(imported(tmp_path / "again", tmp_path / "google-benchmark"))
    assert "Middlemark printed this file" in problem


def test_an_imported_run_is_listed_as_such(tmp_path):
    kept(imported(tmp_path, PING), tmp_path)
    listed = CliRunner().invoke(list_, ["runs", str(tmp_path)], standalone_mode=False)
    assert "1 configuration, 1 of 1 trial, imported from ddsperf" in listed.output


@pytest.fixture
def both(tmp_path) -> tuple[Path, Path]:
    theirs = kept(imported(tmp_path / "imported", PING), tmp_path / "imported")
    return theirs, write_measured(tmp_path / "measured", {measured_cell(receive="poll", payload="untouched"): 9_000})


def compared(*arguments: object) -> Result:
    return CliRunner().invoke(compare, [*map(str, arguments)], standalone_mode=False)


def test_imported_figures_are_compared_with_measured_ones_only_on_request_with_a_mark(both):
    (problem,) = problems(compared(*both))
    assert "was imported: another tool measured it" in problem
    assert "receive, rate, payload" in problem
    assert "polling and blocking are" not in problem, "an unknown way to receive does not count as a different one"
    document = read_output("compare", compared(*both, "--anyway", "--format", "json").stdout)
    (comparison,) = document["comparisons"]
    assert "was imported" in " ".join(comparison["marks"])
    assert comparison["a_median"] == pytest.approx(20_310), "whole round trips on both sides"


def test_runs_without_a_common_cell_are_refused_with_advice_to_name_two(both, tmp_path):
    theirs, _ = both
    several = write_measured(tmp_path / "several", {measured_cell(): 9_000, measured_cell(size=64): 8_000})
    result = compared(theirs, several)
    assert isinstance(result.exception, MeasureError)
    assert "name one configuration of each" in result.exception.advice


def test_a_run_file_without_the_field_imported_is_read(tmp_path):
    folder = kept(imported(tmp_path, PING), tmp_path)
    path = folder / "run.json"
    written = json.loads(path.read_text())
    del written["imported"]
    path.write_text(json.dumps(written))
    assert read_run(folder).file.imported == ()


def test_the_format_is_recognised_without_the_files_name(tmp_path):
    log = tmp_path / "table.json"
    log.write_bytes(fixture("latencytest/publisher.log"))
    result = imported(tmp_path, log)
    assert result.exception is None
    assert "read as LatencyTest" in result.output


def pasted(name: str) -> Path:
    return FIXTURES / "pasted" / name


def test_a_row_of_unknown_size_is_named_beside_the_tables(tmp_path):
    result = imported(tmp_path, pasted("roundtripping-lone-overall.log"), pasted("ddsperf-lone-ping-line.log"))
    text = " ".join(result.output.split())
    assert "In no table, because the size is unknown: cyclonedds (RoundtripPing)" in text
    assert "122 µs" in text
    assert "× the best" in text, "the other row is in a table"


def test_the_loss_of_a_document_follows_from_its_rates(tmp_path):
    result = imported(tmp_path, pasted("figures-without-times.toml"), "--format", "json")
    cells = read_output("run", result.stdout)["cells"]
    assert [each["loss"] for each in cells] == [
        pytest.approx(0.004, abs=1e-6), pytest.approx(0.001, abs=1e-6), 0, None,
    ]  # fmt: skip
    assert {each["lost"] for each in cells} == {None}, "no messages were counted"
    table = imported(tmp_path / "rows", pasted("figures-without-times.toml"), "--rows").output
    assert "0.4 %" in table or "0.40 %" in table


def test_late_messages_of_another_tool_are_not_missing_samples(tmp_path):
    result = imported(tmp_path, pasted("irobot-latency_total.txt"), "--format", "json")
    (cell,) = read_output("run", result.stdout)["cells"]
    assert (cell["received"], cell["late"], cell["lost"]) == (24_722, 76, 4)
    (late,) = [each for each in cell["warnings"] if each["code"] == "late"]
    assert "too late for the tool" in late["text"]
    assert "timeout" not in late["text"] + late["advice"]


@pytest.mark.parametrize("path", PASTED, ids=lambda path: path.name)
def test_every_pasted_log_is_printed_in_each_format(path, tmp_path):
    for form in ("text", "json", "csv", "markdown"):
        result = imported(tmp_path / form, path, "--format", form)
        assert result.exception is None, result.exception
        assert result.output


def test_a_median_of_zero_which_whole_microseconds_allow_is_shown_without_a_ratio(tmp_path):
    log = tmp_path / "zero.log"
    content = (FIXTURES / "roundtripping" / "short.log").read_text()
    log.write_text(content.replace("       20       12 ", "        0        0 ", 1))
    (cell,) = read_output("run", imported(tmp_path / "runs", log, "--format", "json").stdout)["cells"]
    assert cell["round_trip_ns"]["p50"] == 0
    assert "imported" in imported(tmp_path / "again", log).output
