"""What races came to, on stdout: the answer of `which`, or a sentence for each race of a run."""

from typing import TYPE_CHECKING

from middlemark.runs.conduct import Shown

if TYPE_CHECKING:
    from middlemark.document import Document, MeasuredRun
    from middlemark.document.judged import JudgedDocument

MOST_RACES = 3
"""That are told in sentences."""


def is_question(run: "MeasuredRun") -> bool:
    """Say whether it is a run of ``which``."""
    return run.file.plan.race is not None and run.file.plan.race.question


def print_answer(run: "MeasuredRun", shown: Shown, seconds: float) -> str | None:
    """Print the answer and write the report beside the run; return why the answer could not be printed."""
    from middlemark.document import with_verdicts
    from middlemark.document.judged import JudgedDocument
    from middlemark.runs.report import document_now, tell_beside

    document = document_now(run, took=seconds)
    judged = JudgedDocument(document)
    unwritten = _show(document, run, judged, shown.output_format)
    tell_beside(run, quiet=True, document=with_verdicts(document, [run], judged))
    return unwritten


def show_answer(run: "MeasuredRun", output_format: str) -> str | None:
    """Print the answer, as JSON or on a screen; return why it could not be printed."""
    from middlemark.document import document_of
    from middlemark.document.judged import JudgedDocument

    document = document_of([run])
    return _show(document, run, JudgedDocument(document), output_format)


def _show(document: "Document", run: "MeasuredRun", judged: "JudgedDocument", output_format: str) -> str | None:
    from middlemark.document.race import races
    from middlemark.show import output
    from middlemark.show.json.which import render_json
    from middlemark.show.which import render_table
    from middlemark.suite.request import shown_path

    answer, *_ = races(document, run, judged)
    folder = shown_path(run.folder)
    return output.write(
        render_json(answer) if output_format == "json" else render_table(answer, folder, output.width())
    )


def races_told(document: "Document", run: "MeasuredRun", judged: "JudgedDocument", width: int) -> str:
    """Return a sentence for each race of a run; nothing of more races than a screen has room for: a matrix tells."""
    from middlemark.document.race import races
    from middlemark.show.which import render_races

    found = races(document, run, judged)
    return render_races(found, width) if len(found) <= MOST_RACES else ""
