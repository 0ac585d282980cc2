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
    """Replace the page's HTML by its title, because a page needs built libraries. Return the list of documents made."""
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
    assert [each.name for each in run.iterdir() if each.name.startswith(".")] == [], "no temporary file remains"


def test_several_runs_make_one_report_in_the_folder_of_the_first(run: Path, tmp_path: Path, page: list[Any]) -> None:
    other = write(tmp_path / "other", {cell(): 60_000})
    assert asked(run, other).return_value == 0
    assert (run / "report.html").exists()
    assert not (other / "report.html").exists()
    assert [each.folder for each in page[0].runs] == [run, other]
    assert len(page[0].rows) == 3


def test_a_folder_of_runs_means_its_newest_run(run: Path) -> None:
    asked(run.parent, "--html", run.parent / "there.html")
    assert (run.parent / "there.html").exists()


def test_markdown_goes_to_stdout_or_a_file_without_the_html_report(run: Path, tmp_path: Path) -> None:
    done = asked(run, "--markdown", "-")
    assert done.stdout.startswith("## try, bench, 2026-11-21\n")
    assert not (run / "report.html").exists()
    file = tmp_path / "report.md"
    assert asked(run, "--markdown", file, "--html", tmp_path / "report.html").return_value == 0
    assert file.read_text()[:200] == done.stdout[:200]
    assert (tmp_path / "report.html").exists()


def test_the_step_summary_is_appended(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_path_that_is_no_run_is_named(tmp_path: Path) -> None:
    error = asked(tmp_path / "nowhere").exception
    assert isinstance(error, MeasureError)
    assert "nowhere/run.json" in str(error)


@pytest.mark.parametrize("option", ["--html", "--markdown"])
def test_a_write_error_names_the_path(run: Path, tmp_path: Path, option: str) -> None:
    done = asked(run, option, tmp_path / "no" / "folder" / "file")
    assert done.return_value == 1
    assert done.stderr == f"middlemark: {tmp_path / 'no' / 'folder' / 'file'}: No such file or directory\n"


def test_a_report_replaces_the_earlier_one_atomically(run: Path) -> None:
    (run / "report.html").write_text("old")
    os.link(run / "report.html", run / "kept.html")
    asked(run)
    assert (run / "kept.html").read_text() == "old", "the old file is replaced, not overwritten"


def test_the_browser_is_asked_to_open_the_report(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    assert asked(run, "--open").return_value == 0
    assert opened == [(run / "report.html").resolve().as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    done = asked(run, "--open")
    assert done.return_value == 1
    assert "no browser could be started; open " in done.stderr


def test_missing_libraries_are_an_error_with_the_next_step(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: object) -> str:
        raise MeasureError("D3 is not there", "set it up")

    monkeypatch.setattr("middlemark.show.html.render_html", missing)
    error = asked(run).exception
    assert isinstance(error, MeasureError)
    assert error.advice == "set it up"


def test_the_path_is_printed_at_the_end_of_a_run_unless_quiet(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_report_of(read_measured(run), quiet=False)
    assert capsys.readouterr() == ("", f"report: {run / 'report.html'}\n")
    write_report_of(read_measured(run), quiet=True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MeasureError("D3 is not there", "set it up"), "D3 is not there; set it up"),
        (ValueError("a surprise"), "the report of this run cannot be made (ValueError: a surprise)"),
    ],
)
def test_an_error_of_the_report_is_printed_at_the_end_of_a_run_without_failing_it(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, reason: str
) -> None:
    def failing(*_: object) -> str:
        raise error

    monkeypatch.setattr(report_, "judged_document", failing)
    write_report_of(read_measured(run), quiet=True)
    assert capsys.readouterr().err == f"middlemark: report.html was not written: {reason}\n"


def test_damaged_lines_are_printed_and_counted_in_the_report(run: Path) -> None:
    trials = run / "trials.jsonl"
    trials.write_bytes(trials.read_bytes()[:-20])
    done = asked(run, "--markdown", "-")
    assert "1 damaged line of trials.jsonl left out: line 16: " in done.stderr
    assert "1 damaged line of its file left out" in done.stdout
    assert "ended after 15 of 16 trials" in done.stdout


CHROMIUM = '#!/bin/sh\nprintf "<pre id=\\"picture\\">{}</pre>"\n'
"""A program that replaces Chromium and prints this text."""


def chromium(folder: Path, monkeypatch: pytest.MonkeyPatch, printed: str) -> None:
    program = folder / "chromium"
    program.write_text(CHROMIUM.replace("{}", printed))
    program.chmod(0o755)
    monkeypatch.setenv("MIDDLEMARK_CHROMIUM", str(program))


def test_a_picture_is_written_by_its_ending_and_alone(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chromium(
        tmp_path, monkeypatch, "{&quot;svg&quot;: &quot;&lt;svg/&gt;&quot;, &quot;png&quot;: &quot;aGVsbG8=&quot;}"
    )
    for name, content in (("a.svg", b"<svg/>"), ("a.PNG", b"hello")):
        result = asked(run, "--picture", tmp_path / name)
        assert (result.return_value, result.stderr) == (0, f"picture: {tmp_path / name}\n")
        assert (tmp_path / name).read_bytes() == content
    assert not (run / "report.html").exists()


def test_a_picture_needs_chromium_and_says_which_package_has_it(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MIDDLEMARK_CHROMIUM", raising=False)
    with pytest.raises(MeasureError, match="a picture needs Chromium, which is not installed") as raised:
        raise asked(run, "--picture", tmp_path / "a.png").exception or AssertionError
    assert "the package chromium (Debian)" in raised.value.advice


def test_a_picture_of_another_kind_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"'a\.gif' ends in neither \.svg nor \.png"):
        raise asked(tmp_path / "nothing", "--picture", "a.gif").exception or AssertionError


def test_a_report_without_an_answer_has_no_picture(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chromium(tmp_path, monkeypatch, "{}")
    with pytest.raises(MeasureError, match="this report compares nothing"):
        raise asked(run, "--picture", tmp_path / "a.png").exception or AssertionError
    chromium(tmp_path, monkeypatch, "")
    (tmp_path / "chromium").write_text("#!/bin/sh\necho 'cannot open display' >&2\nexit 1\n")
    with pytest.raises(MeasureError, match="drew no picture: cannot open display"):
        raise asked(run, "--picture", tmp_path / "a.png").exception or AssertionError
