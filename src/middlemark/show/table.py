"""The table of all rows: the run, the rows in groups, warnings, and a legend."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from middlemark.document.crowds import scaling_tables
from middlemark.document.document import Document
from middlemark.document.rows_table import RowGroup, groups_of, together
from middlemark.document.runs import facts_of, notes_of, precision_of, sources_of, state
from middlemark.document.table import Column, Table, facts
from middlemark.show import View, expectations
from middlemark.show.notes import breakdown_lines, footnotes, legend, machine_lines, numbers_of
from middlemark.show.terminal import Layout, laid_out, paragraph, printed, terminal
from middlemark.stats.result import CellResult
from middlemark.verdicts.names import NOT_SHOWN, WORDS, plain, usual, varying, with_receivers, words
from middlemark.verdicts.rows import Row

_NAME = 24
"""The least width of the first column. If it would be narrower, columns of figures are left out."""


def render(document: Document, view: View) -> str:
    """Return the report in at most ``view.width`` (at least 60) columns. With colour, only ANSI styles are added."""
    return printed(_lines(document, max(view.width, 60), view), view)


def _lines(document: Document, width: int, view: View) -> Iterator[Text]:
    rows = document.rows
    yield from heading(document, rows, width)
    varied = varying([row.result for row in rows])
    numbers = numbers_of([row for _, members in together(rows) for row in members])
    groups = groups_of(rows, document.everything, numbers, view.metrics)
    layouts = {
        pattern: laid_out([each.table for each in groups if each.pattern == pattern], width, _NAME)
        for pattern in dict.fromkeys(each.pattern for each in groups)
    }
    for each in groups:
        yield Text()
        yield from terminal(each.table, width, layout=layouts[each.pattern], wraps=True)
        yield from paragraph(each.unreached, width, "dim", first="  not reached: ")
    yield Text()
    yield from machine_lines(rows, width)
    for table in scaling_tables(document.scalings):
        yield Text()
        yield from terminal(table, width, wraps=True)
    ordered = [row for each in groups for row in each.rows]
    if view.breakdown:
        yield from breakdown_lines(ordered, varied, width)
    yield from footnotes(ordered, varied, numbers, width, whole=view.warnings)
    yield from legend({pattern: _columns(pattern, groups, layouts[pattern]) for pattern in layouts}, rows, width)
    if document.expectations:
        yield Text()
        yield from expectations.lines(document, width)


def _columns(pattern: str, groups: Sequence[RowGroup], layout: Layout) -> tuple[list[Column], list[Column]]:
    """Return the shown columns of a pattern, and the hidden columns."""
    columns = next((each.table.columns for each in groups if each.pattern == pattern and each.table.columns), ())
    shown = [columns[at] for at in layout.shown]
    return shown, [each for each in columns if each not in shown]


def heading(document: Document, rows: Sequence[Row], width: int) -> Iterator[Text]:
    """Yield the lines above the table: suites, machine, versions, and the levels that all rows share."""
    run = document.runs[0]
    file, results = run.file, [row.result for row in rows]
    yield Text(plain(f"{', '.join(file.suites)}, {file.started[:19].replace('T', ' ')} UTC"), style="bold")
    met = file.reached is not None and file.reached.met
    measured = ("imported", "; ".join(sources_of(run))) if file.imported else ("measured", state(run))
    lines = (
        *facts(measured, style="bold yellow" if file.interrupted else "").lines,
        *facts(("precision", precision_of(run, results)), style="" if met else "bold yellow").lines,
        *facts(*facts_of(run, whole=False).items(), ("every row", _in_common(results))).lines,
        *facts(*(("note", note) for note in notes_of(run))).lines,
    )
    yield from terminal(Table(columns=(), lines=lines), width)


def _in_common(results: Sequence[CellResult]) -> str:
    if not results:
        return ""
    varied = varying(results)
    common = words(with_receivers(results)[0].cell, set(WORDS) - varied)
    levels = [each for each in usual(results, varied).values() if each not in NOT_SHOWN]
    if levels:
        common += f"{'; ' if common else ''}{', '.join(levels)} unless the row says otherwise"
    trials = Counter(each.trials for each in results if each.failed is None)
    if not trials:
        return common
    number = trials.most_common(1)[0][0]
    measured = "one trial" if number == 1 else f"{number} trials; a figure is the median over the trials"
    return f"{common}; {measured}" if common else measured
