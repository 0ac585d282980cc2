"""The report as Markdown for pull requests and wikis: answers, tables, verdicts, warnings, machine.

The dialect is that of GitHub and GitLab (GFM). Names, notes and warnings are text: markup in them is escaped.
"""

import re
from collections.abc import Iterator

from middlemark.document import report_tables
from middlemark.document.crowds import scaling_tables
from middlemark.document.document import Document
from middlemark.document.expectations import counted
from middlemark.document.history import line as history_line
from middlemark.document.over_time import over_time
from middlemark.document.report_tables import growth_tables, scorecard_table
from middlemark.document.runs import facts_of, machine_line, notes_of, read_as, state
from middlemark.document.screen import not_tried_text
from middlemark.document.table import Table
from middlemark.model.run import Run
from middlemark.show import View
from middlemark.verdicts.experiments import OF_MESSAGES
from middlemark.verdicts.names import plain

_CHARACTERS = {
    # Some characters become entities: no renderer accepts a backslash before @ and #, and some renderers accept none
    # before <.
    **{character: f"&#{ord(character)};" for character in "&<>|`@#\\[]*~"},
    "\n": " ",
}
_LINKS = {"://": "&#58;//", "www.": "www&#46;"}
"""Texts that GFM would turn into links."""

_EMPHASIS = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""An underscore that may begin or end emphasis. An underscore within a word does neither."""

MOST_WARNINGS = 40
MOST_GROWTHS = 60


def render(document: Document, _view: View) -> str:
    """Return the report, ending in a newline."""
    lines = [f"## {escaped(document.title)}", ""]
    lines += [escaped(machine_line(run)) for run in document.runs[:1]]
    if left_out := not_tried_text(document.not_tried):
        lines += ["", escaped(left_out)]
    for section in (_figures, _warnings, _failed, _experiment):
        if found := list(section(document)):
            lines += ["", *found]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return the text on one line with all markup escaped, for paragraphs and tables."""
    shown = "".join(_CHARACTERS.get(character, character) for character in plain(text))
    shown = _EMPHASIS.sub("&#95;", shown)
    for link, harmless in _LINKS.items():
        shown = shown.replace(link, harmless)
    return shown


def table(found: Table) -> Iterator[str]:
    """Yield the lines of a table, with figures aligned to the right, and its notes."""
    aligned = ["---" if each.left else "---:" for each in found.columns]
    yield f"| {' | '.join((escaped(found.head), *(escaped(each.title) for each in found.columns)))} |"
    yield f"| {' | '.join(('---', *aligned))} |"
    for line in found.lines:
        yield f"| {' | '.join((escaped(line.name), *(escaped(each.on_one_line) for each in line.cells)))} |"
    for note in found.notes:
        yield from ("", note if "`" in note else escaped(note))


def _figures(document: Document) -> Iterator[str]:
    def section(title: str, *tables: Table | None) -> Iterator[str]:
        if any(tables):
            yield from (f"### {escaped(title)}", "")
            for each in filter(None, tables):
                yield from (f"**{escaped(each.title)}**", "") if len(tables) > 1 or each.title else ()
                yield from (*table(each), "")

    if document.expectations:
        yield from section(f"Expected: {counted(document.expectations)}", report_tables.expected(document))
    if document.answers:
        yield from ("### The answer", "", *(f"- {escaped(each.text)}" for each in document.answers), "")
    if document.since_last_run is not None:
        yield from (escaped(document.since_last_run.since), "")
    if said := history_line(document.history):
        yield from (escaped(said), "")
    for card in document.scorecards:
        found = scorecard_table(card)
        yield from (f"### {escaped(found.title)}", "", *table(found), "")
    for title, tables in report_tables.latency(document):
        yield from section(title, *tables)
    yield from section("Throughput and cost", *report_tables.throughput(document))
    shown = [each for each in document.growths if each.metric in OF_MESSAGES][:MOST_GROWTHS]
    for _, growth in growth_tables(shown):
        yield from (f"### {escaped(growth.title)}", "", *table(growth), "")
    yield from section("Over time", *over_time(document))
    yield from section("Scaling", *scaling_tables(document.scalings))
    yield from section("Protection and its proofs", report_tables.protection(document))
    yield from section("Comparisons", report_tables.comparisons(document))


def _warnings(document: Document) -> Iterator[str]:
    if not document.warnings:
        return
    yield "### Warnings"
    yield ""
    for each in document.warnings[:MOST_WARNINGS]:
        labels = [document.rows[at].label for at in each.cells[:3]]
        more = f" and {each.count - len(labels):,} more" if each.count > len(labels) else ""
        advice = f" → {escaped(each.advice)}" if each.advice else ""
        yield f"- **{escaped(each.code)}** ({escaped('; '.join(labels))}{more}): {escaped(each.text)}{advice}"


def _failed(document: Document) -> Iterator[str]:
    found = report_tables.failed(document)
    if found is not None:
        yield from ("### Without a result", "", *table(found))


def _experiment(document: Document) -> Iterator[str]:
    yield "### The experiment"
    yield ""
    for run in document.runs:
        yield from _run(run)
    if document.commands:
        yield from ("", "Again:", "")
        # This is indented code, because no text can end it.
        yield from (f"    {plain(each)}" for each in document.commands)
    yield ""
    yield f"Written by Middlemark {escaped(document.middlemark)}, {escaped(document.generated[:19])} UTC."


def _run(run: Run) -> Iterator[str]:
    summary = {"run": run.name, "suites": ", ".join(run.file.suites), "measured": state(run), **facts_of(run)}
    yield from (f"- {name}: {escaped(text)}" for name, text in summary.items() if text)
    yield from (f"- note: {escaped(each)}" for each in (*map(read_as, run.file.imported), *notes_of(run)))
