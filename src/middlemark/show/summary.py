"""What a command prints at its end: the answer first, a matrix, what is sure and what is not; one screen."""

import shlex
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from middlemark.document.document import Document
from middlemark.document.figures import FIGURES, TIMES
from middlemark.document.headline import Told, broken, disturbed, headline, sure, unsure
from middlemark.document.matrix import Column, Entry, Line, Mark, Matrix
from middlemark.document.numbers import ABSENT, brief, ratio, us
from middlemark.document.runs import notes_of, precision_of, read_as, seconds_of
from middlemark.document.words import plain, warning_name
from middlemark.model.run import Run
from middlemark.model.units import format_seconds
from middlemark.show import View, expectations, graphs, levels
from middlemark.show.lines import command_lines, hanging, measured_too, printed, row_line, wrapped

MOST_LINES = 40
_MARKS = {Mark.FASTEST: "✓", Mark.EQUIVALENT: "=", Mark.OPEN: "~", Mark.FEW: "?"}
_DOUBTFUL = "!"
_MEANS = {
    "✓": "surely the fastest of its column",
    "=": "level with the best",
    "~": "not told apart from the best",
    "?": "too few trials to tell",
    _DOUBTFUL: "doubtful: see the warnings",
}
_WHAT = {"ping-pong": "round trip", "stream": "one way", "request-reply": "call"}
_ALONE = "machine alone"
_MOST_NOTES = 2
_MOST_NAME = 30
_LEAST_LINES = 4
"""A matrix of fewer is not worth its heading."""
_MOST_KINDS = 3
_MOST_EXPECTED = 9
_HEAD = 11
_MOST_REMEDY = 56
_ANY = ("rate_hz", *(f"{time}_{each}" for each in ("p50", "mean") for time in TIMES), "sent_hz")
"""What may stand for a row, the first that it has."""


def render(document: Document, view: View) -> str:
    """Return at most ``MOST_LINES`` lines, however many configurations there are."""
    return printed(_lines(document, max(view.width, 60), view.limits), view)


def _lines(document: Document, width: int, limits: Sequence[str]) -> list[Text]:
    before = [*_answer(document, width)]
    after = [*_conclusions(document, width), *expectations.lines(document, width, _MOST_EXPECTED)]
    after += [Text(line) for each in limits for line in wrapped(each, width)]
    room = MOST_LINES - len(before) - len(after) - 1
    if document.costs:
        return [*before, *levels.lines(document.costs, width, room), Text(), *after]
    shown: list[Text] = []
    named: list[str] = []
    for at, matrix in enumerate(document.matrices):
        left = room - len(shown) - (0 if at == len(document.matrices) - 1 else 2)
        lines = [*_matrix(matrix, width, left - 1)]
        if at == 0 or (not named and len(lines) < left and len(matrix.lines) <= left - _LEAST_LINES):
            shown += [Text(), *lines]
        else:
            named.append(matrix.differs or matrix.title)
    shown += measured_too(named, width)
    if graphs.carries(document):
        shown += graphs.lines(document, width)
    elif not document.matrices:
        shown = [*map(Text, ("", *_figures(document, width, room - 1)))]
    return [*before, *shown, Text(), *after]


def _figures(document: Document, width: int, most: int) -> list[str]:
    """Return what rows have that stand in no matrix: a mean without a median, or of no known size."""
    lines = []
    for row in document.rows:
        known = [(name, each) for name in _ANY if (each := FIGURES[name]).of(row.result) is not None]
        if known:
            name, figure = known[0]
            unit = "µs" if figure.unit == "ns" else "messages/s"
            lines.append(_cut(f"{row.label}: {figure.text(row.result)} {unit} ({name.replace('_', ' ')})", width))
    more = [f"{len(lines) - most + 1} more rows"] if len(lines) > most else []
    return [*lines[: most - len(more)], *more]


