"""The summary at the end of a command, on one screen: the answer, a matrix, decided and undecided comparisons."""

import shlex
from collections.abc import Iterator, Sequence

from rich.text import Text

from middlemark.document import crowds, interop, languages, matrix, security, ways, workloads
from middlemark.document.columns import FIGURES, TIMES
from middlemark.document.document import Document
from middlemark.document.history import line
from middlemark.document.over_time import in_paragraphs, over_time, overview
from middlemark.document.runs import notes_of, precision_of, read_as, seconds_of
from middlemark.document.screen import Statement, broken, decided, disturbed, headline, not_tried_text, undecided
from middlemark.document.settings import winners
from middlemark.document.table import Table
from middlemark.model.run import Run
from middlemark.model.units import format_count, format_seconds
from middlemark.show import View, expectations
from middlemark.show.terminal import command_lines, cut, paragraph, printed, terminal, wrapped
from middlemark.show.wrapping import as_typed
from middlemark.verdicts.names import plain, warning_name
from middlemark.verdicts.rows import Row

MOST_LINES = 40
_MOST_NOTES = 2
_LEAST_LINES = 4
"""A table has at least this number of lines."""
_FRAME = 4
"""The number of a table's lines that are not rows: a blank line, title, column titles, legend."""
_MOST_KINDS = 3
_MOST_EXPECTED = 9
_MOST_STATED = 4
_NAMED_ROWS = 4
_HEAD = 11
_MOST_REMEDY = 56
_ANY = ("rate_hz", *(f"{time}_{each}" for each in ("p50", "mean") for time in TIMES), "sent_hz")
"""The figures that may represent a row, in order. The first figure that the row has is shown."""


def render(document: Document, view: View) -> str:
    """Return at most ``MOST_LINES`` lines, for any number of configurations."""
    return printed(_lines(document, max(view.width, 60), view.limits), view)


def _lines(document: Document, width: int, limits: Sequence[str]) -> list[Text]:
    found = matrix.matrices(document.experiments)
    before = [*_answer(document, found, width)]
    after = [*_conclusions(document, found, width), *expectations.lines(document, width, _MOST_EXPECTED)]
    after += [line for each in limits for line in paragraph(each, width)]
    room = MOST_LINES - len(before) - len(after) - 1
    if document.interop:
        tables = [(interop.title_of(each), interop.table_of(each)) for each in document.interop]
    elif document.costs:
        tables = [(each.title, security.table_of(each)) for each in document.costs]
    else:
        tables = [(each.differs or each.title, matrix.table_of(each)) for each in found]
    shown = [*_tables(tables, width, room)]
    if document.workloads and not document.costs:
        for each in document.workloads:
            shown += [
                Text(),
                *terminal(workloads.graph_table(each), width, max(room - len(shown) - _FRAME, _LEAST_LINES)),
            ]
    elif not tables:
        shown = [*map(Text, ("", *_figures(document.rows, width, room - 1)))]
    shown += _over_time(document, width, room - len(shown))
    return [*before, *shown, Text(), *after]


def _over_time(document: Document, width: int, room: int) -> list[Text]:
    """Return the tables of the long trials that fit, the first one in any case, and the number of the others."""
    shown: list[Text] = []
    left_out = 0
    first = overview(document)
    tables = over_time(document)
    for at, each in enumerate(each if each == first else in_paragraphs(each) for each in tables):
        left = room - len(shown) - _FRAME - 1
        if at and (left_out or len(each.lines) > left):
            left_out += 1
            continue
        shown += [Text(), *terminal(each, width, max(left, _LEAST_LINES))]
    what = "more long trial" if first is None else "more table"
    more = f"{format_count(left_out, what)}: --format markdown" if left_out else ""
    return [*shown, *paragraph(more, width, "dim")]


