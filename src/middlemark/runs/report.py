"""The report of runs, made now: as a page, and as the file beside a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from middlemark import __version__
from middlemark.problems import MeasureError

if TYPE_CHECKING:
    from middlemark.document import Document
    from middlemark.verdicts.rows import MeasuredRun

HTML = "report.html"
"""Within a run's folder."""


def judged_document(*runs: "MeasuredRun", took: float = 0.0) -> "Document":
    """Return the document of runs with all verdicts, made now and by this version. ``took``: the command's seconds."""
    from middlemark.document import with_verdicts

    return with_verdicts(document_now(*runs, took=took), runs)


def document_now(*runs: "MeasuredRun", took: float = 0.0) -> "Document":
    """Return the document of runs without verdicts, made now and by this version."""
    from middlemark.document import document_of
    from middlemark.store.run import utc_now

    return document_of(runs, generated=utc_now(), middlemark=__version__, took=took)


def html_of(folders: Sequence[Path]) -> str:
    """Return the page of those runs. Raises MeasureError where one cannot be read, or the page not be made."""
    from middlemark.runs.read import newest, read_measured
    from middlemark.show.html import render_html

    return render_html(judged_document(*(read_measured(newest(each)) for each in folders)))


def write_report_of(run: "MeasuredRun", *, quiet: bool, document: "Document | None" = None) -> None:
    """Write the report of a run beside it and say where. That it could not be written is told, and no failure.

    ``document``: that of the run, where it was made already.
    """
    from middlemark.show.html import render_html
    from middlemark.show.output import tell

    path = run.folder / HTML
    try:
        problems = written(path, render_html(document or judged_document(run)), named=False)
    except MeasureError as error:
        problems = [f"{error}; {error.advice}" if error.advice else str(error)]
    except Exception as error:  # what was measured is kept and told: nothing here may cost it
        problems = [f"it cannot be made of this run ({type(error).__name__}: {error})"]
    if problems:
        tell(f"{path.name} was not written: {problems[0]}")
    elif not quiet:
        click.echo(f"report: {path}", err=True)


def written(path: Path, text: str, *, named: bool = True) -> list[str]:
    """Write the text, whole or not at all; return what stood against it. ``named``: somebody asked for that path."""
    from middlemark.show.output import write_whole

    try:
        write_whole(path, text, named=named)
    except OSError as error:
        return [f"{path}: {error.strerror or error}"]
    return []
