"""Make the report of runs, as a page and as a file in a run's folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from middlemark import __version__
from middlemark.problems import MeasureError

if TYPE_CHECKING:
    from middlemark.document import Document
    from middlemark.document.changes import RunChanges
    from middlemark.history import History
    from middlemark.verdicts.rows import MeasuredRun

HTML = "report.html"
"""The name of the report in a run's folder."""


def judged_document(*runs: "MeasuredRun") -> "Document":
    """Return the document of runs with all verdicts."""
    from middlemark.document import with_verdicts

    return with_verdicts(document_now(*runs), runs)


def document_now(*runs: "MeasuredRun") -> "Document":
    """Return the document of runs, without verdicts but with the present time and version."""
    from middlemark.document import document_of
    from middlemark.store.run import utc_now

    return document_of(runs, generated=utc_now(), middlemark=__version__)


def html_of(folders: Sequence[Path]) -> str:
    """Return the HTML report of runs. Raises MeasureError if a run cannot be read or the page cannot be made."""
    from middlemark.runs.read import newest, read_measured
    from middlemark.show.html import render_html

    return render_html(judged_document(*(read_measured(newest(each)) for each in folders)))


def line_of(folders: Sequence[Path]) -> str:
    """Return the verdict of one run, or the changes from one run to another, in one line. Raises MeasureError."""
    from middlemark.document import with_experiments
    from middlemark.document.changes import changes_between
    from middlemark.document.choices import in_a_line
    from middlemark.runs.read import read_measured

    runs = [read_measured(each) for each in folders]
    if len(runs) == 1:
        return in_a_line(with_experiments(document_now(*runs)))
    return changes_between(*runs).sentence


def changes_since_last(run: "MeasuredRun") -> "RunChanges | None":
    """Return the changes since the last run of the same suites here.

    None: there is no such run, or it cannot be compared.
    """
    from middlemark.document.changes import changes_between
    from middlemark.runs.read import earlier_run, measured
    from middlemark.show.output import tell

    same = run.repeats
    last = None if same is None else earlier_run(run.folder, lambda each: each.repeats == same and not each.running)
    if last is None:
        return None
    try:
        return changes_between(measured(last), run)
    except Exception as error:  # the run is stored, so a damaged earlier run must not end the command
        tell(f"{last.folder}: the changes since this run are not known ({type(error).__name__}: {error})")
        return None


def write_report_of(
    run: "MeasuredRun",
    *,
    quiet: bool,
    document: "Document | None" = None,
    since_last_run: "RunChanges | None" = None,
    history: "History | None" = None,
) -> None:
    """Write the report into the run's folder and print its path, or print why it could not be written.

    ``document``: the run's document, if it has been made already.
    """
    from middlemark.show.html import render_html
    from middlemark.show.output import tell

    path = run.folder / HTML
    try:
        shown = msgspec.structs.replace(
            document or judged_document(run), since_last_run=since_last_run, history=history
        )
        problems = written(path, render_html(shown), named=False)
    except MeasureError as error:
        problems = [f"{error}; {error.advice}" if error.advice else str(error)]
    except Exception as error:  # the run is stored and printed, so a failure of its report must not end the command
        problems = [f"the report of this run cannot be made ({type(error).__name__}: {error})"]
    if problems:
        tell(f"{path.name} was not written: {problems[0]}")
    elif not quiet:
        click.echo(f"report: {path}", err=True)


def written(path: Path, text: str, *, named: bool = True) -> list[str]:
    """Write ``text`` to the file ``path``, completely or not at all; return the problems.

    ``named``: the user typed the path.
    """
    from middlemark.show.output import write_whole

    try:
        write_whole(path, text, named=named)
    except OSError as error:
        return [f"{path}: {error.strerror or error}"]
    return []
