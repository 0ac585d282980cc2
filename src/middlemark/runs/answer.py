"""The results of races: the answer of `which`, or a sentence for each race of a run."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from middlemark.document import Document
    from middlemark.verdicts.rows import MeasuredRun

MOST_RACES = 3
"""The most races of a run with a sentence for each. A run with more races has no sentences."""


def is_question(run: "MeasuredRun") -> bool:
    """Say whether ``which`` measured the run."""
    return run.file.plan.race is not None and run.file.plan.race.question


def render_answer(document: "Document", run: "MeasuredRun", output_format: str) -> str:
    """Return the answer, as JSON or as text."""
    from middlemark.document.next_steps import next_of
    from middlemark.show import output
    from middlemark.show.json.which import render_json
    from middlemark.show.which import render_table
    from middlemark.verdicts.race import races

    verdict, *_ = races(document.experiments, run)
    command, left_out = next_of(verdict, run), document.not_tried
    if output_format == "json":
        return render_json(verdict, command, left_out)
    return render_table(verdict, str(run.folder), output.width(), command, left_out)


def race_sentences(document: "Document", run: "MeasuredRun", width: int) -> str:
    """Return a sentence for each race of a run; empty if there are more than ``MOST_RACES``."""
    from middlemark.show.which import render_races
    from middlemark.verdicts.race import races

    found = races(document.experiments, run)
    return render_races(found, width) if len(found) <= MOST_RACES else ""