def _tables(tables: Sequence[tuple[str, Table]], width: int, room: int) -> Iterator[Text]:
    """Yield the first table, further tables that fit, and the names of the tables that do not fit."""
    named: list[str] = []
    used = 0
    for at, (name, table) in enumerate(tables):
        left = room - used - (0 if at == len(tables) - 1 else 2)
        if at and (named or len(table.lines) + _FRAME >= left):
            named.append(name)
            continue
        lines = [Text(), *terminal(table, width, max(left - _FRAME - 2, _LEAST_LINES))]
        used += len(lines)
        yield from lines
    if named:
        more = f"; {len(named) - 2} more" if len(named) > 2 else ""
        yield from paragraph(f"Measured too: {'; '.join(named[:2])}{more}.", width, "dim", most=2)


def _figures(rows: Sequence[Row], width: int, most: int) -> list[str]:
    """Return the figures of rows without an experiment, because they have no median or an unknown size."""
    lines = []
    for row in rows:
        measured = [(name, each) for name in _ANY if (each := FIGURES[name]).of(row.result) is not None]
        if measured:
            name, figure = measured[0]
            unit = "µs" if figure.unit == "ns" else "messages/s"
            lines.append(cut(f"{row.label}: {figure.text(row.result)} {unit} ({name.replace('_', ' ')})", width))
    more = [f"{len(lines) - most + 1} more rows"] if len(lines) > most else []
    return [*lines[: most - len(more)], *more]


def _answer(document: Document, found: Sequence[matrix.Matrix], width: int) -> Iterator[Text]:
    run = document.runs[0]
    yield from paragraph(disturbed(document.rows), width, "bold yellow", most=2)
    for each in document.workloads:
        several = f" ({each.title})" if len(document.workloads) > 1 else ""
        yield from paragraph(workloads.conclusion(each) + several, width, "bold", most=3)
    if document.interop:
        yield from paragraph(interop.headline(document.interop), width, "bold", most=4)
    elif document.costs:
        yield from paragraph(security.headline(document.costs), width, "bold", most=4)
        yield from paragraph(security.proven(document.rows), width, most=2)
    elif found or not document.workloads:
        none = "No two configurations can be compared."
        yield from paragraph(headline(found[0]) if found else none, width, "bold", most=4)
    of_unknown_size = [each for each in document.rows if "size" in each.result.cell.unknown]
    if found and of_unknown_size:
        yield Text("In no table, because the size is unknown:")
        yield from map(Text, _figures(of_unknown_size, width, _NAMED_ROWS))
    yield from paragraph(not_tried_text(document.not_tried), width, most=3)
    yield from paragraph("; ".join(map(read_as, run.file.imported)) or _measured(run), width, "dim", most=3)
    typed = [note for note in notes_of(run) if note.startswith("--")]  # the plan differs from a typed option
    for note in typed if len(typed) <= _MOST_NOTES else [f"{typed[0]}; {len(typed) - 1} more with --rows"]:
        yield from paragraph(f"note: {note}", width, most=2)


def _measured(run: Run) -> str:
    """Return suites, machine, number of trials and duration of the run."""
    machine, done, seconds = run.file.machine, len(run.outcomes), seconds_of(run)
    where = f"{machine.host}, {format_count(machine.processors, 'processor')}"
    failed = f", {run.failed_trials:,} failed" if run.failed_trials else ""
    took = f" in {format_seconds(seconds)}" if seconds else ""
    return f"{', '.join(run.file.suites)} on {where}: {format_count(done, 'trial')}{took}{failed}"


