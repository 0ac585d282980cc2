"""``middlemark report``: runs as one HTML file, as Markdown, or for Quarto."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from middlemark import exits
from middlemark.commands.options import runs_argument
from middlemark.commands.page import option, page
from middlemark.problems import MeasureError, Problem, RequestError, extra_module
from middlemark.runs.report import HTML, judged_document, written

if TYPE_CHECKING:
    from middlemark.document import Document
    from middlemark.verdicts.rows import MeasuredRun

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


@page(
    "report",
    ("report --open", "the newest run, shown in the browser"),
    ("report runs/before runs/after --html both.html", "two runs on one page"),
    ("report --markdown -", "Markdown on stdout, for a pull request"),
    notes=(
        "With --markdown, --quarto, --picture or --step-summary the HTML file is written only if --html or --open is "
        "also given.",
    ),
)
@runs_argument("Folders of runs; a folder of such folders means its newest (default: runs).")
@option(
    "--html",
    metavar="FILE",
    group="Output",
    default_text="report.html in the first RUN",
    help="Where the HTML file is written; - is stdout.",
)
@option("--markdown", metavar="FILE", group="Output", help="Write Markdown to FILE; - is stdout.")
@option(
    "--quarto",
    metavar="FOLDER",
    group="Output",
    help="Make FOLDER with report.qmd and its data, for Quarto or R Markdown.",
)
@option(
    "--picture",
    metavar="FILE",
    group="Output",
    help="Write the answer as a picture of 1200 × 630 pixels, .svg or .png.",
)
@option(
    "--step-summary",
    is_flag=True,
    group="Output",
    help=f"Append the Markdown to the file that ${STEP_SUMMARY} names.",
)
@option("--open", "opens", is_flag=True, group="Output", help="Show the HTML file in the browser.")
def command(
    runs: tuple[str, ...],
    html: str | None,
    markdown: str | None,
    quarto: str | None,
    picture: str | None,
    step_summary: bool,
    opens: bool,
) -> int:
    """Write the files; return the exit code."""
    from middlemark.runs import picture as pictures
    from middlemark.runs.read import RUNS, damaged, newest, read_measured
    from middlemark.show import output, render

    if picture is not None:  # a wrong ending is refused before the runs are read
        pictures.kind_of(Path(picture))
        pictures.browser()
    summary = _summary_file(step_summary)
    read, unread = [], []
    for path in map(Path, runs or (RUNS,)):
        try:
            read.append(read_measured(newest(path)))
        except MeasureError as error:
            unread.append(error)
    if not read:
        raise unread[0]
    for why in unread:
        output.tell(f"left out: {why}")
    for each in read:
        for line in damaged(each):
            output.tell(line)
    document = judged_document(*read)
    problems: list[str] = []
    if markdown is not None or summary is not None:
        text = render("markdown", document)
        if markdown == "-":
            problems += filter(None, [output.write(text)])
        elif markdown is not None:
            problems += written(Path(markdown), text)
        if summary is not None:
            problems += _appended(summary, text)
    if quarto is not None:
        problems += _quarto(document, read, Path(quarto))
    if picture is not None:
        problems += _picture(document, Path(picture))
    if html is not None or opens or all(each is None for each in (markdown, summary, quarto, picture)):
        problems += _html(
            document, read[0].folder / HTML if html is None else Path(html), html is not None, opens=opens
        )
    for problem in problems:
        output.tell(problem)
    return exits.CELL_FAILED if problems or unread else exits.OK


def _html(document: "Document", path: Path, named: bool, *, opens: bool) -> list[str]:
    from middlemark.show import output
    from middlemark.show.html import render_html

    if str(path) == "-":
        return [*filter(None, [output.write(render_html(document))])]
    problems = written(path, render_html(document), named=named)
    if not problems:
        click.echo(f"report: {path}", err=True)
        if opens:
            import webbrowser

            if not webbrowser.open(path.resolve().as_uri()):
                problems.append(f"no browser could be started; open {path} in a browser")
    return problems


def _picture(document: "Document", path: Path) -> list[str]:
    """Write the picture completely or not at all; return the problems."""
    from middlemark.runs.picture import kind_of, picture_of
    from middlemark.show.html import render_html
    from middlemark.show.output import write_whole

    drawn = picture_of(render_html(document), kind_of(path))
    try:
        write_whole(path, drawn)
    except OSError as error:
        return [f"{path}: {error.strerror or error}"]
    click.echo(f"picture: {path}", err=True)
    return []


def _quarto(document: "Document", runs: "Sequence[MeasuredRun]", folder: Path) -> list[str]:
    """Write the folder completely or not at all; return the problems."""
    from middlemark.document import document_of
    from middlemark.runs.read import trials_of
    from middlemark.show import output, quarto

    modules = [extra_module(each, "parquet", "--quarto") for each in quarto.MODULES]
    single_runs = [(document_of([run]), partial(trials_of, run, warn=output.tell)) for run in runs]
    try:
        output.make_whole(folder, lambda draft: quarto.write(document, single_runs, draft, *modules))
    except OSError as error:
        return [f"{folder}: {error.strerror or error}"]
    click.echo(f"report: {folder / quarto.NAME} (render it with `quarto render`)", err=True)
    return []


def _summary_file(asked: bool) -> Path | None:
    if not asked:
        return None
    name = os.environ.get(STEP_SUMMARY)
    if not name:
        why = f"{STEP_SUMMARY} is not set: GitHub's runners set it; elsewhere write to a file with --markdown FILE"
        raise RequestError([Problem("--step-summary", why)])
    return Path(name)


def _appended(path: Path, text: str) -> list[str]:
    try:
        with path.open("a", encoding="utf-8") as summary:
            summary.write(text)
    except OSError as error:
        return [f"{path}: {error.strerror or error}"]
    return []
