"""The study that a run measured again, and its claims with their verdicts."""

from typing import TYPE_CHECKING

from middlemark.problems import RequestError
from middlemark.suite.study import Study, read_study, study_names

if TYPE_CHECKING:
    from middlemark.verdicts.rows import MeasuredRun


def study_of(run: "MeasuredRun") -> Study | None:
    """Return the study that ``reproduce`` measured; None: another verb made the run, or the study no longer exists."""
    name = next(iter(run.file.suites), "")
    if run.file.command[1:2] != ("reproduce",) or name not in study_names():
        return None
    try:
        return read_study(name)
    except RequestError:
        return None


def render_claims(study: Study, run: "MeasuredRun", output_format: str) -> str:
    """Return the claims in the order of the study, as text, JSON or Markdown."""
    from middlemark.document.expectations import expected_of
    from middlemark.show import View, output
    from middlemark.show.expectations import render_markdown, render_text
    from middlemark.show.json.run import render_study

    places = {each.id: at for at, each in enumerate(run.file.plan.expectations)}
    expected = sorted(expected_of(run), key=lambda each: places[each.id])
    if output_format == "json":
        return render_study(study, run, expected)
    if output_format == "markdown":
        return render_markdown(study, run, expected)
    return render_text(study, run, expected, output.view(View()))