def _conclusions(document: Document, found: Sequence[matrix.Matrix], width: int) -> Iterator[Text]:
    run = document.runs[0]
    show = shlex.join(["middlemark", "show", plain(str(run.folder))])
    kinds = [f"{warning_name(each.code)} in {format_count(each.count, 'row')}" for each in document.warnings]
    if left_out := len(kinds[_MOST_KINDS:]):
        kinds = [*kinds[:_MOST_KINDS], format_count(left_out, "more kind")]
    remedy = document.warnings[0].advice.split("; ")[0] if document.warnings else ""
    warnings = Statement(texts=(", ".join(kinds),) if kinds else (), remedy=remedy)
    precise = precision_of(run, [row.result for row in document.rows])
    for name, statement, style in (
        ("Precision", Statement(texts=(precise,) if precise else ()), "yellow"),
        ("Decided", decided(found), "green"),
        ("Undecided", undecided(document, found), "yellow"),
        ("Broken", broken(document), "red"),
        ("Warnings", warnings, "yellow"),
        *_of_workloads(document),
        *_of_twins(document),
    ):
        if statement.texts:
            yield from _stated(name, statement, style, width)
    if document.since_last_run is not None:
        yield from paragraph(document.since_last_run.since, width, most=2)
    yield from paragraph(line(document.history), width, most=3)
    copied = "; --settings prints settings to copy" if any(row.result.settings for row in winners(document)) else ""
    more = f"{show} --rows; --warnings prints each warning{copied}"
    yield from paragraph(more, width, "dim", first=f"{'More':<{_HEAD}}")


def _of_workloads(document: Document) -> Iterator[tuple[str, Statement, str]]:
    """Yield (name, statement, style) for the workloads: decided, undecided, late joiners, failing edges."""
    both = list(zip(document.workloads, document.cheapest, strict=False))
    for name, is_sure, style in (("Decided", True, "green"), ("Undecided", False, "yellow")):
        texts = [workloads.cheapest_text(of, each) for of, some in both for each in some if each.sure is is_sure]
        yield name, Statement(texts=tuple(texts)), style
    for name, sentences, style in (("Late", workloads.histories, ""), ("Fails", workloads.failing, "red")):
        texts = [each for of in document.workloads for each in sentences(of)]
        if len(texts) > _MOST_STATED:
            texts[_MOST_STATED:] = [f"{len(texts) - _MOST_STATED} more: --format json has every edge"]
        for at, each in enumerate(texts):
            yield "" if at else name, Statement(texts=(each,)), style


def _of_twins(document: Document) -> Iterator[tuple[str, Statement, str]]:
    """Yield (name, statement, style) for each client in another language, router, pair without exchange and crowd."""
    for name, texts, where, style in (
        (
            "Language",
            [each.text for each in languages.conclusions(document.languages)],
            "--format json has every client",
            "",
        ),
        ("Via", [*ways.sentences(document.ways)], "--format json has every router", ""),
        ("Apart", [*interop.sentences(document.interop)], "--format json has every pair", "red"),
        (
            "Crowds",
            [each.text for each in crowds.conclusions(document.scalings)],
            "--rows has the table of exponents",
            "",
        ),
    ):
        if len(texts) > _MOST_STATED:
            texts[_MOST_STATED:] = [f"{len(texts) - _MOST_STATED} more: {where}"]
        for at, each in enumerate(texts):
            yield "" if at else name, Statement(texts=(each,)), style


def _stated(name: str, statement: Statement, style: str, width: int) -> Iterator[Text]:
    lines = paragraph("; ".join(statement.texts), width, first=f"{name:<{_HEAD}}")
    if len(lines) > 2:
        lines = [lines[0], Text(cut(lines[1].plain, width - 1).rstrip("…") + "…")]
    lines[0].stylize(style, 0, len(name))
    yield from lines
    if statement.remedy:
        remedy, arrow = as_typed(plain(statement.remedy)), f"{'':<{_HEAD}}→ "
        if statement.remedy.startswith("middlemark "):  # a command is never cut
            yield from map(Text, command_lines(arrow, remedy, width))
            return
        begin = wrapped(remedy, min(width - _HEAD - 3, _MOST_REMEDY))[0]
        yield Text(arrow + (begin if begin == remedy else f"{begin.rstrip(',;:')} …"))
