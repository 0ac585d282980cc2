"""``middlemark report``: runs as one HTML file, or as Markdown."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from middlemark import __version__, exits
from middlemark.problems import MeasureError, Problem, RequestError

if TYPE_CHECKING:
    from middlemark.report.document import Document, MeasuredRun

HTML = "report.html"
"""Within a run's folder."""

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


@click.command(name="report")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--html", metavar="FILE", help="Where the HTML file is written (default: report.html in the first RUN).")
@click.option("--markdown", metavar="FILE", help="Write Markdown there; - is the standard output.")
@click.option("--step-summary", is_flag=True, help=f"Append the Markdown to the file that ${STEP_SUMMARY} names.")
@click.option("--open", "opens", is_flag=True, help="Show the HTML file in the browser.")
def command(runs: tuple[str, ...], html: str | None, markdown: str | None, step_summary: bool, opens: bool) -> int:
    """Write what RUN… came to, for people who were not there: one HTML file that needs nothing else.

    RUN is the folder of a run, or a folder of such folders (then the newest counts). With --markdown or --step-summary
    the HTML file is written only where --html or --open asks for it.
    """
    from middlemark.commands import output
    from middlemark.commands.measured import read_measured
    from middlemark.commands.stored import tell_damaged
    from middlemark.report import markdown as markdown_report

    summary = _summary_file(step_summary)
    read = [read_measured(Path(each)) for each in runs]
    for each in read:
        tell_damaged(each.folder, each.damaged_lines)
    document = document_of(*read)
    problems: list[str] = []
    if markdown is not None or summary is not None:
        text = markdown_report.render(document)
        if markdown == "-":
            problems += filter(None, [output.write(text)])
        elif markdown is not None:
            problems += _written(Path(markdown), text)
        if summary is not None:
            problems += _appended(summary, text)
    if html is not None or opens or (markdown is None and summary is None):
        path = Path(html) if html is not None else Path(read[0].folder) / HTML
        problems += _html(document, path, opens=opens)
    for problem in problems:
        click.echo(f"middlemark: {problem}", err=True)
    return exits.CELL_FAILED if problems else exits.OK


def document_of(*runs: "MeasuredRun") -> "Document":
    """Return the document of runs, made now and by this version."""
    from middlemark.report.document import make_document
    from middlemark.store.run import utc_now

    return make_document(runs, generated=utc_now(), middlemark=__version__)


def html_of(folders: Sequence[Path]) -> str:
    """Return the page of those runs. Raises MeasureError where one cannot be read, or the page not be made."""
    from middlemark.commands.measured import read_measured
    from middlemark.report.html import render_html

    return render_html(document_of(*(read_measured(each) for each in folders)))


def write_beside(run: "MeasuredRun") -> tuple[Path, str | None]:
    """Write the report of a run that has just ended into its folder. Returns the path, and why it is not there."""
    from middlemark.report.html import render_html

    path = Path(run.folder) / HTML
    try:
        problems = _written(path, render_html(document_of(run)))
    except MeasureError as error:
        return path, f"{error}; {error.advice}" if error.advice else str(error)
    except Exception as error:  # what was measured is kept and told: nothing here may cost it
        return path, f"it cannot be made of this run ({type(error).__name__}: {error})"
    return path, problems[0] if problems else None


def tell_beside(run: "MeasuredRun", *, quiet: bool) -> None:
    """Write the report of a run beside it and say where. That it could not be written is told, and no failure."""
    path, missing = write_beside(run)
    if missing is not None:
        click.echo(f"middlemark: {path.name} was not written: {missing}", err=True)
    elif not quiet:
        click.echo(f"report: {path}", err=True)


def _html(document: "Document", path: Path, *, opens: bool) -> list[str]:
    from middlemark.report.html import render_html

    problems = _written(path, render_html(document))
    if not problems:
        click.echo(f"report: {path}", err=True)
        if opens:
            import webbrowser

            if not webbrowser.open(path.resolve().as_uri()):
                problems.append(f"no browser could be started; open {path} in one")
    return problems


def _summary_file(asked: bool) -> Path | None:
    if not asked:
        return None
    name = os.environ.get(STEP_SUMMARY)
    if not name:
        why = f"{STEP_SUMMARY} is not set: GitHub's runners set it; elsewhere write to a file with --markdown FILE"
        raise RequestError([Problem("--step-summary", why)])
    return Path(name)


def _written(path: Path, text: str) -> list[str]:
    """Write the text, whole or not at all; return what stood against it."""
    from middlemark.commands.files import write_whole

    try:
        write_whole(path, text)
    except OSError as error:
        return [f"{path}: {error.strerror or error}"]
    return []


def _appended(path: Path, text: str) -> list[str]:
    try:
        with path.open("a", encoding="utf-8") as summary:
            summary.write(text)
    except OSError as error:
        return [f"{path}: {error.strerror or error}"]
    return []