def _answer(document: Document, width: int) -> Iterator[Text]:
    run = document.runs[0]
    if busy := disturbed(document.rows):
        yield from (Text(line, style="bold yellow") for line in wrapped(plain(busy), width)[:2])
    first = document.matrices[0] if document.matrices else None
    yield from graphs.headlines(document, width)
    yield from levels.sentences(document, width)
    if not document.costs and (first is not None or not graphs.carries(document)):
        told = headline(first) if first else "No configuration has a figure that can stand beside another."
        yield from (Text(line, style="bold") for line in wrapped(told, width)[:4])
    sources = "; ".join(map(read_as, run.file.imported))
    yield from (Text(line, style="dim") for line in wrapped(plain(sources or _measured(run)), width)[:3])
    typed = [note for note in notes_of(run) if note.startswith("--")]  # what somebody typed is not what was measured
    for note in typed if len(typed) <= _MOST_NOTES else [f"{typed[0]}; {len(typed) - 1} more with --rows"]:
        yield from map(Text, wrapped(f"note: {note}", width)[:2])


def _measured(run: Run) -> str:
    """Return what was run, where and for how long."""
    machine, done, seconds = run.file.machine, len(run.outcomes), seconds_of(run)
    where = f"{machine.host}, {machine.processors} processor{'' if machine.processors == 1 else 's'}"
    failed = f", {run.failed_trials:,} failed" if run.failed_trials else ""
    took = f" in {format_seconds(seconds)}" if seconds else ""
    return f"{', '.join(run.file.suites)} on {where}: {done:,} trials{took}{failed}"


