"""Compute and render the result of ``selftest``: how many of its verdicts are false."""

from typing import TYPE_CHECKING

from middlemark.document import document_of

if TYPE_CHECKING:
    from middlemark.stats.selftest import SelfTest
    from middlemark.verdicts.rows import MeasuredRun


def result_of(run: "MeasuredRun") -> "SelfTest":
    """Return the verdicts of the run, judged as by ``compare``, and the number of false verdicts."""
    from middlemark.runs.sides import sides_of
    from middlemark.show import output
    from middlemark.stats.selftest import METRICS, reckon

    sides, _ = sides_of(run.folder, output.tell, "", METRICS)
    return reckon([each for each in sides if not each.added], run.file.selftest)


def render_result(test: "SelfTest", run: "MeasuredRun", output_format: str) -> str:
    """Return the result as text, JSON, CSV or Markdown. CSV has a line for each comparison."""
    from middlemark.show import output
    from middlemark.show import selftest as report
    from middlemark.show.compare import render_csv
    from middlemark.show.json.comparisons import render_selftest

    if output_format == "csv":
        return render_csv(test.comparisons)
    document = document_of([run])
    if output_format == "json":
        return render_selftest(test, document)
    if output_format == "markdown":
        return report.render_markdown(test, document)
    return report.render_table(test, document, output.width())
