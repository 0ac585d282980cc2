"""The output of verbs about runs, after measuring or importing runs and for stored runs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from middlemark.show import View

if TYPE_CHECKING:
    from middlemark.document import Document
    from middlemark.runs.conduct import RunOptions
    from middlemark.suite.study import Study
    from middlemark.verdicts.rows import MeasuredRun, Row

LISTED = ("text", "json", "csv", "markdown")
"""The formats of the results of ``selftest`` and of ``diagnose --try``."""
JUDGED = ("text", "markdown", "html")
"""Formats that contain verdicts. For a large run, verdicts take long to compute."""
MOST_RACES = 3
"""A run with at most this number of races has a sentence for each race. A run with more races has none."""


class PrintOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The format of the output, and the printed parts of a run."""

    output_format: str = "text"
    parts: tuple[str, ...] = ()
    """The printed parts of ``text``: ``summary``, ``table``, ``notes``, ``settings``.

    Empty: the answer of ``which`` if the run has one, else the summary."""
    view: View = View()
    chosen: "Callable[[Row], bool] | None" = None
    """Returns whether a row is printed; None: all rows are printed."""


def print_run(run: "MeasuredRun", shown: "RunOptions") -> str | None:
    """Print a run that was just measured and write its report into its folder; return why it could not be printed.

    The report has the changes since the last run. If the format cannot show changes, the run is printed before they are
    computed.
    """
    from middlemark.runs.history import kept_history
    from middlemark.runs.report import changes_since_last, judged_document, write_report_of
    from middlemark.show import FORMATS, output

    parts = ("table",) if shown.rows else ("summary", "table") if shown.verbose or shown.breakdown else ()
    view = View(breakdown=shown.breakdown, warnings=shown.verbose)
    options = PrintOptions(output_format=shown.output_format, parts=parts, view=view)
    judged = judged_document(placed(run, shown.output_format)) if shown.output_format in JUDGED else None
    document = judged or _document([placed(run, shown.output_format)], options)
    has_changes = not is_question(run)
    changes_are_printed = has_changes and FORMATS[shown.output_format].judged

    def with_changes() -> "Document":
        return msgspec.structs.replace(document, since_last_run=changes_since_last(run), history=kept_history(run))

    if changes_are_printed:
        document = with_changes()
    unwritten = output.write(text_of(run, options, document))
    if has_changes and not changes_are_printed:
        document = with_changes()
    write_report_of(
        run,
        quiet=shown.quiet or not has_changes,
        document=judged and document,
        since_last_run=document.since_last_run,
        history=document.history,
    )
    return unwritten


def text_of(run: "MeasuredRun", options: PrintOptions, document: "Document | None" = None) -> str:
    """Return the output about one run. ``document``: the run's document with verdicts, if it was made already."""
    from middlemark.document.history import line
    from middlemark.runs.diagnose import diagnosis_lines, render_tried
    from middlemark.runs.selftest import render_result, result_of
    from middlemark.show import output, render
    from middlemark.stats.cells import samples_by_cell

    name, whole = options.output_format, options.chosen is None
    run = placed(run, name)
    document = document or _document([run], options)
    answers = whole and not options.parts
    if answers and name in ("text", "json") and is_question(run):
        return _render_answer(document, run, name)
    if answers and name in LISTED and run.file.tried is not None:
        return render_tried(run, name)
    if answers and name in LISTED and run.file.selftest:
        return render_result(result_of(run), run, name)
    if answers and name in ("text", "json", "markdown") and (study := _study_of(run)):
        return _render_claims(study, run, name)
    limits = tuple(diagnosis_lines(run, str(run.folder))) if whole and name == "text" else ()
    view = msgspec.structs.replace(
        output.view(options.view), samples_of=samples_by_cell(run.file.plan, run.outcomes, run.samples), limits=limits
    )
    if name != "text":
        return render(name, document, view)
    parts = options.parts or ("summary",)
    if parts == ("settings",):
        return render("settings", document, view)
    sentences = race_sentences(document, run, view.width) if run.file.plan.race and whole else ""
    since = document.since_last_run
    sentences_below = (*limits, *filter(None, (since and since.since, line(document.history))))
    below = "" if "summary" in parts else "".join(f"{each}\n" for each in sentences_below)
    return sentences + "\n".join(render(each, document, view) for each in parts) + below


def text_of_several(runs: "Sequence[MeasuredRun]", options: PrintOptions) -> str:
    """Return the output about several runs: one table or report for all, or one text for each."""
    from middlemark.show import render

    if len(runs) > 1 and options.output_format in ("csv", "markdown", "html"):
        return render(options.output_format, _document(runs, options), options.view)
    texts = [text_of(each, options) for each in runs]
    if len(runs) > 1 and options.output_format == "text":
        return "\n".join(f"{placed(run, 'text').folder}:\n{text}" for run, text in zip(runs, texts, strict=True))
    return "".join(texts)


def is_question(run: "MeasuredRun") -> bool:
    """Say whether ``which`` measured the run."""
    return run.file.plan.race is not None and run.file.plan.race.question


def _render_answer(document: "Document", run: "MeasuredRun", output_format: str) -> str:
    """Return the answer of ``which`` as JSON or as text."""
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


def _study_of(run: "MeasuredRun") -> "Study | None":
    """Return the study that ``reproduce`` measured; None: another verb made the run, or there is no such study now."""
    from middlemark.problems import RequestError
    from middlemark.suite.study import read_study, study_names

    name = next(iter(run.file.suites), "")
    if run.file.command[1:2] != ("reproduce",) or name not in study_names():
        return None
    try:
        return read_study(name)
    except RequestError:
        return None


def _render_claims(study: "Study", run: "MeasuredRun", output_format: str) -> str:
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


def _document(runs: "Sequence[MeasuredRun]", options: PrintOptions) -> "Document":
    """Return the document with the rows that ``options`` select. Raises MeasureError if no row is selected."""
    from middlemark.document import document_of, with_experiments
    from middlemark.problems import MeasureError
    from middlemark.runs.report import judged_document

    if options.chosen is None:
        if options.output_format in ("markdown", "html"):
            return judged_document(*runs)
        return with_experiments(document_of(runs))
    document = with_experiments(document_of(runs), options.chosen)
    if not document.rows:
        raise MeasureError(f"{runs[0].folder}: no configuration matches every --only", "leave --only out to print all")
    return document


def placed(run: "MeasuredRun", output_format: str) -> "MeasuredRun":
    """Return the run with its folder as printed: absolute for JSON, else as a person would type it."""
    from middlemark.suite.request import shown_path

    folder = run.folder.absolute() if output_format == "json" else Path(shown_path(run.folder))
    return msgspec.structs.replace(run, folder=folder)
