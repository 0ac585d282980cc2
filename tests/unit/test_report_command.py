"""``middlemark report``: what it writes, prints and refuses."""

import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from test_compare import cell, write

from middlemark.commands.report import command
from middlemark.problems import MeasureError, RequestError
from middlemark.runs import report as report_
from middlemark.runs.read import read_measured
from middlemark.runs.report import write_report_of


def asked(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path / "runs", {cell(): 50_000, cell(transport="shm"): 25_000})


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Replace the page by its title, since a page needs built libraries; return the documents."""
    seen: list[Any] = []

    def render_html(document: Any) -> str:
        seen.append(document)
        return f"<title>{document.title}</title>"

    monkeypatch.setattr("middlemark.show.html.render_html", render_html)
    return seen


def test_the_report_is_written_into_the_folder_of_the_run(run: Path) -> None:
    done = asked(run)
    assert (done.return_value, done.stdout) == (0, "")
    assert done.stderr == f"report: {run / 'report.html'}\n"
    assert (run / "report.html").read_text() == "<title>try, bench, 2026-11-21</title>"
    assert [each.name for each in run.iterdir() if each.name.startswith(".")] == [], "no draft is left"


def test_several_runs_make_one_report_in_the_folder_of_the_first(run: Path, tmp_path: Path, page: list[Any]) -> None:
    other = write(tmp_path / "other", {cell(): 60_000})
    assert asked(run, other).return_value == 0
    assert (run / "report.html").exists()
    assert not (other / "report.html").exists()
    assert [each.folder for each in page[0].runs] == [run, other]
    assert len(page[0].rows) == 3


def test_a_folder_of_runs_stands_for_the_newest(run: Path) -> None:
    asked(run.parent, "--html", run.parent / "there.html")
    assert (run.parent / "there.html").exists()


def test_markdown_goes_to_the_standard_output_or_a_file_and_alone(run: Path, tmp_path: Path) -> None:
    done = asked(run, "--markdown", "-")
    assert done.stdout.startswith("## try, bench, 2026-11-21\n")
    assert not (run / "report.html").exists()
    file = tmp_path / "report.md"
    assert asked(run, "--markdown", file, "--html", tmp_path / "report.html").return_value == 0
    assert file.read_text()[:200] == done.stdout[:200]
    assert (tmp_path / "report.html").exists()


def test_the_step_summary_is_appended_to(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert asked(run, "--step-summary").return_value == 0
    assert summary.read_text().startswith("before\n## try, bench, 2026-11-21\n")
    assert not (run / "report.html").exists()


def test_a_step_summary_without_its_variable_is_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    error = asked(tmp_path / "nowhere", "--step-summary").exception
    assert isinstance(error, RequestError)
    assert "GITHUB_STEP_SUMMARY is not set" in str(error)


def test_what_is_no_run_is_named(tmp_path: Path) -> None:
    error = asked(tmp_path / "nowhere").exception
    assert isinstance(error, MeasureError)
    assert "nowhere/run.json" in str(error)


@pytest.mark.parametrize("option", ["--html", "--markdown"])
def test_what_cannot_be_written_is_told_with_its_path(run: Path, tmp_path: Path, option: str) -> None:
    done = asked(run, option, tmp_path / "no" / "folder" / "file")
    assert done.return_value == 1
    assert done.stderr == f"middlemark: {tmp_path / 'no' / 'folder' / 'file'}: No such file or directory\n"


def test_a_report_replaces_the_one_before_whole(run: Path) -> None:
    (run / "report.html").write_text("old")
    os.link(run / "report.html", run / "kept.html")
    asked(run)
    assert (run / "kept.html").read_text() == "old", "the old file is not written over, but replaced"


def test_the_browser_is_asked_to_show_it(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    assert asked(run, "--open").return_value == 0
    assert opened == [(run / "report.html").resolve().as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    done = asked(run, "--open")
    assert done.return_value == 1
    assert "no browser could be started; open " in done.stderr


def test_libraries_that_are_not_there_are_an_error_with_the_next_step(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: object) -> str:
        raise MeasureError("D3 is not there", "set it up")

    monkeypatch.setattr("middlemark.show.html.render_html", missing)
    error = asked(run).exception
    assert isinstance(error, MeasureError)
    assert error.advice == "set it up"


def test_at_the_end_of_a_run_the_path_is_told_unless_it_is_to_be_quiet(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report_of(read_measured(run), quiet=False)
    assert capsys.readouterr() == ("", f"report: {run / 'report.html'}\n")
    write_report_of(read_measured(run), quiet=True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MeasureError("D3 is not there", "set it up"), "D3 is not there; set it up"),
        (ValueError("a surprise"), "the report of this run cannot be made (ValueError: a surprise)"),
    ],
)
def test_at_the_end_of_a_run_whatever_stands_against_its_report_is_told_and_no_more(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, told: str
) -> None:
    def failing(*_: object) -> str:
        raise error

    monkeypatch.setattr(report_, "judged_document", failing)
    write_report_of(read_measured(run), quiet=True)
    assert capsys.readouterr().err == f"middlemark: report.html was not written: {told}\n"


def test_damaged_lines_are_told_and_stand_in_the_report(run: Path) -> None:
    trials = run / "trials.jsonl"
    trials.write_bytes(trials.read_bytes()[:-20])
    done = asked(run, "--markdown", "-")
    assert "1 damaged line of trials.jsonl left out: line 16: " in done.stderr
    assert "1 damaged line of its file left out" in done.stdout
    assert "ended after 15 of 16 trials" in done.stdout
