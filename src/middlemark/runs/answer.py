"""What races came to, on stdout: the answer of `which`, or a sentence for each race of a run."""

from typing import TYPE_CHECKING

from middlemark.runs.conduct import Shown

if TYPE_CHECKING:
    from middlemark.document import MeasuredRun


def is_question(run: "MeasuredRun") -> bool:
    """Say whether it is a run of ``which``."""
    return run.file.plan.race is not None and run.file.plan.race.question


def print_answer(run: "MeasuredRun", shown: Shown, seconds: float) -> str | None:
    """Print the answer and write the report beside the run; return why the answer could not be printed."""
    from middlemark.runs.report import tell_beside

    unwritten = show_answer(run, seconds, shown.output_format)
    tell_beside(run, quiet=True)
    return unwritten


def show_answer(run: "MeasuredRun", seconds: float, output_format: str) -> str | None:
    """Print the answer, as JSON or on a screen; return why it could not be printed."""
    from middlemark.document import document_of
    from middlemark.document.race import raced
    from middlemark.show import output
    from middlemark.show.which import render_json, render_table
    from middlemark.suite.request import shown_path

    answer = raced(document_of([run], took=seconds), run)
    folder = shown_path(run.folder)
    return output.write(
        render_json(answer) if output_format == "json" else render_table(answer, folder, output.width())
    )


def print_races(run: "MeasuredRun", seconds: float) -> str | None:
    """Print a sentence for each race of a run; return why it could not be printed."""
    from middlemark.document import document_of
    from middlemark.document.race import races
    from middlemark.show import output
    from middlemark.show.which import render_races

    return output.write(render_races(races(document_of([run], took=seconds), run), output.width()))