def _matrix(matrix: Matrix, width: int, most: int) -> Iterator[Text]:
    """Return one experiment in at most so many lines, but for its first one: columns and lines give way."""
    names = [_cut(each.name, _MOST_NAME if len(matrix.columns) > 2 else width // 2) for each in matrix.lines]
    based = any(each.base for each in matrix.columns)
    first = max(map(cell_len, (*names, _ALONE)))
    texts = [[_entry(matrix, each) for each in line.entries] for line in matrix.lines]
    bases = [_base(matrix, each) for each in matrix.columns]
    widths = [
        max(cell_len(column.title), *(cell_len(each) for each in (base, *(row[at][0] for row in texts)))) + 2
        for at, (column, base) in enumerate(zip(matrix.columns, bases, strict=True))
    ]
    shown = _fitting(widths, width - first)
    what = "messages/s" if matrix.by_rate else f"p50 in µs, {_WHAT.get(matrix.pattern, 'round trip')}"
    ratio_of = f"× {_ALONE}" if based else "× the best"
    yield from (Text(line, style="bold") for line in wrapped(f"{what}, and {ratio_of}: {matrix.title}", width)[:2])
    factor = "" if matrix.factor == "size" else matrix.factor
    heads = [f"{column.title}  " for column in matrix.columns]
    yield row_line(factor, first, [(heads[at], "") for at in shown], [widths[at] for at in shown], "dim")
    if based:
        yield row_line(_ALONE, first, [(bases[at], "dim") for at in shown], [widths[at] for at in shown], "dim")
    room = max(most - 5, _LEAST_LINES)
    for name, row in zip(names[:room], texts, strict=False):
        yield row_line(name, first, [row[at] for at in shown], [widths[at] for at in shown])
    left_out = [
        f"lines left out: {len(names) - room}" if len(names) > room else "",
        f"columns left out: {len(widths) - len(shown)}" if len(shown) < len(widths) else "",
    ]
    yield from _legend(matrix, [each for each in left_out if each], width)


def _fitting(widths: Sequence[int], room: int) -> list[int]:
    """Return which columns fit: the first and the last, and others evenly between."""
    number = len(widths)
    while number > 1:
        shown = [round(at * (len(widths) - 1) / (number - 1)) for at in range(number)]
        if sum(widths[at] for at in shown) <= room:
            return shown
        number -= 1
    return [0]


def _base(matrix: Matrix, column: Column) -> str:
    return f"{_figure(matrix, column.base_figure)}  1.00  " if column.base else ABSENT


def _entry(matrix: Matrix, entry: Entry | None) -> tuple[str, str]:
    """Return figure, ratio and mark, aligned; and their style."""
    if entry is None:
        return f"{ABSENT}{'':8}", "dim"
    style = {Mark.FASTEST: "bold green", Mark.BEHIND: ""}.get(entry.place, "bold")
    return f"{_figure(matrix, entry.figure)} {ratio(entry.times):>5} {_mark(matrix, entry)}", style


def _mark(matrix: Matrix, entry: Entry) -> str:
    few = all(column.few is not None for column in matrix.columns)
    told = "" if few else _MARKS.get(entry.place, "")
    return (_DOUBTFUL if entry.doubtful else told) or " "


def _figure(matrix: Matrix, figure: float) -> str:
    return brief(figure) if matrix.by_rate else us(figure)


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{text[: width - 1]}…"


def _legend(matrix: Matrix, left_out: Sequence[str], width: int) -> Iterator[Text]:
    entries = [each for line in matrix.lines for each in line.entries if each]
    marks = {_mark(matrix, each) for each in entries}
    told = [f"{mark} {means}" for mark, means in _MEANS.items() if mark in marks]
    if any(each.place is Mark.BEHIND for each in entries):
        told.append("unmarked: surely slower")
    elif any(each.place is Mark.FEW for each in entries) and _MARKS[Mark.FEW] not in marks:
        told.append("no order here is sure")
    if any(_is_whole(line) for line in matrix.lines):
        told.append(f"{ABSENT} not measured")
    text = " · ".join((*told, *left_out))
    if text:
        yield from (Text(line, style="dim") for line in wrapped(text, width)[:2])


def _is_whole(line: Line) -> bool:
    return None in line.entries


def _conclusions(document: Document, width: int) -> Iterator[Text]:
    run = document.runs[0]
    show = shlex.join(["middlemark", "show", plain(str(run.folder))])
    kinds = [
        f"{warning_name(each.code)} in {each.count:,} row{'' if each.count == 1 else 's'}" for each in document.warnings
    ]
    kinds = kinds if len(kinds) <= _MOST_KINDS else [*kinds[:_MOST_KINDS], f"{len(kinds) - _MOST_KINDS} more kinds"]
    remedy = document.warnings[0].advice.split("; ")[0] if document.warnings else ""
    warnings = Told(texts=(", ".join(kinds),) if kinds else (), remedy=remedy)
    precise = precision_of(run, [row.result for row in document.rows])
    for name, told, style in (
        ("Precision", Told(texts=(precise,) if precise else ()), "yellow"),
        ("Sure", sure(document), "green"),
        ("Not sure", unsure(document), "yellow"),
        ("Broken", broken(document), "red"),
        ("Warnings", warnings, "yellow"),
        *graphs.conclusions(document),
    ):
        if told.texts:
            yield from _told(name, told, style, width)
    more = hanging(f"{'More':<{_HEAD}}", f"{show} --rows, or --warnings", width)
    yield from (Text(line, style="dim") for line in more)


def _told(name: str, told: Told, style: str, width: int) -> Iterator[Text]:
    lines = hanging(f"{name:<{_HEAD}}", plain("; ".join(told.texts)), width)
    if len(lines) > 2:
        lines = [lines[0], _cut(lines[1], width - 1).rstrip("…") + "…"]
    first = Text(lines[0])
    first.stylize(style, 0, len(name))
    yield first
    yield from map(Text, lines[1:])
    if told.remedy:
        remedy, arrow = plain(told.remedy), f"{'':<{_HEAD}}→ "
        if remedy.startswith("middlemark "):  # a command is told whole, however long
            yield from map(Text, command_lines(arrow, remedy, width))
            return
        begin = wrapped(remedy, min(width - _HEAD - 3, _MOST_REMEDY))[0]
        yield Text(arrow + (begin if begin == remedy else f"{begin.rstrip(',;:')} …"))
